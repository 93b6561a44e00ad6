"""Verse: its tokens, its formats, its rhymes and its tunes."""
