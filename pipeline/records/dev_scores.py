"""Runs that are scored on test although no run of their model is scored on dev.

The dev loss of a training does not count, since it does not show that decoding settings were chosen on dev.
"""

from collections.abc import Collection, Mapping

from pipeline.params.entries import Run


def without_dev_score(runs: Mapping[str, Run], scored: Collection[str]) -> list[str]:
    """The scored runs on test whose model has no scored run on dev."""
    chosen = {run.model for key, run in runs.items() if run.split == "dev" and key in scored}
    return [key for key, run in runs.items() if run.split == "test" and key in scored and run.model not in chosen]
