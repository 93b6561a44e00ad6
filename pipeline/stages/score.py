"""score: a run's outputs against its corpus, as one small JSON file, and the statistics of its segments."""

from __future__ import annotations

from pipeline.params import entry, load_params
from pipeline.stage import of_form


def run(key: str) -> None:
    """Score one run into `metrics/<paper>/<key>.json` and `segments/<paper>/<key>.parquet`."""
    params = load_params()
    wanted = entry("run", params.runs, key)
    of_form(wanted.form, "score").run(key, wanted, params)
