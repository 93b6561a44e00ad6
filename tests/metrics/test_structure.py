"""Scores of texts under a template, by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.io.errors import ConfigError, EspalierError
from espalier.metrics.family import Family, family_scores, statistics_of
from espalier.metrics.metric import Score
from espalier.metrics.registry import family
from espalier.metrics.structure import (
    HEADLINE,
    Likelihood,
    LineShares,
    OwnWeight,
    SequenceBleu,
    library_scores,
    likelihood_statistics,
    sequence_statistics,
    structure_families,
    text_statistics,
)
from espalier.metrics.texts import CorpusLikelihood, Structured

NONE = CorpusLikelihood([0.0], [0], [0.0], [0])


def scored(family: Family[Any], statistics: Any) -> dict[str, Score]:
    return family_scores({family: statistics}, seed=1, resamples=0)


def values(family: Family[Any], statistics: Any) -> dict[str, float | None]:
    return {name: score.value for name, score in scored(family, statistics).items()}


# --- likelihood ------------------------------------------------------------------------------------------------------


def test_three_perplexities_differ_in_what_they_count() -> None:
    # 12 nats over 3 + 2 characters and 2 end marks, of which the end marks have 2 nats.
    likelihood = CorpusLikelihood([8.0, 4.0], [4, 3], [7.0, 3.0], [3, 2])
    found = values(Likelihood(10), likelihood_statistics(likelihood, 10))
    assert found == pytest.approx(
        {
            "perplexity": math.exp(12 / 7),
            "perplexity_tokens": math.exp(10 / 5),
            "perplexity_padded_10": math.exp(12 / 20),
        }
    )
    assert list(values(Likelihood(0), likelihood_statistics(likelihood, 0))) == ["perplexity", "perplexity_tokens"]


def test_a_row_without_a_model_has_no_perplexity_padded_or_not() -> None:
    found = scored(Likelihood(10), likelihood_statistics(NONE, 10))
    assert {score.value for score in found.values()} == {None}
    assert {score.undefined for score in found.values()} == {"no likelihoods of a model"}


def test_a_diverged_model_is_refused() -> None:
    with pytest.raises(EspalierError, match="the likelihood is not a number"):
        likelihood_statistics(CorpusLikelihood([math.nan], [1], [1.0], [1]), 0)


# --- BLEU ------------------------------------------------------------------------------------------------------------


def test_bleu_1_and_2_by_hand_from_0_to_1() -> None:
    # 3 of 4 characters and 1 of 3 pairs; then 1 of 2 characters, no pair, and a reference of 3 characters.
    references, hypotheses = [list("灯山桥雨"), list("石桥山")], [list("灯山雨雨"), list("石雨")]
    found = values(SequenceBleu("text"), sequence_statistics(references, hypotheses))
    brevity = math.exp(1 - 7 / 6)
    first = [3 / 4, math.sqrt(3 / 4 * 1 / 3)]
    second = [math.exp(1 - 3 / 2) * value for value in (1 / 2, math.sqrt(1 / 2 * 1 / 2))]  # no match: half a pair of 1
    assert found == pytest.approx(
        {
            "text_bleu_1": brevity * 4 / 6,
            "text_bleu_2": brevity * math.sqrt(4 / 6 * 1 / 4),
            "text_bleu_1_sentence": (first[0] + second[0]) / 2,
            "text_bleu_2_sentence": (first[1] + second[1]) / 2,
        }
    )


def test_an_empty_text_has_no_bleu_and_is_counted() -> None:
    found = values(SequenceBleu("pos"), sequence_statistics([["n", "v"], ["n", "v"]], [[], ["n", "v"]]))
    assert found["pos_bleu_1_sentence"] == pytest.approx(0.5)
    assert found["pos_bleu_1"] == pytest.approx(math.exp(1 - 4 / 2))
    assert set(values(SequenceBleu("pos"), sequence_statistics([["n"]], [[]])).values()) == {0.0}


def test_the_prompt_counts_only_where_the_name_says_so() -> None:
    made = Structured(
        [list("灯山桥雨")],
        [list("灯山石令")],
        [2],
        {"pc": ([list("BEBE")], [list("BEBE")]), "pos": ([list("nnvv")], [[]])},
        likelihood=NONE,
        own_weights=[0.25],
        draws=[0],
    )
    families = statistics_of(structure_families(made, places=0), made)
    assert [each.key for each in families] == [
        "likelihood:0", "bleu:text", "bleu:text:whole", "bleu:pc", "bleu:pc:whole", "bleu:pos", "bleu:pos:whole",
        "own_weight", "texts",
    ]  # fmt: skip
    found = {name: score.value for name, score in family_scores(families, seed=1, resamples=0).items()}
    assert (found["text_bleu_1"], found["text_bleu_1_whole"]) == (0.0, pytest.approx(0.5))
    assert found["pc_bleu_2"] == found["pc_bleu_2_whole"] == pytest.approx(1.0)
    assert found["pos_bleu_1"] == found["pos_bleu_1_whole"] == 0.0  # it could not be tagged
    assert found["own_weight"] == 0.25 and set(HEADLINE.values()) <= found.keys()


SYMBOLS = st.sampled_from("abcd")
WANTED, FOUND = st.lists(SYMBOLS, min_size=4, max_size=9), st.lists(SYMBOLS, max_size=9)


@given(st.lists(st.tuples(WANTED, FOUND, WANTED, FOUND, st.integers(0, 3)), min_size=1, max_size=6))
def test_corpus_bleu_is_that_of_sacrebleu(rows: list[tuple[list[str], list[str], list[str], list[str], int]]) -> None:
    references, hypotheses, wanted, found, prompts = (list(column) for column in zip(*rows, strict=True))
    made = Structured(
        references,
        hypotheses,
        prompts,
        {"pos": (wanted, found)},
        likelihood=CorpusLikelihood(*([0] * len(rows) for _ in range(4))),
        own_weights=[0.0] * len(rows),
        draws=[0] * len(rows),
    )
    families = statistics_of(structure_families(made, places=0), made)
    ours = {name: score.value for name, score in family_scores(families, seed=1, resamples=0).items()}
    library = library_scores(made)
    assert len(library) == 8
    assert {name: ours[name] for name in library} == pytest.approx(library, abs=1e-9)


def test_models_without_attention_do_not_lower_the_weight_on_the_own_symbol() -> None:
    assert values(OwnWeight(), np.array([[0.5, 1.0], [0.0, 0.0], [0.2, 1.0]])) == {"own_weight": pytest.approx(0.35)}
    assert scored(OwnWeight(), np.array([[0.0, 0.0]]))["own_weight"].undefined == "no attention to symbols"


# --- length and variety ----------------------------------------------------------------------------------------------


def test_lengths_within_0_2_and_4() -> None:
    """Lengths of 10 against 10, 12, 14 and 15."""
    hypotheses = [["字"] * size for size in (10, 12, 14, 15)]
    found = values(LineShares(), text_statistics([["字"] * 10] * 4, hypotheses, [0] * 4, draws=[0] * 4))
    assert [found[f"length_within_{delta}"] for delta in (0, 2, 4)] == [25.0, 50.0, 75.0]
    assert found["in_training"] is found["lines_in_training"] is None


def test_texts_are_distinct_within_their_draw_and_held_against_whole_training_lines() -> None:
    texts = [list("灯山"), list("灯山"), list("桥"), list("灯山")]
    once = iter([("灯", "山"), ("灯", "山", "桥")])  # read once: they may be more than fit into memory
    statistics = text_statistics(texts, texts, [0] * 4, draws=[1, 1, 1, 2], training=once)
    found = values(LineShares(), statistics)
    assert found["distinct_texts"] == pytest.approx(100 * (2 + 1) / 4)  # two of three, and one of one
    assert found["in_training"] == found["lines_in_training"] == pytest.approx(75.0)


def test_lines_end_at_commas_of_lyrics_and_one_that_the_prompt_gives_does_not_count() -> None:
    training = {tuple("灯山，桥雨"), tuple("石令")}
    texts = [list("灯山，桥雨"), list("石令，灯雨"), list("灯山，石令")]
    found = values(LineShares(), text_statistics(texts, texts, [0, 0, 2], draws=[0] * 3, training=training))
    # Written are 灯山, 桥雨; 石令, 灯雨; 石令. Of these 灯雨 alone is new, and one whole text is known.
    assert found["lines_in_training"] == pytest.approx(100 * 4 / 5)
    assert found["in_training"] == pytest.approx(100 / 3)


def test_an_english_text_is_one_line_whatever_marks_are_words_of_it() -> None:
    texts = [["a", "&", "b", "said"], ["a", "b", "said"]]
    training = {("a", "&", "b", "said"), ("b", "said"), ("c", "&", "a")}
    found = values(LineShares(), text_statistics(texts, texts, [0, 0], draws=[0, 0], training=training))
    assert found["lines_in_training"] == found["in_training"] == pytest.approx(50.0)


def test_an_unknown_family_is_refused() -> None:
    for key in ("blue:text", "likelihood:many", "texts:whole"):
        with pytest.raises(ConfigError, match=f"metrics of compose: unknown family '{key}'"):
            family(key, "compose")


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(EspalierError, match="pair them by id"):
        text_statistics([["a"]], [], [], draws=[])
    with pytest.raises(EspalierError, match="pair them by id"):
        Structured([["a"]], [["a"]], [], {}, likelihood=NONE, own_weights=[0.0], draws=[0])
    texts: dict[str, Any] = {"references": [["a"]] * 2, "hypotheses": [["a"]] * 2, "prompts": [0] * 2}
    rest: dict[str, Any] = {"symbols": {}, "own_weights": [0.0] * 2, "draws": [0] * 2}
    both = CorpusLikelihood([0.0] * 2, [0] * 2, [0.0] * 2, [0] * 2)
    Structured(**texts, **rest, likelihood=both)
    for changes, message in (
        ({"likelihood": NONE}, "1 likelihood for 2 references"),
        ({"draws": [0]}, "1 draws for 2 references"),
        ({"symbols": {"pos": ([["n"]] * 2, [["n"]])}}, "1 pos symbols for 2 references"),
    ):
        with pytest.raises(EspalierError, match=message):
            Structured(**{**texts, **rest, "likelihood": both, **changes})


def test_names_of_one_metric_are_never_those_of_another() -> None:
    families: tuple[Family[Any], ...] = (
        Likelihood(42), Likelihood(42, "dev"), SequenceBleu("text"), SequenceBleu("text", whole=True),
        SequenceBleu("pos"), LineShares(),
    )  # fmt: skip
    names = [metric.name for each in families for metric in each.metrics]
    assert len(set(names)) == len(names)
    assert np.all([len(metric.signature) > 5 for each in families for metric in each.metrics])
