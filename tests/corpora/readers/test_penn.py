"""The Penn reader, on trees written for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.corpora.readers.penn import read
from espalier.corpora.records import Quarantined, Sentence
from espalier.io.errors import ConfigError, DataError

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
    rows = list(read({"wsj": write(tmp_path, wsj_0002=TRACES + LAMP, wsj_0001=LAMP)}))
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
        list(read({"wsj": write(tmp_path, wsj_0001=LAMP + "( (S (NN lamp) )\n")}))


def test_no_documents_and_two_sources_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no document wsj_<number>\.mrg; run the download stage"):
        list(read({"wsj": tmp_path}))
    with pytest.raises(ConfigError, match="reader penn: 2 sources"):
        list(read({"a": tmp_path, "b": tmp_path}))
