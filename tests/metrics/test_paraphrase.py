"""All metrics of paraphrases and of expansions: the keys are fixed, and each number is its family's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from espalier.io.errors import ConfigError, EspalierError
from espalier.metrics import ted
from espalier.metrics.expansion import Expansion, Template, template_statistics
from espalier.metrics.family import family_scores, statistics_of
from espalier.metrics.meteor import Meteor
from espalier.metrics.metric import Score
from espalier.metrics.paired import paired
from espalier.metrics.paraphrase import EXPANSION_HEADLINE, HEADLINE, paraphrase_statistics
from espalier.metrics.registry import family
from espalier.metrics.ted import GuideTed, Ted, Trees
from espalier.metrics.texts import Pairs
from espalier.syntax.constituency import TreeError
from tests.metrics.keys import EXPANSION, PARAPHRASE

ATE = "(S (NP (PRP I)) (VP (VBD ate) (NP (DT an) (NN apple))))"
FED = "(S (NP (PRP I)) (VP (VBD fed) (NP (NNS cows))))"
FELL = "(S (NP (PRP It)) (VP (VBD fell)))"
SOURCES, REFERENCES, TREES = ["an apple i ate"] * 2, ["i ate an apple"] * 2, [ATE, ATE]


def statistics(
    hypotheses: list[str], trees: list[str], likelihood: Any = None, **options: Any
) -> dict[Any, np.ndarray[Any, Any]]:
    return paraphrase_statistics(Pairs(SOURCES, REFERENCES, hypotheses, likelihood), Trees(TREES, trees, **options))


def scored(statistics: dict[Any, np.ndarray[Any, Any]], resamples: int = 0, **options: Any) -> dict[str, Score]:
    return family_scores(statistics, seed=1, resamples=resamples, **options)


def values(found: dict[str, Score]) -> dict[str, float | None]:
    return {key: score.value for key, score in found.items()}


# --- Paraphrases -----------------------------------------------------------------------------------------------------


def test_a_perfect_and_an_empty_output() -> None:
    found = scored(statistics(["i ate an apple", ""], [ATE, ""]), resamples=20)
    assert found.keys() == set(PARAPHRASE)
    half = values(found)
    assert half["bleu"] == pytest.approx(100 * math.exp(1 - 8 / 4))
    assert half["rouge_1"] == half["rouge_l"] == half["template_kept"] == half["ted_unparsed"] == half["empty"] == 50.0
    assert half["meteor"] == pytest.approx(50 * (1 - 0.5 / 64))
    assert half["ted_full"] == 4.0 and half["n_ted_full"] == 0.5
    assert half["repeated_words"] == half["negation_lost"] == half["negation_doubled"] == 0.0
    assert half["perplexity"] is None and found["perplexity"].undefined == "no likelihoods of a model"


def test_every_family_has_a_row_per_segment_and_metrics_to_compare_systems_by() -> None:
    one, other = (statistics(texts, [ATE, FELL]) for texts in (["i ate an apple"] * 2, ["an apple"] * 2))
    keys = []
    for each, rows in one.items():
        assert len(rows) == 2
        keys += [metric.name for metric in each.metrics]
        for metric in each.metrics:
            paired(metric, rows, other[each], seed=0, resamples=5)
    assert sorted(keys) == sorted(PARAPHRASE)


@pytest.mark.parametrize(("headline", "keys"), [(HEADLINE, PARAPHRASE), (EXPANSION_HEADLINE, EXPANSION)])
def test_the_headlines_are_of_the_keys_under_short_names(headline: dict[str, str], keys: tuple[str, ...]) -> None:
    assert set(headline.values()) <= set(keys)
    assert all(len(name) <= 8 for name in headline)
    assert len(HEADLINE | EXPANSION_HEADLINE) <= 9  # one table holds both


def test_copying_the_source_shows() -> None:
    found = values(scored(statistics(SOURCES, [ATE, ATE])))
    assert found["bleu_source"] == pytest.approx(100.0)
    assert found["bleu"] is not None and found["bleu"] < 50


def test_likelihoods_give_a_pooled_perplexity() -> None:
    found = statistics(REFERENCES, TREES, likelihood=([4.0, 6.0], [4, 1]))
    assert scored(found)["perplexity"].value == pytest.approx(math.exp(2.0))


def test_a_template_is_the_top_of_the_guide_or_else_of_the_reference() -> None:
    # ATE and FED agree down to level 3 and no further; words play no part.
    assert template_statistics([ATE] * 3, [FED, FELL, ""]).tolist() == [[1, 1], [0, 1], [0, 1]]
    guided = statistics(REFERENCES, [FELL, ATE], templates=["(S (NP (PRP)) (VP (VBD)))"] * 2)
    assert guided[Template()].tolist() == [[1, 1], [0, 1]]


def test_the_distance_to_the_guide_stands_beside_that_to_the_reference() -> None:
    guided = statistics(REFERENCES, [FELL, FELL], guides=["(S (NP (PRP)) (VP (VBD) (PP)))", ""])
    found = scored(guided)
    assert found["ted_full"].value == 3.0  # to ATE
    # To the guide of 6 nodes one node; the second output had no guide.
    assert guided[GuideTed()].tolist() == [[1, 1, 1 / 6, 1 / 6, 1], [0] * 5]
    assert [found[key].value for key in ted.GUIDE_KEYS] == pytest.approx([1, 1, 1 / 6, 1 / 6])
    assert found["ted_guide_8"].signature.startswith("ted|levels:8|")
    assert "|to:guide" in found["n_ted_guide_full"].signature


def test_a_guide_that_is_the_reference_gives_the_same_distance() -> None:
    found = scored(statistics(REFERENCES, [FELL, ""], guides=TREES))
    for key in ("ted_8", "ted_full", "n_ted_8", "n_ted_full"):
        assert found[key.replace("ted_", "ted_guide_")].value == found[key].value
    unguided = scored(statistics(REFERENCES, TREES))["ted_guide_full"]
    assert unguided.value is None and unguided.undefined == "no guides"


def test_samples_of_one_source_are_resampled_together() -> None:
    found = scored(statistics(REFERENCES, TREES), groups=["a", "a"], resamples=5)
    assert all("groups:1" in score.signature for score in found.values())


def test_no_segments_give_no_values() -> None:
    empty = paraphrase_statistics(Pairs([], [], []), Trees([], []))
    assert set(values(scored(empty, resamples=5)).values()) == {None}


def test_meteor_with_synonyms_is_a_family_of_its_own() -> None:
    (with_them,), (without,) = Meteor(wordnet=True).metrics, Meteor().metrics
    assert with_them.name == without.name == "meteor"
    assert "synonyms:wordnet" in with_them.signature and "synonyms:none" in without.signature


def test_mistakes_are_named() -> None:
    with pytest.raises(EspalierError, match="1 hypothesis_trees for 2 references"):
        statistics(REFERENCES, [ATE])
    with pytest.raises(EspalierError, match="1 guides for 2 references"):
        statistics(REFERENCES, TREES, guides=[ATE])
    with pytest.raises(EspalierError, match="1 likelihood for 2 references"):
        statistics(REFERENCES, TREES, likelihood=([1.0], [1, 1]))
    with pytest.raises(EspalierError, match="scoring, row 1: the reference is empty; filter it out before"):
        paraphrase_statistics(Pairs(["a"], [" "], ["a"]), Trees([ATE], [ATE]))
    with pytest.raises(EspalierError, match="row 2: the template has no tree"):
        statistics(REFERENCES, TREES, templates=[ATE, ""])
    with pytest.raises(TreeError, match="templates, row 2"):
        statistics(REFERENCES, TREES, templates=[ATE, "(S"])
    for key in ("chrf", "bleu:8", "meteor:nltk", "expansion"):
        with pytest.raises(ConfigError, match=f"metrics of paraphrase: unknown family '{key}'"):
            family(key, "paraphrase")


# --- Expansions ------------------------------------------------------------------------------------------------------


def expanded(references: list[str], predicted: list[str], depth: int = 8, **options: Any) -> dict[str, float | None]:
    families = (Ted(), Template(), Expansion(depth))
    return values(scored(statistics_of(families, Trees(references, predicted, **options))))


def test_expansions_have_their_own_keys() -> None:
    found = expanded([ATE] * 4, ["(S (NP (PRP)) (VP (VBD) (NP (DT) (NN))))", FED, "(S (NP (PRP)) (VP (VBD) (NP)))", ""])
    assert found.keys() == set(EXPANSION) and EXPANSION[: len(ted.KEYS)] == ted.KEYS
    assert found["exact"] == 25.0
    assert found["template_kept"] == 75.0
    assert found["nodes_ratio"] == pytest.approx((8 + 7 + 6 + 0) / 32)
    # NNS stands above no word of the references, a bare NP is no tag, an empty tree is nothing.
    assert found["tags_at_leaves"] == 25.0
    assert found["ted_full"] == pytest.approx((0 + 2 + 2 + 8) / 4)
    assert found["ted_unparsed"] == 25.0


def test_expansions_are_compared_down_to_the_models_depth() -> None:
    cut = expanded([ATE], ["(S (NP (PRP)) (VP (VBD) (NP)))"], depth=3)
    assert (cut["exact"], cut["nodes_ratio"], cut["tags_at_leaves"]) == (100.0, 1.0, 100.0)
    assert cut["ted_full"] == 2.0  # the reference whole
    assert "cut:3" in Expansion(3).metrics[0].signature


def test_expansions_answer_to_the_template_they_were_given() -> None:
    assert expanded([ATE], [FELL], templates=[FELL])["template_kept"] == 100.0


def test_expansions_and_references_never_slide_apart() -> None:
    with pytest.raises(EspalierError, match="2 hypotheses for 1 references"):
        expanded([ATE], [ATE, ATE])
    with pytest.raises(EspalierError, match="the reference has no tree"):
        expanded([""], [ATE])
