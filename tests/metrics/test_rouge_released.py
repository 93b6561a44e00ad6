"""ROUGE-L with a weight: by hand, above ROUGE-1 where the order is kept, and on texts that others published."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.metrics.metric import scores
from espalier.metrics.paraphrase import paraphrase_statistics
from espalier.metrics.rouge import rouge_statistics
from espalier.metrics.rouge_released import ReleasedRouge, released_rouge_l
from espalier.metrics.texts import Pairs

TEXTS = st.lists(st.sampled_from(["The", "cats", "cat", "sings", "singing", "a", ".", "3"]), max_size=8).map(" ".join)


def test_values_worked_out_by_hand() -> None:
    # "the cat on mat" is common to six and six words: P = R = (4/6)^(5/6) = .71328, while ROUGE-1 and L have 4/6.
    even = released_rouge_l(["the cat sat on the mat"], ["the cat lay on a mat"])[0, 0]
    assert even == pytest.approx(0.71328, abs=5e-6)
    # "the cat": P = (2/2)^(5/6) = 1, R = (2/6)^(5/6) = .40031, F = 2 (.40031) / 1.40031 = .57175.
    short = released_rouge_l(["the cat sat on the mat"], ["the cat"])[0, 0]
    assert short == pytest.approx(0.57175, abs=5e-6)
    assert rouge_statistics(["the cat sat on the mat"], ["the cat lay on a mat"])[0, 0] == pytest.approx(4 / 6)


def test_stems_count_and_marks_do_not() -> None:
    assert released_rouge_l(["She sings ."], ["she singing !"]).tolist() == [[1.0, 1.0]]


def test_a_reference_without_a_token_does_not_count() -> None:
    assert released_rouge_l(["。"], ["。"]).tolist() == [[0.0, 0.0]]
    assert released_rouge_l(["a"], [""]).tolist() == [[0.0, 1.0]]
    (score,) = scores(ReleasedRouge().metrics, released_rouge_l(["你好"], ["你好"]), seed=0, resamples=0).values()
    assert score.value is None


def test_a_run_has_the_metric_if_it_names_the_family() -> None:
    pairs = Pairs(["a"], ["the cat"], ["the cat"])
    assert {*paraphrase_statistics(pairs, scored=["rouge_released"])} == {ReleasedRouge()}
    assert ReleasedRouge() not in paraphrase_statistics(pairs, scored=["similarity"])


@given(TEXTS, TEXTS)
@settings(deadline=None)
def test_the_weight_raises_what_is_neither_0_nor_1(reference: str, hypothesis: str) -> None:
    plain, weighted = rouge_statistics([reference], [hypothesis])[0, 2], released_rouge_l([reference], [hypothesis])[0]
    assert (weighted[0] > plain) == (0 < plain < 1)
    assert weighted[0] == pytest.approx(plain) or 0 < plain < 1


@pytest.mark.skipif(not os.environ.get("ESPALIER_MIRROR"), reason="the released texts are not at hand")
def test_published_texts_have_the_value_that_py_rouge_gives_them() -> None:
    folder = Path(os.environ["ESPALIER_MIRROR"]) / "guig_released"
    references, outputs = (
        (folder / name).read_text(encoding="utf-8").splitlines()
        for name in ("test_ref.txt", "text.full.v-submit.11.19.txt")
    )
    # py-rouge 1.1 gives 72.21; it has other stems in few words (WordNet's exceptions).
    assert 100 * np.mean(released_rouge_l(references, outputs)[:, 0]) == pytest.approx(72.21, abs=0.1)
