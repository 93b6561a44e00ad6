"""linearize: a corpus as rows of ids for sequence models, with its vocabulary."""

from espalier.io.registry import entry
from pipeline.params.read import load_params
from pipeline.records.ready import make_ready


def run(key: str) -> None:
    """Make `data/ready/<key>/`: the vocabulary, and for each split the ids and their records."""
    params = load_params()
    make_ready(key, entry("dataset", params.datasets.linearize, key), params)
