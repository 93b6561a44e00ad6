"""linearize: a corpus as the rows of ids that sequence models read, with its vocabulary."""

from __future__ import annotations

from pipeline.params import entry, load_params
from pipeline.stage import of_form


def run(key: str) -> None:
    """Make `data/ready/<key>/`: one table a split, the vocabulary, and what did not fit."""
    params = load_params()
    wanted = entry("dataset", params.datasets.linearize, key)
    of_form(wanted.form, "linearize").run(key, wanted, params)
