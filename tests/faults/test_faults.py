"""Whatever befalls a stage or a command, it refuses in one clear line or does the right thing: a seeded sample.

`make faults` tries all of it. `python benchmarks/faults.py KIND ... --record` tries kinds, and keeps their counts.
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
from harm_parsers import a_parser
from harm_people import at_a_terminal, many_lines
from harm_repro import a_planted_pickle, an_orphan
from harm_sources import a_corpus, an_archive

#: The most trials of each kind: a few, with FAULTS=all very many, else so many.
MOST = os.environ.get("FAULTS", "")
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
    "parsers": (a_parser, 6, 200),
    "terminals": (at_a_terminal, 4, 200),
    "orphans": (an_orphan, 1, 20),
    "site caches": (a_planted_pickle, 1, 20),
    "many lines": (many_lines, 3, 60),
}


#: Kinds that need no built project.
ALONE = {"calls from Python", "parsers", "orphans", "site caches"}


@pytest.mark.parametrize("kind", KINDS)
def test_no_traceback_nothing_wrong_and_an_end(
    kind: str, request: pytest.FixtureRequest, tallies: dict[str, Counter[str]]
) -> None:
    harm, few, many = KINDS[kind]
    project: Project = request.getfixturevalue("unbuilt" if kind in ALONE else "project")
    count = many if MOST == "all" else min(many, int(MOST)) if MOST else few
    tallies[kind] = Counter()
    bad = []
    for seed in range(count):
        verdict = harm(project, random.Random(f"{kind} {seed}"))
        tallies[kind][verdict.kind] += 1
        if verdict.kind not in ("line", "well"):
            bad.append(f"{kind} {seed}: {verdict.kind}: {verdict.what}")
            print(bad[-1], flush=True)
    assert not bad, "\n".join(bad)
