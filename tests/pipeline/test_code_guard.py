"""A stage fails if its code changes while it runs."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from espalier.io.errors import EspalierError
from pipeline.graph import stage_run
from pipeline.graph.stage_run import unchanged_code


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Path]]:
    """A tree of code with two modules; `tree(name)` is the file of one. `used` is imported, `other` is not."""
    folder = tmp_path / "src/espalier"
    folder.mkdir(parents=True)
    for name in ("used", "other"):
        (folder / f"{name}.py").write_text("VALUE = 1\n", encoding="utf-8")
    monkeypatch.setattr(stage_run, "ROOT", tmp_path)
    yield lambda name: folder / f"{name}.py"


def imported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location(f"grown_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, spec.name, module)


def test_editing_a_module_in_use_fails_the_stage_in_one_line(
    tree: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        pytest.raises(
            EspalierError, match=r"^src/espalier/used.py: this stage's code changed while it ran; "
        ) as caught,
        unchanged_code(),
    ):
        imported(tree("used"), monkeypatch)
        tree("used").write_text("VALUE = 2\n", encoding="utf-8")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["table.yaml", "templates/page.html.jinja", "templates/page.js"])
def test_editing_a_data_file_beside_a_module_in_use_or_in_a_folder_there_fails_the_stage(
    tree: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    file = tree("used").parent / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("1", encoding="utf-8")
    with pytest.raises(EspalierError, match=f"{name}: this stage's code changed"), unchanged_code():
        imported(tree("used"), monkeypatch)
        file.write_text("2", encoding="utf-8")


def test_deleting_a_module_in_use_fails_the_stage(tree: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EspalierError, match="changed while it ran"), unchanged_code():
        imported(tree("used"), monkeypatch)
        tree("used").unlink()


def test_editing_another_module_or_adding_one_does_not(
    tree: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with unchanged_code():
        imported(tree("used"), monkeypatch)
        tree("other").write_text("VALUE = 2\n", encoding="utf-8")
        tree("other").with_name("new.py").write_text("", encoding="utf-8")


def test_touching_a_module_without_changing_it_does_not(
    tree: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with unchanged_code():
        imported(tree("used"), monkeypatch)
        tree("used").write_text("VALUE = 1\n", encoding="utf-8")


def test_the_stages_own_error_is_not_hidden_by_changed_code(
    tree: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(KeyError, match="mine"), unchanged_code():
        imported(tree("used"), monkeypatch)
        tree("used").write_text("VALUE = 2\n", encoding="utf-8")
        raise KeyError("mine")
