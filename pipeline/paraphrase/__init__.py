"""The stages of paraphrases and of the trees that guide them: GuiG's and SCPN's."""
