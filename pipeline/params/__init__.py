"""params.yaml: its entries as types, their consistency, and plugins; the catalogue of sources; the versions."""
