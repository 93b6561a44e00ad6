"""Integrity: the perplexity of the marks that end units, by both logarithms, pooled and text by text."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.io.errors import EspalierError
from espalier.metrics.family import family_scores, statistics_of
from espalier.metrics.integrity import Integrity, deviation_metrics, integrity_statistics
from espalier.metrics.metric import Score
from espalier.metrics.texts import MarkLikelihoods, Verses
from espalier.metrics.verse import verse_families
from tests.metrics.keys import INTEGRITY

#: Probabilities of the final marks of three texts: 1/2 and 1/8; 1/16; and none, of two units.
CERTAIN = [[0.5, 0.125], [0.0625], []]
LIKELIHOODS = MarkLikelihoods(
    nats=[-sum(map(math.log, text)) for text in CERTAIN],
    marks=[2, 1, 0],
    units=[2, 3, 2],
    reference_nats=[2 * math.log(2), math.log(4), 0.0],
    reference_marks=[2, 1, 0],
)


def scored(
    likelihoods: MarkLikelihoods, seeds: list[int] | None = None, samples: list[int] | None = None
) -> dict[str, Score]:
    zeros, texts = [0] * len(likelihoods.nats), ["山。"] * len(likelihoods.nats)
    draws = {"seeds": seeds or zeros, "samples": samples or zeros}
    verses = Verses(texts, texts, [""] * len(texts), "zh", marks=likelihoods, **draws)  # type: ignore[arg-type]
    families = (Integrity(), Integrity(*(len({*labels}) for labels in draws.values())))
    found = family_scores(statistics_of(families, verses), seed=1, resamples=0)
    assert tuple(found) == INTEGRITY
    return found


def test_both_logarithms_pooled_and_text_by_text_are_worked_out_by_hand() -> None:
    found = scored(LIKELIHOODS)
    # Bits: 1 + 3 and 4, of three marks: 8/3. Nats are bits times ln 2.
    assert found["integrity"].value == pytest.approx(2 ** (8 / 3))
    assert found["integrity_nats"].value == pytest.approx(2 ** (8 / 3 * math.log(2)))
    # Text by text 2 bits and 4 bits to a mark; the third text has no mark, and no value.
    assert found["integrity_texts"].value == pytest.approx((4 + 16) / 2)
    assert found["integrity_texts_nats"].value == pytest.approx((2 ** (2 * math.log(2)) + 2 ** (4 * math.log(2))) / 2)
    assert found["integrity_reference"].value == pytest.approx(2 ** (4 / 3))
    assert found["integrity_times_reference"].value == pytest.approx(2 ** (8 / 3 - 4 / 3))
    assert found["integrity_marked"].value == pytest.approx(100 * 3 / 7)
    assert found["integrity_deviation"].undefined == "one sample"


def test_texts_without_seeds_and_samples_are_one_sample() -> None:
    verses = Verses(*(["山。"] * 3,) * 2, [""] * 3, "zh", marks=LIKELIHOODS)
    families = [each for each in verse_families(verses, rules="songci", seed=1) if isinstance(each, Integrity)]
    assert family_scores(statistics_of(families, verses), seed=1, resamples=0) == scored(LIKELIHOODS)


def test_a_run_without_judge_has_every_key_and_no_value() -> None:
    nothing = MarkLikelihoods([0.0] * 4, [0] * 4, [0] * 4, [0.0] * 4, [0] * 4)
    for samples in ([0, 0, 0, 0], [0, 1, 0, 1]):
        found = scored(nothing, samples=samples)
        assert all(score.value is None for score in found.values())
        assert found["integrity"].undefined == "no judge"


def test_the_deviation_is_that_of_the_samples_of_a_seed() -> None:
    # Two seeds of three samples of two texts, of 1 mark each.
    nats = np.array([[[1.0, 2.0], [2.0, 2.0], [0.5, 3.0]], [[4.0, 4.0], [4.0, 4.5], [5.0, 5.5]]])
    rows = [(seed, sample, text) for text in range(2) for seed in range(2) for sample in range(3)]
    ones = [1] * len(rows)
    likelihoods = MarkLikelihoods([float(nats[row]) for row in rows], ones, ones, [0.0] * len(rows), ones)
    found = scored(likelihoods, [7 + seed for seed, _, _ in rows], [sample for _, sample, _ in rows])
    pooled = [[math.exp(sum(texts) / 2) for texts in seed] for seed in nats.tolist()]
    assert found["integrity_deviation"].value == pytest.approx(math.sqrt(sum(stdev(seed) ** 2 for seed in pooled) / 2))
    texts = [[sum(2**nat for nat in sample) / 2 for sample in seed] for seed in nats.tolist()]
    expected = math.sqrt(sum(stdev(seed) ** 2 for seed in texts) / 2)
    assert found["integrity_texts_nats_deviation"].value == pytest.approx(expected)
    assert found["integrity_deviation"].low is None


@given(st.lists(st.tuples(st.floats(0, 50), st.integers(1, 9)), min_size=1, max_size=8))
def test_base_two_of_nats_is_never_above_base_two_of_bits(texts: list[tuple[float, int]]) -> None:
    nats, marks = [text[0] for text in texts], [text[1] for text in texts]
    found = scored(MarkLikelihoods(nats, marks, marks, nats, marks))
    for key in ("integrity", "integrity_texts"):
        bits, mixed = found[key].value, found[f"{key}_nats"].value
        assert bits is not None and mixed is not None and 1 <= mixed <= bits * (1 + 1e-9)
    assert found["integrity"].value == pytest.approx(found["integrity_reference"].value)


def test_what_is_no_number_or_of_another_length_is_refused() -> None:
    with pytest.raises(EspalierError, match=r"scoring, row 2: the judge's log-probability is not a number; train"):
        integrity_statistics(replace(LIKELIHOODS, nats=[1.0, math.nan, 0.0]))
    with pytest.raises(EspalierError, match="2 marks for 3 texts"):
        integrity_statistics(replace(LIKELIHOODS, marks=[1, 1]))


def test_a_certain_blunder_is_called_too_large_and_not_infinite() -> None:
    ones = [1]
    assert scored(MarkLikelihoods([2000.0], ones, ones, [0.0], ones))["integrity"].undefined == "too large"
    assert len(deviation_metrics(1, 5)) == 4
