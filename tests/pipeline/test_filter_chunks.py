"""The filter stage in chunks: what it writes does not depend on them, and is what a slow filter of lists gives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_params import corpus, empty, write

from espalier.corpora.record_tables import schema_of
from espalier.corpora.records import Pair, Quarantined, Record, Verse, optional_columns
from espalier.io.errors import ConfigError, DataError
from espalier.io.tables import read_table, write_table
from pipeline import layout
from pipeline.stages import filter as stage
from tests.corpora.whole_tables import table_of

CHUNKS = ("1", "7", "")
SIDES = ("a lamp", "A  lamp", "moss", "the door is open", "ünder", "", "stone 3", "(1)")
FILTERS: list[dict[str, Any]] = [
    {},
    {"without_empty": True, "ascii_only": True, "deduplicate": True},
    {"max_words": 3, "without_identical": True, "deduplicate": "source"},
    {"deduplicate": "either"},
    {"min_label_count": 4, "deduplicate": "target"},
]
SPLITS: list[dict[str, Any]] = [
    {"kind": "all_train"},
    {"kind": "random", "seed": 1, "dev": 2, "test": 1},
    {"kind": "group", "seed": 1, "dev": 2, "test": 3},
    {"kind": "group", "seed": 2, "dev": 3, "test": 2, "stratify": "origin"},
    {"kind": "published", "dev": ["one"], "test": ["other"]},
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    yield tmp_path


def outputs(
    rows: list[Record], unread: list[Quarantined], entry: dict[str, Any], chunk: str
) -> dict[str, bytes] | ConfigError | DataError:
    """The bytes of everything that the stage writes; or the mistake that it names."""
    kind = Verse if entry["reader"] == "verse_zh" else Pair
    write(Path(), empty() | {"corpora": {"tiny": entry}})
    write_table(layout.parsed("tiny") / "records.parquet", table_of(rows, kind))
    write_table(layout.parsed("tiny") / "quarantine.parquet", table_of(unread, Quarantined))
    os.environ["ESPALIER_CHUNK_ROWS"] = chunk
    try:
        stage.run("tiny")
    except (ConfigError, DataError) as error:
        return error
    finally:
        del os.environ["ESPALIER_CHUNK_ROWS"]
    return written()


def written() -> dict[str, bytes]:
    """The bytes of the corpus, its metrics and its details."""
    files = [*layout.corpus("tiny").iterdir(), layout.details("corpora", "tiny"), layout.metrics("corpora", "tiny")]
    return {"/".join(file.parts[-3:]): file.read_bytes() for file in files}


@st.composite
def pairs(draw: st.DrawFn) -> list[Record]:
    side, tree = st.sampled_from(SIDES), st.sampled_from(["(S (A a))", "(S (B b))", "(T (A a) (A b))"])
    group, name, origin = st.sampled_from(["", "", "g", "h"]), st.sampled_from(["one", "other", "third"]), "xy"
    drawn = draw(st.lists(st.tuples(side, side, group, name, st.sampled_from(origin), tree, tree), max_size=25))
    return [
        Pair(
            id=f"{split}-{number:02}", origin=of, language="en", source=source, target=target, group=own,
            source_tree=first, target_tree=second,
        )
        for number, (source, target, own, split, of, first, second) in enumerate(drawn)
    ]  # fmt: skip


@given(pairs(), st.integers(0, 2), st.sampled_from(FILTERS), st.sampled_from(SPLITS))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
def test_chunks_do_not_show_in_what_is_written(
    here: Path, rows: list[Record], bad: int, filters: dict[str, Any], split: dict[str, Any]
) -> None:
    entry = corpus("en", "paraphrase_en", filters=filters, split=split)
    unread = [Quarantined(id=f"bad{number}", stage="read", reason="no", text="x") for number in range(bad)]
    whole, *others = (outputs(rows, unread, entry, chunk) for chunk in reversed(CHUNKS))
    if isinstance(whole, Exception):
        assert {str(other) for other in others} == {str(whole)}
        return
    assert all(other == whole for other in others)
    parts = {name: read_table(layout.corpus("tiny") / f"{name}.parquet") for name in ("train", "dev", "test")}
    quarantine = read_table(layout.corpus("tiny") / "quarantine.parquet")
    ids = [row.id for row in rows]
    for table in (*parts.values(), quarantine[bad:]):  # in the order of the records, each row once
        assert (places := [ids.index(id) for id in table["id"]]) == sorted(places)
    assert Counter(id for table in (*parts.values(), quarantine[bad:]) for id in table["id"]) == Counter(ids)
    assert quarantine["id"].tolist()[:bad] == [row.id for row in unread]
    records = {row.id: row for row in rows if isinstance(row, Pair)}
    for table in parts.values():
        pd.testing.assert_frame_equal(table, table_of([records[id] for id in table["id"]], Pair))
    for id, step, text in zip(*(quarantine[name][bad:] for name in ("id", "stage", "text")), strict=True):
        assert step == "filter" and text == f"{records[id].source}\t{records[id].target}"


@pytest.mark.parametrize("chunk", CHUNKS)
def test_rows_of_a_held_out_format_are_the_last_of_the_quarantine(here: Path, chunk: str) -> None:
    tunes = [f"t{number // 3}" for number in range(30)]
    rows: list[Record] = [
        Verse(
            id=f"p{number:02}", origin="o", language="zh", author="",
            target="山" * (1 + number % 7) + f"水{chr(0x4E00 + number)}。",
            tune=tune, rhyme="A", tones="平" if number == 4 else "",
        )
        for number, tune in enumerate(tunes)
    ]  # fmt: skip
    rows.insert(1, Verse(id="same", origin="o", language="zh", target=rows[0].target, author="", tune="t0", rhyme="A"))
    split = {"kind": "title", "seed": 1, "dev_titles": 1, "test_titles": 1, "dev_size": 3, "test_size": 3}
    entry = corpus("zh", "verse_zh", filters={"deduplicate": True}, split={**split, "new_formats": True})
    assert isinstance(outputs(rows, [], entry, chunk), dict)
    quarantine = read_table(layout.corpus("tiny") / "quarantine.parquet")
    reasons = quarantine["reason"].tolist()
    assert reasons[0] == "duplicate" and set(reasons[1:]) == {"format of dev or test"}
    parts = {name: read_table(layout.corpus("tiny") / f"{name}.parquet") for name in ("train", "dev", "test")}
    lengths = {name: set(part["target"].str.len()) for name, part in parts.items()}
    assert not lengths["train"] & (lengths["dev"] | lengths["test"])
    # A column that one kept row fills is in every split.
    assert {tuple(optional for optional in optional_columns(Verse) if optional in part) for part in parts.values()} == {
        ("tones",)
    }


@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_stage_that_fails_between_chunks_leaves_the_old_corpus(
    here: Path, monkeypatch: pytest.MonkeyPatch, chunk: str
) -> None:
    rows: list[Record] = [
        Pair(id=str(number), origin="o", language="en", source=f"s{number}", target="t") for number in range(20)
    ]
    entry = corpus("en", "paraphrase_en")
    before = outputs(rows, [], entry, chunk)
    whole, calls = stage.Counts.add, []

    def add(self: stage.Counts, split: str, chunk: object) -> None:
        calls.append(split)
        if len(calls) > (2 if chunk == "1" else 0):
            raise KeyboardInterrupt
        whole(self, split, chunk)

    monkeypatch.setattr(stage.Counts, "add", add)
    with pytest.raises(KeyboardInterrupt):
        outputs(rows[:5], [], entry, chunk)
    assert written() == before
    assert [file.name for file in layout.corpus("tiny").parent.iterdir()] == ["tiny"]


def test_a_stage_that_is_killed_between_chunks_leaves_the_old_corpus_and_the_next_run_no_rest(here: Path) -> None:
    rows: list[Record] = [
        Pair(id=str(number), origin="o", language="en", source=f"s{number}", target="t") for number in range(9)
    ]
    entry = corpus("en", "paraphrase_en")
    before = outputs(rows, [], entry, "1")
    write_table(layout.parsed("tiny") / "records.parquet", table_of(rows[:5], Pair))
    code = (
        "import os, signal; from pipeline.stages import filter as stage\n"
        "stage.Counts.add = lambda self, split, rows: os.kill(os.getpid(), signal.SIGKILL)\n"
        "stage.run('tiny')"
    )
    paths = os.pathsep.join([str(layout.ROOT), str(layout.ROOT / "src")])
    environment = {**os.environ, "PYTHONPATH": paths, "ESPALIER_CHUNK_ROWS": "1"}
    assert subprocess.run([sys.executable, "-c", code], env=environment, timeout=120).returncode == -signal.SIGKILL
    assert written() == before
    assert len([*layout.corpus("tiny").parent.iterdir()]) == 2
    assert isinstance(outputs(rows[:5], [], entry, "1"), dict)
    assert [file.name for file in layout.corpus("tiny").parent.iterdir()] == ["tiny"]


@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_corpus_of_which_nothing_is_left_says_why(here: Path, chunk: str) -> None:
    rows: list[Record] = [
        Pair(id=str(number), origin="o", language="en", source="", target=f"t {number}") for number in range(9)
    ]
    unread = [Quarantined(id="bad", stage="read", reason="no", text="x")]
    entry = corpus("en", "paraphrase_en", filters={"without_empty": True})
    error = outputs(rows, unread, entry, chunk)
    assert isinstance(error, DataError)
    assert "all 10 rows were quarantined (9 empty side, 1 no; the first is bad: 'x')" in str(error)


def test_a_group_that_a_split_parts_is_named_from_a_later_chunk(here: Path) -> None:
    rows: list[Record] = [
        Pair(id=f"{'ab'[number // 10]}-{number}", origin="o", language="en", source="s", target=f"{number}",
             group="talk" if number > 8 else f"own {number}") for number in range(20)
    ]  # fmt: skip
    rows[2] = Pair(id="a-2", origin="o", language="en", source="s", target="2")
    entry = corpus("en", "paraphrase_en", split={"kind": "published", "dev": ["b"], "test": []})
    said = {str(outputs(rows, [], entry, chunk)) for chunk in CHUNKS}
    assert len(said) == 1 and "corpora.tiny.split: group 'talk' is in train and in dev" in said.pop()


@pytest.mark.parametrize("wrong", ["0", "many", "-1"])
def test_a_wrong_number_of_rows_is_one_line(here: Path, wrong: str) -> None:
    entry = corpus("en", "paraphrase_en")
    error = outputs([Pair(id="1", origin="o", language="en", source="s", target="t")], [], entry, wrong)
    assert isinstance(error, ConfigError)
    assert str(error) == f"ESPALIER_CHUNK_ROWS: '{wrong}' is not a number of rows; 1 or more"


def test_the_schema_of_chunks_is_that_of_a_whole_table(tmp_path: Path) -> None:
    write_table(tmp_path / "t.parquet", table_of([], Verse))
    assert list(read_table(tmp_path / "t.parquet")) == schema_of(Verse).names
