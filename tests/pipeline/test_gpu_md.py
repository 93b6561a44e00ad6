"""docs/gpu.md: its commands from top to bottom on a small project, on a machine that has only what the page says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
TEXT = re.sub(r" \\\n *", " ", (ROOT / "docs/gpu.md").read_text(encoding="utf-8"))
Run = Callable[..., Any]
Cli = Callable[..., Any]

#: Refuses what the page does not install.
REFUSING = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {refused!r}:
            raise ModuleNotFoundError(f"{{name}} is not on this machine", name=name)
sys.meta_path.insert(0, Missing())
"""


def block(heading: str) -> list[str]:
    """The commands below a heading, without those that use the network or begin again."""
    section = TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = "".join(re.findall(r"```sh\n(.*?)```", section, re.S)).splitlines()
    return [line for line in lines if not line.startswith(("pip ", "profile="))]


def carried() -> set[str]:
    """The packages that the page carries."""
    (names,) = re.findall(r"^pip download .* -c constraints.txt (.*)$", TEXT, re.M)
    return set(names.split())


def refused() -> set[str]:
    """The packages of this project that the page does not install."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    wanted = set(re.findall(r'^    "([\w.-]+?)[>=<].*"', project, re.M))
    return wanted - {*carried(), "torch"} - {"urllib3", "requests"}


def test_the_page_carries_all_that_its_packages_need() -> None:
    python = {"extra": "", "python_version": "3.12", "python_full_version": "3.12.0"}
    needed = {
        requirement.name.lower().replace("_", "-")
        for name in carried()
        for requirement in map(Requirement, metadata.requires(name) or ())
        if requirement.marker is None or requirement.marker.evaluate(python)
    }
    assert needed - carried() == {"torch"}


@pytest.fixture
def committed(project: Path, run: Run) -> Path:
    """The built project, of which one model was never trained here."""
    for command in ("git config user.name t", "git config user.email t@example.org", "git add -A", "git commit -qm b"):
        assert run(project, *command.split()).status == 0
    shutil.rmtree(project / "metrics/measured")
    return project


def walk(folder: Path, run: Run, lines: list[str], **more: str) -> None:
    script = "profile=. dataset=tiny model=songnet run=songnet_free paper=songnet\n" + "\n".join(lines)
    answer = run(folder, "bash", "-euo", "pipefail", "-c", script, **more)
    assert answer.status == 0, f"{script}\n{answer.out}{answer.err}"


def test_the_page_s_commands_train_elsewhere_and_bring_it_back(
    committed: Path, tmp_path: Path, run: Run, refused_line: Callable[..., str]
) -> None:
    assert {"dvc", "matplotlib", "spacy", "benepar"} <= refused()
    walk(committed, run, block("What to carry"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.move(committed / "carried.tar", elsewhere)
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare/sitecustomize.py").write_text(REFUSING.format(refused=refused()), encoding="utf-8")
    walk(elsewhere, run, block("Train on the other machine"), PYTHONPATH=str(tmp_path / "bare"))
    (elsewhere / "carried/data/ready/tiny/train.parquet").unlink()  # nothing is read from there any more
    shutil.move(elsewhere / "back.tar", committed)
    before = (committed / "data/models/songnet/seed1.safetensors").read_bytes()
    shutil.rmtree(committed / "data/models/songnet")
    walk(committed, run, block("Import the results"))

    provenance = json.loads((committed / "metrics/provenance/songnet.json").read_text(encoding="utf-8"))
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=committed, text=True).strip()
    assert (provenance["steps"], provenance["steps_asked"], provenance["commit"]) == (20, 20, head)
    assert "torch 2" in provenance["hardware"]
    assert (committed / "data/models/songnet/seed1.safetensors").read_bytes() == before
    details = json.loads((committed / "metrics/details/songnet/songnet_free.json").read_text(encoding="utf-8"))
    assert details["scores"]
    assert "up to date" in run(committed, "dvc", "status", "train@songnet", "decode@songnet_free").out  # adopt did it

    # What was made of other data, or of other outputs, is refused, and nothing is copied.
    back = committed / "back"
    place = back / "metrics/measured/train/songnet.json"
    value = json.loads(place.read_text(encoding="utf-8"))
    place.write_text(json.dumps(value | {"made_of": value["made_of"] | {"data": "other"}}), encoding="utf-8")
    shutil.rmtree(committed / "data/models/songnet")
    assert "data is not what it is here" in refused_line(committed, "adopt", "songnet", "--from", str(back))
    assert not (committed / "data/models/songnet").exists()
    shutil.rmtree(back / "data/models/songnet")
    place.write_text(json.dumps(value), encoding="utf-8")
    assert "bring the model's folder back too" in refused_line(committed, "adopt", "songnet", "--from", str(back))
    assert "name the profile's folder as it came back" in refused_line(
        committed, "adopt", "songnet", "--from", "back/x"
    )


def test_fewer_steps_are_adopted_and_said(committed: Path, tmp_path: Path, cli: Cli, run: Run, edit: Any) -> None:
    there = tmp_path / "there"
    shutil.copytree(committed, there, symlinks=True)
    edit(there / "params.yaml", "models.songnet.training", {"steps": 8})
    assert cli(there, "train", "songnet").status == 0
    # Outputs that came along are of another model.
    before = (committed / "data/models/songnet/seed1.safetensors").read_bytes()
    place = there / "metrics/measured/decode/songnet_free.json"
    place.parent.mkdir(parents=True)
    place.write_text('{"made_of": {}}', encoding="utf-8")
    answer = cli(committed, "adopt", "songnet", "--from", str(there))
    assert answer.status == 1 and "songnet_free.json: model is not what it is here" in answer.err
    assert (committed / "data/models/songnet/seed1.safetensors").read_bytes() == before
    shutil.rmtree(there / "data/outputs")
    answer = cli(committed, "adopt", "songnet", "--from", str(there))
    assert answer.status == 0, answer.err
    assert (committed / "data/models/songnet/seed1.safetensors").read_bytes() != before
    assert "8 of 20 steps" in answer.err
    assert cli(committed, "score", "songnet_free").status == 0
    details = json.loads((committed / "metrics/details/songnet/songnet_free.json").read_text(encoding="utf-8"))
    assert (details["settings"]["provenance"]["steps"], details["settings"]["provenance"]["steps_asked"]) == (8, 20)
    assert cli(committed, "train", "songnet").status == 0
    assert not (committed / "metrics/provenance/songnet.json").exists()  # it is trained here now


def test_outputs_are_adopted_without_the_weights_if_that_model_wrote_them(
    committed: Path, tmp_path: Path, cli: Cli, refused_line: Callable[..., str]
) -> None:
    there = tmp_path / "there"
    shutil.copytree(committed, there, symlinks=True)
    for command in (("train", "songnet"), ("decode", "songnet_free")):
        assert cli(there, *command).status == 0
    shutil.copy(there / "data/models/songnet/seed1.safetensors", there / "data/models/songnet/seed2.safetensors")
    whole = "bring all its files back, or none of its weights"
    assert whole in refused_line(committed, "adopt", "songnet", "--from", str(there))
    for weights in (there / "data/models/songnet").glob("seed*.safetensors"):
        weights.unlink()
    shutil.rmtree(committed / "data/models/songnet")
    place = there / "metrics/measured/train/songnet.json"
    value = json.loads(place.read_text(encoding="utf-8"))
    place.write_text(json.dumps(value | {"model": "another"}), encoding="utf-8")
    assert "model is not what it is here" in refused_line(committed, "adopt", "songnet", "--from", str(there))

    place.write_text(json.dumps(value), encoding="utf-8")
    answer = cli(committed, "adopt", "songnet", "--from", str(there))
    assert answer.status == 0 and "without its weights" in answer.err
    assert not json.loads((committed / "metrics/provenance/songnet.json").read_text(encoding="utf-8"))["weights"]
    assert cli(committed, "score", "songnet_free").status == 0
    answer = cli(committed, "decode", "songnet_free")
    assert answer.status == 1 and "no weights of seed 1" in answer.err


def test_a_model_is_adopted_although_the_weights_that_it_starts_from_were_left_there(
    committed: Path, tmp_path: Path, cli: Cli, edit: Any, refused_line: Callable[..., str]
) -> None:
    songnet = yaml.safe_load((committed / "params.yaml").read_text(encoding="utf-8"))["models"]["songnet"]
    edit(committed / "params.yaml", "models.tuned", songnet | {"init": "songnet", "default_for": []})
    there = tmp_path / "there"
    shutil.copytree(committed, there, symlinks=True)
    for model in ("songnet", "tuned"):
        assert cli(there, "train", model).status == 0
    (there / "data/models/songnet/seed1.safetensors").unlink()
    shutil.rmtree(there / "data/outputs")
    for model in ("songnet", "tuned"):
        answer = cli(committed, "adopt", model, "--from", str(there))
        assert answer.status == 0, answer.err
    place = committed / "metrics/measured/train/songnet.json"
    value = json.loads(place.read_text(encoding="utf-8"))
    place.write_text(json.dumps(value | {"model": "another"}), encoding="utf-8")
    assert "init is not what it is here" in refused_line(committed, "adopt", "tuned", "--from", str(there))


@pytest.fixture
def refused_line(run: Run) -> Callable[..., str]:
    """The one line of a command that must fail."""

    def line(folder: Path, *command: str) -> str:
        answer = run(folder, "python", "pipeline", *command)
        assert answer.status == 1 and answer.err.count("\n") == 1, answer.err
        return str(answer.err)

    return line
