"""The two protocols of C-DNPG: their numbers by hand and by the libraries, and no name that both have."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.io.errors import ConfigError, EspalierError
from espalier.metrics import paraphrase
from espalier.metrics.family import by_part, family_scores
from espalier.metrics.ibleu import (
    Copies,
    Paper,
    Released,
    cleaned,
    copy_statistics,
    library_paper,
    paper_statistics,
    released_statistics,
)
from espalier.metrics.metric import confirmed
from espalier.metrics.nltk_bleu import nltk_bleu
from espalier.metrics.paraphrase import PROTOCOL_HEADLINE, SCORED, protocol_statistics
from espalier.metrics.registry import family
from espalier.metrics.texts import Pairs
from tests.metrics.keys import EXPANSION, PARAPHRASE

SOURCES = ["what is a good lamp ?", "a moth likes what ?", "who lit it ?"]
REFERENCES = ["which lamp is good ?", "what does a moth like ?", "who lit it ?"]
HYPOTHESES = ["what is a lamp ?", "a moth likes what ?", "who has lit it ?"]


def values(families: dict[Any, Any]) -> dict[str, float | None]:
    return {key: score.value for key, score in family_scores(families, seed=1, resamples=0).items()}


def scored(*sides: list[str], **options: Any) -> dict[str, float | None]:
    whole = Pairs(*sides)
    return values(protocol_statistics(whole, whole, pieces=19, **options))


def test_no_name_is_of_two_protocols_or_of_guig() -> None:
    families = (Released("nltk_3_4", 19), Paper((0.8,), 19), Paper((0.8,), "whole"), Copies())
    names = [{metric.name for metric in each.metrics} for each in families]
    assert sum(map(len, names)) == len(set().union(*names))
    assert not set().union(*names) & {*PARAPHRASE, *EXPANSION}
    found = {*scored(SOURCES, REFERENCES, HYPOTHESES)}
    parts = {f"paper_ibleu_80_{part}" for part in ("unseen", "joined")}
    assert {*PROTOCOL_HEADLINE.values()} <= found | parts


def test_clean_up_is_bert_s() -> None:
    assert cleaned("isn ' t it , what ' s lit ? ( 2 . 5 )") == "isn't it, what's lit? ( 2. 5 )"
    assert cleaned("he does n't , i 'm") == "he doesn't, i'm"


def test_the_released_protocol_by_hand() -> None:
    found = scored(SOURCES[:1], REFERENCES[:1], HYPOTHESES[:1], smoothing="nltk_3_4")
    wanted, written = ["which", "lamp", "is", "good?"], ["what", "is", "a", "lamp?"]
    two, four = 100 * nltk_bleu([wanted], [written], "nltk_3_4")[0]
    # "a" is a letter of "what", so that even here something matches.
    own = 100 * nltk_bleu([list("what")], [written], "nltk_3_4")[0, 1]
    assert found["released_bleu_2"] == pytest.approx(two) and found["released_bleu_4"] == pytest.approx(four)
    assert 0 < own == pytest.approx(found["released_self_bleu"])
    assert found["released_ibleu"] == pytest.approx(0.8 * four - 0.2 * own)
    # One word of four is common: P = R = F = 1/4.
    assert found["released_rouge_l"] == pytest.approx(25.0)


def test_rouge_weighs_recall_by_its_beta() -> None:
    found = scored(["x"], ["a b c d"], ["a b"])
    # P = 1, R = 1/2: (1 + 1.44) / 2 / (1/2 + 1.44)
    assert found["released_rouge_l"] == pytest.approx(100 * 2.44 * 0.5 / (0.5 + 1.44))
    assert found["paper_rouge_l"] == pytest.approx(100 * 2 / 3)


def test_the_formula_is_in_the_name_of_the_family_and_changes_the_value() -> None:
    found = [scored(SOURCES, REFERENCES, HYPOTHESES, smoothing=name) for name in ("nltk_3_4", "nltk_3_5", "nltk_3_6")]
    assert len({round(each["released_bleu_4"] or 0, 6) for each in found}) == 3
    assert len({each["paper_bleu_4"] for each in found}) == 1
    assert "method7/nltk_3_5" in Released("nltk_3_5", 19).metrics[1].signature


def test_the_paper_s_protocol_is_sacrebleu_s_and_its_weighted_difference() -> None:
    whole, cut = Pairs(SOURCES, REFERENCES, HYPOTHESES), Pairs(SOURCES, REFERENCES, [*HYPOTHESES[:2], "who has"])
    families = protocol_statistics(whole, cut, pieces=2)
    library = paraphrase.library_protocols(whole, cut, alphas=(0.8, 0.9))
    found = confirmed(family_scores(families, seed=1, resamples=0), library)
    own = {name for name in found if name.startswith("paper") and "meteor" not in name}
    assert own == {*library}  # every score but METEOR is also the library's
    assert found["paper_bleu_4"].value != found["paper_bleu_4_whole"].value
    for alpha in (80, 90):
        share = alpha / 100
        assert found[f"paper_ibleu_{alpha}"].value == pytest.approx(
            share * library["paper_bleu_4"] - (1 - share) * library["paper_self_bleu"]
        )


def test_the_scores_of_the_parts_are_the_library_s_of_their_pairs_alone() -> None:
    whole, cut = Pairs(SOURCES, REFERENCES, HYPOTHESES), Pairs(SOURCES, REFERENCES, [*HYPOTHESES[:2], "who has"])
    parts = {"unseen": [True, False, True], "joined": [False, False, False]}
    families = protocol_statistics(whole, cut, pieces=2)
    families |= by_part(families, parts)
    library = paraphrase.library_protocols(whole, cut, alphas=(0.8, 0.9), parts=parts)
    chosen = [Pairs(*([side[0], side[2]] for side in both.sides)) for both in (whole, cut)]
    alone = paraphrase.library_protocols(*chosen, alphas=(0.8, 0.9))
    unseen = {name: value for name, value in library.items() if name.endswith("_unseen")}
    assert unseen == {f"{name}_unseen": value for name, value in alone.items()}
    assert not [name for name in library if name.endswith("_joined")]  # no pair is
    own = family_scores(families, seed=1, resamples=0)
    assert {name: own[name].value for name in unseen} == pytest.approx(unseen)
    assert confirmed(own, library).keys() == own.keys()


texts = st.lists(st.lists(st.sampled_from([*"abc", "?", ",", "don ' t"]), min_size=1, max_size=7).map(" ".join),
                 min_size=1, max_size=5)  # fmt: skip


@given(texts, st.randoms(use_true_random=False))
def test_the_statistics_of_segments_are_the_library_s(sides: list[str], random: Any) -> None:
    others = [[*sides], [*sides]]
    for other in others:
        random.shuffle(other)
    whole = Pairs(sides, *others)
    families = {Paper((0.8,), 19): paper_statistics(*whole.sides)}
    confirmed(family_scores(families, seed=1, resamples=0), library_paper(*whole.sides, alphas=(0.8,)))


def test_a_copy_has_full_self_bleu_and_is_counted() -> None:
    found = scored(SOURCES, REFERENCES, SOURCES)
    assert found["paper_self_bleu"] == pytest.approx(100) and found["copied"] == 100
    assert found["words"] == pytest.approx((6 + 5 + 4) / 3)
    assert copy_statistics(["a b", "a b"], ["a b", "a"]).tolist() == [[1, 2, 1], [0, 1, 1]]


def test_one_word_an_empty_output_and_an_empty_source_have_values() -> None:
    found = scored(["what", ""], ["lamp", "lamp"], ["lamp", ""])
    assert found["released_bleu_4"] == pytest.approx(50 * 3**-1.5) and found["released_self_bleu"] == 0
    assert all(value is None or math.isfinite(value) for value in found.values())


@pytest.mark.parametrize("alpha", ["1.5", "-0.1", "nan"])
def test_an_alpha_outside_its_bounds_is_one_line(alpha: str) -> None:
    with pytest.raises(ConfigError, match=rf"metrics of paraphrases: alpha {alpha}; a number from 0 to 1"):
        family(f"paper:{alpha}:19", "paraphrase")


def test_alphas_at_their_bounds() -> None:
    found = scored(SOURCES, REFERENCES, HYPOTHESES, alphas=(0.0, 1.0))
    assert found["paper_ibleu_0"] == pytest.approx(-(found["paper_self_bleu"] or 0))
    assert found["paper_ibleu_100"] == found["paper_bleu_4"]


@pytest.mark.parametrize(
    "key", ["released:nltk_3_7:19", "released:nltk_3_4", "paper:0.8:all", "paper:0.8:19:net", "paper:half:19"]
)
def test_other_families_are_refused(key: str) -> None:
    with pytest.raises(ConfigError, match="family"):
        family(key, "paraphrase")


def test_a_part_has_the_values_of_its_rows_alone() -> None:
    whole = Pairs(SOURCES, REFERENCES, HYPOTHESES)
    families = protocol_statistics(whole, whole, pieces=19, scored=SCORED)
    found = values(by_part(families, {"unseen": [True, False, True], "joined": [False, False, False]}))
    alone = Pairs(*(side[::2] for side in whole.sides))
    for key, value in values(protocol_statistics(alone, alone, pieces=19)).items():
        assert found[f"{key}_unseen"] == pytest.approx(value), key
        assert found[f"{key}_joined"] is None, key


def test_lists_of_different_lengths_are_one_line() -> None:
    for function in (paper_statistics, lambda *sides: released_statistics(*sides, smoothing="nltk_3_4")):
        with pytest.raises(EspalierError, match="1 hypotheses for 2 references"):
            function(["a", "b"], ["a", "b"], ["a"])
    assert paper_statistics([], [], []).shape == (0, 23)
    assert np.array(released_statistics([], [], [], smoothing="nltk_3_4")).shape == (0, 6)
