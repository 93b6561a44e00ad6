"""The reference: every public module can be imported alone and says what it is for, and pdoc makes pages of them."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import espalier
from espalier.io.errors import ConfigError

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted(module.name for module in pkgutil.walk_packages(espalier.__path__, "espalier."))


def test_every_module_has_a_docstring_and_so_has_what_it_shows() -> None:
    bare = []
    for name in ("espalier", *MODULES):
        path = ROOT / "src" / name.replace(".", "/")
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        tree = ast.parse(file.read_text(encoding="utf-8"))
        shown = [node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
        public = [tree, *(node for node in shown if not node.name.startswith("_"))]
        bare += [f"{name}: {getattr(node, 'name', 'module')}" for node in public if not ast.get_docstring(node)]
    assert len(MODULES) > 150 and bare == []


@pytest.mark.parametrize("package", sorted({name.split(".")[1] for name in MODULES}))
def test_every_module_can_be_imported(package: str) -> None:
    for name in MODULES:
        if name.split(".")[1] == package:
            try:
                importlib.import_module(name)
            except ConfigError as error:  # of an extra that `make test` does not install
                assert error.remedy == "install espalier[demo]"


def test_pdoc_makes_pages_without_network(tmp_path: Path) -> None:
    pytest.importorskip("pdoc")
    command = [sys.executable, "-m", "pdoc", "--docformat", "google", "--no-show-source", "-o", str(tmp_path)]
    done = subprocess.run([*command, "espalier.metrics.metric"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "espalier/metrics/metric.html").read_text(encoding="utf-8")
    assert "Corpus scores of one family" in page and "resamples" in page
    assert 'src="http' not in page and 'rel="stylesheet" href="http' not in page
