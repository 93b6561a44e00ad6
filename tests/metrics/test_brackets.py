"""Labelled brackets by EVALB's rules, and of every sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.tree import Tree

from espalier.io.errors import EspalierError
from espalier.metrics.brackets import Brackets, bracket_statistics
from espalier.metrics.metric import scores
from espalier.syntax.constituency import TreeError, write_tree
from tests.metrics.keys import BRACKETS

GOLD = "(S (NP (PRP We)) (VP (VBD planted) (NP (DT a) (NN pear)) (PP (IN in) (NP (NNP May)))) (. .))"


def counts(gold: str, found: str) -> tuple[int, int, int]:
    """Brackets that match, found, gold, by EVALB."""
    matched, of_found, of_gold = bracket_statistics([gold], [found])[0, :3].astype(int).tolist()
    return matched, of_found, of_gold


def values(gold: list[str], found: list[str]) -> dict[str, float | None]:
    score = scores(Brackets.metrics, bracket_statistics(gold, found), seed=0, resamples=0)
    assert tuple(score) == BRACKETS
    return {key.removeprefix("bracket_"): each.value for key, each in score.items()}


PAIRS = [
    # S NP VP NP PP NP; the parse attaches the PP to the noun: one bracket more.
    (GOLD, GOLD, (6, 6, 6)),
    (
        GOLD,
        "(S (NP (PRP We)) (VP (VBD planted) (NP (NP (DT a) (NN pear)) (PP (IN in) (NP (NNP May))))) (. .))",
        (6, 7, 6),
    ),
    # One label wrong, one bracket missing.
    (GOLD, "(S (NP (PRP We)) (VP (VBD planted) (NP (DT a) (NN pear)) (ADVP (IN in) (NNP May))) (. .))", (4, 5, 6)),
    # The mark may hang anywhere, and a bracket that holds marks alone is none.
    (GOLD, "(S (NP (PRP We)) (VP (VBD planted) (NP (DT a) (NN pear)) (PP (IN in) (NP (NNP May) (. .)))))", (6, 6, 6)),
    (GOLD, GOLD.replace("(. .)", "(X (. .))"), (6, 6, 6)),
    # An outer bracket is no constituent, wherever it stands.
    (GOLD, f"(TOP {GOLD})", (6, 6, 6)),
    (GOLD, f"( (S1 {GOLD}))", (6, 6, 6)),
    ("(X (ROOT (A a) (B b)) (C c))", "(X (TOP (A a) (B b)) (C c))", (1, 1, 1)),
    ("(S (`` ``) (`` (NN fig) (NN tree)) ('' ''))", "(S (`` ``) (NN fig) (NN tree) ('' ''))", (1, 1, 1)),
    # Duplicates count as often as they occur, in unary chains too.
    ("(NP (NP (NN fig)))", "(NP (NP (NN fig)))", (2, 2, 2)),
    ("(NP (NP (NN fig)))", "(NP (NN fig))", (1, 1, 2)),
    ("(NP (NN fig))", "(NP (NP (NP (NN fig))))", (1, 3, 1)),
    ("(S (NP (NP (NN fig))))", "(NP (S (NP (NN fig))))", (3, 3, 3)),  # the order of a chain is not seen
    ("(S (VP (VB grow)))", "(S (NP (VB grow)))", (1, 2, 2)),
    # ADVP is PRT; functions go; traces go with all that holds nothing else.
    ("(VP (VB dig) (PRT (RP up)))", "(VP (VB dig) (ADVP (RB up)))", (2, 2, 2)),
    ("(S (NP-SBJ-1 (NN ivy)) (VP (VBZ climbs)))", "(S (NP=2 (NN ivy)) (VP (VBZ climbs)))", (3, 3, 3)),
    ("(S (NP (-NONE- *)) (VP (VB dig) (NP (-NONE- T) (NN soil))))", "(S (VP (VB dig) (NP (NN soil))))", (3, 3, 3)),
    # A part of speech is no bracket.
    ("(NN fig)", "(NP (NN fig))", (0, 1, 0)),
    ("(NN fig)", "(VB fig)", (0, 0, 0)),
]


@pytest.mark.parametrize(("gold", "found", "expected"), PAIRS)
def test_brackets_counted_by_hand(gold: str, found: str, expected: tuple[int, int, int]) -> None:
    assert counts(gold, found) == expected
    statistics = bracket_statistics([gold], [found])[0]
    assert (
        statistics[:4].tolist() == statistics[7:11].tolist()
    )  # what EVALB scores is the same in every sentence's scores


def test_counts_are_pooled_and_an_exact_match_is_all_brackets_of_a_sentence() -> None:
    gold = [GOLD, "(S (VP (VB grow)))"]
    found = [PAIRS[1][1], "(S (VP (NN grow)))"]
    score = values(gold, found)
    assert score["p"] == pytest.approx(800 / 9)  # 6 + 2 of 7 + 2
    assert score["r"] == 100.0
    assert score["f1"] == pytest.approx(1600 / 17)  # 2 * 8 / (9 + 8)
    assert score["exact"] == 50.0  # the second, for all that its tag is wrong
    assert score["tag_accuracy"] == pytest.approx(600 / 7)  # 6 + 0 of 6 + 1
    assert score["all_tag_accuracy"] == pytest.approx(700 / 8)  # the full stop too
    assert score["errors"] == 0.0
    assert all(score[key] == score[f"all_{key}"] for key in ("p", "r", "f1", "exact"))


COMMA = "(S (NP (NN rain)) (, ,) (NP (NN sun)))"


def test_a_mistagged_comma_is_an_error_to_evalb_and_scored_among_every_sentence() -> None:
    mistagged = COMMA.replace("(, ,)", "(NN ,)")
    score = values([COMMA, GOLD], [mistagged, GOLD])
    assert (score["errors"], score["f1"], score["exact"], score["tag_accuracy"]) == (50.0, 100.0, 100.0, 100.0)
    assert (score["all_f1"], score["all_exact"]) == (100.0, 100.0)
    assert score["all_tag_accuracy"] == pytest.approx(900 / 10)  # 2 + 7 of 3 + 7
    # The other way round: a word of the gold tree goes in the parse alone.
    assert values([mistagged], [COMMA])["all_f1"] == 100.0
    assert values([mistagged], [COMMA])["errors"] == 100.0


def test_a_sentence_of_other_words_or_without_a_parse_is_an_error_and_misses_all_gold_brackets() -> None:
    for found in ("", COMMA.replace("sun", "moon"), "(S (NP (NN rain)) (NP (NN sun)) (NP (NN wind)))"):
        score = values([COMMA, GOLD], [found, GOLD])
        assert (score["errors"], score["p"], score["r"], score["exact"]) == (50.0, 100.0, 100.0, 100.0)
        assert (score["all_p"], score["all_exact"]) == (100.0, 50.0)
        assert score["all_r"] == pytest.approx(600 / 9)
        assert score["all_tag_accuracy"] == pytest.approx(700 / 10)


def test_a_parse_in_which_nothing_but_marks_remain_is_skipped_as_evalb_does() -> None:
    score = values(["(S (: ...) (. !))"], ["(X (: ...) (. !))"])
    assert (score["errors"], score["f1"], score["exact"]) == (100.0, None, None)
    assert (score["all_exact"], score["all_tag_accuracy"]) == (100.0, 100.0)


def test_marks_that_are_written_in_two_ways_are_no_error() -> None:
    quoted, plain = (f"(S (`` {mark}) (NN fig))" for mark in ("``", '"'))
    score = values([quoted], [plain])
    assert (score["errors"], score["f1"], score["all_tag_accuracy"]) == (0.0, 100.0, 100.0)


def test_traces_in_a_parse_do_not_shift_the_gold_marks() -> None:
    found = "(S (NP (-NONE- *) (NN rain)) (NN ,) (NP (NN sun)))"
    assert values([COMMA], [found])["all_f1"] == 100.0


def test_keys_are_fixed_and_signatures_tell_the_protocols_apart() -> None:
    assert BRACKETS == (
        "bracket_p", "bracket_r", "bracket_f1", "bracket_exact", "bracket_tag_accuracy", "bracket_errors",
        "bracket_all_p", "bracket_all_r", "bracket_all_f1", "bracket_all_exact", "bracket_all_tag_accuracy",
    )  # fmt: skip
    signatures = {metric.name: metric.signature for metric in Brackets.metrics}
    assert signatures["bracket_f1"] == "brackets|protocol:evalb|labels:COLLINS.prm|mean:micro"
    assert signatures["bracket_all_f1"] == "brackets|protocol:every-sentence|labels:COLLINS.prm|mean:micro"
    assert set(values([], []).values()) == {None}


def test_mistakes_name_their_row() -> None:
    with pytest.raises(EspalierError, match=r"row 2: no gold tree"):
        bracket_statistics([GOLD, ""], [GOLD, GOLD])
    with pytest.raises(TreeError, match=r"parses, row 2: .*not closed"):
        bracket_statistics([GOLD, GOLD], [GOLD, GOLD[:-1]])
    with pytest.raises(EspalierError, match="1 parses for 2 gold trees"):
        bracket_statistics([GOLD, GOLD], [GOLD])


def test_a_deep_tree_is_scored() -> None:
    deep = "(A " * 3000 + "(NN fig)" + ")" * 3000
    assert counts(deep, deep) == (3000, 3000, 3000)


# --- An independent, slow EVALB --------------------------------------------------------------------------------------

WORDS = ("fig", "ivy", "elm", "oak")


@st.composite
def forests(draw: st.DrawFn) -> tuple[Tree, Tree]:
    """Two trees over the same words with the same tags."""
    leaves = draw(
        st.lists(st.tuples(st.sampled_from(["NN", "VB", ",", "."]), st.sampled_from(WORDS)), min_size=1, max_size=7)
    )

    def node(start: int, end: int) -> Tree:
        if end - start == 1 and draw(st.booleans()):
            return Tree(leaves[start][0], [leaves[start][1]])
        label = draw(st.sampled_from(["S", "NP", "NP-SBJ", "ADVP", "PRT", "TOP"]))
        if end - start == 1:
            return Tree(label, [Tree(leaves[start][0], [leaves[start][1]])])
        middle = draw(st.integers(start, end - 1))
        if middle == start:
            return Tree(label, [Tree(tag, [word]) for tag, word in leaves[start:end]])
        return Tree(label, [node(start, middle), node(middle, end)])

    return node(0, len(leaves)), node(0, len(leaves))


def brackets_of(tree: Tree) -> list[tuple[str, int, int]]:
    """By recursion and index of what is left, as one would with pencil and paper."""
    left = [tree.leaf_treeposition(place) for place, (_, tag) in enumerate(tree.pos()) if tag not in (",", ".")]
    found = []
    for position in tree.treepositions():
        node = tree[position]
        if isinstance(node, str) or isinstance(node[0], str):
            continue
        below = [place for place, leaf in enumerate(left) if leaf[: len(position)] == position]
        label = {"PRT": "ADVP", "NP-SBJ": "NP"}.get(node.label(), node.label())
        if below and label != "TOP":
            found.append((label, below[0], below[-1]))
    return found


@given(forests())
def test_counts_equal_those_of_matching_brackets_one_by_one(pair: tuple[Tree, Tree]) -> None:
    gold, found = pair
    open_gold, open_found = brackets_of(gold), brackets_of(found)
    expected = [0, len(open_found), len(open_gold)]
    for bracket in open_found:
        if bracket in open_gold:
            open_gold.remove(bracket)
            expected[0] += 1
    row = bracket_statistics([write_tree(gold)], [write_tree(found)])[0]
    assert row[7:10].tolist() == expected
    if any(tag not in (",", ".") for _, tag in gold.pos()):
        assert row[:3].tolist() == expected
    else:
        assert row[14] == 1.0
