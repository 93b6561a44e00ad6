"""Which model a command takes: a released one, unless a profile or a model is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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
    assert found(ROOT, language="en").endswith("--profile small or --profile paper")
    assert profiles_with("generate.en") == ["small", "paper"]
    assert {*profiles_with("generate.zh")} <= {*layout.PROFILES}


def test_a_command_writes_with_the_released_model(cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    answer = cli(ROOT, "generate", "3。", "--json")
    assert answer.status == 0, answer.err
    assert json.loads(answer.out)["model"] == "songci"
    refused = cli(ROOT, "generate", "3。", "--model", "songci", "--language", "en")
    assert refused.err == "espalier: --language: model songci writes zh, not en; leave it out, or name another model\n"
