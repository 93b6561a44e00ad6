"""The command `adopt`: import models trained on another machine, with their outputs and their provenance."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from dvc.exceptions import DvcException
from pydantic import BaseModel, Field

from espalier.cli.progress import say
from espalier.io.errors import ArtifactError
from espalier.io.files import atomic_file, atomic_folder, read_json, together, write_json
from espalier.io.hashing import files_sha256
from espalier.io.registry import entry
from espalier.models.serialization import WEIGHTS
from pipeline import layout
from pipeline.graph.dvc_files import commit_stages
from pipeline.graph.stage_inputs import record_of
from pipeline.params.entries import Params
from pipeline.params.read import load_params
from pipeline.records.artifacts import SeedMeasurement
from pipeline.records.stage_times import HOUR

#: The file in which the commit of the code that was carried is written.
COMMIT = "COMMIT"


class _Seed(SeedMeasurement):
    steps: int


class _Training(BaseModel):
    hardware: str
    torch: str
    seeds: Annotated[dict[str, _Seed], Field(min_length=1)]
    made_of: dict[str, Any]
    model: str | None = None


class _Decoding(BaseModel):
    made_of: dict[str, Any]


def adopt(keys: Sequence[str], folder: Path) -> None:
    """Copy models, their curves and their runs' outputs from a profile's folder, if they are of the same inputs.

    Writes `metrics/provenance/<key>.json`, which details and reports show, and records the stages in dvc.lock, also if
    a later model is refused. A training with fewer steps than set is adopted too, and the provenance records both
    numbers. A model without weights, which may be too large to copy, is also adopted: its outputs are scored here.

    Raises:
        ArtifactError: a file is missing, or was made from other data, settings or component versions; or DVC cannot
            record a stage.
    """
    params = load_params()
    stages: list[str] = []
    try:
        for key in keys:
            stages += _adopted(key, folder, params)
    finally:
        if stages:
            _commit_stages(stages)


def _commit_stages(stages: Sequence[str]) -> None:
    try:
        commit_stages(stages)
    except DvcException as error:
        raise ArtifactError(
            f"DVC cannot record what was adopted: {error}",
            where=layout.LOCK,
            remedy=f"dvc commit -f {' '.join(stages)}",
        ) from error
    say(f"DVC knows them: {' '.join(stages)}")


def _adopted(key: str, folder: Path, params: Params) -> list[str]:
    """Adopt one model; the stages whose files are here now."""
    model = entry("model", params.models, key)
    place = folder / layout.measured("train", key)
    if not place.is_file():
        raise ArtifactError("no such file", where=place, remedy="name the profile's folder as it came back")
    there: dict[str, Any] = {"model": None, **read_json(place, _Training)}
    here = record_of("train", key)
    if model.init != layout.NONE and not any(layout.model(model.init).glob(WEIGHTS)):  # adopted without its weights
        here["init"] = read_json(layout.measured("train", model.init), _Training).get("model")
    _same(here, there["made_of"], place)
    trained = folder / layout.model(key)
    if not (trained / "training.json").is_file():
        raise ArtifactError("no such file", where=trained / "training.json", remedy="bring the model's folder back too")
    weights, whole = any(trained.glob(WEIGHTS)), files_sha256(trained)
    made: str = there["model"] or whole  # earlier versions of `train` write no hash
    if weights and whole != made:
        remedy = "bring all its files back, or none of its weights"
        raise ArtifactError("not the model that was trained there", where=trained, remedy=remedy)
    files = [layout.curve(model.paper, key), layout.measured("train", key)]
    runs = _decoded_there(key, folder, params, made)
    for run in runs:
        files += [layout.output(params.runs[run].paper, run), layout.measured("decode", run)]
    seeds = list(there["seeds"].values())
    steps, asked = min(seed["steps"] for seed in seeds), model.training.steps
    provenance = {
        "hardware": f"{there['hardware']}, torch {there['torch']}",
        "hours": round(sum(seed["seconds"] for seed in seeds) / HOUR, 3),
        "steps": steps,
        "steps_asked": asked,
        "commit": _commit(folder),
        "weights": weights,
        **{name: there["made_of"][name] for name in ("processes", "compiled") if name in there["made_of"]},
    }
    with together():
        _copy(folder, layout.model(key), files)
        write_json(layout.provenance(key), provenance)
    say(f"{key}: {steps:,} of {asked:,} steps, {provenance['hours']} h on {provenance['hardware']}")
    if not weights:
        say(f"without its weights: to decode more with it, train it here (dvc repro -f train@{key})")
    return [f"train@{key}", *(f"decode@{run}" for run in runs)]


def _decoded_there(key: str, folder: Path, params: Params, model: str) -> list[str]:
    """The runs of the model whose outputs were copied, after checking that they come from this model and equal inputs.

    Args:
        model: hash of the model's folder, including weights.
    """
    found = []
    for name, run in params.runs.items():
        if run.model == key and (folder / layout.output(run.paper, name)).exists():
            place = folder / layout.measured("decode", name)
            if run.guide and not (guide := layout.output(*run.guide)).is_file():
                raise ArtifactError("no such file", where=guide, remedy="adopt the model that guides this run first")
            here, there = record_of("decode", name, folder), read_json(place, _Decoding)["made_of"]
            if there.get("lexicon") is None:
                here.pop("lexicon", None)  # a decoder that looks words up would have failed there
            _same(here | {"model": model}, there, place)
            found.append(name)
    return found


def _same(here: Mapping[str, Any], there: Mapping[str, Any], place: Path) -> None:
    """Raise an error that names the first difference. Fewer steps are allowed."""
    for path, own in _leaves(here):
        other: Any = there
        for name in path:
            other = other.get(name) if isinstance(other, Mapping) else None
        if own != other and not (path[-1] == "steps" and isinstance(other, int) and other < own):
            raise ArtifactError(
                f"{'.'.join(path)} is not what it is here",
                where=place,
                remedy="carry this commit, its params.yaml and its data there, and make it again",
            )


def _leaves(value: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, part in value.items():
        if isinstance(part, Mapping) and part:
            yield from _leaves(part, (*path, name))
        else:
            yield (*path, name), part


def _copy(folder: Path, model: Path, files: Sequence[Path]) -> None:
    """Copy the folder of a model, and `files` if all of them exist."""
    for path in files:
        if not (folder / path).is_file():
            raise ArtifactError("no such file", where=folder / path, remedy="bring it back too")
    with atomic_folder(model) as part:
        shutil.copytree(folder / model, part, dirs_exist_ok=True)
    for path in files:
        with atomic_file(path) as part:
            shutil.copyfile(folder / path, part)


def _commit(folder: Path) -> str:
    """The commit of the copied tree; empty if it was not recorded. Profiles are two folders below the root."""
    for place in (folder, *folder.parents[:2]):
        if (place / COMMIT).is_file():
            return (place / COMMIT).read_text(encoding="utf-8").strip()
    return ""
