"""The Hub's conventions: its file names, a round trip through a folder, and an upload to an API that is made up."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

import espalier
from espalier.inference.export import export_system
from espalier.io.errors import ArtifactError, ConfigError
from espalier.models.serialization import load_model


class Api:
    """Stands for the Hub: it keeps what is uploaded."""

    made: dict[str, Any]

    def __init__(self, token: str | None = None) -> None:
        Api.made = {"token": token}

    def create_repo(self, repository: str, *, private: bool, exist_ok: bool) -> None:
        Api.made |= {"private": private, "exist_ok": exist_ok}

    def upload_folder(self, *, repo_id: str, folder_path: Path, commit_message: str) -> str:
        shutil.copytree(folder_path, Api.place / repo_id)
        return f"https://huggingface.co/{repo_id}"

    place: Path


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of what is uploaded."""
    monkeypatch.setattr("huggingface_hub.HfApi", Api)
    Api.place = tmp_path / "hub"
    return Api.place


def test_a_folder_for_the_hub_has_its_names_and_the_lowest_seed(models: Path, tmp_path: Path) -> None:
    export_system(models / "verse", tmp_path / "out", hub=True)
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert names == {"checksums.json", "config.json", "model.safetensors", "system.json", "vocabulary.json"}
    own, other = (load_model(folder, 3)[0].state_dict() for folder in (models / "verse", tmp_path / "out"))
    assert all(torch.equal(other[name], tensor) for name, tensor in own.items())
    assert load_file(tmp_path / "out/model.safetensors").keys() == own.keys()  # read by any library
    with pytest.raises(ArtifactError, match="no weights of seed 11"):
        load_model(tmp_path / "out", 11)


def test_a_folder_of_the_hub_is_exported_again_and_its_damage_is_named(models: Path, tmp_path: Path) -> None:
    export_system(models / "verse", tmp_path / "one", hub=True)
    export_system(tmp_path / "one", tmp_path / "two", bfloat16=True)
    assert (tmp_path / "two/model.safetensors").stat().st_size < (tmp_path / "one/model.safetensors").stat().st_size
    assert espalier.load(tmp_path / "two", device="cpu").generate(["5。"], seed=4)
    value = json.loads((tmp_path / "one/config.json").read_text(encoding="utf-8"))
    (tmp_path / "one/config.json").write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(ArtifactError, match=r"config\.json: not the file that the weights were written with"):
        load_model(tmp_path / "one")


def test_the_expander_goes_along_under_the_hub_s_names(models: Path, tmp_path: Path) -> None:
    shutil.copytree(models, tmp_path / "models")
    described = tmp_path / "models/writer/system.json"
    value = json.loads(described.read_text(encoding="utf-8"))
    described.write_text(json.dumps({**value, "expander": "../expander"}), encoding="utf-8")
    export_system(tmp_path / "models/writer", tmp_path / "out", hub=True)
    assert (tmp_path / "out/models/expander/config.json").is_file()
    assert not [*(tmp_path / "out").rglob("model.json")]


def test_what_is_pushed_is_loaded_as_it_was(models: Path, hub: Path) -> None:
    system = espalier.load(models / "verse", device="cpu")
    assert system.push_to_hub("poet/verse", private=True, token="secret") == "https://huggingface.co/poet/verse"
    assert Api.made == {"token": "secret", "private": True, "exist_ok": True}
    pushed = espalier.load(hub / "poet/verse", device="cpu")
    assert pushed.generate(["5。"], seed=4)[0].text == system.generate(["5。"], seed=4)[0].text
    assert 'espalier.load("poet/verse")' in (hub / "poet/verse/README.md").read_text(encoding="utf-8")


def test_the_card_of_a_model_that_has_one_is_pushed(models: Path, tmp_path: Path, hub: Path) -> None:
    export_system(models / "verse", tmp_path / "out", "# Mine\n")
    espalier.load(tmp_path / "out", device="cpu").push_to_hub("poet/verse")
    assert (hub / "poet/verse/README.md").read_text(encoding="utf-8") == "# Mine\n"


def test_without_network_a_push_is_one_line(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    system = espalier.load(models / "verse", device="cpu")
    with pytest.raises(
        ArtifactError, match=r"^poet/verse: not uploaded to the Hugging Face Hub \(\w+\); check the name"
    ):
        system.push_to_hub("poet/verse")
    with pytest.raises(ConfigError, match="'a/b/c' is no name of a repository; user/name"):
        system.push_to_hub("a/b/c")
