"""The sample of distances that apted computes again."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from espalier.io.errors import EspalierError
from espalier.metrics.ted import ted_statistics
from espalier.metrics.ted_audit import MAX_NODES, PAIRS, ted_audit

ATE = "(S (NP (PRP I)) (VP (VBD ate) (NP (DT an) (NN apple))))"
FELL = "(S (NP (PRP It)) (VP (VBD fell)))"


def test_equal_distances_are_counted_and_recorded() -> None:
    references, hypotheses = [ATE, FELL, ATE, FELL], [FELL, ATE, "", FELL]
    found = ted_audit(references, hypotheses, ted_statistics(references, hypotheses), seed=1)
    # The unparsed text has no tree to compare.
    assert found == {"library": "apted", "version": version("apted"), "pairs": 3, "differences": 0}


def test_a_sample_is_of_fifty_pairs_and_a_seed_draws_the_same_one() -> None:
    references, hypotheses = [ATE] * 120, [FELL] * 120
    statistics = ted_statistics(references, hypotheses)
    assert ted_audit(references, hypotheses, statistics, seed=3)["pairs"] == PAIRS == 50
    statistics[7, 6] += 1  # the column of whole trees
    found = set()
    for seed in range(20):
        outcomes = set()
        for _ in range(2):
            try:
                outcomes.add(ted_audit(references, hypotheses, statistics, seed=seed)["differences"])
            except EspalierError:
                outcomes.add(1)
        assert len(outcomes) == 1
        found |= outcomes
    assert found == {0, 1}


def test_a_difference_is_one_line() -> None:
    statistics = ted_statistics([FELL, ATE], [FELL, FELL])
    statistics[1, 6] = 4
    line = (
        r"^scoring, row 2: 1 of 2 tree edit distances differ from apted's, the first is 4 and apted's 3; "
        r"hold the installed numba and apted against constraints\.txt$"
    )
    with pytest.raises(EspalierError, match=line):
        ted_audit([FELL, ATE], [FELL, FELL], statistics, seed=1)


def test_trees_that_are_too_large_for_apted_are_left_out() -> None:
    def chain(nodes: int, leaf: str) -> str:
        return "(A " * (nodes - 1) + f"({leaf} w)" + ")" * (nodes - 1)

    references, hypotheses = ([chain(size, leaf) for size in (MAX_NODES, 2000)] for leaf in "BC")
    found = ted_audit(references, hypotheses, ted_statistics(references, hypotheses), seed=1)
    assert found["pairs"] == 1


def test_no_pairs_are_no_sample() -> None:
    assert ted_audit([], [], ted_statistics([], []), seed=1)["pairs"] == 0
