"""What a plugin registers is checked when it is imported, and a refused plugin leaves nothing behind."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from espalier.io.errors import ConfigError
from espalier.tasks.registry import TASKS
from pipeline.params.plugins import REGISTRIES, import_plugins

Import = Callable[[str], None]

HEAD = """
from pydantic import BaseModel
from espalier.models.registry import ARCHITECTURES, Architecture
from espalier.corpora.readers import READERS
from espalier.datasets.registry import ENCODINGS
from espalier.metrics.registry import METRICS
from espalier.tasks.registry import TASKS

class Settings(BaseModel):
    width: int = 8
    positions: int = 8
    view: int = 0
"""
MODEL = 'ARCHITECTURES["mine"] = Architecture(Settings, "verse", "nowhere:Model")'


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Import]:
    """Import a module with this text as a plugin; the registries are as before when the test ends."""
    before = {key: dict(registry.entries) for key, registry in REGISTRIES.items()}
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def plugin(text: str) -> None:
        (tmp_path / "a_plugin.py").write_text(HEAD + text, encoding="utf-8")
        import_plugins(["a_plugin"], "params.yaml: plugins")

    yield plugin
    sys.modules.pop("a_plugin", None)
    for key, entries in before.items():
        REGISTRIES[key].entries = entries


def test_an_architecture_whose_model_is_a_name_imports_no_model(load: Import) -> None:
    load(MODEL)
    assert "mine" in REGISTRIES["ARCHITECTURES"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('ARCHITECTURES["guig"] = Architecture(Settings, "verse", "nowhere:Model")',
         r"ARCHITECTURES\['guig'\]: there is an entry of that name; choose another name"),
        ('READERS["mine"] = len', r"READERS\['mine'\]: builtin_function_or_method is no Reader; see Reader in"),
        ('METRICS["mine"] = 3', r"METRICS\['mine'\]: int is no Family; see Family in espalier/metrics/family.py"),
        ('from espalier.metrics.family import Family\nMETRICS["mine"] = type("Mine", (Family,), {})',
         r"METRICS\['mine'\]: it has no metrics; see Family in espalier/metrics/family.py"),
        ('from espalier.metrics.verse_format import FormatAccuracy\nMETRICS["mine"] = FormatAccuracy',
         r"METRICS\['mine'\]: its setting rules has no default; see Family in espalier/metrics/family.py"),
        ('ENCODINGS["mine"] = Settings()', r"ENCODINGS\['mine'\]: it has no settings; see Encoding in"),
        ('TASKS["mine"] = Settings()', r"TASKS\['mine'\]: it has no encodings; see Task in espalier/tasks/task.py"),
        ('from espalier.tasks.dialogue import DialogueTask\n'
         'TASKS["mine"] = type("Mine", (DialogueTask,), {"decoder": Settings})()',
         r"TASKS\['mine'\]: its decoder is no Decoder; see Decoder in espalier/tasks/settings\.py"),
        ('ARCHITECTURES["mine"] = Architecture(Settings, "verses", "nowhere:Model")',
         r"ARCHITECTURES\['mine'\]: unknown encoding 'verses'; allowed: dialogue, pairs, structure, verse"),
        ('ARCHITECTURES["mine"] = Architecture(dict, "verse", "nowhere:Model")',
         r"architecture mine: its settings type, dict, has no width, which every model needs"),
        ('TASKS["mine"] = "a_plugin:Settings"', r"TASKS\['mine'\]: it has no encodings; see Task in"),
        ('TASKS["mine"] = "nowhere:Mine"', r"TASKS\['mine'\]: cannot import the task nowhere:Mine \(No module named"),
        ("1 / 0", r"cannot import a_plugin \(ZeroDivisionError: division by zero, a_plugin.py line 13\); correct"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line_with_where_it_is_told(load: Import, text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told) as caught:
        load(text)
    assert str(caught.value).startswith("params.yaml: plugins: ") and "\n" not in str(caught.value)


def test_a_refused_plugin_is_refused_again_and_registers_nothing(load: Import) -> None:
    verse = TASKS["verse"]
    for _ in range(2):
        with pytest.raises(ConfigError, match=r"TASKS\['verse'\]: there is an entry of that name"):
            load(f'{MODEL}\nTASKS["verse"] = TASKS["dialogue"]')
    assert TASKS["verse"] is verse and "mine" not in REGISTRIES["ARCHITECTURES"]
