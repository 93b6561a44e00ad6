"""The command `judge simulate`: answers of simulated raters, to try the kit before people spend time on it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from espalier.cli.progress import say
from espalier.io.errors import ConfigError
from espalier.io.files import atomic_folder
from espalier.judging.simulate import simulated
from pipeline.records.judging import levels_of, read_key


def judge_simulate(key: Path, out: Path, quality: Sequence[str], careless: Sequence[str], seed: int) -> None:
    """Write one file for each rater of a sample.

    Args:
        out: new folder.
        quality: SYSTEM=LEVEL; the middle of the scale for systems that are not named.
        careless: raters who answer at random.

    Raises:
        ConfigError: a system or rater is unknown, a level is no number, or the folder exists.
    """
    sample = read_key(key)
    if out.exists():
        raise ConfigError("exists", where=str(out), remedy="name a new folder")
    for rater in careless:
        if rater not in sample.orders:
            raise ConfigError.unknown("rater", rater, sample.orders, where="--careless")
    values = [value for criterion in sample.protocol.criteria.values() for value in criterion.values] or [0]
    middle = (min(values) + max(values)) / 2
    planted = dict.fromkeys(sample.protocol.systems, middle) | levels_of(
        quality, sample.protocol.systems, where="--quality"
    )
    with atomic_folder(out) as part:
        for rater, text in simulated(sample, planted, seed=seed, careless=careless).items():
            (part / f"{rater}.json").write_text(text, encoding="utf-8")
    say(f"{out}: {len(sample.orders)} simulated raters, marked as such")
