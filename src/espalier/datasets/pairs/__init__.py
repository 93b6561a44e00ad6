"""Pairs of texts, with or without trees (GuiG, SCPN)."""
