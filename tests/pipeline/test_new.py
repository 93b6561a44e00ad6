"""`espalier new`: complete entries in params.yaml, in DVC's format; and what it refuses."""

from __future__ import annotations

import difflib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dvc.utils.serialize import modify_yaml
from small_params import empty, write

from espalier.io.errors import ConfigError
from pipeline import layout
from pipeline.params.insert import COMMENT, with_entry
from pipeline.params.read import read_yaml

ROOT = layout.ROOT
Cli = Callable[..., Any]
Refused = Callable[..., str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The committed params.yaml of the nursery, with what it names."""
    (tmp_path / layout.VERSIONS).parent.mkdir(parents=True)
    for name in (layout.PARAMS, layout.VERSIONS, layout.CATALOGUE):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def added(before: str, after: str) -> list[str]:
    """The lines that are new; no other has changed, but an empty section may have lost its braces."""
    lines = [*difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)][2:]
    assert all(line.startswith(("+", "@@")) or line.endswith(": {}") for line in lines), lines
    return [line[1:] for line in lines if line.startswith("+")]


def new(cli: Cli, folder: Path, *command: str) -> list[str]:
    """The lines that a command adds. They are as DVC would write them."""
    file = folder / "params.yaml"
    before = file.read_text(encoding="utf-8")
    answer = cli(folder, "new", *command)
    assert (answer.status, answer.out) == (0, ""), answer.err
    after = file.read_text(encoding="utf-8")
    with modify_yaml(file):
        pass
    assert file.read_text(encoding="utf-8") == after
    return added(before, after)


def test_four_commands_add_a_system_whose_entries_refer_to_each_other(folder: Path, cli: Cli) -> None:
    lines = new(
        cli, folder, "corpus", "own", "--reader", "tsv", "--file", "own.tsv", "--parser", "constituency_en",
        "--dev", "40", "-S", "options.columns=[source, target]", "-S", "split.seed=7",
    )  # fmt: skip
    assert lines.count(f"    {COMMENT}") == 1 and lines.count(f"      {COMMENT}") == 1
    new(cli, folder, "dataset", "own", "--encoding", "pairs", "-S", "pieces=900")
    new(cli, folder, "model", "own", "--arch", "guig", "--seeds", "1", "--seeds", "2", "-S", "network.layers=1")
    new(cli, folder, "run", "own", "--samples", "3")
    params = read_yaml(folder / "params.yaml")
    assert params["sources"]["local"] == {"own": {"shelf": "own", "file": "own.tsv"}}
    nothing = {"also_1": "none", "also_2": "none"}
    assert params["corpora"]["own"] == {
        "language": "en", "reader": "tsv", "options": {"columns": ["source", "target"]},
        "shelf": "own", **nothing, "parser": "constituency_en", "filters": {"deduplicate": True},
        "split": {"kind": "group", "seed": 7, "dev": 40, "test": 200},
    }  # fmt: skip
    assert params["datasets"]["linearize"]["own"] == {
        "encoding": "pairs", "corpus": "own", "vocab_from": "none", "pieces_from": "none", "pieces": 900,
    }  # fmt: skip
    assert params["models"]["own"] == {
        "paper": "mine", "arch": "guig", "dataset": "own", "init": "none", "seeds": [1, 2], "preset": "guig",
        "network": {"layers": 1}, "training": {},
    }  # fmt: skip
    assert params["runs"]["own"] == {
        "paper": "mine", "task": "paraphrase", "preset": "guig", "model": "own", "dataset": "own", "split": "test",
        "guidance": "none", "annotation": "own", "lm": "none", "lexicon": "none", "decoder": {}, "scoring": {},
        "samples": 3, "seed": 1,
    }  # fmt: skip
    assert params["annotations"]["own"] == {"paper": "mine", "parser": "constituency_en", "run": "own"}


def test_a_copy_differs_by_its_options_and_has_no_title_and_an_annotation_of_its_own(folder: Path, cli: Cli) -> None:
    before = read_yaml(folder / "params.yaml")
    new(cli, folder, "model", "narrow", "--like", "guig_tg", "-S", "network.width=64")
    new(cli, folder, "run", "narrow", "--like", "guig_tg", "--model", "narrow", "--split", "dev")
    new(cli, folder, "dataset", "talk", "--like", "dialogue_zh", "-S", "max_words=20")
    new(cli, folder, "corpus", "fewer", "--like", "verse_zh", "-S", "options.count=300")
    after = read_yaml(folder / "params.yaml")
    model = {key: value for key, value in before["models"]["guig_tg"].items() if key not in ("title", "default_for")}
    assert after["models"]["narrow"] == model | {"network": model["network"] | {"width": 64}}
    run = {key: value for key, value in before["runs"]["guig_tg"].items() if key != "title"}
    assert after["runs"]["narrow"] == run | {"model": "narrow", "split": "dev", "annotation": "narrow"}
    assert after["annotations"]["narrow"]["run"] == "narrow"
    assert after["datasets"]["canonicalize"]["talk"]["max_words"] == 20
    assert after["corpora"]["fewer"]["options"] == before["corpora"]["verse_zh"]["options"] | {"count": 300}


@pytest.mark.parametrize("profile", ["small", "paper"])
def test_the_other_lines_of_every_profile_stay(profile: str, tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / "profiles" / profile
    (tmp_path / "pipeline/params").mkdir(parents=True)
    folder.mkdir(parents=True)
    for name in (layout.CATALOGUE, layout.VERSIONS):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copy(layout.PROFILES[profile] / "params.yaml", folder)
    assert "    network:" in new(cli, folder, "model", "again", "--like", "guig_tg")


def test_a_section_without_entries_gets_its_first(tmp_path: Path, cli: Cli) -> None:
    write(tmp_path, empty())
    lines = ["corpora:", "  verse:", f"    {COMMENT}"]
    answer = cli(tmp_path, "new", "corpus", "verse", "--reader", "verse_en", "--language", "en")
    assert answer.status == 0, answer.err
    assert "\n".join(lines) in (tmp_path / "params.yaml").read_text(encoding="utf-8")
    assert read_yaml(tmp_path / "params.yaml")["corpora"]["verse"]["split"]["kind"] == "random"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("model songnet --arch songnet --dataset verse_zh", "params.yaml: models: there is an entry songnet; choose"),
        ("dataset verse_zh", "params.yaml: datasets.linearize: there is an entry verse_zh; choose another name"),
        ("model own --like moon", "--like: unknown model 'moon'; allowed: "),
        ("model own --dataset verse_zh", "--arch: is not given; one of "),
        ("model own --arch verse_seq2seq --dataset verse_zh", "--preset: is not given; one of "),
        ("model own --arch songnet", "models.own.dataset: unknown reference 'own'; allowed: "),
        ("model own --like songnet -S network.moon=1", "models.own.network: unknown key 'moon'; allowed: "),
        ("model own --like songnet -S network", "--set: 'network' is not KEY=VALUE; as in training.steps=500"),
        ("model own --like songnet -S network=[", "--set: the value of network is not YAML; as in a.b=[x, y]"),
        ("model own --like songnet -S arch.a=1", "--set: arch of arch.a has no keys; name a key of the entry"),
        ("model a:b --like songnet", "'a:b' cannot be a name"),
        ("run own", "--model: unknown model 'own'; allowed: "),
        ("run own --model songnet --split train", "runs.own.split: "),
        ("corpus own --reader tsv", "--language: is not given; one of "),
        ("dataset own --corpus paraphrase_en", "--encoding: is not given; one of dialogue, pairs"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_the_file_as_it_is(
    folder: Path, refused: Refused, command: str, line: str
) -> None:
    before = (folder / "params.yaml").read_bytes()
    assert line in refused(folder, "new", *command.split())
    assert (folder / "params.yaml").read_bytes() == before


TEXT = """\
# Head.
models:
  a:
    seeds:
    - 1

# What runs decode.
runs:
  b: c
reports: []
none: {}  # Nothing yet.
flow: {a: 1}
"""


def test_an_entry_stands_behind_the_last_one_and_before_the_comment_of_the_next_section() -> None:
    text = with_entry(TEXT, ["models", "z"], {"seeds": [2]})
    assert text.split("\n\n# What")[0].splitlines()[-5:] == [
        "    - 1",
        "  z:",
        f"    {COMMENT}",
        "    seeds:",
        "    - 2",
    ]


def test_an_entry_is_not_glued_to_a_last_line_without_a_line_break() -> None:
    assert with_entry("runs:\n  a: 1", ["runs", "z"], {"k": 2}) == f"runs:\n  a: 1\n  z:\n    {COMMENT}\n    k: 2\n"


def test_a_comment_beside_an_empty_section_stays_and_a_section_in_braces_is_refused() -> None:
    assert f"none:  # Nothing yet.\n  z:\n    {COMMENT}\n    k: 1\nflow:" in with_entry(TEXT, ["none", "z"], {"k": 1})
    with pytest.raises(ConfigError, match=r"^params.yaml: flow: stands in braces; write one entry a line"):
        with_entry(TEXT, ["flow", "z"], {})
