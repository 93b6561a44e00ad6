"""Which model a command takes: a released one, unless a profile or a model is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from espalier.inference import released
from espalier.inference.folder import save_system
from espalier.inference.released import released_for
from espalier.io.errors import ConfigError
from pipeline import layout
from pipeline.records.systems import profiles_with
from pipeline.shell.models import ProfileModels

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """The name of the model that is found from a folder of this clone; "nothing" if none is trained."""

    def name(folder: Path, profile: str | None = None, *, language: str = "zh", model: str | None = None) -> str:
        monkeypatch.chdir(folder)
        models = ProfileModels()
        models.enter(profile)
        try:
            return str(models.open("generate", language, model=model).name)
        except ConfigError as error:
            return str(error)

    return name


def test_the_released_model_is_taken_unless_a_profile_is_named(found: Callable[..., str], tmp_path: Path) -> None:
    assert found(ROOT) == found(tmp_path) == "songci"
    assert "songnet" in found(ROOT, "nursery")  # trained, or said to be missing
    assert "model songci is not trained" in found(ROOT / "profiles/small")


def test_a_released_model_has_a_name_where_the_profile_has_no_such_model(found: Callable[..., str]) -> None:
    assert found(ROOT, "nursery", model="songci") == "songci"
    assert found(ROOT, "small", model="songci") == "songci"  # until small has trained its own
    assert "unknown model 'moon'" in found(ROOT, model="moon")


def test_a_language_that_only_other_profiles_write_names_them(found: Callable[..., str]) -> None:
    assert "no model of profile nursery is the default for generate.en" in found(ROOT, "nursery", language="en")
    assert found(ROOT, "nursery", language="en").endswith("--profile small or --profile paper")
    assert profiles_with("generate.en") == ["small", "paper"]
    assert {*profiles_with("generate.zh")} <= {*layout.PROFILES}


def test_a_command_writes_with_the_released_model(cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    answer = cli(ROOT, "generate", "3。", "--json")
    assert answer.status == 0, answer.err
    assert json.loads(answer.out)["model"] == "songci"
    refused = cli(ROOT, "generate", "3。", "--model", "songci", "--language", "en")
    assert refused.err == "espalier: --language: model songci writes zh, not en; leave it out, or name another model\n"


@pytest.mark.synthetic
def test_a_model_of_synthetic_text_that_nobody_named_says_so(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Callable[..., Any]
) -> None:
    note = "espalier: note: model songnet learned from synthetic text alone; other words and sentences confuse it\n"
    monkeypatch.setattr(released, "RELEASED", tmp_path)
    command = ("generate", "3。")
    assert cli(shared, *command).err.startswith(note)
    for more in (["--model", "songnet"], ["--profile", "nursery"], ["--quiet"]):
        assert "synthetic" not in cli(shared, *command, *more).err


def test_a_released_model_of_trees_is_taken_where_a_tree_is_asked_for(
    models: dict[str, Path],
) -> None:
    assert released_for("paraphrase", "en") == models["plain"]
    assert released_for("paraphrase", "en", trees=True) == models["tree"]
    (models["plain"] / "system.json").unlink()
    (models["plain"] / "model.json").unlink()
    assert released_for("paraphrase", "en") == models["tree"]


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """The descriptions of two released models of paraphrases, of which one reads trees."""
    monkeypatch.setattr(released, "RELEASED", tmp_path)
    folders = {name: tmp_path / name for name in ("tree", "plain")}
    for name, folder in folders.items():
        folder.mkdir()
        (folder / "model.json").write_text("{}", encoding="utf-8")
        templates = [{"template": "(S)", "count": 1}] if name == "tree" else []
        save_system(folder, {}, templates=templates, default_for=["paraphrase.en"])
    return folders
