"""Templates: which nodes of a tree keep them, by hand, and by the metric of the runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.frames import Format, Frame, Syllables, Template, Words
from espalier.frames.report import Report
from espalier.frames.trees import MAX_LEVELS, changes_of, spans_of, template_of
from espalier.io.errors import ConfigError
from espalier.metrics.expansion import TEMPLATE_LEVELS, template_statistics
from espalier.syntax.constituency import read_tree, tags, words, write_tree
from espalier.syntax.levels import TreeError, cut, linearize
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.parser import Refused
from espalier.syntax.tree import Tree

TEXT = "Anna  saw the cat."
TREE = "(S (NP (NNP Anna)) (VP (VBD saw) (NP (DT the) (NN cat))) (. .))"


class Knows:
    """A parser that gives one answer to all texts."""

    signature = "one answer"

    def __init__(self, answer: Parse | Refused) -> None:
        self.answer = answer

    def parse(self, sentences: Sequence[object]) -> list[Parse | Refused]:
        return [self.answer for _ in sentences]


def parser_of(tree: str) -> Knows:
    read = read_tree(tree)
    return Knows(Parse(words(read), tags(read), tree))


def check(template: str) -> Report:
    return Template(template).check(TEXT, parser=parser_of(TREE))


@pytest.mark.parametrize(
    "template",
    ["(S (NP) (VP) (.))", "(S (NP (NNP)) (VP (VBD) (NP)) (.))", "(S)", "(S (NP anna) (VP) (.))",
     "(S (NP) (VP (VBD) (NP the)) (.))"],
)  # fmt: skip
def test_a_tree_keeps_a_template_whose_nodes_have_the_same_children(template: str) -> None:
    report = check(template)
    assert report.kept and report.score == 1.0 and not report.violations


@pytest.mark.parametrize(
    ("template", "kept", "of", "violations"),
    [
        # Three nodes are found, and the full stop is a node too many.
        ("(S (NP) (VP))", 3, 4, [(17, 18, ".", "no .")]),
        # Of five nodes with the words, ADVP and its RB are missing before the verb phrase.
        ("(S (NP) (ADVP (RB)) (VP) (.))", 4, 6, [(4, 4, "", "(ADVP (RB))")]),
        ("(S (NP) (SBAR) (.))", 3, 4, [(6, 17, "saw the cat", "SBAR, not VP")]),
        ("(S (NP she) (VP) (.))", 4, 5, [(0, 4, "Anna", "she")]),
        ("(S (NP) (VP (VBD) (NP (DT) (JJ) (NN))) (.))", 8, 9, [(13, 13, "", "(JJ)")]),
        ("(SINV (VP) (NP) (.))", 2, 5, [(0, 4, "Anna", "no NP"), (0, 18, TEXT, "SINV, not S"), (17, 17, "", "(NP)")]),
        ("(FRAG)", 0, 1, [(0, 18, TEXT, "FRAG, not S")]),
    ],
)
def test_each_node_that_is_not_kept_is_told_with_its_place_and_what_is_wanted(
    template: str, kept: int, of: int, violations: list[tuple[int, int, str, str]]
) -> None:
    report = check(template)
    (score,) = report.scores
    assert (score.rule, score.kept, score.of, score.binding) == ("template", kept, of, True)
    assert report.score == kept / of and not report.kept
    assert [(each.start, each.end, each.found, each.wanted) for each in report.violations] == violations


def test_a_template_combines_with_rules_of_lines() -> None:
    report = (Syllables("5") & Template("(S (NP) (VP) (.))")).check(TEXT, parser=parser_of(TREE))
    assert report.kept and [each.rule for each in report.scores] == ["lines", "syllables", "template"]
    report = (Syllables("4") & Template("(S (NP) (VP))")).check(TEXT, parser=parser_of(TREE))
    assert [each.rule for each in report.violations] == ["syllables", "template"]


def test_quotes_that_the_parser_writes_otherwise_are_found_in_the_text() -> None:
    assert spans_of(("``", "Go", "''", "(", "x"), '"Go" (') == [(0, 1), (1, 3), (3, 4), (5, 6), (6, 6)]


labels = st.sampled_from("ab")
trees = st.recursive(
    st.builds(lambda label: Tree(f"T{label}", ["w"]), labels),
    lambda below: st.builds(Tree, labels, st.lists(below, min_size=1, max_size=3)),
    max_leaves=8,
).map(lambda tree: Tree("S", [tree]) if isinstance(tree[0], str) else tree)


@given(trees, trees)
def test_a_template_is_kept_just_where_the_metric_of_the_runs_counts_it(one: Tree, other: Tree) -> None:
    template = cut(one, TEMPLATE_LEVELS)
    counted = template_statistics([write_tree(template)], [write_tree(other)])[0, 0]
    assert (not changes_of(template, other)) == counted


def fewest(template: Tree, tree: Tree) -> int:
    """The nodes that are not kept, by trying every way to lay the children side by side."""
    children = [child for child in tree if isinstance(child, Tree)]
    return (template.label() != tree.label()) + (fewest_of([*template], children) if len(template) else 0)


def fewest_of(wanted: list[Tree], found: list[Tree]) -> int:
    if not wanted or not found:
        return sum(len(linearize(each)[0]) for each in wanted) + len(found)
    (one, *ones), (other, *others) = wanted, found
    missing = len(linearize(one)[0]) + fewest_of(ones, found)
    return min(fewest(one, other) + fewest_of(ones, others), missing, 1 + fewest_of(wanted, others))


@given(trees, trees)
def test_as_few_nodes_are_told_as_can_be(one: Tree, other: Tree) -> None:
    template = cut(one, 4)
    report = Template(write_tree(template)).check("w " * len(words(other)), parser=parser_of(write_tree(other)))
    assert report.faults == fewest(template, read_tree(write_tree(other)))


@given(trees, st.integers(1, 4))
def test_a_tree_keeps_its_own_top_levels(tree: Tree, levels: int) -> None:
    assert changes_of(cut(tree, levels), tree) == []


@given(trees, trees)
def test_a_score_is_between_0_and_1_and_1_only_without_changes(one: Tree, other: Tree) -> None:
    report = Template(write_tree(cut(one, 4))).check("w " * len(words(other)), parser=parser_of(write_tree(other)))
    (score,) = report.scores
    assert 0 <= score.kept <= score.of and report.kept == (not report.violations)
    assert score.of >= len(linearize(cut(one, 4))[0])


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda frame: frame.automaton(), "only a parser sees trees.*espalier paraphrase"),
        (lambda frame: frame.grammar("lark"), "only a parser sees trees.*espalier paraphrase"),
        (lambda frame: frame.processor(object()), "only a parser sees trees.*espalier paraphrase"),
    ],
)
@pytest.mark.parametrize("frame", [Template("(S (NP) (VP))"), Template("(S)") & Format("5。") & Words("雨")])
def test_nothing_that_writes_by_characters_is_made_of_a_template(
    frame: Frame, made: Callable[[Frame], object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        made(frame)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("template", "text", "answer", "message"),
    [
        ("(S (NP)", TEXT, None, "template: a bracket is not closed"),
        ("a dog", TEXT, None, "template: 'a' stands outside the brackets"),
        ("(S)", TEXT, None, r"only a parser sees the tree of a text; give one: check\(text, parser=...\)"),
        ("(S)", "...", None, "text: no words; give one sentence"),
        ("(S)", TEXT, Refused("too long"), r"text: the parser refuses its 18 characters \(too long\)"),
        ("(S)", TEXT, Parse(("Anna",)), r"the parser \(one answer\) gives no constituency trees"),
    ],
)
def test_bad_input_is_one_line(template: str, text: str, answer: Parse | Refused | None, message: str) -> None:
    with pytest.raises((ConfigError, TreeError), match=message):
        Template(template).check(text, parser=None if answer is None else Knows(answer))


def test_a_template_of_more_levels_than_can_be_compared_is_refused() -> None:
    assert template_of("(S" * MAX_LEVELS + ")" * MAX_LEVELS)
    with pytest.raises(ConfigError, match="a template of 101 levels; at most 100"):
        template_of("(S" * 101 + ")" * 101)


def test_a_text_that_the_parser_does_not_read_is_one_line() -> None:
    parser = parser_of(TREE)
    parser.language = "en"  # type: ignore[attr-defined]
    assert Template("(S (NP) (VP) (.))").check(TEXT, parser=parser).kept
    refused = r"^text: it is not English, which the parser \(one answer\) reads; give a parser of its language$"
    with pytest.raises(ConfigError, match=refused):
        Template("(S (NP) (VP) (.))").check("安娜看见了猫。", parser=parser)
