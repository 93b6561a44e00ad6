"""Records, the source catalogue, readers, filters, splits, vocabularies and batches."""
