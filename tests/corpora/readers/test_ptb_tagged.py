"""The treebank in PTB's form, on trees and lines written for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.corpora.readers.ptb_tagged import read
from espalier.corpora.records import Quarantined, Sentence
from espalier.io.errors import ConfigError

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
    rows = list(read(sources(tmp_path)))
    kept = [(row.target_words, row.target_tags) for row in rows if isinstance(row, Sentence)]
    # Marks go; "lamp" is no word of the training lines, and a per cent sign is N.
    assert kept == [("the <unk> cost $ N", "DT NN VBD $ CD"), ("moss fell N N", "NN VBD CD NN")]


def test_a_line_of_test_is_not_learnt(tmp_path: Path) -> None:
    aside = [(row.id, row.reason) for row in read(sources(tmp_path)) if isinstance(row, Quarantined)]
    assert aside == [("penn-wsj_0001-0002", "line of valid or test"), ("penn-wsj_0001-0003", "no words")]


def test_both_sources_are_needed(tmp_path: Path) -> None:
    folders = sources(tmp_path)
    with pytest.raises(ConfigError, match="reader ptb_tagged: sources penn; give it penn and ptb"):
        list(read({"penn": folders["penn"]}))
