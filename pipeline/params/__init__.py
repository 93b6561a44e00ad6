"""params.yaml: its entries as types, what must fit together, its plugins; the catalogue of sources; the versions."""
