"""Guesses at one's own data: which reader with which options reads a file. A guess is shown before it is used."""
