"""espalier release: the folder, its own scores beside the model's, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

import espalier
from espalier.inference import released
from espalier.models.serialization import load_model
from pipeline.commands import release

Cli = Callable[..., Any]
Refuse = Callable[..., str]
Edit = Callable[..., None]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of released models, empty."""
    folder = tmp_path / "released"
    folder.mkdir()
    monkeypatch.setattr(released, "RELEASED", folder)
    return folder


def read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def test_the_released_file_is_the_model_rounded_and_has_scores_of_its_own(shared: Path, cli: Cli, place: Path) -> None:
    answer = cli(shared, "release", "songnet", "--name", "verse")
    assert answer.status == 0, answer.err
    names = {file.name for file in (place / "verse").iterdir()}
    assert names == {"README.md", "checksums.json", "config.json", "model.safetensors", "scores.json", "system.json",
                     "training.json", "vocabulary.json"}  # fmt: skip
    whole, rounded = (
        load_model(folder)[0].state_dict() for folder in (shared / "data/models/songnet", place / "verse")
    )
    assert all(torch.equal(rounded[name], tensor.bfloat16().float()) for name, tensor in whole.items())
    facts = read(place / "verse/scores.json")["songnet_free"]
    details = read(shared / "metrics/details/songnet/songnet_free.json")
    own, original = (facts["columns"][name]["scores"] for name in ("released", "in 32 bits"))
    assert {name: details["scores"][name] for name in original} == original
    assert facts["ids"] == details["ids"] and facts["records"] == 10
    assert own["perplexity"] != original["perplexity"]  # another file was measured
    assert own["perplexity"] == pytest.approx(original["perplexity"], rel=0.02)
    assert {"ngram", "human", "chance"} <= facts["columns"].keys()
    card = (place / "verse/README.md").read_text(encoding="utf-8")
    assert "espalier.load('verse') reads it" in answer.err and "`espalier release songnet --name verse`" in card
    [line] = re.findall(r"^\| `perplexity` \| (.+) \|$", card, re.M)
    cells = line.split(" | ")
    assert [float(cells[0]), float(cells[2])] == pytest.approx([own["perplexity"], original["perplexity"]], abs=0.006)
    assert re.fullmatch(r"[\d.]+ to [\d.]+", cells[1])


def test_a_released_model_is_loaded_by_its_name_and_measured_again_without_the_profile_s(
    project: Path, cli: Cli, place: Path, edit: Edit
) -> None:
    assert cli(project, "release", "songnet").status == 0
    [poem] = espalier.load("songnet", device="cpu").generate(["5,5。"])
    assert poem.text
    scores = read(place / "songnet/scores.json")
    weights = (place / "songnet/model.safetensors").read_bytes()
    (project / "data/models/songnet").rename(project / "data/models/away")
    edit(project / "params.yaml", "models.songnet.options", {"generate": {"top_k": 3}})
    edit(project / "params.yaml", "models.songnet.limits", "It knows *ten* poems.")
    assert cli(project, "release", "songnet", "--again").status == 0
    assert (place / "songnet/model.safetensors").read_bytes() == weights
    assert read(place / "songnet/scores.json") == scores
    options = espalier.load("songnet", device="cpu").options
    assert (options["generate"]["top_k"], options["polish"]["top_k"]) == (3, 8)  # the entry's own, and its run's
    assert "## Limits\n\nIt knows *ten* poems.\n" in (place / "songnet/README.md").read_text(encoding="utf-8")


def test_a_released_model_is_taken_for_what_its_profile_takes_it_for_unless_its_entry_says_other(
    project: Path, cli: Cli, edit: Edit, place: Path
) -> None:
    """Commands take the only model of dialogue without being told; there are two of verse."""
    edit(project / "params.yaml", "models.grower.default_for", [])
    edit(project / "params.yaml", "models.songnet.default_for", ["polish.zh"])
    for key, taken in (("grower", ["reply.zh"]), ("songnet", ["polish.zh"])):
        answer = cli(project, "release", key)
        assert answer.status == 0, answer.err
        assert read(place / key / "system.json")["default_for"] == taken
    edit(project / "params.yaml", "models.songnet.released_for", ["generate.zh"])
    assert cli(project, "release", "songnet", "--again").status == 0
    assert read(place / "songnet/system.json")["default_for"] == ["generate.zh"]


def test_a_model_of_a_source_that_is_not_free_is_not_released(
    project: Path, cli: Cli, refused: Refuse, edit: Edit, place: Path
) -> None:
    file = project / "pipeline/params/sources.yaml"
    edit(project / "params.yaml", "sources.published", {"madeup": {"shelf": "far"}})
    for key, value in (("reader", "songci"), ("options", {}), ("shelf", "far")):
        edit(project / "params.yaml", f"corpora.tiny.{key}", value)
    line = refused(project, "release", "songnet")
    assert "models.songnet: it learned from madeup, whose licence (none needed) does not let" in line
    assert line.endswith("; train a model on sources under `free` of sources.yaml") and not [*place.iterdir()]
    edit(file, "free", ["madeup"])
    assert cli(project, "release", "songnet").status == 0
    card = (place / "songnet/README.md").read_text(encoding="utf-8")
    assert "Made up. Licence: none needed." in card and "So are these weights" in card
    assert yaml.safe_load(card.split("---\n")[1])["license"] == "apache-2.0"


def test_a_model_of_a_local_file_is_not_released(project: Path, refused: Refuse, edit: Edit) -> None:
    (project / "mine.json").write_text("[]", encoding="utf-8")
    edit(project / "params.yaml", "sources.local", {"mine": {"shelf": "near", "file": "mine.json"}})
    for key, value in (("reader", "songci"), ("options", {}), ("shelf", "near")):
        edit(project / "params.yaml", f"corpora.tiny.{key}", value)
    assert "learned from mine, whose licence (not recorded)" in refused(project, "release", "songnet")


@pytest.mark.parametrize(("bound", "said"), [("LARGEST", "it would have"), ("ALL", "all released models would have")])
def test_a_folder_that_is_too_large_is_not_released(
    shared: Path, refused: Refuse, place: Path, monkeypatch: pytest.MonkeyPatch, bound: str, said: str
) -> None:
    monkeypatch.setattr(release, bound, 10_000)
    line = refused(shared, "release", "songnet")
    assert f"{place / 'songnet'}: {said}" in line and "over 0.01 MB; train a narrower model" in line
    assert not [*place.iterdir()]


def test_what_cannot_be_released_is_named(project: Path, refused: Refuse, edit: Edit, place: Path) -> None:
    assert "unknown model 'moon'" in refused(project, "release", "moon")
    assert "--name: '../moon' is no name of a folder" in refused(project, "release", "songnet", "--name", "../moon")
    assert refused(project, "release", "songnet", "--again").endswith("no released model; leave out --again")
    edit(project / "params.yaml", "protocols", {})
    edit(project / "params.yaml", "runs.songnet_free.split", "dev")
    assert "models.songnet: no run on test scores it" in refused(project, "release", "songnet")
    assert not [*place.iterdir()]


@pytest.mark.parametrize("name", ["vocabulary.json", "system.json", "config.json", "model.safetensors", "scores.json"])
def test_a_damaged_or_lost_file_is_one_line_with_a_remedy(shared: Path, cli: Cli, place: Path, name: str) -> None:
    assert cli(shared, "release", "songnet").status == 0
    file = place / "songnet" / name
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    again = "export or download the model again"
    for said in (
        f"not the file that was exported: damaged or edited; {again}, or delete checksums.json",
        f"no such file; {again}",
    ):
        answer = cli(shared, "generate", "3。", "--model", str(place / "songnet"))
        assert answer.status == 1 and answer.err.count("\n") == 1
        assert answer.err.endswith(f"{name}: {said}\n")
        file.unlink(missing_ok=True)


def test_a_folder_of_another_version_is_one_line(shared: Path, cli: Cli, place: Path) -> None:
    assert cli(shared, "release", "songnet").status == 0
    file = place / "songnet/checksums.json"
    file.write_text(json.dumps({**read(file), "format": 7}), encoding="utf-8")
    answer = cli(shared, "generate", "3。", "--model", str(place / "songnet"))
    assert answer.status == 1 and answer.err.count("\n") == 1
    assert "a model of version 7; this Espalier reads version 1; install the Espalier that it was" in answer.err
