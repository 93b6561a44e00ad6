"""The commands that answer people."""
