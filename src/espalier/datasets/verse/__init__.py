"""Verse as frames (SongNet)."""
