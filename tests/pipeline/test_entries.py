"""Entries hold their settings as types, each validated once, and are recorded as they are written."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from espalier.io.yaml_files import load_yaml
from espalier.models.registry import ARCHITECTURES
from espalier.tasks.registry import TASKS
from espalier.training.config import TrainingConfig
from pipeline import layout
from pipeline.params.entries import Params
from pipeline.params.read import load_params

#: Libraries that take a quarter of a second or more to import.
SLOW = {"torch", "accelerate", "transformers", "pandas", "pyarrow", "scipy", "sklearn", "sacrebleu", "nltk",
        "matplotlib", "spacy", "benepar", "ltp", "jieba", "pypinyin", "opencc", "dvc"}  # fmt: skip

#: The settings of each kind of entries that has a preset.
SETTINGS = {"models": ("network", "training"), "runs": ("decoder", "scoring"), "baselines": ("decoder", "scoring")}


@contextmanager
def counted() -> Iterator[Counter[type]]:
    """Counts how often each type of settings is validated."""
    found: Counter[type] = Counter()
    model_validate = BaseModel.model_validate.__func__  # type: ignore[attr-defined]

    def counting(kind: type[BaseModel], *args: Any, **options: Any) -> BaseModel:
        found[kind] += 1
        return model_validate(kind, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseModel, "model_validate", classmethod(counting))
        yield found


def expected(params: Params) -> Counter[type]:
    """One validation for each setting of each entry."""
    scored = [TASKS[each.task] for each in (*params.runs.values(), *params.baselines.values())]
    return Counter(
        [type(each.settings) for each in params.datasets.every.values()]
        + [type(each.settings) for each in params.parsers.values() if each.treebank != layout.NONE]
        + [ARCHITECTURES[model.arch].config for model in params.models.values()]
        + [TrainingConfig] * len(params.models)
        + [kind for task in scored for kind in (task.decoder, task.scoring)]
    )


@pytest.mark.parametrize("profile", layout.PROFILES)
def test_the_settings_of_each_entry_are_validated_once(profile: str) -> None:
    with counted() as found:
        params = load_params(layout.PROFILES[profile] / layout.PARAMS)
    asked = expected(params)
    assert asked and {kind: count for kind, count in found.items() if kind in asked} == asked


def test_a_training_and_a_decoding_validate_nothing_again(
    project: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.chdir(project)
        asked = expected(load_params())
    for stage, key in (("train", "songnet"), ("decode", "songnet_free"), ("score", "songnet_free")):
        with counted() as found:
            assert cli(project, stage, key).status == 0
        # A decoding also validates what it reads: the settings that are saved beside the weights.
        read = Counter([ARCHITECTURES["songnet"].config]) if stage == "decode" else Counter()
        assert {kind: count for kind, count in found.items() if kind in asked} == asked + read


@pytest.mark.parametrize("profile", layout.PROFILES)
def test_what_artifacts_record_of_an_entry_is_what_params_yaml_says(profile: str) -> None:
    path = layout.PROFILES[profile] / layout.PARAMS
    tree, params = load_yaml(path), load_params(path)
    for kind, names in SETTINGS.items():
        for key, entry in getattr(params, kind).items():
            own = tree[kind][key]
            written = {name: tree["presets"][own["preset"]][name] | own[name] for name in names}
            recorded = entry.model_dump(mode="json", include={*names})
            assert json.dumps(recorded) == json.dumps(written) == json.dumps(entry.written), key
    for key, parser in params.parsers.items():
        assert json.dumps(parser.model_dump(mode="json")) == json.dumps(tree["parsers"][key]), key


@pytest.mark.parametrize("profile", layout.PROFILES)
def test_params_are_read_without_libraries_of_models(profile: str) -> None:
    script = "import sys; from pipeline.params.read import load_params; load_params(); print(*sys.modules)"
    environment = {"PYTHONPATH": f"{layout.ROOT}:{layout.ROOT / 'src'}"}
    folder = layout.PROFILES[profile]
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    assert not SLOW & {*done.stdout.split()}
