"""docs/architecture.md: its tree, layers and tables are those of the repository, and every path on it exists."""

from __future__ import annotations

import re
import sys
import tomllib
from itertools import pairwise, product
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml

from espalier.io.yaml_files import load_yaml
from pipeline.params.plugins import REGISTRIES

sys.path.insert(0, str(Path(__file__).parent))
from markdown_page import CODE, ROOT, Page, key_of, profile

PAGE = Page("docs/architecture.md")
STAGES: dict[str, Any] = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]


@pytest.fixture(scope="module")
def locked() -> dict[str, Any]:
    """The stages of the lock of `small`."""
    stages: dict[str, Any] = load_yaml(ROOT / "profiles/small/dvc.lock", names=False)["stages"]
    return stages


def tree() -> list[str]:
    """The paths of the annotated tree. An indented line is below the last one that is not."""
    [(_, lines)] = PAGE.blocks("text")
    paths, parent = list[str](), ""
    for line in lines:
        name = line.split()[0]
        parent = parent if line.startswith(" ") else name
        paths.append(f"{parent}{name}" if line.startswith(" ") else name)
    return paths


def written(stage: str) -> list[str]:
    """The outputs of a stage in dvc.yaml, with * for each key."""
    definition = STAGES[stage].get("do", STAGES[stage])
    outs = [out if isinstance(out, str) else next(iter(out)) for out in definition["outs"]]
    return [re.sub(r"\$\{[^}]+\}", "*", out) for out in outs]


def inside(path: str, folders: list[str]) -> bool:
    return any(PurePosixPath(path).is_relative_to(folder) for folder in folders)


def test_every_path_of_the_tree_exists_and_no_folder_is_left_out() -> None:
    paths = tree()
    assert [path for path in paths if not (ROOT / path).exists() or (ROOT / path).is_dir() != path.endswith("/")] == []
    rooms = {f"pipeline/{file.parent.name}/" for file in (ROOT / "pipeline").glob("*/__init__.py")}
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8")
    folders = {f"{path.name}/" for path in ROOT.glob("[!.]*") if path.is_dir() and path.suffix != ".egg-info"}
    assert rooms | {name for name in folders if name not in ignored.splitlines()} <= {*paths, "src/"}


def test_every_path_in_the_text_exists_or_is_written_by_a_stage(locked: dict[str, Any]) -> None:
    prose = re.sub(r"^```.*?^```$", "", PAGE.text, flags=re.M | re.S)
    named = set(re.findall(r"`([\w./-]+/[\w./-]*)`", prose))
    outs = [out["path"] for stage in locked.values() for out in stage["outs"]] + written("site")
    assert len(named) > 40
    assert {path for path in named if not (ROOT / path).exists() and not inside(path, outs)} == set()


def test_the_picture_of_the_layers_is_the_checked_order_of_imports() -> None:
    [(_, lines)] = PAGE.blocks("mermaid")
    chains = [[re.findall(r"^\w+|(?<=& )\w+", part.strip()) for part in line.split("-->")] for line in lines[1:]]
    edges = {edge for chain in chains for left, right in pairwise(chain) for edge in product(left, right)}
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = {contract["type"]: contract for contract in config["tool"]["importlinter"]["contracts"]}
    layers = [
        [name.removeprefix("espalier.") for name in layer.split(" | ")] for layer in contracts["layers"]["layers"]
    ]
    level = {name: place for place, names in enumerate(layers) for name in names}
    packages = {path.parent.name for path in CODE.glob("*/__init__.py")}
    assert {name for edge in edges for name in edge} == level.keys() == {*packages, "pipeline"}
    assert all(level[over] < level[under] for over, under in edges)
    assert {(level[over], level[under]) for over, under in edges} >= set(pairwise(range(len(layers))))
    forbidden = {name.removeprefix("espalier.") for name in contracts["forbidden"]["forbidden_modules"]}
    assert contracts["forbidden"]["source_modules"] == ["espalier.metrics"]
    assert not {under for over, under in edges if over == "metrics"} & forbidden


def test_every_key_of_params_yaml_its_stages_and_their_outputs_are_in_the_table() -> None:
    rows = {key_of(row["key"]): row for row in PAGE.table("key", "an entry is")}
    told = {key: re.findall(r"\w+", row["stages"]) for key, row in rows.items()}
    for stage, definition in STAGES.items():
        if "foreach" in definition:
            assert stage in told[definition["foreach"].strip("${}").split(".")[0]]
    assert {stage for stages in told.values() for stage in stages} == STAGES.keys()
    assert rows.keys() <= profile("nursery").__class__.model_fields.keys()
    for key, row in rows.items():
        paths = [re.sub(r"<[^>]+>", "*", path) for path in re.findall(r"`((?:data|reports)/[^`]+)`", row["output"])]
        outs = [out for stage in told[key] for out in written(stage)]
        assert [path for path in paths if not inside(path, outs)] == []


def test_every_registry_of_the_table_is_one() -> None:
    rows = {key_of(row["registry"]): key_of(row["in"]) for row in PAGE.table("registry")}
    assert rows.keys() == REGISTRIES.keys()
    for name, path in rows.items():
        assert re.search(rf"^{name}\b", (ROOT / path).read_text(encoding="utf-8"), re.M)


def test_a_record_goes_from_stage_to_stage_as_the_lock_says(locked: dict[str, Any]) -> None:
    known = list[str]()
    for row in PAGE.table("stage", "code"):
        stage = locked[key_of(row["stage"])]
        deps, outs = ([each["path"] for each in stage.get(kind, ())] for kind in ("deps", "outs"))
        paths = re.findall(r"`([^`]+)`", next(cell for column, cell in row.items() if column.startswith("writes")))
        assert paths and all(inside(path, outs) for path in paths), paths
        assert not known or any(inside(path, deps) for path in known), row["stage"]
        known += paths


def test_the_kinds_of_components_are_those_of_versions_yaml() -> None:
    section = PAGE.text[PAGE.text.index("## What never changes without a version") :]
    kinds = yaml.safe_load((ROOT / "pipeline/params/versions.yaml").read_text(encoding="utf-8"))
    assert [kind for kind in kinds if not re.search(rf"\b{kind}\b", section)] == []
