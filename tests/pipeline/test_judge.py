"""A judge beside decoding: its columns follow the rows, and it reads each text once."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from espalier.cli.progress import followed
from espalier.corpora.records import Quarantined, Verse
from espalier.datasets.verse.data import VerseBatch
from espalier.datasets.verse.encode import VerseEncoding, VerseSettings
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.io.errors import ConfigError
from espalier.io.files import read_json, write_json
from espalier.io.tables import read_table, write_table
from espalier.models.serialization import save_model
from espalier.models.songnet import SongNet
from espalier.models.songnet_config import SongNetConfig
from espalier.tasks.decode import judged
from espalier.tasks.integrity import VerseJudge
from espalier.tasks.verse import VerseScoring
from espalier.tasks.verse_search import VerseDecoder
from pipeline import layout
from pipeline.records.machine import device
from pipeline.stages import baselines
from tests.corpora.whole_tables import table_of

SETTINGS = VerseSettings(units=6, length=24, max_tokens=40)
POEMS = {
    "train": ["灯山，桥雨。\n山石桥雨！", "雨山雨。\n灯！", "桥雨石灯山。"],
    "dev": ["灯山。\n桥！"],
    "test": ["山灯，石桥。\n灯！", "石灯雨。"],
}


def judge_of(vocabulary: VerseVocabulary, positions: int = 64) -> SongNet:
    torch.manual_seed(1)
    plain = SongNetConfig(layers=1, width=8, heads=2, inner=8, positions=positions, symbols=(), global_attention=False)
    return SongNet(plain, vocabulary).eval()


def test_rows_get_what_the_judge_says_of_their_text_and_of_their_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESPALIER_DEVICE", "cpu")
    read: list[int] = []

    class Counting(VerseJudge):
        def measure(self, model: Any, batch: VerseBatch) -> dict[str, torch.Tensor]:
            read.append(len(batch))
            return super().measure(model, batch)

    model = judge_of(VerseVocabulary(tuple("，。！灯山桥雨石"), units=6, length=24, language="zh"))
    table = pd.DataFrame(
        {"id": ["a", "a", "b"], "text": ["灯山。", "灯。\n山！", ""], "reference": ["灯。\n山！"] * 2 + ["雨，石"]},
        index=[5, 6, 9],
    )
    found = judged(Counting(), model, table, device(), followed)
    assert found[["id", "text", "reference"]].values.tolist() == table.values.tolist()
    assert sum(read) == 4  # of six texts four are different
    assert found["judge_marks"].tolist() == [1, 2, 0] and found["judge_units"].tolist() == [1, 2, 0]
    assert found["reference_judge_marks"].tolist() == [2, 2, 0]
    nats = found["judge_nats"].tolist()
    assert found["reference_judge_nats"].tolist() == [nats[1], nats[1], 0.0] and 0 < nats[0] != nats[1] > 0
    with pytest.raises(ConfigError, match="a row of 5 ids, of a judge that has 3 positions"):
        judged(VerseJudge(), judge_of(model.vocabulary, 3), table.iloc[:1].assign(reference=""), device(), followed)


def test_the_rows_of_a_judged_entry_have_controls_and_integrity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ESPALIER_DEVICE", "cpu")
    encoding, folder = VerseEncoding(), layout.ready("tiny")
    records = {
        split: [Verse(id=f"{split}{n}", origin="made", language="zh", target=text, author="", tune="令",
                   rhyme="A" * (text.count("\n") + 1))
                for n, text in enumerate(texts)]
        for split, texts in POEMS.items()
    }  # fmt: skip
    vocabulary = encoding.build_vocabulary(records["train"], SETTINGS, "zh")
    vocabulary.save(folder / "vocabulary.json")
    for split, rows in records.items():
        encoding.encode(rows, vocabulary, SETTINGS).split.save(folder / f"{split}.parquet")
        write_table(folder / f"{split}.records.parquet", table_of(rows, Verse))
        write_table(folder / f"{split}.quarantine.parquet", table_of([], Quarantined))
    counts: dict[str, Any] = {"rows": {}, "quarantined": {}, "origins": {}}
    details = {"language": "zh", "rows": {}, "splits": {}, "quarantined": {}, "measures": {}, "filtered": counts,
               "parsed": {}}  # fmt: skip
    write_json(folder / "details.json", details)
    write_json(folder / "extras.json", {})
    for seed in (5, 4):
        save_model(layout.model("judge"), "songnet", judge_of(vocabulary), vocabulary, seed)
    entry = SimpleNamespace(
        paper="songnet", task="verse", dataset="tiny", split="test", train="none", parser="none", lm="judge",
        lexicon="none", published="none", texts={}, decoder=VerseDecoder(),
        scoring=VerseScoring(rules="songci"), samples=2, seed=1,
    )  # fmt: skip
    params = SimpleNamespace(
        baselines={"tiny": entry},
        datasets=SimpleNamespace(every={"tiny": SimpleNamespace(encoding="verse", corpus="tiny")}),
        corpora={"tiny": SimpleNamespace(reader="verse_zh", language="zh")},
        models={"judge": SimpleNamespace(seeds=(5, 4))},
    )
    monkeypatch.setattr("pipeline.stages.baselines.load_params", lambda: params)
    baselines.run("tiny")

    def of(name: str) -> tuple[dict[str, Any], list[str]]:
        place = f"baselines/tiny/{name}"
        texts = read_table(layout.output("songnet", place))["text"].tolist()
        return read_json(layout.details("songnet", place))["scores"], texts

    human, references = of("human")
    details = read_json(layout.details("songnet", "baselines/tiny/human"))
    assert details["settings"]["judge"] == "judge"
    assert human["integrity"] == pytest.approx(human["integrity_reference"]) and human["integrity_marked"] == 100.0
    assert human["integrity_deviation"] == 0.0  # its two samples are the same
    marks = sum(len(text.split("\n")) for text in POEMS["test"])
    nats = read_table(layout.output("songnet", "baselines/tiny/human"))["judge_nats"]
    assert human["integrity"] == pytest.approx(np.exp(nats.sum() / 2 / marks), rel=1e-4)
    for name, expected in (("cut", "山灯，石。\n灯！"), ("broken_off", None), ("replaced", None), ("chance", None)):
        scores, texts = of(name)
        assert scores["integrity"] is not None and scores["integrity_reference"] == human["integrity_reference"]
        assert len(texts) == len(references) == 4 and texts != references
        assert expected is None or texts[0] == expected
