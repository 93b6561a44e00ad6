"""Records, the source catalogue, downloads, readers, filters, splits and leakage."""
