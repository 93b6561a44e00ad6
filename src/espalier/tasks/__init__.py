"""Tasks: decoding and scoring of texts."""
