"""The stage of the rows without a trained model, on splits that a test writes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from espalier.corpora.records import Pair, Quarantined
from espalier.datasets.dialogue.encode import DialogueEncoding, DialogueSettings
from espalier.io.errors import ArtifactError, DataError
from espalier.io.files import read_json, write_json
from espalier.io.tables import read_table, write_table
from espalier.tasks.dialogue_decoder import DialogueDecoder
from espalier.tasks.settings import Scoring
from pipeline import layout
from pipeline.graph.written import record, require_written
from pipeline.records.baseline_rows import row_folder
from pipeline.stages import baselines
from tests.corpora.whole_tables import table_of

PAIRS = {
    "train": [("山 桥", "灯 雨"), ("山", "灯 雨"), ("雨 石", "石"), ("桥 灯 石", "桥 石")],
    "test": [("山 桥", "山 灯"), ("石 雨", "雨"), ("山 桥", "桥")],
}


def written(folder: Path, empty: str = "") -> Any:
    """A ready dataset in `folder`, and the part of params.yaml that the stage reads."""
    encoding, settings = DialogueEncoding(), DialogueSettings()
    records = {
        split: [
            Pair(id=f"{split}{n}", origin="made", language="zh", source=post, source_words=post, target=reply,
                 target_words=reply, target_heads=" ".join(map(str, range(len(reply.split())))))
            for n, (post, reply) in enumerate(rows)
        ]
        for split, rows in PAIRS.items()
    }  # fmt: skip
    vocabulary = encoding.build_vocabulary(records["train"], settings, "zh")
    vocabulary.save(folder / "vocabulary.json")
    for split, rows in records.items():
        kept = [] if split == empty else rows
        encoding.encode(kept, vocabulary, settings).split.save(folder / f"{split}.parquet")
        write_table(folder / f"{split}.records.parquet", table_of(kept, Pair))
        write_table(folder / f"{split}.quarantine.parquet", table_of([], Quarantined))
    counts: dict[str, Any] = {"rows": {}, "quarantined": {}, "origins": {}}
    details = {"language": "zh", "rows": {}, "splits": {}, "quarantined": {}, "measures": {}, "filtered": counts,
               "parsed": {}}  # fmt: skip
    write_json(folder / "details.json", details)
    write_json(folder / "extras.json", {})
    entry = SimpleNamespace(
        paper="x2tree", task="dialogue", dataset="talk", split="test", train="none", parser="none", lm="none",
        lexicon="none", published="none", texts={}, decoder=DialogueDecoder(beam=2), scoring=Scoring(),
        samples=2, seed=1,
    )  # fmt: skip
    return SimpleNamespace(
        baselines={"talk": entry},
        datasets=SimpleNamespace(every={"talk": SimpleNamespace(encoding="dialogue", corpus="talk")}),
        corpora={"talk": SimpleNamespace(reader="weibo", language="zh")},
    )


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ESPALIER_DEVICE", "cpu")

    def made(empty: str = "") -> None:
        params = written(layout.ready("talk"), empty)
        monkeypatch.setattr("pipeline.stages.baselines.load_params", lambda: params)

    return made


def test_every_row_has_its_files_and_says_what_it_is(project: Any) -> None:
    project()
    baselines.run("talk")
    names = {"ngram", "ngram_tree", "copy", "human", "commonest", "nearest", "chance"}
    texts, settings = {}, {}
    for name in names:
        table = read_table(layout.output("x2tree", f"baselines/talk/{name}"))
        assert table["id"].tolist() == ["test0", "test0", "test1", "test1", "test2", "test2"]
        texts[name] = table["text"].tolist()
        settings[name] = read_json(layout.details("x2tree", f"baselines/talk/{name}"))["settings"]
        assert (table["nll"] > 0).all() == (name in ("ngram", "ngram_tree")) and settings[name]["row"] == name
        assert set(read_table(layout.segments("x2tree", f"baselines/talk/{name}"))["id"]) == {"test0", "test1", "test2"}
    whole = {
        name: read_json(layout.details("x2tree", f"baselines/talk/{name}"))["scores"]["tree_whole"] for name in names
    }
    assert {name for name in names if whole[name] is not None} == {"ngram_tree"}
    assert texts["commonest"][:2] == ["灯 雨", "桥 石"]
    assert texts["nearest"][:4] == ["灯 雨", "灯 雨", "石", "桥 石"]
    assert {name for name in names if not settings[name]["trivial"]} == {"human"}
    assert settings["copy"]["given"] == ["copied", "empty"] and settings["ngram"]["given"] == ["copied"]


@pytest.mark.parametrize("split", ["train", "test"])
def test_a_split_without_rows_is_one_line(project: Any, split: str) -> None:
    project(split)
    with pytest.raises(DataError, match=rf"^data/ready/talk/{split}\.parquet: no rows; check the split$"):
        baselines.run("talk")
    assert not Path("outputs").exists()


@pytest.mark.parametrize("moves", [0, 9, 25])
def test_rows_of_two_runs_are_seen_after_a_kill(project: Any, monkeypatch: pytest.MonkeyPatch, moves: int) -> None:
    project()
    Path("params.yaml").write_text("profile: nursery\n", encoding="utf-8")
    folders = (layout.output, layout.segments, layout.details, layout.metrics)
    outs = [row_folder(of, "x2tree", "talk") for of in folders]
    baselines.run("talk")
    record("baselines@talk", outs)
    baselines.load_params().baselines["talk"].seed = 2  # all settings name it, and `chance` draws others
    left, replace = moves, Path.replace

    def killed(self: Path, target: Path) -> Path:
        nonlocal left
        if target.parent in outs:
            if left == 0:
                raise KeyboardInterrupt
            left -= 1
        return replace(self, target)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "replace", killed)
        baselines.run("talk")
    if moves == 0:
        require_written(outs)  # all old rows
    else:
        with pytest.raises(ArtifactError, match="not what baselines@talk wrote"):
            require_written(outs)
    baselines.run("talk")
    record("baselines@talk", outs)
    require_written(outs)
