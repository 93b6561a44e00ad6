"""Checkpoints: whole or passed over, never pickled."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import pytest
import torch
import yaml
from safetensors import SafetensorError
from torch import nn

import espalier
from espalier.io import yaml_files
from espalier.io.errors import ArtifactError
from espalier.training import checkpoints
from espalier.training.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from espalier.training.config import TrainingConfig
from espalier.training.optimization import Optimizer


def saved(folder: Path, *steps: int) -> None:
    for step in steps:
        save_checkpoint(folder, Checkpoint({"a": torch.full((300,), float(step))}, {"step": step, "loss": 0.5}))


def test_what_is_saved_comes_back_and_only_the_last_two_are_kept(tmp_path: Path) -> None:
    saved(tmp_path, 1, 2, 10)
    found = load_checkpoint(tmp_path)
    assert found is not None and found.state == {"step": 10, "loss": 0.5}
    assert torch.equal(found.tensors["a"], torch.full((300,), 10.0))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"step-{step:09d}.{end}" for step in (2, 10) for end in ("json", "safetensors")
    ]


def test_a_folder_that_is_not_there_or_empty_has_no_checkpoint(tmp_path: Path) -> None:
    assert load_checkpoint(tmp_path) is None
    assert load_checkpoint(tmp_path / "never") is None


@pytest.mark.parametrize("end", ["safetensors", "json"])
@pytest.mark.parametrize("tenths", range(10))
def test_a_newest_that_is_cut_off_anywhere_falls_back_with_a_warning(tmp_path: Path, end: str, tenths: int) -> None:
    saved(tmp_path, 1, 2)
    newest = tmp_path / f"step-000000002.{end}"
    whole = newest.read_bytes().rstrip()
    newest.write_bytes(whole[: len(whole) * tenths // 10 + tenths % 2])
    with pytest.warns(UserWarning, match=r"step-000000002 is damaged .* falling back") as seen:
        found = load_checkpoint(tmp_path)
    assert len(seen) == 1 and found is not None and found.state["step"] == 1


@pytest.mark.parametrize("text", ["null", "[]", "3", '{"sha256": 1}', "\udcff"])
def test_a_manifest_that_is_something_else_falls_back(tmp_path: Path, text: str) -> None:
    saved(tmp_path, 1, 2)
    (tmp_path / "step-000000002.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.warns(UserWarning, match="step-000000002 is damaged"):
        found = load_checkpoint(tmp_path)
    assert found is not None and found.state["step"] == 1


def test_a_flipped_bit_falls_back(tmp_path: Path) -> None:
    saved(tmp_path, 1, 2)
    newest = tmp_path / "step-000000002.safetensors"
    data = bytearray(newest.read_bytes())
    data[-5] ^= 1
    newest.write_bytes(data)
    with pytest.warns(UserWarning, match="its bytes are not those that were written"):
        found = load_checkpoint(tmp_path)
    assert found is not None and found.state["step"] == 1


def test_weights_without_a_manifest_do_not_count(tmp_path: Path) -> None:
    saved(tmp_path, 1, 2)
    (tmp_path / "step-000000002.json").unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = load_checkpoint(tmp_path)
    assert found is not None and found.state["step"] == 1


def test_a_manifest_without_weights_falls_back(tmp_path: Path) -> None:
    saved(tmp_path, 1, 2)
    (tmp_path / "step-000000002.safetensors").unlink()
    with pytest.warns(UserWarning, match="step-000000002 is damaged"):
        found = load_checkpoint(tmp_path)
    assert found is not None and found.state["step"] == 1


def test_after_a_fallback_the_good_ones_are_kept_and_the_damaged_deleted(tmp_path: Path) -> None:
    saved(tmp_path, 800, 900)
    (tmp_path / "step-000000900.safetensors").write_bytes(b"")
    saved(tmp_path, 850)
    assert sorted(path.stem for path in tmp_path.glob("*.json")) == ["step-000000800", "step-000000850"]
    (tmp_path / "step-000000850.json").write_text("{}", encoding="utf-8")
    (tmp_path / "step-000000800.json").write_text("{}", encoding="utf-8")
    saved(tmp_path, 50)  # all were damaged, so training began anew
    found = load_checkpoint(tmp_path)
    assert found is not None and found.state["step"] == 50
    assert {path.stem for path in tmp_path.iterdir()} == {"step-000000050"}


def test_with_both_damaged_there_is_none(tmp_path: Path) -> None:
    saved(tmp_path, 1, 2)
    for path in tmp_path.glob("*.safetensors"):
        path.write_bytes(b"")
    with pytest.warns(UserWarning) as seen:
        assert load_checkpoint(tmp_path) is None
    assert len(seen) == 2


def test_a_full_disk_is_one_line_and_leaves_the_checkpoint_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(tmp_path, 1)

    def refuse(*_: object) -> None:
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(checkpoints, "save_file", refuse)
    with pytest.raises(ArtifactError, match=r"cannot write: .*No space left"):
        saved(tmp_path, 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-000000001.json", "step-000000001.safetensors"]


@pytest.mark.parametrize("name", ["adamw", "adadelta"])
def test_an_optimizer_comes_back_with_all_of_its_moments(name: str) -> None:
    def made() -> tuple[nn.Linear, Optimizer]:
        torch.manual_seed(1)
        model = nn.Linear(3, 2)
        optimizer = Optimizer(model, TrainingConfig.model_validate({"steps": 2, "optimizer": name}))
        for group in optimizer.param_groups:
            group["lr"] = 0.1
        return model, optimizer

    def step(model: nn.Linear, optimizer: Optimizer) -> None:
        optimizer.zero_grad()
        model(torch.ones(1, 3)).square().sum().backward()
        optimizer.step()

    model, optimizer = made()
    step(model, optimizer)
    other, restored = made()
    restored.restore({name: value.clone() for name, value in optimizer.tensors().items()})
    other.load_state_dict(model.state_dict())
    step(model, optimizer)
    step(other, restored)
    assert torch.equal(model.weight, other.weight)
    assert len(optimizer.tensors()) == 6  # step and two moments, of the weight and of the bias


def test_nothing_in_the_project_runs_code_that_it_reads() -> None:
    """No pickle, no eval, no exec, no unsafe YAML.

    benepar's own format is PyTorch's: it is read as weights alone, which refuses whatever is no plain value.
    """
    package = Path(espalier.__file__).parent
    forbidden = re.compile(
        r"^\s*(?:import|from)\s+(?:dill|joblib|shelve|marshal)\b|^\s*from\s+pickle\b|(?<![.\w])(?:eval|exec)\(|"
        r"\bpickle\.(?!UnpicklingError\b)|yaml\.(?:load\((?!.*Loader=_Loader\))|(?:unsafe_load|full_load)\()|"
        r"torch\.load\((?!.*weights_only=True\))|allow_pickle=True|read_pickle|to_pickle"
    )
    files = [*package.rglob("*.py"), *(package.parents[1] / "pipeline").rglob("*.py")]
    assert len(files) > 50
    found = [
        f"{path.name}: {line.strip()}"
        for path in files
        for line in path.read_text(encoding="utf-8").splitlines()
        if forbidden.search(line)
    ]
    assert not found
    assert issubclass(yaml_files._Loader, yaml.CSafeLoader)


def test_a_manifest_is_plain_json_with_the_hash_of_its_weights(tmp_path: Path) -> None:
    saved(tmp_path, 3)
    value = json.loads((tmp_path / "step-000000003.json").read_text(encoding="utf-8"))
    assert sorted(value) == ["sha256", "state"]
    assert re.fullmatch("[0-9a-f]{64}", value["sha256"])
