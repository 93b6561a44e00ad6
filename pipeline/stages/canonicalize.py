"""canonicalize: a corpus as the canonical trees that tree models read, with its vocabulary."""

from __future__ import annotations

from espalier.io.registry import entry
from pipeline.params.read import load_params
from pipeline.records.ready import make_ready


def run(key: str) -> None:
    """Make `data/ready/<key>/` as `linearize` does."""
    params = load_params()
    make_ready(key, entry("dataset", params.datasets.canonicalize, key), params)
