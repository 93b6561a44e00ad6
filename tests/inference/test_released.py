"""The models in released/: small, described, and exact in the format that is asked for."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import espalier
from espalier.inference import released
from espalier.inference.folder import read_system
from espalier.inference.registry import SERVICES
from espalier.inference.requests import VerseRequest
from espalier.io.errors import ArtifactError

ROOT = Path(__file__).resolve().parents[2]
MODELS = sorted(path.parent for path in (ROOT / "released").glob("*/model.json"))


@pytest.mark.parametrize("folder", MODELS, ids=lambda folder: folder.name)
def test_a_released_model_is_small_and_described(folder: Path) -> None:
    assert sum(file.stat().st_size for file in folder.iterdir()) < 20e6
    assert (folder / "README.md").read_text(encoding="utf-8").startswith(f"# {folder.name}\n")


def test_songci_writes_what_is_asked_for() -> None:
    model = espalier.load(ROOT / "released/songci", device="cpu")
    poems = model.generate([VerseRequest("5,5。7,5。", rhyme="AA", acrostic="江月")], n=2)
    assert len(poems) == 2
    for poem in poems:
        lines = poem.text.split("\n")
        assert [re.sub("[^，。]", "5", line) for line in lines] == ["55555，55555。", "5555555，55555。"]
        assert [line[0] for line in lines] == ["江", "月"]
        first, second = poem.rhyme_groups
        assert first == second != "?"


def test_a_released_model_is_loaded_by_its_name() -> None:
    assert espalier.load("songci", device="cpu").name == "songci"
    assert released.folder_of("songci") == ROOT / "released/songci"


@pytest.mark.parametrize("folder", MODELS, ids=lambda folder: folder.name)
def test_a_released_model_offers_the_services_that_it_is_the_default_for(folder: Path) -> None:
    system, defaults = espalier.load(folder, device="cpu"), read_system(folder).default_for
    assert defaults
    for default in defaults:
        service, _, language = default.partition(".")
        assert released.released_for(service, language) == folder
        assert SERVICES[service].fits(system.encoding, system.model.config)
        assert system.vocabulary.language == language
    assert released.released_for("generate", "xx") is None


def test_a_folder_of_the_working_directory_comes_before_a_released_model(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(models / "verse", tmp_path / "songci")
    monkeypatch.chdir(tmp_path)
    assert released.folder_of("songci") == Path("songci")


def test_a_model_of_the_hub_is_loaded_from_its_cache(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client's own layout of its cache; it is told not to ask the network."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    commit, repository = "0" * 40, tmp_path / "models--poet--verse"
    shutil.copytree(models / "verse", repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs/main").write_text(commit, encoding="utf-8")
    assert espalier.load("poet/verse", device="cpu").generate(["2。"])
    with pytest.raises(ArtifactError, match="poet/prose: neither a folder, nor downloaded from the Hugging Face Hub"):
        espalier.load("poet/prose")


def test_a_name_without_a_model_is_one_line_with_the_released_names() -> None:
    with pytest.raises(ArtifactError, match=r"moonci: no such model; .* or a released model: songci"):
        espalier.load("moonci")
