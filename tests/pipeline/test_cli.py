"""The command line: what it writes, and how it says no."""

from __future__ import annotations

import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.cells import cell_len
from small_params import PRESETS, corpus, dataset, empty, model, write
from typer.main import get_command

from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.inference.folder import save_system
from espalier.models.serialization import save_model
from espalier.models.songnet import SongNet
from espalier.models.songnet_config import SongNetConfig
from espalier.verse.rhyme import group_name
from pipeline import layout
from pipeline.graph.written import record
from pipeline.shell.app import STAGES, app

Cli = Callable[..., Any]
Refused = Callable[..., str]
FORMAT = "5,5。7,5。"


def objects(answer: Any) -> list[dict[str, Any]]:
    assert answer.status == 0, answer.err
    return [json.loads(line) for line in answer.out.splitlines()]


def texts(answer: Any) -> list[str]:
    return [each["text"] for each in objects(answer)]


@contextmanager
def standard_input(text: str) -> Iterator[None]:
    before, sys.stdin = sys.stdin, io.StringIO(text)
    try:
        yield
    finally:
        sys.stdin = before


# --- what it writes --------------------------------------------------------------------------------------------------


def test_json_has_one_object_per_text_with_what_was_asked(shared: Path, cli: Cli) -> None:
    found = objects(cli(shared, "generate", "--format", FORMAT, "--rhyme", ".A", "--n", "3", "--seed", "7", "--json"))
    assert len(found) == 3 and len({each["text"] for each in found}) == 3
    for number, each in enumerate(found):
        assert each["format"] == "5，5。7，5。" and each["rhyme"] == ".A"
        assert (each["seed"], each["sample"], each["model"]) == (7, number, "songnet")
        text = each["text"].replace("\n", "")
        assert [text[place] for place in (5, 11, 19, 25)] == list("，。，。") and len(text) == 26


def test_the_same_seed_writes_the_same_text_and_another_seed_another(shared: Path, cli: Cli) -> None:
    command = ("generate", "--format", FORMAT, "--json", "--seed")
    one, again, other = (texts(cli(shared, *command, seed)) for seed in ("1", "1", "2"))
    assert one == again != other


def test_more_texts_begin_with_the_fewer(shared: Path, cli: Cli) -> None:
    command = ("generate", "--format", FORMAT, "--json", "--n")
    assert texts(cli(shared, *command, "70"))[:2] == texts(cli(shared, *command, "2"))  # two batches, and one


def test_units_that_share_a_letter_rhyme(shared: Path, cli: Cli) -> None:
    for text in texts(cli(shared, "generate", "--format", "5。5。5。5。", "--rhyme", "ABAB", "--n", "8", "--json")):
        a, b, c, d = (group_name(unit[-2], "zh") for unit in text.split("\n"))
        assert (a, b) == (c, d)


def test_a_tune_gives_its_format_and_its_rhyme(shared: Path, cli: Cli) -> None:
    (found,) = objects(cli(shared, "generate", "--tune", "卜算子", "--json"))
    assert (found["format"], found["rhyme"], found["tune"]) == ("5，5。7，5。5，5。7，5。", "AAAA", "卜算子")


def test_a_tune_beside_a_format_does_not_change_the_format(shared: Path, cli: Cli) -> None:
    answer = cli(shared, "generate", "--tune", "卜算子", "--format", "3。3。", "--json")
    assert objects(answer)[0]["format"] == "3。3。"
    note = "model songnet does not read the names of tunes; a tune gives its format alone"
    assert answer.err == f"espalier: note: {note}\n"


def test_columns_of_chinese_stand_under_each_other(shared: Path, cli: Cli) -> None:
    answer = cli(shared, "generate", "--format", "2。7。3,4。", "--rhyme", "AA.", "--seed", "3")
    head, *lines = answer.out.rstrip("\n").split("\n")
    assert head == "2。7。3，4。  seed 3  no. 1"
    assert len(lines) == 3 and all(line.startswith("  ") for line in lines)
    marked = [line for line in lines if " A " in line]
    assert len(marked) == 2
    assert len({cell_len(line[: line.index(" A ")]) for line in marked}) == 1


def test_a_file_is_read_where_the_user_stands_and_each_line_is_a_request(
    shared: Path, cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "asked.txt").write_text("5。5。\t.A\n\n\t\t卜算子\n7。\n", encoding="utf-8-sig")
    found = objects(cli(shared, "generate", "--file", "asked.txt", "--n", "2", "--json", where=tmp_path))
    assert [(each["format"], each["sample"]) for each in found] == [
        (format_, sample) for format_ in ("5。5。", "5，5。7，5。5，5。7，5。", "7。") for sample in (0, 1)
    ]


def test_standard_input_equals_a_file(shared: Path, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "asked").write_text("5。5。\n7。7。\n", encoding="utf-8")
    from_file = texts(cli(shared, "generate", "--file", str(tmp_path / "asked"), "--json"))
    for more in ((), ("--file", "-")):
        with standard_input("5。5。\n7。7。\n"):
            assert texts(cli(shared, "generate", *more, "--json")) == from_file


def test_the_first_of_a_batch_is_what_is_written_alone_and_equal_lines_differ(shared: Path, cli: Cli) -> None:
    alone = texts(cli(shared, "generate", "--format", FORMAT, "--json"))
    with standard_input(f"{FORMAT}\n{FORMAT}\n3。\n"):
        batch = texts(cli(shared, "generate", "--json"))
    assert batch[0] == alone[0] != batch[1]


def test_polish_keeps_what_is_given(shared: Path, cli: Cli) -> None:
    for each in objects(cli(shared, "polish", "_雨___，____到。", "--n", "3", "--json")):
        text = each["text"]
        assert len(text) == 12 and (text[1], text[5], text[10], text[11]) == ("雨", "，", "到", "。")
        assert "_" not in text and each["format"] == "_雨___，____到。"


def test_polish_keeps_a_word_that_the_model_never_saw(shared: Path, cli: Cli) -> None:
    assert texts(cli(shared, "polish", "_龘__。", "--json"))[0][1] == "龘"


def test_free_writes_without_copying_and_beam_does_not_draw(shared: Path, cli: Cli) -> None:
    assert len(texts(cli(shared, "generate", "--format", FORMAT, "--free", "--n", "2", "--json"))) == 2
    beams = [
        texts(cli(shared, "generate", "--format", "5。5。", "--beam", "2", "--seed", seed, "--json")) for seed in "12"
    ]
    assert beams[0] == beams[1]


@pytest.fixture
def english(tmp_path: Path) -> Path:
    """A project of one English model, which knows a few words and was never trained."""
    words = ("the", "moon", "shall", "climb", "silver", "hill", "drink", "rill", "night", "day", "away", ",", ".", "!")
    vocabulary = VerseVocabulary.build(words, "en", min_count=1, units=8, length=16)
    numbers = {"layers": 1, "width": 8, "heads": 1, "inner": 8, "positions": 64}
    torch.manual_seed(1)
    folder = tmp_path / "data/models/english"
    folder.mkdir(parents=True)
    save_model(folder, "songnet", SongNet(SongNetConfig(**numbers), vocabulary), vocabulary, seed=1)
    save_system(folder, {"units": 8, "length": 16, "max_tokens": 64})
    tree = empty()
    tree["corpora"] = {"lines": corpus("en", "verse_en")}
    tree["datasets"]["linearize"] = {"lines": dataset("verse", "lines", units=8, length=16, max_tokens=64)}
    tree["presets"] = PRESETS
    tree["models"] = {"english": model("songnet", "lines", numbers, default_for=["generate.en"])}
    write(tmp_path, tree)
    return tmp_path


def test_english_is_written_in_words(english: Path, cli: Cli) -> None:
    answer = cli(english, "generate", "--language", "en", "--format", "5,3./4.", "--rhyme", "AA", "--json")
    (found,) = objects(answer)
    assert found["format"] == "5,3./4." and [len(unit.split()) for unit in found["text"].split("\n")] == [10, 5]


def test_a_model_of_another_language_is_named(english: Path, refused: Refused) -> None:
    line = refused(english, "generate", "--model", "english", "--format", "5。")
    assert line == "espalier: --model: model english writes en, not zh; one of zh"
    assert "no model of profile nursery is the default for generate.zh" in refused(
        english, "generate", "--format", "5。"
    )


def test_every_command_has_help(cli: Cli, shared: Path) -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    assert {*STAGES, "site", "generate", "chat", "repro"} <= {*commands}
    for command in commands:
        answer = cli(shared, command, "--help")
        assert answer.status == 0 and answer.out.startswith(f"Usage: espalier {command}") and answer.err == ""
    assert cli(shared).out == cli(shared, "--help").out
    assert all(name in cli(shared, "--help").out for name in commands)


# --- how it says no --------------------------------------------------------------------------------------------------

LONG = "5，5。" * 250
BAD: list[tuple[list[str], str]] = [
    (["generate", "--format", "5,,7"], "has no words before it"),
    (["generate", "--format", "abc"], "'a' is no count, blank, mark or word"),
    (["generate", "--format", ""], "the format is empty"),
    (["generate", "--format", "   "], "the format is empty"),
    (["generate", "--format", LONG], "at most 999"),
    (["generate", "--format", "0,5。"], "a count of 0"),
    (["generate", "--format", "99999999999999999999。"], "a count of 9"),
    (["generate", "--format", ",5。"], "has no words before it"),
    (["generate", "--format", "，。"], "has no words before it"),
    (["generate", "--format", "3。" * 33], "at most 32"),
    (["generate", "--format", "40。"], "at most 32"),
    (["generate", "--format", "30。" * 10], "at most 250"),
    (["generate", "--format", FORMAT, "--rhyme", "ABC"], "has 3 letters, the format 2 units"),
    (["generate", "--format", FORMAT, "--rhyme", ""], "has 0 letters, the format 2 units"),
    (["generate", "--format", FORMAT, "--rhyme", "A1"], "more than letters and dots"),
    (["generate", "--format", "__#。___。", "--rhyme", "AA"], "has the rhyme letter A but no position"),
    (["generate", "--tune", "無此調"], "tune: no tune '無此調' in the book; names like it: "),
    (
        ["generate", "--format", FORMAT, "--model", "nosuch"],
        "unknown model 'nosuch'; allowed: expander, grower, nursery",
    ),
    (["generate", "--format", FORMAT, "--n", "0"], "--n: 0 is too small; at least 1"),
    (["generate", "--format", FORMAT, "--n", "-3"], "--n: -3 is too small; at least 1"),
    (["generate", "--format", FORMAT, "--n", "10001"], "at most 10,000"),
    (["generate", "--format", FORMAT, "--n", "many"], "valid integer"),
    (["generate", "--format", FORMAT, "--top-k", "0"], "--top-k: 0 is too small"),
    (["generate", "--format", FORMAT, "--beam", "-1"], "--beam: -1 is too small"),
    (["generate", "--format", FORMAT, "--temperature", "0"], "--temperature: "),
    (["generate", "--format", FORMAT, "--temperature", "nan"], "--temperature: "),
    (["generate", "--format", FORMAT, "--temperature", "inf"], "inf is no temperature; above 0, at most 100"),
    (["generate", "--format", FORMAT, "--beam", "20000"], "--beam: 20000 is too large; at most 1,000"),
    (["generate", "--format", FORMAT, "--top-k", "9999999"], "--top-k: 9999999 is too large; at most 1,000,000"),
    (["generate", "--format", "999。" * 199], "too many words and marks; at most 10,000"),
    (["generate", "--file", "/dev/zero"], "/dev/zero, row 1: over 1,000,000 characters; give one request a line"),
    (["generate", "--format", FORMAT, "--language", "fr"], "'zh', 'en'"),
    (["generate", "--format", FORMAT, "--language", "en"], "default for generate.en"),
    (["generate", "--format", FORMAT, "--profile", "huge"], "unknown profile 'huge'; allowed: nursery, paper, small"),
    (["generate", "--format", FORMAT, "--profile", "paper"], "no model of profile paper is the default"),
    (["generate", "--file", "nosuch.txt"], "nosuch.txt: no such file"),
    (["generate", "--file", "docs"], "docs: "),
    (["generate", "--file", "data/parsed/tiny/records.parquet"], "not UTF-8"),
    (["generate", "--formats", FORMAT], "No such option"),
    (["polish", "春眠不觉晓。"], "has no blanks; write _ for each word to find"),
    (["polish", "5，5。"], "has no blanks"),
    (["polish", ""], "the format is empty"),
    (["polish", "_。", "_。"], "unexpected extra argument"),
    (["polish", "_雨___", "--n", "0"], "--n: 0 is too small"),
    (["polish", "_雨___", "--model", "nosuch"], "unknown model 'nosuch'"),
    (["nosuch"], "No such command 'nosuch'"),
    (["score"], "Missing argument 'key'"),
    *(
        ([name, "nosuch"], f"unknown {kind} 'nosuch'; allowed: {allowed}")
        for name, kind, allowed in [
            ("download", "source", "(none defined)"),
            ("train_parser", "parser", "words"),
            ("parse", "corpus", "said, talk, tiny"),
            ("filter", "corpus", "said, talk, tiny"),
            ("linearize", "dataset", "said, tiny"),
            ("canonicalize", "dataset", "talk"),
            ("train", "model", "expander, grower, songnet, songnet_no_s, writer"),
            ("decode", "run", "expanded, grown, songnet_free, songnet_no_s, written"),
            ("annotate", "annotation", "again, reread"),
            ("score", "run", "expanded, grown, songnet_free, songnet_no_s, written"),
            ("report", "report", "guig, songnet"),
        ]
    ),
]


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (["nosuch"], 2),
        (["score"], 2),
        (["generate", "--formats", FORMAT], 2),
        (["generate", "--n", "many"], 2),
        (["score", "nosuch"], 1),
        (["polish", "5，5。"], 1),
    ],
)
def test_a_mistaken_command_line_exits_2_and_any_other_mistake_1(
    shared: Path, cli: Cli, command: list[str], status: int
) -> None:
    assert cli(shared, *command).status == status


@pytest.mark.parametrize(("command", "message"), BAD, ids=[" ".join(command)[:50] for command, _ in BAD])
def test_bad_input_is_one_line(shared: Path, refused: Refused, command: list[str], message: str) -> None:
    assert message in refused(shared, *command)


@pytest.mark.parametrize(("text", "message"), [("", "no requests"), ("\n \n", "no requests")])
def test_nothing_asked_for_is_one_line(shared: Path, refused: Refused, text: str, message: str) -> None:
    with standard_input(text):
        assert message in refused(shared, "generate")


def test_bad_lines_are_named_and_the_good_ones_written_as_if_all_were_good(shared: Path, cli: Cli) -> None:
    with standard_input("5。5。\n\n5,,7\n7。7。\n" + "7，" * 20 + "\n3。\n"):
        answer = cli(shared, "generate", "--json")
    with standard_input("5。5。\n\n5。\n7。7。\n5。\n3。\n"):
        good = cli(shared, "generate", "--json")
    assert answer.status == 1 and good.status == 0
    assert [line.split(": ")[1] for line in answer.err.splitlines()] == [
        "standard input, row 3, format", "standard input, row 5, format",
    ]  # fmt: skip
    lines = good.out.splitlines()
    assert answer.out.splitlines() == [lines[0], lines[2], lines[4]]


def test_a_file_of_bad_lines_alone_writes_nothing(shared: Path, cli: Cli) -> None:
    with standard_input("5,,7\n,\n"):
        answer = cli(shared, "generate")
    assert (answer.status, answer.out) == (1, "") and answer.err.count("\n") == 2


def test_a_model_that_is_not_trained_says_how_to_train_it(
    project: Path, refused: Refused, edit: Callable[..., None]
) -> None:
    shutil.rmtree(project / "data/models/songnet")
    line = refused(project, "generate", "--format", FORMAT)
    assert "data/models/songnet: model songnet is not trained; dvc repro train@songnet, or another --profile" in line
    line = refused(project, "decode", "songnet_free")
    assert (
        "data/models/songnet/" in line and "no such file; dvc repro decode@songnet_free first runs the stages" in line
    )
    small = project / "profiles/small/params.yaml"
    edit(small, "presets", {"songnet": PRESETS["songnet"]})
    edit(small, "models", {"large": model("songnet", "ci", preset="songnet", default_for=["generate.zh"])})
    line = refused(project, "generate", "--format", FORMAT, "--profile", "small")
    assert "data/models/large: model large is not trained; dvc --cd profiles/small repro train@large, or" in line


def test_a_trained_folder_is_all_that_python_needs(shared: Path) -> None:
    import espalier

    system = espalier.load(shared / "data/models/songnet", device="cpu")
    assert len(system.generate([FORMAT])[0].text.split("\n")) == 2
    writer = espalier.load(shared / "data/models/writer", device="cpu")
    assert writer.expander.name == "expander" and len(writer.templates) > 3


def test_weights_of_another_architecture_are_named(project: Path, refused: Refused, edit: Callable[..., None]) -> None:
    shutil.copy(
        project / "data/models/songnet_no_s/seed1.safetensors", project / "data/models/songnet/seed1.safetensors"
    )
    shape = json.loads((project / "data/models/songnet/model.json").read_text(encoding="utf-8"))
    shape["config"]["inner"] = 32
    (project / "data/models/songnet/model.json").write_text(json.dumps(shape), encoding="utf-8")
    record("train@songnet", [layout.model("songnet")], project)  # as if it was trained
    for command in (["generate", "--format", FORMAT], ["decode", "songnet_free"]):
        line = refused(project, *command)
        assert "seed1.safetensors: weights of another architecture: " in line


@pytest.mark.parametrize("data", [b"", b"not weights", b"\x00" * 100])
def test_weights_that_are_none_are_named(project: Path, refused: Refused, data: bytes) -> None:
    (project / "data/models/songnet/seed1.safetensors").write_bytes(data)
    assert "data/models/songnet/seed1.safetensors: " in refused(project, "generate", "--format", FORMAT)


@pytest.mark.parametrize(
    ("command", "lost"),
    [
        (["filter", "tiny"], "data/parsed/tiny"),
        (["linearize", "tiny"], "data/corpora/tiny"),
        (["canonicalize", "talk"], "data/corpora/talk"),
        (["decode", "grown"], "data/models/grower"),
        (["train", "songnet"], "data/ready/tiny"),
        (["score", "songnet_free"], "data/outputs/songnet"),
        (["score", "grown"], "data/outputs/x2tree"),
        (["report", "songnet"], "metrics/details/songnet"),
    ],
)
def test_an_artifact_that_is_not_there_is_named(project: Path, refused: Refused, command: list[str], lost: str) -> None:
    shutil.rmtree(project / lost)
    assert f"{lost}/" in refused(project, *command)


def test_an_unknown_reader_architecture_or_option_is_one_line(
    project: Path, refused: Refused, edit: Callable[..., None]
) -> None:
    original = (project / "params.yaml").read_bytes()
    for key, value, command, message in [
        (
            "corpora.tiny.reader",
            "moon",
            ["parse", "tiny"],
            "corpora.tiny.reader: unknown reader 'moon'; allowed: brown",
        ),
        ("corpora.tiny.options", {"amount": 3}, ["parse", "tiny"], "corpora.tiny.options: "),
        ("corpora.tiny.options", {"count": -3, "seed": 1}, ["parse", "tiny"], "count"),
        ("models.songnet.arch", "moon", ["train", "songnet"], "models.songnet.arch: unknown arch 'moon'"),
        ("models.songnet.network.depth", 3, ["train", "songnet"], "models.songnet.network: unknown key 'depth'"),
        (
            "models.songnet.network.positions",
            5,
            ["train", "songnet"],
            "of a model that has 5 positions",
        ),
        ("models.songnet.training.stepps", 3, ["train", "songnet"], "models.songnet.training: unknown key 'stepps'"),
        ("runs.songnet_free.decoder.top_p", 3, ["decode", "songnet_free"], "decoder: unknown key 'top_p'"),
        ("models.grower.network.width", 0, ["train", "grower"], "models.grower.network: width"),
        ("models.grower.network.positions", 9, ["train", "grower"], "models.grower.network.positions: the longest"),
        ("runs.grown.decoder.beam", 0, ["decode", "grown"], "runs.grown.decoder: beam: "),
        ("runs.grown.decoder.local", 0, ["decode", "grown"], "runs.grown.decoder: local: "),
        ("runs.grown.decoder.top_p", 3, ["decode", "grown"], "decoder: unknown key 'top_p'"),
        ("runs.grown.samples", 4, ["decode", "grown"], "runs.grown.samples: 4 replies of 3 beams; at most 3"),
        ("runs.songnet_free.model", "moon", ["score", "songnet_free"], "runs.songnet_free.model: unknown reference"),
        ("corpora.tiny.filters.min_units", 32, ["filter", "tiny"], "the corpus is empty"),
    ]:
        edit(project / "params.yaml", key, value)
        assert message in refused(project, *command)
        (project / "params.yaml").write_bytes(original)


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """A write beyond `size` bytes fails, as it does on a full disk.

    Meanwhile no compiled module is written: Python would keep the part of it that fits.
    """
    before, compiled = resource.getrlimit(resource.RLIMIT_FSIZE), sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
        sys.dont_write_bytecode = compiled


@pytest.mark.parametrize(
    ("command", "artifact"),
    [
        (["parse", "tiny"], "data/parsed/tiny"),
        (["filter", "tiny"], "data/corpora/tiny"),
        (["linearize", "tiny"], "data/ready/tiny"),
        (["canonicalize", "talk"], "data/ready/talk"),
        (["train", "songnet"], "data/models/songnet"),
        (["decode", "songnet_free"], "data/outputs/songnet/songnet_free.parquet"),
        (["decode", "grown"], "data/outputs/x2tree/grown.parquet"),
        (["score", "songnet_free"], "metrics/songnet/songnet_free.json"),
        (["report", "songnet"], "reports/songnet"),
    ],
)
def test_a_full_disk_leaves_the_old_artifact_and_one_line(
    project: Path, refused: Refused, command: list[str], artifact: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def snapshot() -> dict[str, bytes]:
        path = project / artifact
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        return {str(file): file.read_bytes() for file in files if file.is_file()}

    before = snapshot()
    monkeypatch.setattr("espalier.cli.progress.say", lambda *_: None)
    with largest_file(1500):
        line = refused(project, *command)
    assert "write" in line or "File too large" in line
    assert snapshot() == before


def test_ctrl_c_is_one_line(shared: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pipeline.stages.score.run", interrupt)
    assert refused(shared, "score", "songnet_free") == "espalier: interrupted"


def test_a_reader_that_goes_away_is_no_error(built: Path) -> None:
    """`espalier generate ... | head -1`."""
    with subprocess.Popen(
        [sys.executable, str(built / "pipeline"), "generate", "--format", "3。", "--n", "2000", "--json"],
        cwd=built,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "ESPALIER_DEVICE": "cpu", "OMP_NUM_THREADS": "1"},
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        assert json.loads(process.stdout.readline())["format"] == "3。"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0
