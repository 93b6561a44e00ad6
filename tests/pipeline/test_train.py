"""The train stage: what it leaves, and that it goes on only with what is its own."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from small_params import model, run

from espalier.training import loop
from pipeline import layout
from pipeline.graph.written import record
from pipeline.params.read import load_params
from pipeline.records.artifacts import read_measurement, run_settings
from pipeline.stages.train import _made_by, _watcher

Cli = Callable[..., Any]


class StoppedError(Exception):
    """Stands for a kill."""


def weights(project: Path) -> bytes:
    return (project / "data/models/songnet/seed1.safetensors").read_bytes()


def broken_off(project: Path, cli: Cli, step: int) -> None:
    """Train until `step`, with a checkpoint at each; then a blow."""

    def stopping(*args: Any, watch: Callable[[Any], None], **other: Any) -> Any:
        def watched(progress: Any) -> None:
            watch(progress)
            if progress.step == step:
                raise StoppedError

        return functools.partial(loop_train, checkpoint_seconds=-1)(*args, watch=watched, **other)

    loop_train = loop.train
    with pytest.MonkeyPatch.context() as patch, pytest.raises(StoppedError):
        patch.setattr(loop, "train", stopping)
        cli(project, "train", "songnet")


def told_once(answer: Any) -> str:
    """The line of a command that failed, which each of its processes may say."""
    assert answer.status != 0
    (line,) = {line for line in answer.err.splitlines() if line.startswith("espalier: ")}
    return line


def test_broken_off_it_goes_on_to_the_same_bytes_and_clears_up(
    project: Path, cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    before = json.loads((project / "data/models/songnet/training.json").read_text(encoding="utf-8"))
    assert cli(project, "train", "songnet").status == 0
    straight = weights(project)
    broken_off(project, cli, 13)
    assert weights(project) == straight  # what stood there stands
    assert not list(project.rglob("*.part"))
    (scratch,) = (project / ".scratch/train/songnet").iterdir()
    assert (scratch / "step-000000012.json").exists()
    seen: list[int] = []
    loop_train = loop.train

    def watching(*args: Any, watch: Callable[[Any], None], **other: Any) -> Any:
        def watched(progress: Any) -> None:
            watch(progress)
            seen.append(progress.step)

        return loop_train(*args, watch=watched, **other)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "train", watching)
        assert cli(project, "train", "songnet").status == 0
    assert seen == list(range(13, 21))
    assert weights(project) == straight
    after = json.loads((project / "data/models/songnet/training.json").read_text(encoding="utf-8"))
    assert after["seed1"]["steps"] == before["seed1"]["steps"] == 20
    assert not list((project / ".scratch/train").rglob("*.safetensors"))


def test_two_processes_train_one_model_with_the_batches_of_one_and_say_so(
    project: Path, run: Callable[..., Any], cli: Cli, edit: Callable[..., None]
) -> None:
    def told(path: str) -> Any:
        return json.loads((project / path).read_text(encoding="utf-8"))

    edit(project / "params.yaml", "models.songnet.network.dropout", 0.2)
    edit(project / "params.yaml", "models.songnet.training.precision", "fp32")
    assert cli(project, "train", "songnet").status == 0
    alone = told("data/models/songnet/training.json")["seed1"]
    assert "processes" not in alone
    (log := project / ".scratch/logs/songnet.seed1.jsonl").unlink()
    two = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "pipeline")
    answer = run(project, *two, "train", "songnet")
    assert answer.status == 0, answer.err
    together = told("data/models/songnet/training.json")["seed1"]
    assert together["processes"] == {"2": 20}
    for name in ("steps", "tokens", "best_step", "data"):
        assert together[name] == alone[name]
    for ours, theirs in zip(together["history"], alone["history"], strict=True):
        assert ours == pytest.approx(theirs, abs=1e-5)
    measured = told("metrics/measured/train/songnet.json")
    assert measured["made_of"]["processes"] == measured["seeds"]["seed1"]["processes"] == {"2": 20}
    assert len(log.read_text(encoding="utf-8").splitlines()) == len(alone["history"])
    assert answer.err.count("songnet, seed 1: 20 steps") == 1
    assert "2 processes, 1 thread" in str(read_measurement("songnet"))
    assert run_settings("songnet_free", load_params())["training"]["seed1"]["processes"] == {"2": 20}

    # What cannot be shared is refused: a stage that trains nothing, and a launcher that starts one process.
    launched = {"WORLD_SIZE": "2", "RANK": "1", "LOCAL_RANK": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"}
    refused = told_once(run(project, "python", "pipeline", "decode", "songnet_free", **launched))
    assert refused == "espalier: decode: 2 processes share a training alone; run it without a launcher"
    accelerate = ("accelerate", "launch", "--cpu", "--num_processes", "2", "--num_machines", "1", "--mixed_precision",
                  "no", "--dynamo_backend", "no")  # fmt: skip
    refused = told_once(run(project, *accelerate, "pipeline", "train", "songnet"))
    assert refused.startswith("espalier: MASTER_ADDR: set without WORLD_SIZE, RANK, LOCAL_RANK; launch with torchrun")


def test_the_steps_of_a_seed_that_one_process_made_count_beside_those_of_a_seed_that_two_made_by() -> None:
    alone, together = loop.Progress(processes={"1": 20}), loop.Progress(processes={"2": 15, "1": 5})
    assert _made_by(alone, together) == {"processes": {"1": 25, "2": 15}}
    assert _made_by(alone, alone) == _made_by(loop.Progress()) == {}


def test_compiled_steps_are_counted_in_all_that_a_training_leaves(
    project: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "compiled", functools.partial(loop.compiled, backend="eager"))
    monkeypatch.setenv("ESPALIER_COMPILE", "1")
    assert cli(project, "train", "songnet").status == 0
    summary, measured = (
        json.loads((project / path).read_text(encoding="utf-8"))
        for path in ("data/models/songnet/training.json", "metrics/measured/train/songnet.json")
    )
    assert summary["seed1"]["compiled"] == 20
    assert measured["made_of"]["compiled"] == measured["seeds"]["seed1"]["compiled"] == 20
    assert "1 thread, compiled, " in str(read_measurement("songnet"))
    assert run_settings("songnet_free", load_params())["training"]["seed1"]["compiled"] == 20
    monkeypatch.setenv("ESPALIER_COMPILE", "yes")
    refused = "espalier: ESPALIER_COMPILE: 'yes' is neither 0 nor 1; 1 compiles training steps"
    assert told_once(cli(project, "train", "songnet")) == refused


def test_a_line_says_once_that_the_steps_of_a_recurrent_model_are_not_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    said = "x2tree, seed 3: not compiled, since a compiler would unroll its recurrent layers\n"
    for value, compiled, line in (("1", 0, said), ("1", 1, ""), ("0", 0, "")):
        monkeypatch.setenv("ESPALIER_COMPILE", value)
        watch = _watcher("x2tree", 3, lambda *_: None)
        for step in (1, 2):
            watch(loop.Progress(step=step, compiled=compiled * step))
        assert capsys.readouterr().err == line


def test_a_model_that_lacks_a_method_is_refused_before_the_first_step(
    project: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("espalier.models.songnet.SongNet.step")
    answer = cli(project, "train", "songnet")
    assert answer.status == 1
    assert "architecture songnet: its model, SongNet, has no step, which every chain model needs" in answer.err
    assert not list((project / ".scratch/train").rglob("*.json"))


@pytest.mark.parametrize(
    ("file", "key", "value"),
    [
        ("params.yaml", "models.songnet.training.rate", 0.02),
        ("params.yaml", "models.songnet.network.dropout", 0.2),
    ],
)
def test_a_checkpoint_of_another_training_is_not_gone_on_with(
    project: Path, cli: Cli, edit: Callable[..., None], file: str, key: str, value: Any
) -> None:
    edit(project / file, key, value)
    assert cli(project, "train", "songnet").status == 0
    straight = weights(project)
    edit(project / file, key, 0.001)
    broken_off(project, cli, 9)
    edit(project / file, key, value)
    assert cli(project, "train", "songnet").status == 0
    assert weights(project) == straight


@pytest.fixture
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeds are trained one after the other: each process of its own would import torch. `test_seeds` has several."""
    monkeypatch.setenv("ESPALIER_WORKERS", "1")


@pytest.mark.usefixtures("one_process")
def test_each_seed_has_its_weights_its_curve_and_its_texts(project: Path, cli: Cli, edit: Callable[..., None]) -> None:
    edit(project / "params.yaml", "models.songnet.seeds", [3, 12])
    for command in (["train", "songnet"], ["decode", "songnet_free"], ["score", "songnet_free"]):
        assert cli(project, *command).status == 0
    assert sorted(path.name for path in (project / "data/models/songnet").glob("seed*")) == [
        "seed12.safetensors",
        "seed3.safetensors",
    ]
    lines = (project / "data/curves/songnet/songnet.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "seed,step,train_loss,dev_loss"
    assert [line.split(",")[:2] for line in lines[1:]] == [[s, n] for s in ("3", "12") for n in ("8", "16", "20")]
    counts = json.loads((project / "metrics/details/songnet/songnet_free.json").read_text(encoding="utf-8"))["counts"]
    assert (counts["records"], counts["texts"]) == (10, 20)


@pytest.mark.usefixtures("one_process")
def test_a_guided_run_has_only_the_seeds_that_its_guidance_has(
    project: Path, cli: Cli, refused: Callable[..., str], edit: Callable[..., None]
) -> None:
    edit(project / "params.yaml", "models.writer.seeds", [1, 2])
    assert cli(project, "train", "writer").status == 0
    assert cli(project, "decode", "written").status == 0
    assert set(pd.read_parquet(project / "data/outputs/guig/written.parquet")["seed"]) == {1}
    edit(project / "params.yaml", "models.writer.seeds", [2])
    assert cli(project, "train", "writer").status == 0
    assert (
        "runs.written.guidance: no seed of writer is a seed of guig/expanded; train writer with one of the seeds 1"
        in refused(project, "decode", "written")
    )


def test_a_model_can_begin_with_anothers_weights(project: Path, cli: Cli, edit: Callable[..., None]) -> None:
    edit(project / "params.yaml", "models.songnet.init", "songnet_no_s")
    before = weights(project)
    assert cli(project, "train", "songnet").status == 0
    assert weights(project) != before


def test_a_model_can_begin_with_one_of_another_vocabulary_and_says_what_it_took(
    project: Path, cli: Cli, edit: Callable[..., None]
) -> None:
    """The first model knows one word less: that word starts anew, all else as it was."""
    edit(project / "params.yaml", "datasets.linearize.tiny.units", 40)
    for command in (["linearize", "tiny"], ["train", "songnet_no_s"]):
        assert cli(project, *command).status == 0
    first = json.loads((project / "data/models/songnet_no_s/vocabulary.json").read_text(encoding="utf-8"))
    edit(project / "params.yaml", "datasets.linearize.tiny.units", 44)
    edit(project / "params.yaml", "models.songnet.init", "songnet_no_s")
    edit(project / "params.yaml", "models.songnet.training.init_vocab", "mapped")
    for command in (["linearize", "tiny"], ["train", "songnet"]):
        assert cli(project, *command).status == 0
    told = json.loads((project / "data/models/songnet/training.json").read_text(encoding="utf-8"))["seed1"]["init_rows"]
    assert told == {"copied": 5 + len(first["words"]) + 4 + 40 + first["length"], "new": 4}


def test_s2s_and_a_songnet_gru_that_reads_tones_train_and_write(
    project: Path, cli: Cli, edit: Callable[..., None]
) -> None:
    params = project / "params.yaml"
    edit(params, "datasets.linearize.tiny.tones", True)
    network = {"core": "gru", "symbols": ["c", "p", "s", "t"], "smoothing_form": "released"}
    edit(params, "models.songnet.network", network)
    edit(params, "models.songnet.training", {"smoothing": 0.1})
    small = {"width": 12, "word": 8, "readout": 8, "scale": 0.1, "positions": 250}
    edit(
        params,
        "presets.s2s",
        {"network": small, "training": yaml.safe_load(params.read_text())["presets"]["songnet"]["training"]},
    )
    edit(params, "models.s2s", model("verse_seq2seq", "tiny", paper="songnet", preset="s2s"))
    edit(params, "runs.s2s", run("verse", "s2s", "tiny", {"mode": "frame", "marks": True}))
    assert cli(project, "linearize", "tiny").status == 0
    for key, of in (("songnet", "songnet_free"), ("s2s", "s2s")):
        for command in (["train", key], ["decode", of], ["score", of]):
            assert cli(project, *command).status == 0
    scores = json.loads((project / "metrics/songnet/s2s.json").read_text(encoding="utf-8"))
    assert scores["format"] == 100  # its frame gives the marks
    assert json.loads((project / "data/models/songnet/vocabulary.json").read_text(encoding="utf-8"))["tones"] is True


@pytest.mark.parametrize(
    ("arch", "network"),
    [
        ("pair_seq2seq", {"width": 12, "word": 12, "positions": 128}),
        ("pair_seq2seq", {"width": 12, "residual": 0, "attention": True, "copying": True, "positions": 128}),
        ("dnpg", {"width": 12, "heads": 2, "inner": 16, "layers": 1, "encoder_layers": 1, "positions": 128}),
    ],
)
def test_a_model_that_reads_the_source_alone_trains_and_writes_paraphrases(
    project: Path, cli: Cli, edit: Callable[..., None], arch: str, network: dict[str, Any]
) -> None:
    params = project / "params.yaml"
    training = yaml.safe_load(params.read_text())["presets"]["guig"]["training"]
    edit(params, "presets.flat", {"network": network, "training": training, "decoder": {"beam": 2}, "scoring": {}})
    edit(params, "models.flat", model(arch, "said", paper="guig", preset="flat"))
    edit(params, "annotations.flat", {"paper": "guig", "run": "flat", "parser": "words"})
    edit(params, "runs.flat", run("paraphrase", "flat", "said", {"max_ids": 7}, preset="flat", annotation="flat"))
    for command in (["train", "flat"], ["decode", "flat"]):
        assert cli(project, *command).status == 0
    outputs = pd.read_parquet(project / "data/outputs/guig/flat.parquet")
    assert len(outputs) == len(pd.read_parquet(project / "data/outputs/guig/written.parquet"))
    assert outputs["text"].str.len().max() > 0


def test_a_model_that_reads_tones_refuses_a_dataset_without_them(
    project: Path, refused: Callable[..., str], edit: Callable[..., None]
) -> None:
    edit(project / "params.yaml", "models.songnet.network", {"symbols": ["c", "t"]})
    message = refused(project, "train", "songnet")
    assert "symbols: the vocabulary has no symbols for tones; give the dataset tones: true" in message


def test_a_first_model_of_another_shape_or_vocabulary_is_one_line(
    project: Path, refused: Callable[..., str], edit: Callable[..., None]
) -> None:
    edit(project / "params.yaml", "models.songnet.init", "songnet_no_s")
    path = project / "data/models/songnet_no_s/vocabulary.json"
    original = path.read_text(encoding="utf-8")
    changed = json.loads(original)
    changed["words"] = changed["words"][:-1]
    path.write_text(json.dumps(changed), encoding="utf-8")
    record("train@songnet_no_s", [layout.model("songnet_no_s")], project)  # as if it was trained
    assert "is not that of model songnet_no_s; give the dataset vocab_from" in refused(project, "train", "songnet")
    path.write_text(original, encoding="utf-8")
    edit(project / "params.yaml", "models.songnet.network.inner", 48)
    assert "weights of another architecture" in refused(project, "train", "songnet")
