"""dvc.yaml in step with params.yaml, versions.yaml and the code."""

from __future__ import annotations

import functools
import importlib.util
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from typer.main import get_command

from espalier.corpora.readers import READERS
from espalier.models.registry import ARCHITECTURES
from espalier.syntax.parsers.registry import BACKENDS
from espalier.tasks.registry import TASKS
from pipeline.graph.stage_graph import Definition, definitions
from pipeline.params.entries import Preset
from pipeline.params.read import read_yaml
from pipeline.shell.app import STAGES, app

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [path for path in (ROOT, ROOT / "profiles/small", ROOT / "profiles/paper") if (path / "params.yaml").exists()]


@functools.cache
def yaml_of(path: Path) -> Any:
    return read_yaml(path)


def at(tree: Any, path: str) -> Any:
    for name in path.split("."):
        tree = tree[name] if isinstance(tree, dict) else None
    return tree


def has(tree: Any, path: str) -> bool:
    try:
        at(tree, path)
    except KeyError:
        return False
    return True


def stages(folder: Path) -> dict[str, Definition]:
    """The stages of a profile by name, as DVC has them (test_stage_graph)."""
    return {"@".join(filter(None, stage)): definition for stage, definition in definitions(folder).items()}


@pytest.fixture(scope="module", params=FOLDERS, ids=lambda path: path.name if path != ROOT else "nursery")
def folder(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


def test_a_preset_of_one_system_makes_no_report_stale(folder: Path) -> None:
    """What a preset says comes to a report through the stages that track it, each of which that report reads."""
    found = stages(folder)
    tracked = {name: {path.partition(".")[0] for _, path in each.params} for name, each in found.items()}
    assert not [name for name, groups in tracked.items() if name.startswith("report@") and "presets" in groups]
    sections = {path.rpartition(".")[2] for each in found.values() for _, path in each.params if "presets." in path}
    assert sections == Preset.model_fields.keys()


def test_every_param_that_a_stage_declares_is_written_out(folder: Path) -> None:
    """DVC knows no defaults: a key that is not in the file is an error when its stage runs."""
    lacking = [
        f"{name}: {key} in {file}"
        for name, stage in stages(folder).items()
        for file, key in stage.params
        if not has(yaml_of(folder / file), key)
    ]
    assert not lacking


def test_dvc_reads_every_file_in_c_as_we_do(folder: Path) -> None:
    """With ruamel.yaml.clib DVC reads by libyaml, which is stricter: an address in a flow list must be quoted."""
    for path in (
        folder / "dvc.yaml",
        folder / "params.yaml",
        ROOT / "pipeline/params/sources.yaml",
        ROOT / "pipeline/params/versions.yaml",
    ):
        assert YAML(typ="safe").load(path) == yaml_of(path)


def test_no_path_of_a_params_file_begins_with_a_dot(folder: Path) -> None:
    """The lock would spell ./versions.yaml as versions.yaml, and DVC would never find it again."""
    params = yaml_of(folder / "params.yaml")
    assert not any(params[name].startswith("./") for name in ("versions", "catalogue"))


def test_each_output_has_one_maker(folder: Path) -> None:
    outs = [out for stage in stages(folder).values() for out in stage.outs]
    assert outs and len(outs) == len(set(outs))


def test_every_dependency_is_there_or_made(folder: Path) -> None:
    made = {path for stage in stages(folder).values() for out in stage.outs for path in (out, *out.parents)}
    for name, stage in stages(folder).items():
        for _, dep in stage.deps:
            assert dep in made or (folder / dep).exists(), f"{name}: {dep}"


def test_the_lock_names_no_stage_that_is_gone(folder: Path) -> None:
    """DVC keeps such entries, and reads and writes the whole lock again after every stage."""
    lock = folder / "dvc.lock"
    locked = yaml_of(lock)["stages"] if lock.exists() else {}
    gone = locked.keys() - stages(folder).keys()
    assert not gone, "delete these entries of dvc.lock"


def test_the_stages_are_those_of_the_command_line_and_each_has_its_module() -> None:
    written = yaml_of(ROOT / "dvc.yaml")["stages"]
    assert list(written) == [*STAGES, "site"] and "site" in get_command(app).commands  # type: ignore[attr-defined]
    for name, stage in written.items():
        key = r" \$\{(key|item)\}" if name in STAGES else ""
        assert re.fullmatch(rf"python \$\{{root\}}/pipeline {name}{key}", stage.get("do", stage)["cmd"])
        assert importlib.util.find_spec(f"pipeline.stages.{name}") is not None


def test_every_version_is_a_whole_number_and_some_stage_uses_it() -> None:
    used = {key for each in FOLDERS for stage in stages(each).values() for _, key in stage.params}
    used |= {f"readers.{name}" for name in READERS}  # a corpus may come to use them
    used |= {f"models.{name}" for name in ARCHITECTURES}
    used |= {f"parsers.{name}" for name in BACKENDS}
    used |= {f"{part}.{name}" for part in ("baselines", "decoding", "metrics") for name in TASKS}
    used.add("layers")  # through the models that repeat them
    leaves = dict(_leaves(yaml_of(ROOT / "pipeline/params/versions.yaml")))
    assert all(isinstance(value, int) and value >= 1 for value in leaves.values())
    assert {key for key in leaves if not any(key == each or key.startswith(f"{each}.") for each in used)} == set()


def test_every_reader_and_architecture_has_a_version() -> None:
    versions = yaml_of(ROOT / "pipeline/params/versions.yaml")
    assert set(versions["readers"]) == set(READERS)
    assert set(versions["models"]) == {*ARCHITECTURES, "ngram"}


def _leaves(tree: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def test_the_profiles_share_one_dvc_yaml() -> None:
    for name in ("small", "paper"):
        assert (ROOT / "profiles" / name / "dvc.yaml").read_bytes() == (ROOT / "dvc.yaml").read_bytes(), "make profiles"


def test_every_optional_reference_has_its_file_of_nothing() -> None:
    for each in (ROOT, ROOT / "profiles/small", ROOT / "profiles/paper"):
        for path in (
            "data/none",
            "data/raw/none",
            "data/corpora/none",
            "data/ready/none",
            "data/parsers/none",
            "data/models/none",
            "reports/summaries/none",
        ):
            assert (each / path).is_file()
        for path in ("data/outputs/none.parquet", "data/annotations/none.parquet"):
            assert (each / path).is_file()


def test_dvc_would_run_every_stage_of_a_fresh_project(project: Path, run: Callable[..., Any]) -> None:
    (project / "dvc.lock").unlink()
    answer = run(project, "dvc", "repro", "--dry", "--force", "--no-run-cache")
    assert answer.status == 0, answer.err
    assert set(re.findall(r"^Running stage '(.*)':$", answer.out, re.M)) == stages(project).keys()


def test_the_folders_of_metrics_are_those_of_the_papers_and_of_the_stages_before_and_are_in_every_profile() -> None:
    folders = yaml_of(ROOT / "dvc.yaml")["metrics"]
    papers = {paper for folder in FOLDERS for paper in yaml_of(folder / "params.yaml")["reports"]}
    assert folders == sorted(f"metrics/{group}" for group in papers | {"corpora", "datasets", "parsers", "parsing"})
    assert all((folder / group).is_dir() for folder in FOLDERS for group in folders)
