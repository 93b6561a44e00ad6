"""Parsers behind one protocol. Libraries are imported on use: this package loads without spaCy."""
