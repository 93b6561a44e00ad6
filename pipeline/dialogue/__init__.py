"""The stages of dialogue: X2Tree's."""
