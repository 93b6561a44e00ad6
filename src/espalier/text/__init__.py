"""Languages and their marks, normalization, and the words of a text."""
