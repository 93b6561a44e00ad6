"""The reader of dependency treebanks, on sentences written for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.corpora.readers.conllu import read
from espalier.corpora.records import Sentence
from espalier.corpora.splits import PublishedSplit
from espalier.io.errors import ConfigError, DataError
from tests.corpora.whole_tables import split_of, table_of


def block(*words: tuple[str, str, int, str], text: str = "") -> str:
    rows = [f"# text = {text}"] if text else []
    rows += [
        f"{number}\t{form}\t_\t{tag}\tX{tag}\t_\t{head}\t{label}\t_\t_"
        for number, (form, tag, head, label) in enumerate(words, start=1)
    ]
    return "\n".join(rows) + "\n\n"


LAMPS = block(
    ("Lamps", "NOUN", 2, "nsubj"), ("glow", "VERB", 0, "root"), (".", "PUNCT", 2, "punct"), text="Lamps glow."
)
BRIDGE = block(("他", "PRON", 2, "nsubj"), ("見過", "VERB", 0, "root"), ("石橋", "NOUN", 2, "dobj"))


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name.replace('__', '-')}.conllu").write_text(text, encoding="utf-8")
    return folder


def test_sentences_keep_their_trees_and_their_published_splits(tmp_path: Path) -> None:
    folder = write(tmp_path / "one", en_toy__ud__train=LAMPS + LAMPS, en_toy__ud__dev=LAMPS, README="x")
    rows = list(read({"toy": folder}, language="en"))
    assert [row.id for row in rows] == ["toy-dev-000000", "toy-train-000000", "toy-train-000001"]
    assert rows[1] == Sentence(
        id="toy-train-000000",
        origin="toy",
        language="en",
        target="Lamps glow.",
        target_words="Lamps glow .",
        target_tags="NOUN VERB PUNCT",
        target_heads="2 0 2",
        target_labels="nsubj root punct",
    )


def test_one_s_own_files_are_read_by_any_name_which_is_their_split(tmp_path: Path) -> None:
    rows = list(read({"mine": write(tmp_path, notes=LAMPS, dev=LAMPS)}, language="en"))
    assert [row.id for row in rows] == ["mine-dev-000000", "mine-notes-000000"]
    assert list(split_of(table_of(rows, Sentence), PublishedSplit(kind="published", test=()))) == ["dev", "train"]


def test_the_treebanks_own_tags_can_be_read(tmp_path: Path) -> None:
    (row,) = read({"toy": write(tmp_path, en_toy__ud__test=LAMPS)}, language="en", tags="xpos")
    assert isinstance(row, Sentence) and row.target_tags == "XNOUN XVERB XPUNCT"


def test_version_one_becomes_version_two_where_it_is_said_to_be_one(tmp_path: Path) -> None:
    folders = {
        "old": write(tmp_path / "old", zh__ud__train=BRIDGE),
        "new": write(tmp_path / "new", zh__ud__test=BRIDGE),
    }
    old, new = read(folders, language="zh", v1=["old"])
    assert isinstance(old, Sentence) and isinstance(new, Sentence)
    assert (old.target_labels, new.target_labels) == ("nsubj root obj", "nsubj root dobj")
    assert old.target == new.target == "他見過石橋"


def test_characters_are_simplified_in_words_and_text(tmp_path: Path) -> None:
    pytest.importorskip("opencc")
    given = BRIDGE.replace("1\t他", "# text = 他見過石橋\n1\t他", 1)
    (row,) = read({"toy": write(tmp_path, zh__ud__dev=given)}, language="zh", simplified=True)
    assert isinstance(row, Sentence)
    assert (row.target, row.target_words) == ("他见过石桥", "他 见过 石桥")


def test_a_malformed_row_is_named_with_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"en-ud-dev\.conllu, row 5: 9 columns"):
        list(
            read(
                {"toy": write(tmp_path, en__ud__dev=LAMPS.replace("\t_\n\n", "\t_\n4" + "\t_" * 8 + "\n\n"))},
                language="en",
            )
        )


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no <treebank>-ud-<split>\.conllu; run the download stage"):
        list(read({"toy": tmp_path}, language="en"))
    with pytest.raises(ConfigError, match="sources none"):
        list(read({}, language="en"))
    with pytest.raises(ConfigError, match="sources toy, of them in version 1: other"):
        list(read({"toy": tmp_path}, language="en", v1=["other"]))
