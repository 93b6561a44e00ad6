"""Whatever befalls a stage or a command, it refuses in one clear line or does the right thing: a seeded sample.

`make faults` tries all of it.
"""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest
from harm import (
    Harm,
    Project,
    a_damaged_artifact,
    a_flipped_bit,
    a_full_disk,
    a_kill,
    an_odd_command,
    damaged_params,
)
from harm_calls import an_odd_call
from harm_sources import a_corpus, an_archive

#: Trials of each kind: a few, or with FAULTS=all very many.
EVERYTHING = os.environ.get("FAULTS") == "all"
#: The kinds of trials, the number of a sample, and of all.
KINDS: dict[str, tuple[Harm, int, int]] = {
    "kills": (a_kill, 3, 500),
    "flipped bits": (a_flipped_bit, 8, 400),
    "damaged artifacts": (a_damaged_artifact, 8, 400),
    "full disks": (a_full_disk, 4, 100),
    "damaged params": (damaged_params, 10, 400),
    "odd commands": (an_odd_command, 8, 400),
    "archives": (an_archive, 6, 300),
    "corpora and treebanks": (a_corpus, 6, 300),
    "calls from Python": (an_odd_call, 300, 4000),
}


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
