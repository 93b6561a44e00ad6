"""Files in and out: atomic writes, Parquet tables, hashes, and the errors that people see."""
