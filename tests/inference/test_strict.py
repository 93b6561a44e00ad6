"""Paraphrases whose own parse must keep the template, with a parser that was trained on two trees.

The trained parser (`trivial`) gives a sentence of at least three words the tree (S (NP ...) (TAG)), where TAG is the
most frequent tag of its last word: NN if the word is unknown. So a text keeps (S (NP) (NN)) if it has three words or
more and ends with none of the few words that the parser knows as anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tiny_models import TREES

import espalier
from espalier.inference.requests import PairRequest
from espalier.inference.results import Paraphrase, StrictParaphrase
from espalier.inference.system import System
from espalier.inference.writer import ArgumentError
from espalier.io.errors import ConfigError
from espalier.syntax.constituency import read_tree, tags, words, write_tree
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.parser import Sentence
from espalier.syntax.parsers.trivial_backend import TrivialParser, counted

COOK, SLEEP = "the cook peels an onion .", "now , i sleep ."
GIVEN = "(S (NP (DT the) (NN cook)) (NN))"
LONG, NEVER = "(S (NP) (NN))", "(S (ADVP) (,) (NP) (VP) (.))"
DEEP = "(S (NP (NP) (NN)) (NN))"
BANK = [
    Parse(words(tree), tags(tree), write_tree(tree))
    for tree in (read_tree("(S (NP (NP (DT a) (NN cook)) (NN knife)) (VP (VB sees) (NP (NN it))) (. .))"),
                 *map(read_tree, TREES.values()))
]  # fmt: skip


class Counting(TrivialParser):
    """The trained parser, which keeps what it was given in each call."""

    calls: list[list[Sentence]]

    def parse(self, sentences: Sequence[Sentence]) -> list[Any]:
        self.calls.append([*sentences])
        return super().parse(sentences)


@pytest.fixture
def parser() -> Counting:
    made = Counting(counted(BANK), "trained")
    made.calls = []
    return made


@pytest.fixture
def writer(models: Path, parser: Counting) -> System:
    return espalier.load(models / "writer", parser=parser, device="cpu")


def keeps(text: Paraphrase) -> bool:
    """By hand, for LONG, and for GIVEN if there are three words."""
    known = ("the", "a", "an", "sees", "peels", "now", "i", "sleep", ",", ".")
    return len(text.words) >= 3 and text.words[-1] not in known


def test_the_likeliest_candidates_that_keep_the_template_are_taken(writer: System) -> None:
    options: dict[str, Any] = {"beam": 40, "length_power": 0.5, "templates": [GIVEN]}
    every = writer.paraphrase([COOK, SLEEP], n=40, **options)
    assert {len(each.words) for each in every} == {2, 3} and not keeps(every[1])  # "the cook peels" has a verb
    for count in (1, 2):
        found = writer.paraphrase([COOK, SLEEP], n=count, strict=True, candidates=40, **options)
        for source in (COOK, SLEEP):
            wanted = [each for each in every if each.source == source and keeps(each)][:count]
            own = [each for each in found if each.source == source]
            assert [(each.words, each.tree) for each in own] == [(each.words, each.tree) for each in wanted] and own
            assert all(isinstance(each, StrictParaphrase) and each.template_kept for each in own)


def test_where_no_candidate_keeps_it_the_best_is_written_once_and_says_so(writer: System) -> None:
    (best, *_) = writer.paraphrase([COOK], templates=[NEVER], n=3, beam=8)
    (found,) = writer.paraphrase([COOK], templates=[NEVER], n=3, beam=8, strict=True, candidates=8)
    assert (found.words, found.tree) == (best.words, best.tree)
    assert isinstance(found, StrictParaphrase) and not found.template_kept


def test_samples_are_candidates_where_the_beam_s_do_not_suffice(writer: System) -> None:
    """A narrow beam finds no text with the template; samples do, and the same each time, whatever stands beside."""
    options: dict[str, Any] = {"templates": [LONG], "beam": 1, "strict": True}
    (few,) = writer.paraphrase([COOK], candidates=1, **options)
    (many,) = writer.paraphrase([COOK], candidates=300, **options)
    assert isinstance(few, StrictParaphrase) and isinstance(many, StrictParaphrase)
    assert not few.template_kept and many.template_kept and keeps(many)
    assert writer.paraphrase([SLEEP, COOK], candidates=300, **options)[1] == many


def test_all_candidates_of_a_batch_are_parsed_at_once_as_words(writer: System, parser: Counting) -> None:
    writer.paraphrase([COOK, SLEEP], templates=[LONG, NEVER], strict=True, beam=4, candidates=6)
    sources, candidates, *_ = parser.calls
    assert sources == [COOK, SLEEP]
    assert 8 < len(candidates) <= 24 and len({tuple(each) for each in candidates}) == len(candidates)
    assert all(isinstance(each, list) for each in candidates)


def test_the_next_tree_guides_only_texts_of_which_none_keeps_the_template_under_the_trees_before(
    writer: System, models: Path, parser: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By this parser the sources and the first tree's texts keep LONG, and the next tree's texts DEEP as well."""
    shallow, deep = (read_tree(f"(S (NP {inner}) (NN knife))") for inner in ("(DT the)", "(NP (DT the)) (NN cook)"))

    def parse(sentences: Sequence[Sentence]) -> list[Parse]:
        parser.calls.append([*sentences])
        tree = deep if len(parser.calls) > 2 else shallow
        return [Parse(words(tree), tags(tree), write_tree(tree)) for _ in sentences]

    monkeypatch.setattr(parser, "parse", parse)
    requests = [PairRequest(COOK, template) for template in (LONG, DEEP)]
    expander = espalier.load(models / "expander", parser=parser, device="cpu")
    first, _, _, second = expander.expand(requests, n=2, beam=4)
    parser.calls.clear()
    # As many candidates as beams have no second beam, which a call of its own would parse.
    found = writer.paraphrase(requests, beam=4, strict=True, candidates=4)
    assert [(each.template, each.tree) for each in found] == [(LONG, first.tree), (DEEP, second.tree)]
    assert all(isinstance(each, StrictParaphrase) and each.template_kept for each in found)
    _, both, again = ([tuple(each) for each in call] for call in parser.calls)
    assert found[0].words in both and found[1].words in again and len(again) <= 4

    parser.calls.clear()
    (alone,) = writer.paraphrase(requests[1:], beam=1, strict=True, candidates=1)
    assert isinstance(alone, StrictParaphrase) and not alone.template_kept and len(parser.calls) == 2


def test_a_candidate_that_a_second_beam_finds_again_is_not_parsed_again(writer: System, parser: Counting) -> None:
    writer.paraphrase([COOK, SLEEP], templates=[GIVEN], strict=True, beam=20, candidates=60)
    _, *calls = parser.calls
    assert len(calls) == 2  # the candidates, and what the second beam adds
    parsed = [tuple(each) for call in calls for each in call]
    assert len({*parsed}) == len(parsed)


def test_given_words_are_in_samples_too(writer: System) -> None:
    options: dict[str, Any] = {"strict": True, "beam": 2, "candidates": 60}
    found = writer.paraphrase([PairRequest(COOK, "(S (NP (DT the)) (. .))")], n=2, **options)
    assert found and all(each.words[0] == "the" and "." in each.words for each in found)


def test_a_whole_tree_is_kept_down_to_the_template_s_levels(writer: System) -> None:
    (found,) = writer.paraphrase([COOK], like=SLEEP, full=True, strict=True, beam=4, candidates=300)
    assert isinstance(found, StrictParaphrase) and found.template == found.tree
    (parse,) = TrivialParser(counted(BANK), "again").parse([found.words])
    assert isinstance(parse, Parse)
    # The parse of the exemplar is (S (NP (RB) (NP (,) (NP (PRP) (VBP)))) (.)): its top is (S (NP (RB) (NP)) (.)).
    labels = [node.label() for node in read_tree(parse.tree)]
    first = read_tree(parse.tree)[0]
    top = labels == ["NP", "."] and [node.label() for node in first if not isinstance(node, str)] == ["RB", "NP"]
    assert found.template_kept == top


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"candidates": 4}, "candidates: candidates of which none is chosen; add strict"),
        ({"strict": True, "candidates": 0}, "candidates: 0 is too small; at least 1"),
        ({"strict": True, "candidates": 1001}, "candidates: 1001 is too large; at most 1,000"),
        ({"strict": True, "candidates": 2, "n": 3}, "n: 3 texts of 2 candidates; raise the candidates to 3, or lower"),
    ],
)
def test_an_option_that_cannot_be_is_one_line(writer: System, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        writer.paraphrase([COOK], templates=[LONG], **options)
    assert str(caught.value).startswith(f"writer.paraphrase, {message}")


def test_a_model_without_trees_or_without_a_parser_says_so(models: Path) -> None:
    plain = espalier.load(models / "plain", device="cpu")
    with pytest.raises(ArgumentError, match="strict: model plain reads no tree; leave it out"):
        plain.paraphrase([COOK], strict=True)
    lone = espalier.load(models / "writer", device="cpu")
    with pytest.raises(ConfigError, match=r"model writer has no parser; give one: load\(folder, parser=\.\.\.\)"):
        lone.paraphrase([COOK], templates=[LONG], strict=True)
