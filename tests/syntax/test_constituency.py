"""Penn strings and files: what is read, what is refused, the way there and back, and the cleaning."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import nltk
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from espalier.syntax.constituency import (
    WRAPPERS,
    TreeError,
    clean,
    cut,
    frequent_templates,
    linearize,
    read_tree,
    read_trees,
    tags,
    template,
    without_words,
    words,
    write_tree,
)
from espalier.syntax.tree import Tree

GARDEN = "(S (NP (DT The) (NN pear)) (VP (VBZ climbs) (NP (DT a) (NN wall))) (. .))"

SPACES = " \t\n\r\f\v"
spoken = st.text(min_size=1, max_size=8).filter(lambda word: not set(word) & set(SPACES))
signs = st.text(alphabet="-=LRB()x", min_size=1, max_size=12)
labels = st.text(min_size=1, max_size=5).filter(lambda label: not set(label) & set(SPACES + "()"))
nodes = st.builds(lambda label, word: Tree(label, [word]), labels, spoken | signs)
trees = st.recursive(
    nodes, lambda below: st.builds(Tree, labels, st.lists(below, min_size=1, max_size=3)), max_leaves=12
).filter(lambda tree: tree.label() not in WRAPPERS)


def nested(tree: Any) -> Any:
    """The same for a tree of either class."""
    return tree if isinstance(tree, str) else (tree.label(), [nested(child) for child in tree])


# --- Reading ---------------------------------------------------------------------------------------------------------


def test_a_penn_string_becomes_a_tree_of_nodes_tags_and_words() -> None:
    tree = read_tree(GARDEN)
    assert nested(tree) == nested(nltk.Tree.fromstring(GARDEN))
    assert words(tree) == ("The", "pear", "climbs", "a", "wall", ".")
    assert tags(tree) == ("DT", "NN", "VBZ", "DT", "NN", ".")


@pytest.mark.parametrize(
    "text",
    [
        f"( {GARDEN} )",
        f"({GARDEN})",
        f"(TOP {GARDEN})",
        f"(ROOT\n  {GARDEN})",
        f"(S1 {GARDEN})",
        f"( (TOP {GARDEN}) )",
        GARDEN.replace(" ", "\r\n\t "),
        GARDEN.replace(" (", "("),
        GARDEN.replace("(", "( ").replace(")", " )"),
        f"  {GARDEN}\n\n",
    ],
)
def test_wrappers_and_white_space_do_not_matter(text: str) -> None:
    assert write_tree(read_tree(text)) == GARDEN


def test_a_wrapper_that_holds_a_word_or_two_nodes_is_a_node() -> None:
    assert write_tree(read_tree("(TOP (NP (NN pear)) (. !))")) == "(TOP (NP (NN pear)) (. !))"
    assert write_tree(read_tree("(ROOT (TOP pear))")) == "(TOP pear)"


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("", "no trees; one is expected"),
        (" \n", "no trees; one is expected"),
        ("pear", "'pear' stands outside the brackets"),
        ("(NN pear) tree", "'tree' stands outside the brackets"),
        ("(S (NN pear)", "a bracket is not closed"),
        ("(S (NP (NN pear", "3 brackets are not closed"),
        ("(S (NP (NN pear) (NN tree))", "a bracket is not closed"),
        ("(S (NN pear)))", "a bracket closes nothing"),
        (")(", "a bracket closes nothing"),
        ("(S)", "the node 'S' has no words"),
        ("(S (NP) (NN pear))", "the node 'NP' has no words"),
        ("()", "a bracket with nothing in it"),
        ("(S ((NN pear)))", "a node without a label"),
        ("(S () (NN pear))", "a node without a label"),
        ("(NP(SBJ) (NN pear))", "the node 'SBJ' has no words"),
        ("(S (NN pear)) (S (NN tree))", "2 trees; one is expected"),
        ("( (S (NN pear)) (S (NN tree)) )", "2 trees in an outer bracket; one is expected"),
        ("(NP the (NN pear))", "'the' is not alone in its node"),
        ("(NP (DT the) pear)", "'pear' is not alone in its node"),
        ("(NP the pear)", "'the' is not alone in its node"),
        ("(NP supercalifragilisticexpialidocious pear)", "'supercalifragilis...' is not alone in its node"),
    ],
)
def test_a_string_that_is_no_tree_is_refused_in_one_line_with_its_place(text: str, mistake: str) -> None:
    with pytest.raises(TreeError) as caught:
        read_tree(text, file="pears.mrg", row=7)
    assert str(caught.value).startswith(f"pears.mrg, row 7: {mistake}")
    assert "\n" not in str(caught.value)


@given(st.lists(st.sampled_from(["(S", "(NN x)", "(NN", "x", "(", ")", ")", " "]), max_size=9))
@example(["(", "(S", "(NN x)", ")", ")"])
def test_what_is_read_is_what_nltk_reads_and_comes_back(parts: list[str]) -> None:
    text = "".join(parts)
    try:
        tree = read_tree(text)
    except TreeError:
        return
    theirs = nltk.Tree.fromstring(text, remove_empty_top_bracketing=True)
    assert nested(tree) == nested(theirs)
    assert read_tree(write_tree(tree)) == tree
    assert all(not isinstance(child, str) or len(node) == 1 for node in theirs.subtrees() for child in node), (
        "each word has a node of its own"
    )


def test_nodes_without_words_are_read_where_they_are_expected() -> None:
    bare = "(S (NP (DT) (NN)) (VP) (. .))"
    assert write_tree(read_tree(bare, words=False)) == bare
    assert words(read_tree(bare, words=False)) == (".",)
    assert write_tree(read_tree("(S)", words=False)) == "(S)"
    for text in ("()", "(S ())", "(NP the pear)", "(S (NP)"):
        with pytest.raises(TreeError):
            read_tree(text, words=False)


# --- There and back --------------------------------------------------------------------------------------------------


@given(trees)
@example(Tree("NN", ["-LRB("]))
@example(Tree("NN", ["(RRB-"]))
@example(Tree("NN", ["-LRB-RRB-L==RB="]))
def test_every_tree_comes_back_from_its_string(tree: Tree) -> None:
    text = write_tree(tree)
    assert read_tree(text) == tree
    assert write_tree(read_tree(text)) == text
    assert "\n" not in text and "  " not in text


@given(trees)
def test_a_tree_without_words_comes_back_as_well(tree: Tree) -> None:
    bare = without_words(tree)
    assert read_tree(write_tree(bare), words=False) == bare or bare.label() in WRAPPERS


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("(", "-LRB-"),
        (")", "-RRB-"),
        (":-)", ":--RRB-"),
        ("f(x)", "f-LRB-x-RRB-"),
        ("-LRB-", "-L=RB-"),
        ("-L=RB-", "-L==RB-"),
        ("-LCB-", "-LCB-"),
        ("（）", "（）"),
        ("\N{PEAR}", "\N{PEAR}"),
        ("\N{MAN}\u200d\N{EAR OF MAIZE}", "\N{MAN}\u200d\N{EAR OF MAIZE}"),
        ("a\u2028b", "a\u2028b"),
        ("\u00a0", "\u00a0"),
        ("\u3000", "\u3000"),
        ("\x1c\x85", "\x1c\x85"),
    ],
)
def test_odd_words_have_one_spelling_and_come_back(word: str, written: str, tmp_path: Path) -> None:
    text = f"(NP (NN {written}) (NN pear))"
    tree = Tree("NP", [Tree("NN", [word]), Tree("NN", ["pear"])])
    assert write_tree(tree) == text
    assert read_tree(text) == tree
    file = tmp_path / "odd.mrg"
    file.write_bytes(f"{text}\n{text}\r\n".encode())
    assert list(read_trees(file)) == [tree, tree]


def test_brackets_in_labels_keep_the_treebanks_names() -> None:
    text = "(PRN (-LRB- -LRB-) (NN pear) (-RRB- -RRB-))"
    tree = read_tree(text)
    assert (words(tree), tags(tree)) == (("(", "pear", ")"), ("-LRB-", "NN", "-RRB-"))
    assert write_tree(tree) == text


@pytest.mark.parametrize(
    ("tree", "mistake"),
    [
        (Tree("NP(SBJ)", ["pear"]), "the label 'NP(SBJ)' cannot be written"),
        (Tree("", [Tree("NN", ["pear"])]), "the label '' cannot be written"),
        (Tree("N P", [Tree("NN", ["pear"])]), "the label 'N P' cannot be written"),
        (Tree("NN", [""]), "the word '' has white space, or is empty"),
        (Tree("NN", ["pear tree"]), "the word 'pear tree' has white space, or is empty"),
        (Tree("NP", ["pear", "tree"]), "'tree' is not alone in its node"),
        (Tree("NP", ["the", Tree("NN", ["pear"])]), "'the' is not alone in its node"),
    ],
)
def test_a_tree_that_would_not_come_back_is_not_written(tree: Tree, mistake: str) -> None:
    with pytest.raises(TreeError) as caught:
        write_tree(tree)
    assert str(caught.value).startswith(f"tree: {mistake}")


# --- Files -----------------------------------------------------------------------------------------------------------


def test_trees_over_many_lines_and_many_on_one_are_read_in_order(tmp_path: Path) -> None:
    file = tmp_path / "pears.mrg"
    file.write_text(
        "\ufeff\n( (S\n    (NP-SBJ (NNS Pears))\n    (VP (VBP climb)) ))\n"
        "\n(NP (NN wall)) (NP\n(NN frame))\n(X (UH yes))",
        encoding="utf-8",
    )
    assert [write_tree(tree) for tree in read_trees(file)] == [
        "(S (NP-SBJ (NNS Pears)) (VP (VBP climb)))",
        "(NP (NN wall))",
        "(NP (NN frame))",
        "(X (UH yes))",
    ]


@pytest.mark.parametrize(
    ("wrong", "row", "mistake"),
    [
        ("(S (NP (NN pear))\n   (VP (VBZ grows))\n", 3, "a bracket is not closed"),
        ("(S (NP (NN pear)))\n   (VP (VBZ grows)))\n", 4, "a bracket closes nothing"),
        ("(S\n  (NP))\n", 3, "the node 'NP' has no words"),
        ("( (S (NN pear)) (S (NN wall)) )\n", 3, "2 trees in an outer bracket"),
        ("pear\n", 3, "'pear' stands outside the brackets"),
    ],
)
def test_a_wrong_tree_is_refused_with_file_and_line(tmp_path: Path, wrong: str, row: int, mistake: str) -> None:
    file = tmp_path / "pears.mrg"
    file.write_text(f"(NN wall)\n\n{wrong}\n( (NP (NN frame)) )\n(NN end)\n", encoding="utf-8")
    trees = read_trees(file)
    assert write_tree(next(trees)) == "(NN wall)"
    with pytest.raises(TreeError) as caught:
        list(trees)
    assert str(caught.value).startswith(f"{file}, row {row}: {mistake}")


def test_files_that_are_not_there_or_not_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TreeError, match="no such file"):
        list(read_trees(tmp_path / "none.mrg"))
    with pytest.raises(TreeError, match="is a directory"):
        list(read_trees(tmp_path))
    (tmp_path / "latin.mrg").write_bytes("(NN Äpfel)".encode("latin-1"))
    with pytest.raises(TreeError, match="row 1: not UTF-8; convert"):
        list(read_trees(tmp_path / "latin.mrg"))


def test_an_empty_file_holds_no_trees(tmp_path: Path) -> None:
    (tmp_path / "empty.mrg").write_text("\n \n", encoding="utf-8")
    assert list(read_trees(tmp_path / "empty.mrg")) == []


# --- Cleaning --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "bare"),
    [
        ("NP-SBJ-1", "NP"),
        ("NP=2", "NP"),
        ("NP-LOC=3", "NP"),
        ("PRP$", "PRP$"),
        ("-LRB-", "-LRB-"),
        ("-RRB-", "-RRB-"),
        ("ADVP|PRT", "ADVP|PRT"),
        ("=", "="),
        ("-", "-"),
        ("''", "''"),
    ],
)
def test_functions_and_indices_go_from_a_label_and_nothing_else(label: str, bare: str) -> None:
    tree = Tree("S", [Tree(label, [Tree("NN", ["pear-tree=1"])])])
    assert write_tree(clean(tree)) == f"(S ({bare} (NN pear-tree=1)))"


def test_traces_go_and_with_them_what_held_nothing_else() -> None:
    tree = read_tree(
        "( (S (NP-SBJ-1 (NNS pears)) (VP (VBD were) (VP (VBN trained) (NP (-NONE- *-1)) "
        "(SBAR (WHNP-2 (-NONE- 0)) (S (NP-SBJ (-NONE- *T*-2)))) (PP-CLR (TO to) (NP (NP (NNS frames)))))) (. .)) )"
    )
    before = write_tree(tree)
    assert write_tree(clean(tree)) == (
        "(S (NP (NNS pears)) (VP (VBD were) (VP (VBN trained) (PP (TO to) (NP (NP (NNS frames)))))) (. .))"
    )
    assert write_tree(tree) == before, "the tree given is not changed"


def test_a_tree_of_traces_alone_is_refused() -> None:
    with pytest.raises(TreeError, match="nothing but empty elements"):
        clean(read_tree("(S (NP-SBJ (-NONE- *)))"))


def test_nodes_that_had_no_words_before_stay() -> None:
    assert write_tree(clean(read_tree("(S (NP-SBJ) (VP (VB) (-NONE-)))", words=False))) == "(S (NP) (VP (VB)))"


@given(trees)
def test_cleaning_twice_is_cleaning_once_and_keeps_the_words_that_are_said(tree: Tree) -> None:
    once = clean(tree)
    assert clean(once) == once
    assert words(once) == words(tree)


# --- Templates -------------------------------------------------------------------------------------------------------


def test_a_template_is_the_string_of_the_top_three_levels() -> None:
    tree = read_tree(GARDEN)
    assert template(tree) == "(S (NP (DT) (NN)) (VP (VBZ) (NP)) (.))"
    assert template(tree, 1) == "(S)"
    assert read_tree(template(tree), words=False) == cut(tree, 3)


def test_the_most_frequent_templates_come_first_and_ties_by_their_text() -> None:
    texts = ["(S (VB grow))", "(S (NN pear))", "(S (VB climb))", "(S (JJ ripe))", "(S (NN wall))", "(S (NN x) (NN y))"]
    templates = frequent_templates(map(read_tree, texts), 2, 3)
    assert templates == [("(S (NN))", 2), ("(S (VB))", 2), ("(S (JJ))", 1)]
    assert frequent_templates([], 3, 5) == []


# --- Deep and long ---------------------------------------------------------------------------------------------------


def test_five_thousand_levels_overflow_nothing(tmp_path: Path) -> None:
    text = "(X " * 5000 + "(NN pear)" + ")" * 5000
    tree = read_tree(text)
    assert write_tree(tree) == write_tree(clean(tree)) == text
    assert (words(tree), tags(tree)) == (("pear",), ("NN",))
    assert max(linearize(tree)[1]) == 5001
    assert template(tree) == "(X (X (X)))"
    (tmp_path / "deep.mrg").write_text(text.replace("(X ", "(X\n"), encoding="utf-8")
    assert [write_tree(tree) for tree in read_trees(tmp_path / "deep.mrg")] == [text]


def test_a_sentence_of_four_hundred_words_is_read() -> None:
    text = "(S" + " (NN pear)" * 400 + ")"
    assert write_tree(read_tree(text)) == text


@pytest.mark.parametrize(
    "text", ["(S" + " " * 200_000, "(S " + "a" * 200_000, "(S a" + " " * 200_000 + "b", "(" * 200_000]
)
def test_garbage_is_refused_in_time_that_grows_with_its_length_alone(text: str) -> None:
    began = time.process_time()
    with pytest.raises(TreeError):
        read_tree(text)
    assert time.process_time() - began < 1
