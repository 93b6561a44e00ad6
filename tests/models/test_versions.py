"""versions.yaml names, for each architecture, the layers that it is built from."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import yaml

from espalier.models.registry import ARCHITECTURES

ROOT = Path(__file__).resolve().parents[2]
VERSIONS: dict[str, Any] = yaml.safe_load((ROOT / "pipeline/params/versions.yaml").read_text(encoding="utf-8"))
#: Names of settings' values, and where values are at hand: nothing in them computes.
WITHOUT_VERSION = {"device", "options"}


def modules_from(module: str) -> set[str]:
    """The modules of espalier that a module imports, transitively."""
    modules: set[str] = set()
    waiting = [module]
    while waiting:
        file = ROOT / "src" / (waiting.pop().replace(".", "/") + ".py")
        nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if file.exists() else ()
        imported = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
        new = {name for name in imported if name.startswith("espalier.")} - modules
        modules |= new
        waiting += new
    return modules


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_an_architecture_names_every_layer_that_it_imports_with_that_layer_s_version(name: str) -> None:
    module = str(ARCHITECTURES[name].model).partition(":")[0]
    layers = {path.rpartition(".")[2] for path in modules_from(module) if path.startswith("espalier.layers.")}
    parts = {layer: version for layer, version in VERSIONS["models"][name].items() if layer != "model"}
    assert parts == {layer: VERSIONS["layers"][layer] for layer in layers - WITHOUT_VERSION}


def test_every_layer_has_a_version() -> None:
    files = {file.stem for file in (ROOT / "src/espalier/layers").glob("*.py")} - {"__init__"}
    assert set(VERSIONS["layers"]) == files - WITHOUT_VERSION
