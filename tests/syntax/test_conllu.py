"""CoNLL-U: what is read, what is refused and where, and that what is written comes back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.io.errors import DataError
from espalier.syntax.conllu import Annotated, read_conllu, simplify, write_conllu
from espalier.syntax.dependency import Dependencies


def row(number: str, form: str, head: str, label: str, tag: str = "X", own: str = "x") -> str:
    return "\t".join((number, form, "_", tag, own, "_", head, label, "_", "_"))


ROWS = (
    "# sent_id = s1",
    "# text = I didn't go",
    row("1", "I", "4", "nsubj", "PRON", "PRP"),
    row("2-3", "didn't", "_", "_", "_", "_"),
    row("2", "did", "4", "aux", "AUX", "VBD"),
    row("3", "n't", "4", "advmod", "PART", "RB"),
    row("4", "go", "0", "root", "VERB", "VB"),
    row("4.1", "home", "_", "_", "NOUN", "NN"),
)
TREE = Dependencies(
    ("I", "did", "n't", "go"), ("PRON", "AUX", "PART", "VERB"), (4, 4, 4, 0), ("nsubj", "aux", "advmod", "root")
)


def written(folder: Path, *lines: str, end: str = "\n") -> Path:
    file = folder / "a.conllu"
    file.write_text("".join(line + end for line in lines), encoding="utf-8", newline="")
    return file


def test_comments_multiword_tokens_and_empty_nodes_are_no_words(tmp_path: Path) -> None:
    assert list(read_conllu(written(tmp_path, *ROWS, ""))) == [Annotated("s1", "I didn't go", TREE)]


def test_the_treebanks_own_tags_can_be_read(tmp_path: Path) -> None:
    (sentence,) = read_conllu(written(tmp_path, *ROWS, ""), tags="xpos")
    assert sentence.dependencies.tags == ("PRP", "VBD", "RB", "VB")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blank_lines_end_sentences_however_many_and_the_last_needs_none(tmp_path: Path, end: str) -> None:
    one = row("1", "a", "0", "root")
    sentences = list(read_conllu(written(tmp_path, "", one, "", "", "# text = b", one, end=end)))
    assert [(sentence.id, sentence.text) for sentence in sentences] == [("", ""), ("", "b")]


def test_a_line_ends_at_line_feeds_alone_and_a_byte_order_mark_is_none_of_it(tmp_path: Path) -> None:
    file = written(tmp_path, "\ufeff" + row("1", "a\x85\u200db", "0", "root"))
    (sentence,) = read_conllu(file)
    assert sentence.dependencies.words == ("a\u200db",)  # U+0085 is white space, the joiner is not


def test_white_space_inside_a_form_goes(tmp_path: Path) -> None:
    (sentence,) = read_conllu(written(tmp_path, row("1", "10 000\u2028000", "0", "root")))
    assert sentence.dependencies.words == ("10000000",)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ((row("1", "a", "0", "root").removesuffix("\t_"),), "row 1: 9 columns; CoNLL-U has 10, separated by tabs"),
        ((row("1", "a", "0", "root"), "2 b _ X x _ 1 dep _ _"), "row 2: 1 columns; CoNLL-U has 10"),
        ((row("1", "a", "0", "root"), row("3", "b", "1", "dep")), "row 2: the id '3'; 2 comes next"),
        ((row("0", "a", "0", "root"),), "row 1: the id '0'; 1 comes next"),
        ((row("one", "a", "0", "root"),), "row 1: the id 'one'; 1 comes next"),
        ((row("2-3", "ab", "_", "_"), row("1", "a", "0", "root")), "row 1: the id '2-3'; 1 comes next"),
        ((row("1-1.5", "ab", "_", "_"),), "row 1: the id '1-1.5'; 1 comes next"),
        ((row("1", "a", "x", "root"),), "row 1: the head 'x' is not a number"),
        ((row("1", "a", "_", "root"),), "row 1: the head '_' is not a number"),
        ((row("1", "a", "-1", "root"),), "row 1: the head '-1' is not a number"),
        ((row("1", "a", "²", "root"),), "row 1: the head '²' is not a number"),
        ((row("1", "", "0", "root"),), "row 1: an empty form"),
        ((row("1", "\u3000", "0", "root"),), "row 1: an empty form"),
        ((row("1", "a", "0", ""),), "row 1: an empty label"),
        ((row("1", "a", "0", "root", tag="X Y"),), "row 1: white space in the tag 'X Y'"),
        (("# c", row("1", "a", "0", "root"), row("2", "b", "0", "root")), r"row 3: 2 roots \(words 1, 2\); a sentence"),
        ((row("1", "a", "2", "dep"), row("2", "b", "1", "dep")), "row 1: no root; words 1, 2 are a cycle"),
        ((row("1", "a", "0", "root"), row("2", "b", "3", "dep")), "row 2: head 3 of word 2 is not within 0 to 2"),
        (("", "# sent_id = s", "", row("1", "a", "0", "root")), "row 2: a sentence without words"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(tmp_path: Path, lines: tuple[str, ...], said: str) -> None:
    with pytest.raises(DataError, match=rf"a\.conllu, {said}"):
        list(read_conllu(written(tmp_path, *lines)))


def test_a_mistake_does_not_hide_the_sentences_before_it(tmp_path: Path) -> None:
    good = row("1", "a", "0", "root")
    sentences = read_conllu(written(tmp_path, good, "", good, good))
    assert next(sentences).dependencies.words == ("a",)
    with pytest.raises(DataError, match="row 4: the id '1'; 2 comes next"):
        next(sentences)


def test_no_file_and_no_text_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="b: no such file"):
        next(read_conllu(tmp_path / "b"))
    (tmp_path / "c").write_bytes(b"1\t\xff")
    with pytest.raises(DataError, match="c, row 1: not UTF-8; convert it"):
        next(read_conllu(tmp_path / "c"))
    with pytest.raises(DataError, match="cannot be read"):
        next(read_conllu(tmp_path))


TOKEN = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=4)
LINE = st.lists(TOKEN, max_size=3).map(" ".join)


@st.composite
def sentences(draw: st.DrawFn) -> Annotated:
    size = draw(st.integers(1, 5))
    four = st.tuples(*[TOKEN] * size)
    heads = (0, *(draw(st.integers(1, number)) for number in range(1, size)))
    return Annotated(draw(LINE), draw(LINE), Dependencies(draw(four), draw(four), heads, draw(four)))


@given(st.lists(sentences(), max_size=3), st.sampled_from(["upos", "xpos"]))
def test_what_is_written_comes_back(
    tmp_path_factory: pytest.TempPathFactory, sentences: list[Annotated], tags: str
) -> None:
    file = tmp_path_factory.getbasetemp() / "round.conllu"
    write_conllu(file, sentences, tags=tags)  # type: ignore[arg-type]
    assert list(read_conllu(file, tags=tags)) == sentences  # type: ignore[arg-type]


def test_rows_have_ten_columns_and_sentences_a_blank_line(tmp_path: Path) -> None:
    write_conllu(tmp_path / "w", [Annotated("s", "a\nb", Dependencies(("a",), ("X",), (0,), ("root",)))])
    assert (tmp_path / "w").read_text() == "# sent_id = s\n# text = a b\n1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n"


def test_simplified_words_keep_their_borders() -> None:
    pytest.importorskip("opencc")
    words = ("「", "頭", "髮", "」", "拿", "著", "發", "財", "書", "a\u3000b")
    tree = Dependencies(words, ("X",) * 10, (0, *range(1, 10)), ("root", *["dep"] * 9))
    simple = simplify(tree)
    assert simple.words == ("“", "头", "发", "”", "拿", "着", "发", "财", "书", "a\u3000b")
    assert (simple.tags, simple.heads, simple.labels) == (tree.tags, tree.heads, tree.labels)


def test_a_nul_and_a_byte_that_is_not_utf8_are_named_with_their_rows(tmp_path: Path) -> None:
    good = row("1", "a", "0", "root") + "\n\n"
    for data, line in ((b"# text = a\0\n", "row 3: a NUL character"), (b"1\ta\xffb", "row 3: not UTF-8")):
        (tmp_path / "a.conllu").write_bytes(good.encode() + data)
        with pytest.raises(DataError, match=line):
            list(read_conllu(tmp_path / "a.conllu"))
