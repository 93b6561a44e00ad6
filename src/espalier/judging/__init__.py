"""Judging by people: samples of outputs for raters, their merged ratings, and what these say of the systems."""
