"""Input and output: atomic writes, Parquet tables, hashes, archives, locks, and the errors that users see."""
