"""Parsers behind one protocol. Libraries are imported where they are used: nothing here needs spaCy to be read."""
