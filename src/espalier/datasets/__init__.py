"""Records to batches: encodings, ragged rows, batching, vocabularies."""
