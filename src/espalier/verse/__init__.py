"""Verse: tokens, formats, rhymes and tunes."""
