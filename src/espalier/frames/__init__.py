"""Frames: what a text must satisfy, by its characters, words and readings alone."""
