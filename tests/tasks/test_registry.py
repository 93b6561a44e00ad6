"""The tasks by name, and what importing the registries costs."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from typing import Any

import pytest

from espalier.datasets.registry import ENCODINGS
from espalier.io.errors import ConfigError
from espalier.io.registry import members
from espalier.models.registry import ARCHITECTURES
from espalier.tasks.registry import TASKS
from espalier.tasks.task import BaselineTask, DecodingTask, ScoringTask, Task

REGISTRIES = "espalier.tasks.registry", "espalier.datasets.registry"


def test_a_task_is_found_by_its_name_and_an_unknown_one_is_refused() -> None:
    assert all(TASKS.find(name) is TASKS[name] for name in ("verse", "paraphrase", "dialogue"))
    with pytest.raises(ConfigError, match=r"^runs: mine\.task: .*'song'.*dialogue, paraphrase, verse") as caught:
        TASKS.find("song", where="runs: mine.task")
    assert "\n" not in str(caught.value)


def test_every_task_decodes_encodings_that_are_registered_and_that_some_model_reads() -> None:
    read = {architecture.encoding for architecture in ARCHITECTURES.values()}
    for name, kind in TASKS.items():
        assert kind.encodings and {*kind.encodings} <= ENCODINGS.keys() & read, name


@pytest.mark.parametrize("protocol", [DecodingTask, ScoringTask, BaselineTask])
def test_a_protocol_of_tasks_has_at_most_eight_members(protocol: type) -> None:
    assert 1 <= len(members(protocol)) <= 8 and {*members(protocol)} <= {*members(Task)}


@pytest.mark.parametrize("registry", REGISTRIES)
def test_a_registry_imports_no_torch_and_takes_less_than_one_and_a_half_seconds(registry: str) -> None:
    def imported() -> tuple[list[str], float]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        code = f"import json, sys, {registry}; print(json.dumps(sorted(sys.modules)))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        modules: list[str] = json.loads(done.stdout)
        return modules, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    runs: list[tuple[list[str], float]] = [imported() for _ in range(3)]
    assert registry in runs[0][0] and not {"torch", "accelerate", "nltk", "scipy", "sklearn"} & {*runs[0][0]}
    assert min(seconds for _, seconds in runs) < 1.5


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("part", ["decoder", "scoring"])
def test_an_unknown_key_of_a_run_is_refused(name: str, part: str) -> None:
    kind: Any = getattr(TASKS[name], part)
    with pytest.raises(ValueError, match="colour"):
        kind.model_validate({"colour": "red", **({"rules": "songci"} if "rules" in kind.model_fields else {})})
