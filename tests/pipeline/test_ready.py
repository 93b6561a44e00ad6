"""Datasets of ids: the same bytes whatever is in memory at once, and nothing is encoded before all is there."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from espalier.corpora.records import Pair, Record, Verse
from espalier.corpora.splits import SPLITS
from espalier.datasets.dialogue.encode import DialogueEncoding, DialogueSettings
from espalier.datasets.pairs.encode import PairEncoding, PairSettings
from espalier.datasets.verse.encode import VerseSettings
from espalier.io.errors import ArtifactError, ConfigError, DataError, MissingError
from espalier.io.files import read_json, write_json
from espalier.io.tables import read_table, write_table
from pipeline import layout
from pipeline.records import ready
from pipeline.records.artifacts import read_train
from pipeline.records.ready import make_ready
from tests.corpora.whole_tables import table_of

TREES = ["(S (NP (DT The) (NN lamp)) (VP (VBZ glows)))", "(NP (DT A) (NN glow))", "(FRAG (UH Oh))", ""]
TEXTS = ["The lamp glows", "A glow", "Oh", "a b c d e f g h i"]
PAIRS = PairSettings(pieces=40, min_length=1, max_length=8)


def pairs(draws: list[tuple[int, int]], split: str) -> list[Pair]:
    return [
        Pair(id=f"{split}{n}", origin="o", language="en", source=TEXTS[one], target=TEXTS[other],
             source_words=TEXTS[one], target_words=TEXTS[other], source_tree=TREES[one], target_tree=TREES[other],
             target_heads="0 1 2 3 4 5 6 7 8"[: 2 * len(TEXTS[other].split()) - 1])
        for n, (one, other) in enumerate(draws)
    ]  # fmt: skip


def poems(draws: list[tuple[int, int]], split: str) -> list[Verse]:
    lines = ["山高\n月小", "水落", "石出石出石出", "山"]
    return [
        Verse(id=f"{split}{n}", origin="o", language="zh", target=lines[one], author="", tune=lines[other][:1],
              rhyme="." * (1 + lines[one].count("\n")), group="g" if other == 2 else "")
        for n, (one, other) in enumerate(draws)
    ]  # fmt: skip


#: By encoding, the settings and what makes records.
KINDS: dict[str, tuple[Any, Callable[[list[tuple[int, int]], str], list[Any]]]] = {
    "pairs": (PAIRS, pairs),
    "dialogue": (DialogueSettings(max_words=5), pairs),
    "verse": (VerseSettings(units=2, length=4, max_tokens=9), poems),
}


def written(records: dict[str, list[Any]]) -> None:
    """A filtered corpus "made" in this folder, with what its stages count."""
    for name, rows in records.items():
        write_table(layout.corpus("made") / f"{name}.parquet", table_of(rows, type(rows[0])))
    write_json(layout.details("corpora", "made"), {"rows": {}, "quarantined": {}, "origins": {}})
    write_json(layout.details("parsing", "made"), {"parser": "none", "quarantined": {}})


def made(encoding: str, settings_: Any, **changes: str) -> None:
    dataset = {"encoding": encoding, "corpus": "made", "vocab_from": "none", "pieces_from": "none", **changes}
    params: Any = SimpleNamespace(corpora={"made": SimpleNamespace(language="zh" if encoding == "verse" else "en")})
    make_ready("it", SimpleNamespace(**dataset, settings=settings_), params)  # type: ignore[arg-type]


def contents() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(layout.ready("it").iterdir())}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


DRAWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20)


@pytest.mark.parametrize("encoding", KINDS)
@given(splits=st.fixed_dictionaries(dict.fromkeys(SPLITS, DRAWS)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=12)
def test_what_is_in_memory_at_once_does_not_show(
    here: Path, encoding: str, splits: dict[str, list[tuple[int, int]]]
) -> None:
    settings_, records_of = KINDS[encoding]
    splits["train"] = [(0, 1), *splits["train"]]  # one that fits
    records = {name: records_of(draws, name) for name, draws in splits.items()}
    written(records)
    found = []
    for at_once in ("1", "7", "1000"):
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("ESPALIER_CHUNK_ROWS", at_once)
            made(encoding, settings_)
        found.append((contents(), read_json(layout.metrics("datasets", "it"))))
    assert found[0] == found[1] == found[2]
    # The records that fit are those of the ids, with a column for what one of them fills.
    kept = [row for row in records["dev"] if row.id in [*read_table(layout.ready("it") / "dev.parquet", ["id"])["id"]]]
    assert read_table(layout.ready("it") / "dev.records.parquet").equals(
        read_table(_table(kept, type(records["dev"][0])))
    )


def _table(rows: list[Any], kind: type[Record]) -> Path:
    write_table(Path("wanted.parquet"), table_of(rows, kind))
    return Path("wanted.parquet")


@pytest.fixture
def corpus(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A corpus, and an encoding that must not be called."""

    def called(*_: object, **__: object) -> None:
        raise AssertionError("encoded before all was there")

    for kind in (PairEncoding, DialogueEncoding):
        monkeypatch.setattr(kind, "encode", called)
        monkeypatch.setattr(kind, "build_vocabulary", called)
    written({name: pairs([(0, 1), (1, 0)], name) for name in SPLITS})
    return here


@pytest.mark.parametrize(
    "path",
    [layout.details("corpora", "made"), layout.details("parsing", "made"), layout.corpus("made") / "test.parquet"],
    ids=str,
)
def test_a_missing_file_is_named_before_a_row_is_encoded(corpus: Path, path: Path) -> None:
    path.unlink()
    with pytest.raises(MissingError, match=f"^{path}: no such .*; run the stage that makes it$"):
        made("pairs", PAIRS)
    assert not layout.ready("it").exists()


def test_a_vocabulary_that_is_missing_is_named_before_a_row_is_encoded(corpus: Path) -> None:
    with pytest.raises(MissingError, match=r"data/ready/other/vocabulary\.json: no such file"):
        made("pairs", PAIRS, vocab_from="other")


def test_published_pieces_that_are_missing_are_named_before_a_tree_is_read(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written({name: pairs([(0, 1)], name) for name in SPLITS})
    monkeypatch.setattr("espalier.datasets.pairs.encode.read_tree", lambda *_, **__: pytest.fail("a tree was read"))
    with pytest.raises(ArtifactError, match=r"bert-base-uncased-vocab\.txt"):
        made("pairs", PAIRS, pieces_from="bert/vocab")


@pytest.mark.parametrize(("encoding", "column"), [("pairs", "source_tree"), ("dialogue", "target_heads")])
def test_a_corpus_without_trees_is_refused_before_a_row_is_encoded(corpus: Path, encoding: str, column: str) -> None:
    rows = pairs([(0, 1), (1, 0)], "train")
    bare = table_of(rows, Pair).assign(**{column: ""}).astype("str")
    write_table(layout.corpus("made") / "train.parquet", bare)
    line = f"train.parquet: no row has a {column}; give corpus made a parser, or change the settings of dataset it$"
    with pytest.raises(DataError, match=line):
        made(encoding, KINDS[encoding][0])


def test_trees_are_not_asked_for_where_they_are_not_read(here: Path) -> None:
    rows = {name: [(3, 3), (0, 3)] for name in SPLITS}  # the last text has no tree
    written({name: pairs(draws, name) for name, draws in rows.items()})
    plain = PairSettings(pieces=40, min_length=1, max_length=50, trees=False)
    made("pairs", plain)
    assert read_json(layout.metrics("datasets", "it"))["train"] == 4  # in both directions


def test_a_changed_byte_of_the_corpus_is_one_line_before_a_row_is_encoded(corpus: Path) -> None:
    path = layout.corpus("made") / "test.parquet"
    data = bytearray(path.read_bytes())
    data[10] ^= 1
    path.write_bytes(data)
    with pytest.raises(ArtifactError, match=r"test\.parquet: damaged: .*; delete it and run its stage again$"):
        made("pairs", PAIRS)


@pytest.mark.parametrize("value", ["0", "many", "-1"])
def test_a_wrong_number_of_rows_is_one_line(corpus: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("ESPALIER_CHUNK_ROWS", value)
    with pytest.raises(ConfigError, match=f"ESPALIER_CHUNK_ROWS: '{value}' is not a number of rows; 1 or more"):
        made("pairs", PAIRS)


def test_what_ends_in_the_middle_leaves_the_old_dataset_and_nothing_else(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written({name: pairs([(0, 1), (1, 0), (2, 2)], name) for name in SPLITS})
    monkeypatch.setenv("ESPALIER_CHUNK_ROWS", "1")
    made("pairs", PAIRS)
    before, metrics = contents(), read_json(layout.metrics("datasets", "it"))
    encode, calls = PairEncoding.encode, 0

    def ends(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 8:  # six of train, in both directions, and one of dev
            raise KeyboardInterrupt
        return encode(*args)

    monkeypatch.setattr(PairEncoding, "encode", ends)
    with pytest.raises(KeyboardInterrupt):
        made("pairs", PairSettings(pieces=40, min_length=1, max_length=8, both_directions=True))
    assert contents() == before and read_json(layout.metrics("datasets", "it")) == metrics
    assert [path.name for path in layout.ready("").iterdir()] == ["it"]


def test_a_dataset_without_a_row_for_training_is_refused_and_not_written(here: Path) -> None:
    written({name: pairs([(0, 1)], name) for name in SPLITS})
    with pytest.raises(DataError, match=r"train\.parquet: no row for training is left; loosen the bounds"):
        made("pairs", PairSettings(pieces=40, min_length=1, max_length=1))
    assert not layout.ready("it").exists()


def test_training_reads_mapped_ids_that_are_those_of_the_table(here: Path) -> None:
    written({name: pairs([(0, 1), (1, 0), (2, 2)], name) for name in SPLITS})
    made("pairs", PAIRS)
    kind = PairEncoding()
    data = read_train("it", kind)
    wanted = kind.split.load(layout.ready("it") / "train.parquet", data.vocabulary)
    assert [*data.ids] == [*wanted.ids] and len(data) == 6
    for name, column in data.columns.items():
        assert column.flat.tolist() == wanted.columns[name].flat.tolist() and not column.flat.flags.writeable
    shutil.rmtree(layout.scratch("ids"))
    assert [*read_train("it", kind).ids] == [*wanted.ids]


def test_splits_of_another_form_are_encoded_at_once_and_saved_by_themselves(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written({name: pairs([(0, 1), (1, 0)], name) for name in SPLITS})
    made("pairs", PAIRS)
    wanted, sizes, encode = contents(), list[int](), PairEncoding.encode
    monkeypatch.setattr(ready, "saved_as_lists", lambda kind: False)
    monkeypatch.setenv("ESPALIER_CHUNK_ROWS", "1")

    def counted(*args: Any) -> Any:
        sizes.append(len(args[1]))
        return encode(*args)

    monkeypatch.setattr(PairEncoding, "encode", counted)
    made("pairs", PAIRS)
    assert contents() == wanted and sizes == [4, 2, 2]
