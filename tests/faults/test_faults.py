"""Whatever befalls a stage or a command, it refuses in one clear line or does the right thing: a seeded sample.

`make faults` tries all of it.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest
from harm import EVERYTHING, KINDS, Project


@pytest.mark.parametrize("kind", KINDS)
def test_no_traceback_nothing_wrong_and_an_end(kind: str, project: Project, tallies: dict[str, Counter[str]]) -> None:
    harm, few, many = KINDS[kind]
    tallies[kind] = Counter()
    bad = []
    for seed in range(many if EVERYTHING else few):
        verdict = harm(project, random.Random(f"{kind} {seed}"))
        tallies[kind][verdict.kind] += 1
        if verdict.kind not in ("line", "well"):
            bad.append(f"{kind} {seed}: {verdict.kind}: {verdict.what}")
            print(bad[-1], flush=True)
    assert not bad, "\n".join(bad)
