"""linearize: a corpus as the rows of ids that sequence models read, with its vocabulary."""

from __future__ import annotations

from espalier.io.registry import entry
from pipeline.params.read import load_params
from pipeline.records.ready import make_ready


def run(key: str) -> None:
    """Make `data/ready/<key>/`: for each split the ids and the records that they encode, and the vocabulary."""
    params = load_params()
    make_ready(key, entry("dataset", params.datasets.linearize, key), params)
