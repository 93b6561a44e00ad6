"""The stages of verse: SongNet's."""
