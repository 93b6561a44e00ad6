"""canonicalize: a corpus as canonical trees for tree models, with its vocabulary."""

from espalier.io.registry import entry
from pipeline.params.read import load_params
from pipeline.records.ready import make_ready


def run(key: str) -> None:
    """Make `data/ready/<key>/` in the same way as `linearize`."""
    params = load_params()
    make_ready(key, entry("dataset", params.datasets.canonicalize, key), params)
