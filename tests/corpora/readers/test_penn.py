"""The Penn reader, on trees written for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.corpora.readers.penn import read_penn, read_ptb, read_tagged
from espalier.corpora.records import Quarantined, Sentence
from espalier.io.errors import ArtifactError, ConfigError, DataError

LAMP = """
( (S
    (NP-SBJ-1 (DT The) (NN lamp) )
    (VP (VBD was) (VP (VBN lit) (NP (-NONE- *-1) ))
      (PRN (-LRB- -LRB-) (NP (NN dusk) ) (-RRB- -RRB-) ))
    (. .) ))
"""
TRACES = "( (S (NP-SBJ (-NONE- *) ) (VP (-NONE- *?*) )))\n"


def write(folder: Path, **documents: str) -> Path:
    (folder / "treebank/combined").mkdir(parents=True)
    for name, text in documents.items():
        (folder / "treebank/combined" / f"{name}.mrg").write_text(text, encoding="utf-8")
    (folder / "treebank/combined/README").write_text("not a tree")
    return folder


def test_a_tree_is_cleaned_and_brackets_are_themselves_in_words(tmp_path: Path) -> None:
    rows = list(read_penn({"wsj": write(tmp_path, wsj_0002=TRACES + LAMP, wsj_0001=LAMP)}))
    assert rows[0] == Sentence(
        id="penn-wsj_0001-0000",
        origin="wsj",
        language="en",
        target="The lamp was lit ( dusk ) .",
        target_words="The lamp was lit ( dusk ) .",
        target_tags="DT NN VBD VBN -LRB- NN -RRB- .",
        target_tree="(S (NP (DT The) (NN lamp)) (VP (VBD was) (VP (VBN lit)) "
        "(PRN (-LRB- -LRB-) (NP (NN dusk)) (-RRB- -RRB-))) (. .))",
    )
    assert rows[1] == Quarantined(id="penn-wsj_0002-0000", stage="read", reason="no words", text="* *?*")
    assert rows[2].id == "penn-wsj_0002-0001" and isinstance(rows[2], Sentence)


def test_an_open_bracket_is_named_with_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"wsj_0001\.mrg, row \d+: "):
        list(read_penn({"wsj": write(tmp_path, wsj_0001=LAMP + "( (S (NN lamp) )\n")}))


def test_no_documents_and_two_sources_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no document wsj_<number>\.mrg; run the download stage"):
        list(read_penn({"wsj": tmp_path}))
    with pytest.raises(ConfigError, match="reader penn: 2 sources"):
        list(read_penn({"a": tmp_path, "b": tmp_path}))


def test_unknown_words_and_numbers_are_words_and_ids_name_the_split(tmp_path: Path) -> None:
    for split, text in {"train": " a <unk> fell N N \n\n do n't go \n", "valid": " b \n", "test": " c \n"}.items():
        (tmp_path / f"ptb.{split}.txt").write_text(text)
    rows = list(read_ptb({"ptb": tmp_path}))
    assert [(row.id, row.target_words) for row in rows if isinstance(row, Sentence)] == [
        ("ptb-train-00001", "a <unk> fell N N"), ("ptb-train-00003", "do n't go"),
        ("ptb-valid-00001", "b"), ("ptb-test-00001", "c"),
    ]  # fmt: skip
    assert rows[1] == Quarantined(id="ptb-train-00002", stage="read", reason="empty line", text="")
    assert all(row.target == row.target_words for row in rows if isinstance(row, Sentence))


def test_a_missing_file_is_told_with_its_remedy(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"ptb\.train\.txt: no such file; run the download stage"):
        list(read_ptb({"ptb": tmp_path}))


TREES = """
( (S (NP (DT The) (NN Lamp)) (, ,) (VP (VBD cost) (NP ($ $) (CD 1,200.50) (-NONE- *U*))) (. .)) )
( (S (NP (NN Moss)) (VP (VBD fell) (NP (CD 7\\/8) (NN %))) (. .)) )
( (S (NP (NN Moss)) (VP (VBD fell)) (. .)) )
( (X (. .)) )
"""


def sources(folder: Path) -> dict[str, Path]:
    (folder / "penn/treebank/combined").mkdir(parents=True)
    (folder / "penn/treebank/combined/wsj_0001.mrg").write_text(TREES)
    (folder / "ptb").mkdir()
    for split, text in {"train": " the cost $ moss fell N \n", "valid": " lamp \n", "test": " moss fell \n"}.items():
        (folder / f"ptb/ptb.{split}.txt").write_text(text)
    return {"penn": folder / "penn", "ptb": folder / "ptb"}


def test_words_are_as_in_ptb_and_keep_their_tags(tmp_path: Path) -> None:
    rows = list(read_tagged(sources(tmp_path)))
    kept = [(row.target_words, row.target_tags) for row in rows if isinstance(row, Sentence)]
    # Marks go; "lamp" is no word of the training lines, and a per cent sign is N.
    assert kept == [("the <unk> cost $ N", "DT NN VBD $ CD"), ("moss fell N N", "NN VBD CD NN")]


def test_a_line_of_test_is_not_learnt(tmp_path: Path) -> None:
    aside = [(row.id, row.reason) for row in read_tagged(sources(tmp_path)) if isinstance(row, Quarantined)]
    assert aside == [("penn-wsj_0001-0002", "line of valid or test"), ("penn-wsj_0001-0003", "no words")]


def test_both_sources_are_needed(tmp_path: Path) -> None:
    folders = sources(tmp_path)
    with pytest.raises(ConfigError, match="reader ptb_tagged: sources penn; give it penn and ptb"):
        list(read_tagged({"penn": folders["penn"]}))
