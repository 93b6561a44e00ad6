"""Around every stage: the proof that its code stood still, progress, and one line for people."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from espalier.io.errors import ConfigError, EspalierError
from pipeline import layout, stage


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Path]]:
    """A tree of code with two modules; `tree(name)` is the file of one. `used` is imported, `other` is not."""
    folder = tmp_path / "src/espalier"
    folder.mkdir(parents=True)
    for name in ("used", "other"):
        (folder / f"{name}.py").write_text("VALUE = 1\n", encoding="utf-8")
    monkeypatch.setattr(stage, "ROOT", tmp_path)
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
        stage.unchanged_code(),
    ):
        imported(tree("used"), monkeypatch)
        tree("used").write_text("VALUE = 2\n", encoding="utf-8")
    assert "\n" not in str(caught.value)


def test_deleting_a_module_in_use_fails_the_stage(tree: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EspalierError, match="changed while it ran"), stage.unchanged_code():
        imported(tree("used"), monkeypatch)
        tree("used").unlink()


def test_editing_another_module_or_adding_one_does_not(
    tree: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with stage.unchanged_code():
        imported(tree("used"), monkeypatch)
        tree("other").write_text("VALUE = 2\n", encoding="utf-8")
        tree("other").with_name("new.py").write_text("", encoding="utf-8")


def test_touching_a_module_without_changing_it_does_not(
    tree: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with stage.unchanged_code():
        imported(tree("used"), monkeypatch)
        tree("used").write_text("VALUE = 1\n", encoding="utf-8")


def test_the_stages_own_error_is_not_hidden_by_changed_code(
    tree: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(KeyError, match="mine"), stage.unchanged_code():
        imported(tree("used"), monkeypatch)
        tree("used").write_text("VALUE = 2\n", encoding="utf-8")
        raise KeyError("mine")


def test_what_is_followed_comes_through_and_nothing_is_drawn_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert list(stage.followed(iter("abc"), 3, "letters")) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")


def test_counts_in_one_line() -> None:
    assert stage.counted([("train", 12345), ("dev", 2)]) == "train 12,345, dev 2"


def test_a_mirror_is_seen_from_the_root_and_must_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "ROOT", tmp_path)
    (tmp_path / "mirror").mkdir()
    monkeypatch.delenv("ESPALIER_MIRROR", raising=False)
    assert layout.mirror() is None
    monkeypatch.setenv("ESPALIER_MIRROR", "")
    assert layout.mirror() is None
    for named in ("mirror", str(tmp_path / "mirror")):
        monkeypatch.setenv("ESPALIER_MIRROR", named)
        assert layout.mirror() == tmp_path / "mirror"
    monkeypatch.setenv("ESPALIER_MIRROR", "gone")
    with pytest.raises(ConfigError, match="ESPALIER_MIRROR: no folder 'gone'"):
        layout.mirror()
