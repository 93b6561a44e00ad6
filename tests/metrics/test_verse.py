"""All metrics of generated verse in one call."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
import pytest

from espalier.io.errors import ConfigError, EspalierError
from espalier.metrics.family import family_scores, statistics_of
from espalier.metrics.integrity import Integrity
from espalier.metrics.literals import Literals
from espalier.metrics.metric import Score, details_json
from espalier.metrics.perplexity import Perplexity, perplexity_statistics
from espalier.metrics.prosody import Prosody
from espalier.metrics.registry import family
from espalier.metrics.texts import CorpusLikelihood, MarkLikelihoods, Verses
from espalier.metrics.verse import HEADLINE, by_format, verse_families
from tests.metrics.keys import INTEGRITY, OF_PARTS, VERSE, VERSE_DEV, VERSE_PARTS

POEM = "灰鹤踏冰流，\n一雁到空楼。\n满地纸灯秋。"
OTHER = "泥炉煮旧雪，\n满树是新春。\n石上坐闲人。"
SONNET = "a light upon the sea ,\nthe end of all the day ,\nit calls and calls to me ,\nand then it goes away ."
LIKELIHOOD = CorpusLikelihood(nll=[36.0], tokens=[18], word_nll=[30.0], words=[15])


def verse_statistics(*texts: list[str], rules: Any, seed: int, **given: Any) -> dict[Any, Any]:
    verses = Verses(*texts, **given)
    return statistics_of(verse_families(verses, rules=rules, seed=seed), verses)


def verse_scores(
    *texts: list[str], seed: int = 1, ids: list[str] | None = None, resamples: int = 1000, **options: Any
) -> dict[str, Score]:
    statistics = verse_statistics(*texts, seed=seed, **options)
    return family_scores(statistics, seed=seed, groups=ids, resamples=resamples)


@pytest.mark.parametrize(
    ("references", "hypotheses", "rhymes", "language", "rules", "likelihood"),
    [
        ([POEM], [OTHER], ["AAA"], "zh", "songci", LIKELIHOOD),
        ([POEM, OTHER], ["", ""], ["AAA", ".AA"], "zh", "songci", None),
        ([SONNET], [SONNET], ["ABAB"], "en", "sonnet", LIKELIHOOD),
        ([], [], [], "zh", "songci", None),
        ([], [], [], "en", "sonnet", None),
    ],
)
def test_the_keys_are_the_same_whatever_was_scored(
    references: list[str],
    hypotheses: list[str],
    rhymes: list[str],
    language: str,
    rules: str,
    likelihood: CorpusLikelihood | None,
) -> None:
    found = verse_scores(
        references,
        hypotheses,
        rhymes,
        language=language,  # type: ignore[arg-type]
        rules=rules,
        seed=1,
        likelihood=likelihood,
        resamples=50,
    )
    assert found.keys() == set(VERSE)
    assert len(set(VERSE)) == len(VERSE)
    for score in found.values():
        assert (score.value is None) == (score.undefined is not None)
    printed = details_json(found)
    assert all(printed[part].keys() == set(VERSE) for part in ("scores", "intervals", "signatures"))
    json.dumps(printed, allow_nan=False)


def test_every_family_has_a_row_per_text_and_metrics_to_compare_systems_by() -> None:
    for language, rules, likelihood in (("zh", "songci", None), ("en", "sonnet", LIKELIHOOD)):
        statistics = verse_statistics(
            [SONNET], [SONNET], ["ABAB"], language=language, rules=rules, seed=7, likelihood=likelihood
        )
        assert {len(rows) for rows in statistics.values()} == {1}
        assert sorted(metric.name for each in statistics for metric in each.metrics) == sorted(VERSE)
    unknown = """rhyme rhyme:zh:u rhyme:zh:i:strict rhyme:zh:u:strict:1 rhyme:fr:u:strict rhyme:en:u:loose
        rhyme_shuffled:zh:u:strict rhyme_shuffled:zh:u:strict:one format format:haiku distinct:macro"""
    for key in unknown.split():
        with pytest.raises(ConfigError, match=f"metrics of verse: unknown family '{key}'"):
            family(key, "verse")


def test_parts_have_the_scores_of_their_own_texts() -> None:
    references, hypotheses = [POEM, OTHER, POEM], [OTHER, "", POEM]
    likelihood = CorpusLikelihood(nll=[36.0, 18.0, 9.0], tokens=[18, 9, 9], word_nll=[30.0, 7.0, 7.0], words=[15, 7, 7])
    statistics = verse_statistics(
        references, hypotheses, ["AAA", ".AA", "AAA"], language="zh", rules="songci", seed=1, likelihood=likelihood
    )
    found = family_scores(by_format(statistics, [True, False, True]), seed=1, resamples=0)
    assert set(found) == set(VERSE_PARTS)
    alone = verse_scores(
        [POEM, POEM], [OTHER, POEM], ["AAA", "AAA"], language="zh", rules="songci", resamples=0,
        likelihood=CorpusLikelihood([36.0, 9.0], [18, 9], [30.0, 7.0], [15, 7]),
    )  # fmt: skip
    for name in OF_PARTS:
        assert found[f"{name}_seen"].value == pytest.approx(alone[name].value), name
    # e^(18/9), and nothing written.
    assert found["perplexity_new"].value == pytest.approx(np.exp(2)) and found["format_macro_f1_new"].value == 0.0
    none = family_scores(by_format(statistics, [True] * 3), seed=1, resamples=0)
    assert none["format_macro_f1_new"].undefined == "no text of a format that is new, or no segments"
    assert none["rhyme_micro_f1_seen"].value == family_scores(statistics, seed=1)["rhyme_micro_f1"].value


def test_pooled_distinct_of_draws_is_the_mean_of_the_draws() -> None:
    texts, draws = [POEM, OTHER, POEM, POEM], [3, 3, 8, 8]
    statistics = verse_statistics(texts, texts, ["AAA"] * 4, language="zh", rules="songci", seed=1, draws=draws)
    expected = []
    for draw in ([POEM, OTHER], [POEM, POEM]):
        grams = [text.replace("\n", "")[at : at + 2] for text in draw for at in range(len(text.replace("\n", "")) - 1)]
        expected.append(100 * len(set(grams)) / len(grams))
    score = family_scores(statistics, seed=1)["distinct_2_micro"]
    assert score.value == pytest.approx(np.mean(expected)) and score.low is None


def test_the_headline_is_of_the_keys_under_short_names() -> None:
    assert set(HEADLINE.values()) <= {*VERSE, *VERSE_DEV, *INTEGRITY}
    assert 5 <= len(HEADLINE) <= 8 and all(len(name) <= 8 for name in HEADLINE)


def test_identical_texts_score_one_hundred() -> None:
    for text, rhyme, language, rules in ((POEM, "AAA", "zh", "songci"), (SONNET, "ABAB", "en", "sonnet")):
        found = verse_scores([text] * 2, [text] * 2, [rhyme] * 2, language=language, rules=rules, seed=1)  # type: ignore[arg-type]
        for key, score in found.items():
            own = ("shuffled", "within", "unknown")  # not held against the reference
            if key.startswith(("format", "rhyme")) and not any(map(key.__contains__, own)) and score.value is not None:
                assert (score.value, score.low, score.high) == (100.0, 100.0, 100.0), key


def test_empty_outputs_are_kept_and_count_as_wrong() -> None:
    # One of two poems is there: p, r and F1 are 1 and 0.
    found = verse_scores([POEM, OTHER], [POEM, ""], ["AAA", ".AA"], language="zh", rules="songci", seed=1)
    assert found["format_macro_f1"].value == found["rhyme_macro_f1"].value == 50.0
    assert found["format_micro_r"].value == 50.0  # 3 of 6 units
    assert found["format_micro_p"].value == 100.0
    assert found["rhyme_micro_r"].value == 60.0  # 3 of 5 places
    assert found["rhyme_accuracy"].value == 50.0
    assert all(score.segments == 2 for key, score in found.items() if not key.startswith("p"))


def test_perplexities_come_from_the_likelihoods() -> None:
    found = verse_scores([POEM], [POEM], ["AAA"], language="zh", rules="songci", seed=1, likelihood=LIKELIHOOD)
    # 36 nats over 18 tokens, 30 over 15 words: e^2 both; released 2^2
    assert found["perplexity"].value == found["perplexity_words"].value == pytest.approx(7.389056)
    assert found["ppl_released"].value == 4.0
    dev = family_scores({Perplexity("dev"): perplexity_statistics(LIKELIHOOD)}, seed=1)
    assert tuple(dev) == VERSE_DEV
    assert [score.value for score in dev.values()] == [found[key].value for key in VERSE[:3]]
    assert dev["perplexity_dev"] == found["perplexity"]


def test_samples_of_one_poem_are_resampled_together_and_pooled_by_draw() -> None:
    how = {"language": "zh", "rules": "songci", "seed": 1}
    references, hypotheses, rhymes = [POEM, OTHER] * 2, [POEM, OTHER] * 2, ["AAA", ".AA"] * 2
    once = verse_scores(references[:2], hypotheses[:2], rhymes[:2], **how)  # type: ignore[arg-type]
    twice = verse_scores(
        references,
        hypotheses,
        rhymes,
        ids=["a", "b"] * 2,
        draws=[0, 0, 1, 1],
        likelihood=CorpusLikelihood([36.0] * 4, [18] * 4, [30.0] * 4, [15] * 4),
        **how,  # type: ignore[arg-type]
    )
    for key in VERSE:
        if key.startswith(("distinct", "format")):
            assert (twice[key].value, twice[key].low) == pytest.approx((once[key].value, once[key].low)), key
    assert "|n:4|groups:2|" in twice["format_macro_f1"].signature


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hypotheses": [POEM]}, "scoring: 1 hypotheses for 2 references; pair them by id before scoring"),
        ({"rhymes": ["AAA"] * 3}, "scoring: 3 rhymes for 2 references"),
        ({"likelihood": LIKELIHOOD}, "scoring: 1 likelihood for 2 references"),
        ({"draws": [0, 0, 1]}, "scoring: 3 draws for 2 references"),
        ({"tunes": ["灯词"]}, "scoring: 1 tunes for 2 references"),
        ({"templates": []}, "scoring: 0 templates for 2 references"),
        ({"marks": MarkLikelihoods([1.0], [1], [3], [1.0], [1])}, "scoring: 1 marks for 2 references"),
        ({"seeds": [1]}, "scoring: 1 seeds for 2 references"),
        ({"samples": [1]}, "scoring: 1 samples for 2 references"),
        ({"references": [POEM, ""]}, "scoring, row 2: the reference is empty"),
        ({"rhymes": ["AAA", "AA"]}, "scoring, row 2: 2 rhyme letters for 3 units; give one letter per unit"),
    ],
)
def test_what_does_not_fit_together_is_refused(changes: dict[str, Any], message: str) -> None:
    given = {"references": [POEM, OTHER], "hypotheses": [POEM, OTHER], "rhymes": ["AAA", ".AA"], **changes}
    with pytest.raises(EspalierError) as caught:
        Verses(**given, language="zh")
    assert str(caught.value).startswith(message)


def test_the_same_seed_gives_the_same_scores_and_another_seed_other_intervals() -> None:
    texts = [POEM, OTHER, POEM + "\n又春。", "山。"] * 5
    rhymes = [""] * len(texts)
    first, again, other = (
        verse_scores(texts, texts[::-1], rhymes, language="zh", rules="songci", seed=seed) for seed in (1, 1, 2)
    )
    assert first == again
    assert first["format_macro_f1"].value == other["format_macro_f1"].value
    assert (first["format_macro_f1"].low, first["rhyme_macro_f1"].low) != (
        other["format_macro_f1"].low,
        other["rhyme_macro_f1"].low,
    )


def test_a_thousand_poems_with_a_thousand_resamples_take_seconds() -> None:
    texts = [POEM, OTHER] * 500
    began = time.perf_counter()
    verse_scores(texts, texts, ["AAA", ".AA"] * 500, language="zh", rules="songci", seed=1)
    assert time.perf_counter() - began < 10


@pytest.mark.parametrize(("wanted", "name"), [(Prosody(), "tunes"), (Integrity(), "marks"), (Literals(), "templates")])
def test_a_family_names_what_it_lacks(wanted: Any, name: str) -> None:
    with pytest.raises(EspalierError, match=rf"scoring: no {name} of the verses; give Verses\(\.\.\., {name}="):
        wanted.statistics(Verses([POEM], [POEM], ["AAA"], language="zh"))
