"""What stages read, make and need, as DVC's index has it; and what records say of it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from dvc.dependency.param import ParamsDependency

from espalier.io.files import read_json
from espalier.io.hashing import file_sha256, files_sha256
from pipeline import layout
from pipeline.graph.dvc_files import dvc_project, parsed_once
from pipeline.graph.stage_graph import Stage, definitions, needs_of
from pipeline.graph.stage_inputs import record_of

sys.path.insert(0, str(Path(__file__).parent))
from small_params import nursery, write

Edit = Callable[..., None]


def named(stage: Stage) -> str:
    """As DVC names it."""
    return "@".join(filter(None, stage))


@pytest.mark.parametrize("profile", layout.PROFILES)
def test_the_stages_are_those_of_dvc_s_own_index(profile: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Their dependencies, parameters and outputs, and the stages that each needs."""
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(tmp_path))
    monkeypatch.chdir(layout.PROFILES[profile])
    with parsed_once():
        graph = dvc_project().index.graph
    theirs = {}
    for stage in graph:
        params = [dep for dep in stage.deps if isinstance(dep, ParamsDependency)]
        theirs[stage.addressing] = (
            {os.path.normpath(dep.def_path) for dep in stage.deps if dep not in params},
            {(os.path.normpath(dep.def_path), name) for dep in params for name in dep.params},
            {os.path.normpath(out.def_path) for out in stage.outs},
            {other.addressing for other in graph.successors(stage)},
        )
    stages = definitions()
    needs = needs_of(stages)
    ours = {
        named(stage): (
            {str(path) for _, path in made.deps},
            {(str(file), name) for file, name in made.params},
            {str(path) for path in made.outs},
            {*map(named, needs[stage])},
        )
        for stage, made in stages.items()
    }
    assert ours == theirs


def test_a_guided_run_needs_its_guide_and_a_tuned_model_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(layout.PROFILES["paper"])
    needs = needs_of(definitions())
    assert needs["decode", "guig_se_tg"] == {
        ("linearize", "guig"), ("train", "guig_tg"), ("decode", "guig_se"), ("download", "wordnet")
    }  # fmt: skip
    assert needs["train", "sonnet"] == {("linearize", "sonnet"), ("train", "sonnet_pretrained")}
    assert needs["parse", "weibo"] == {("download", "weibo_lccc"), ("download", "weibo_cdial"), ("train_parser", "ltp")}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a few artifacts, of which nothing else was made."""
    write(tmp_path, nursery())
    (tmp_path / layout.VERSIONS).parent.mkdir(parents=True)
    for name in ("dvc.yaml", layout.VERSIONS):
        shutil.copy(layout.ROOT / name, tmp_path / name)
    for name in ("ready/said/train.parquet", "models/writer/seed1.safetensors", "outputs/guig/expanded.parquet"):
        (tmp_path / "data" / name).parent.mkdir(parents=True)
        (tmp_path / "data" / name).write_text(name, encoding="utf-8")
    monkeypatch.setattr(layout, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_record_has_the_hashes_of_inputs_the_settings_over_their_preset_and_the_versions(project: Path) -> None:
    versions = yaml.safe_load((project / layout.VERSIONS).read_text(encoding="utf-8"))
    data = files_sha256(project / "data/ready/said")
    settings = {"beam": 2, "guide": "run"}
    assert record_of("decode", "written") == {
        "model": files_sha256(project / "data/models/writer"), "data": data, "judge": None, "lexicon": None,
        "guidance": file_sha256(project / "data/outputs/guig/expanded.parquet"),
        "settings": {"task": "paraphrase", "split": "test", "decoder": settings, "samples": 1, "seed": 1},
        "versions": versions["decoding"]["paraphrase"],
    }  # fmt: skip
    trained = record_of("train", "writer")
    assert (trained["data"], trained["init"]) == (data, None)
    assert trained["versions"] == {
        "model": versions["models"]["guig"], "training": versions["training"], "batching": versions["batching"]
    }  # fmt: skip
    shutil.move(project / "data/models", project / "there/data/models")
    assert record_of("decode", "written", Path("there"))["model"] and record_of("decode", "written")["model"] is None


def test_the_committed_records_have_the_same_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(layout.PROFILES["small"])
    made_of = read_json(layout.measured("train", "guig_tg"))["made_of"]
    here = record_of("train", "guig_tg")
    assert made_of.keys() == here.keys()
    for part in ("settings", "versions"):
        assert made_of[part].keys() == here[part].keys()


def test_a_dependency_that_dvc_yaml_alone_declares_is_needed_and_recorded(project: Path) -> None:
    file = project / "dvc.yaml"
    tree: Any = yaml.safe_load(file.read_text(encoding="utf-8"))
    tree["stages"]["decode"]["do"]["deps"].append("data/annotations/${item.annotation}.parquet")
    tree["stages"]["decode"]["do"]["params"].append("runs.${key}.annotation")
    assert ("annotate", "again") not in needs_of(definitions())["annotate", "reread"]
    file.write_text(yaml.safe_dump(tree), encoding="utf-8")
    assert ("annotate", "reread") in needs_of(definitions())["decode", "written"]
    record = record_of("decode", "written")
    assert (record["annotation"], record["settings"]["annotation"]) == (None, "reread")


def test_an_edit_of_params_yaml_changes_what_a_stage_needs(project: Path, edit: Edit) -> None:
    assert ("decode", "expanded") in needs_of(definitions())["decode", "written"]
    edit(project / "params.yaml", "runs.written.guidance", "none")
    assert ("decode", "expanded") not in needs_of(definitions())["decode", "written"]
