"""The decode stage in chunks: its rows are those of all records at once, and no more than a chunk is in memory."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from untrained import untrained

from espalier.corpora.records import Pair, Quarantined, Record, Sentence, Verse
from espalier.corpora.stored import StoredRecords
from espalier.datasets.dialogue.encode import DialogueSettings
from espalier.datasets.pairs.encode import PairSettings
from espalier.datasets.registry import ENCODINGS
from espalier.datasets.structure.encode import StructureSettings
from espalier.datasets.verse.encode import VerseSettings
from espalier.io.files import write_json
from espalier.io.tables import read_table, table_metadata, write_table
from espalier.models.serialization import save_model
from espalier.tasks.compose_decoder import ComposeDecoder
from espalier.tasks.dialogue_decoder import DialogueDecoder
from espalier.tasks.paraphrase_decoder import PairDecoder
from espalier.tasks.verse_search import VerseDecoder
from pipeline import layout
from pipeline.records.outputs import OutputParts, write_outputs
from pipeline.stages import decode
from tests.corpora.whole_tables import table_of

ROWS = 20
#: Not in the order of the file.
IDS = [f"r{7 * number % ROWS:02d}" for number in range(ROWS)]
TREES = ["(S (NP (DT) (NN)) (VP (VB)))", "(S (NP (NN)) (VP (VB)))", "(SINV (VP (VB)) (NP (DT) (NN)))"]
PAIRS = PairSettings(pieces=60, depth=4, min_length=1, max_length=20)
SMALL = {"layers": 1, "width": 12, "heads": 2, "inner": 12, "positions": 64}
GUIDED: list[dict[str, Any]] = [
    {"reads": ["source"], "layers": 1, "heads": 2, "cross_heads": 1},
    {"reads": ["target_tree"], "layers": 1, "heads": 2, "cross_heads": 1, "attention": "path"},
]
EXPANDING = [{"reads": [name], "layers": 1, "heads": 2, "cross_heads": 1} for name in ("source_tree", "template")]


def pairs() -> list[Record]:
    """Rows that share sides, and so posts and clusters, with others far away."""
    texts = ["a lamp", "low lamp glows", "glows", "the door", "a door glows low"]
    return [
        Pair(id=IDS[n], origin="o", language="en", source=texts[n % 5], target=texts[(2 * n + 1) % 3],
             source_words=texts[n % 5], target_words=texts[(2 * n + 1) % 3], source_tree=TREES[n % 3],
             target_tree=TREES[(n + 1) % 3], target_heads=" ".join("0123"[: len(texts[(2 * n + 1) % 3].split())]))
        for n in range(ROWS)
    ]  # fmt: skip


def poems() -> list[Record]:
    """Rows of few tunes and formats."""
    lines = ["灯山，桥雨。\n山石桥！", "雨山雨。\n灯！", "桥雨石灯山。", "山灯，石桥。\n灯！"]
    return [
        Verse(id=IDS[n], origin="o", language="zh", target=lines[n % 4], author="", tune="令慢"[n % 7 > 4],
              rhyme="A" * (1 + lines[n % 4].count("\n")))
        for n in range(ROWS)
    ]  # fmt: skip


def songs() -> list[Record]:
    words = ["灯山 桥 雨石", "令 舟灯 山 桥", "雨石令 灯"]
    tags = ["n v n", "d n v n", "i n"]
    return [
        Sentence(id=IDS[n], origin="o", language="zh", target=words[n % 3].replace(" ", ""), target_words=words[n % 3],
                 target_tags=tags[n % 3], group="song" if n % 6 == 2 else "")
        for n in range(ROWS)
    ]  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A run of a model that was never trained, and that guides itself where `run` says so."""

    task: str
    encoding: str
    settings: Any
    records: Sequence[Record]
    arch: str
    network: dict[str, Any]
    decoder: Any
    seeds: tuple[int, ...] = (1,)
    samples: int = 1
    lm: str = "none"
    guidance: str = "none"


CASES = {
    "verse": Case(
        "verse", "verse", VerseSettings(units=6, length=24, max_tokens=40, min_count=1), poems(), "songnet", SMALL,
        VerseDecoder(mode="frame", marks=True), (5, 4), 2, "it",
    ),
    "granularity": Case(
        "paraphrase", "pairs", PAIRS.model_copy(update={"trees": False}), pairs(), "cdnpg",
        SMALL | {"encoder_layers": 1, "layers": 2, "first_layer": 1}, PairDecoder(beam=2, granularity=True), (1, 2),
    ),
    "guided": Case(
        "paraphrase", "pairs", PAIRS, pairs(), "guig", SMALL | {"encoders": GUIDED},
        PairDecoder(beam=2, guide="run"), (1, 2), 2, guidance="guig/other",
    ),
    "templates": Case(
        "paraphrase", "pairs", PAIRS, pairs(), "guig", SMALL | {"encoders": EXPANDING, "writes": "tree"},
        PairDecoder(beam=2, template="frequent"), (1,), 2,
    ),
    "few": Case(
        "paraphrase", "pairs", PAIRS, pairs(), "guig", SMALL | {"encoders": GUIDED}, PairDecoder(beam=2, rows=9),
    ),
    "dialogue": Case(
        "dialogue", "dialogue", DialogueSettings(min_words=1), pairs(), "rnn_seq2seq",
        {"width": 8, "word": 8, "readout": 8, "positions": 32}, DialogueDecoder(beam=4, max_words=6, mmi=0.5, skip=1),
        (1, 2), 2,
    ),
    "compose": Case(
        "compose", "structure", StructureSettings(max_length=12), songs(), "sat", SMALL | {"encoder_layers": 1},
        ComposeDecoder(frame=True), (1,), 2,
    ),
}  # fmt: skip


def made(case: Case, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The dataset, the model and params.yaml of a case in this folder; the path of the outputs."""
    encoding, folder = ENCODINGS[case.encoding], layout.ready("it")
    vocabulary = encoding.build_vocabulary(case.records, case.settings, case.records[0].language)
    vocabulary.save(folder / "vocabulary.json")
    for split in ("dev", "test"):
        encoded = encoding.encode(case.records, vocabulary, case.settings)
        assert len(encoded.places) == ROWS
        encoded.split.save(folder / f"{split}.parquet")
        write_table(folder / f"{split}.records.parquet", table_of(case.records, encoding.record))
        write_table(folder / f"{split}.quarantine.parquet", table_of([], Quarantined))
    write_json(folder / "extras.json", {"templates": [{"template": "(S (NP) (VP))"}, {"template": "(SINV (VP))"}]})
    for number, seed in enumerate(case.seeds):
        model: Any = untrained(case.arch, case.network, vocabulary)
        for parameter in model.parameters():
            parameter.data *= 1 + number / 2
        save_model(layout.model("it"), case.arch, model, vocabulary, seed)
    rows = [{"id": id_, "cluster": id_, "seed": seed, "sample": sample, "text": "", "tree": TREES[(n + sample) % 3]}
            for seed in case.seeds for sample in (0, 1) for n, id_ in enumerate(IDS[:15])]  # fmt: skip
    write_table(layout.output("guig", "other"), pd.DataFrame(rows))
    run = SimpleNamespace(
        paper="it", task=case.task, model="it", dataset="it", split="test", decoder=case.decoder, samples=case.samples,
        seed=3, guide=tuple(case.guidance.split("/")) if "/" in case.guidance else None, guidance=case.guidance,
        lexicon="none", lm=case.lm,
    )  # fmt: skip
    params = SimpleNamespace(
        runs={"it": run},
        models={"it": SimpleNamespace(seeds=case.seeds, dataset="it")},
        datasets=SimpleNamespace(every={"it": SimpleNamespace(encoding=case.encoding, corpus="it")}),
    )
    monkeypatch.setattr(decode, "load_params", lambda: params)
    monkeypatch.setattr(decode, "record_of", lambda stage, key: {})
    return layout.output("it", "it")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ESPALIER_DEVICE", "cpu")
    return tmp_path


@pytest.mark.parametrize("name", CASES)
def test_the_rows_are_those_of_all_records_at_once(name: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(CASES[name], monkeypatch)
    found = []
    for chunk in ("", "7", "1")[: 3 if name == "verse" else 2]:  # chunks of one row take long
        monkeypatch.setenv("ESPALIER_CHUNK_ROWS", chunk)
        decode.run("it")
        found.append((read_table(path), table_metadata(path)))
    (whole, facts), *others = found
    assert whole["nll"].nunique() > 2 and whole["seed"].unique().tolist() == [*CASES[name].seeds]
    for table, other in others:
        # A batch of other rows changes numbers by rounding, and nothing else.
        pd.testing.assert_frame_equal(table, whole, atol=2e-4, rtol=0, check_exact=False)
        assert {**other, "dev": ""} == {**facts, "dev": ""}
    assert not layout.scratch("decode", "it").exists()


@pytest.mark.parametrize("name", CASES)
def test_a_split_of_one_chunk_has_the_bytes_of_one_table(
    name: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, parts = made(CASES[name], monkeypatch), list[pd.DataFrame]()
    decode.run("it")
    params: Any = decode.load_params()
    facts = decode.decoded("it", params.runs["it"], layout.model("it"), params, parts.append)
    dev = [table for table in facts.dev if table is not None]
    whole = pd.concat(parts, ignore_index=True)
    write_outputs(here / "whole.parquet", whole, pd.concat(dev, ignore_index=True) if dev else None, facts.facts)
    assert path.read_bytes() == (here / "whole.parquet").read_bytes()


@pytest.mark.parametrize("name", CASES)
def test_no_more_than_a_chunk_and_the_one_before_are_in_memory(
    name: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[name]
    made(case, monkeypatch)
    added, read, add, at = list[Any](), list[int](), OutputParts.add, StoredRecords.at

    def recorded(parts: OutputParts, rows: pd.DataFrame) -> None:
        add(parts, rows)
        assert sum(table() is not None for table in added) <= 1
        assert rows["id"].nunique() <= 7
        added.append(weakref.ref(rows))

    def counted(records: StoredRecords[Any], places: Any) -> list[Any]:
        read.append(len(places))
        return at(records, places)

    monkeypatch.setattr(OutputParts, "add", recorded)
    monkeypatch.setattr(StoredRecords, "at", counted)
    monkeypatch.setenv("ESPALIER_CHUNK_ROWS", "7")
    decode.run("it")
    assert len(added) >= len(case.seeds) * 2 and max(read) == 7


def test_a_decoding_that_fails_leaves_the_outputs_as_they_were(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(CASES["compose"], monkeypatch)
    decode.run("it")
    before, calls, add = path.read_bytes(), list[int](), OutputParts.add

    def failing(parts: OutputParts, rows: pd.DataFrame) -> None:
        calls.append(len(rows))
        if len(calls) == 2:
            raise KeyboardInterrupt
        add(parts, rows)

    monkeypatch.setattr(OutputParts, "add", failing)
    monkeypatch.setenv("ESPALIER_CHUNK_ROWS", "7")
    with pytest.raises(KeyboardInterrupt):
        decode.run("it")
    assert path.read_bytes() == before and not layout.scratch("decode", "it").exists()
    assert [*path.parent.iterdir()] == [path]


def test_parts_whose_columns_differ_become_the_table_of_all(tmp_path: Path) -> None:
    """A part with no missing number, or with nothing but missing texts, does not decide the type of a column."""
    tables = [
        pd.DataFrame({"id": ["a", "b"], "number": [1, 2], "text": [None, None]}),
        pd.DataFrame({"id": ["c"], "number": [np.nan], "text": ["x"]}),
    ]
    with OutputParts(tmp_path / "parts") as parts:
        for table in tables:
            parts.add(table)
        parts.write(tmp_path / "t.parquet", [None, tables[1]], {"unfit": "3"}, 1)
    found = read_table(tmp_path / "t.parquet")
    assert found["number"].tolist()[:2] == [1.0, 2.0] and np.isnan(found["number"][2])
    assert found["text"].fillna("").tolist() == ["", "", "x"] and found["id"].tolist() == ["a", "b", "c"]
    assert table_metadata(tmp_path / "t.parquet").keys() == {"unfit", "dev"}
    assert [*tmp_path.iterdir()] == [tmp_path / "t.parquet"]
