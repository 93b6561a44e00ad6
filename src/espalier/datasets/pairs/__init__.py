"""Pairs of texts, with trees or without (GuiG, SCPN)."""
