"""One golden value per component of versions.yaml: behaviour cannot change without its integer.

The files `golden_*.py` beside this one each have a dict COMPONENTS of component -> function. The function gets an empty
folder and returns nested lists and dicts of strings, numbers and booleans. Its floats are compared within TOLERANCE,
all else by one digest; both stand in digests.yaml, with the integer under which they were recorded. RECORDING is the
command that records after an integer was raised, or for a new component.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

FOLDER = Path(__file__).parent
RECORD = FOLDER / "digests.yaml"
#: Relative; trained losses carry the rounding of many steps from one kind of CPU to the next.
TOLERANCE = {"training": 1e-3}

RECORDING = "ESPALIER_GOLDEN=record pytest tests/golden -p no:xdist"

Component = Callable[[Path], Any]


def components() -> dict[str, Component]:
    """All COMPONENTS of the files beside this one."""
    found: dict[str, Component] = {}
    for file in sorted(FOLDER.glob("golden_*.py")):
        spec = importlib.util.spec_from_file_location(f"espalier_{file.stem}", file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # dataclasses look their module up
        spec.loader.exec_module(module)
        assert not found.keys() & module.COMPONENTS.keys()
        found |= module.COMPONENTS
    return found


def versions() -> dict[str, int]:
    """versions.yaml as dotted keys."""

    def flat(value: Any, path: str) -> Iterator[tuple[str, int]]:
        if isinstance(value, dict):
            for key, part in value.items():
                yield from flat(part, f"{path}.{key}".lstrip("."))
        else:
            yield path, value

    tree = yaml.safe_load((FOLDER.parents[1] / "pipeline/params/versions.yaml").read_text(encoding="utf-8"))
    tree["models"] = {name: parts["model"] for name, parts in tree["models"].items()}  # layers have values of their own
    return dict(flat(tree, ""))


def recorded() -> dict[str, dict[str, Any]]:
    text = RECORD.read_text(encoding="utf-8") if RECORD.exists() else "{}"
    found: dict[str, dict[str, Any]] = yaml.load(text, Loader=yaml.CSafeLoader)
    return found


def record(component: str, entry: dict[str, Any]) -> None:
    entries = dict(sorted((recorded() | {component: entry}).items()))
    text = yaml.safe_dump(entries, sort_keys=False, default_flow_style=None, width=120)
    RECORD.write_text(text, encoding="utf-8")


def parted(value: Any) -> tuple[Any, list[float]]:
    """A value without its floats, and the floats in order."""
    if isinstance(value, float):
        return "~", [float(f"{value:.8g}")]
    if isinstance(value, dict):
        parts = {key: parted(value[key]) for key in sorted(value)}
        return {key: rest for key, (rest, _) in parts.items()}, [x for _, found in parts.values() for x in found]
    if isinstance(value, list | tuple):
        rows = [parted(each) for each in value]
        return [rest for rest, _ in rows], [x for _, found in rows for x in found]
    assert value is None or isinstance(value, str | int), type(value)
    return value, []


COMPONENTS, VERSIONS = components(), versions()


@pytest.fixture(scope="module")
def known_values() -> dict[str, dict[str, Any]]:
    """What is recorded."""
    return recorded()


@pytest.mark.parametrize("component", sorted(COMPONENTS))
def test_behaviour_is_what_its_version_says(
    component: str, known_values: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    rest, numbers = parted(COMPONENTS[component](tmp_path))
    digest = hashlib.sha256(json.dumps(rest, ensure_ascii=False).encode()).hexdigest()[:16]
    entry = {"version": VERSIONS.get(component), "digest": digest, "numbers": numbers}
    known = known_values.get(component)
    if os.environ.get("ESPALIER_GOLDEN") == "record" and (known is None or known["version"] != entry["version"]):
        record(component, entry)
        return
    assert known is not None, f"{component} has no golden value: record one with {RECORDING}"
    same = digest == known["digest"] and numbers == pytest.approx(
        known["numbers"], rel=TOLERANCE.get(component, 1e-5), abs=1e-6
    )
    assert same, f"behaviour of {component} changed: raise its integer in versions.yaml, then record with {RECORDING}"
    assert known["version"] == entry["version"], (
        f"versions.yaml has {component}: {entry['version']}, the golden value was recorded under {known['version']}: "
        f"record the new value with {RECORDING}"
    )


def test_every_component_of_versions_yaml_has_a_golden_value() -> None:
    assert sorted(VERSIONS) == sorted(COMPONENTS), "give each new component of versions.yaml a function in golden_*.py"
    assert sorted(COMPONENTS) == sorted(recorded()), f"record the missing values with {RECORDING}"
    assert all(isinstance(version, int) and version >= 1 for version in VERSIONS.values())


def test_a_change_beyond_the_tolerance_is_noticed_and_rounding_is_not() -> None:
    rest, numbers = parted({"b": [1.0, "x", 2], "a": {"c": 0.123456789}})
    assert (rest, numbers) == ({"a": {"c": "~"}, "b": ["~", "x", 2]}, [0.12345679, 1.0])
    assert numbers == pytest.approx([0.1234571, 1.0], rel=1e-5)
    assert numbers != pytest.approx([0.12347, 1.0], rel=1e-5)
