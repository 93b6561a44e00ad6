"""canonicalize: a corpus as rows of words and canonical trees, with its vocabulary."""

from __future__ import annotations

from pipeline.params import entry, load_params
from pipeline.stage import of_form


def run(key: str) -> None:
    """Make `data/ready/<key>/`: one table a split, the vocabulary, and what did not fit."""
    params = load_params()
    wanted = entry("dataset", params.datasets.canonicalize, key)
    of_form(wanted.form, "canonicalize").run(key, wanted, params)
