"""decode: what a model writes under its corpus's guidance."""

from __future__ import annotations

from pipeline.params import entry, load_params
from pipeline.stage import of_form


def run(key: str) -> None:
    """Decode one run into `outputs/<paper>/<key>.parquet`, once for each seed of its model."""
    params = load_params()
    wanted = entry("run", params.runs, key)
    of_form(wanted.form, "decode").run(key, wanted, params)
