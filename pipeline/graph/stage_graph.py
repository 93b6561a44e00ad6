"""The stages of a profile: what each reads and makes, as dvc.yaml says.

dvc.yaml is read here without DVC, which a machine that only trains does not have, and whose index takes seconds. A test
compares the result with that index. Of DVC's language, `foreach` over entries of params.yaml and `${name.name}` are
known, which dvc.yaml uses.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path, PurePath
from typing import Any, Final

from pipeline import layout
from pipeline.params.read import read_yaml

#: A stage's name and the key of its entry; the key is empty if the stage has no entries.
Stage = tuple[str, str]

_REFERENCE: Final = re.compile(r"\$\{([\w.]+)\}")


@dataclass(frozen=True)
class Definition:
    """What dvc.yaml says of a stage.

    Attributes:
        deps: names and paths of the dependencies. A name is the field of the entry that the path contains: "dataset".
        params: files of parameters, and paths of the values in them that the stage reads.
        outs: paths of the outputs.
    """

    deps: tuple[tuple[str, Path], ...]
    params: tuple[tuple[Path, str], ...]
    outs: tuple[Path, ...]


def definitions(folder: Path = Path()) -> dict[Stage, Definition]:
    """The stages of a profile, by dvc.yaml and the profile's params.yaml."""
    params = read_yaml(folder / layout.PARAMS)
    return {
        (name, key): _definition(stage.get("do", stage), {**params, "key": key, "item": item})
        for name, stage in read_yaml(layout.ROOT / "dvc.yaml")["stages"].items()
        for key, item in _entries(stage, params)
    }


def needs_of(stages: Mapping[Stage, Definition]) -> dict[Stage, set[Stage]]:
    """The stages that each stage needs: their outputs are its dependencies, lie in them, or contain them."""
    makers = {PurePath(out): stage for stage, definition in stages.items() for out in definition.outs}
    inside = defaultdict[PurePath, set[Stage]](set)
    for out, stage in makers.items():
        for path in (out, *out.parents):
            inside[path].add(stage)
    return {
        stage: {
            maker
            for _, dep in definition.deps
            for maker in (*inside.get(dep, ()), *(makers[path] for path in dep.parents if path in makers))
        }
        for stage, definition in stages.items()
    }


def value_at(tree: Mapping[str, Any], path: str) -> Any:
    """The value at a path such as "models.songnet.arch"."""
    return reduce(lambda part, name: part[name], path.split("."), tree)


def _entries(stage: Mapping[str, Any], params: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The key and entry of each stage for which a definition stands."""
    if "foreach" not in stage:
        yield "", None
        return
    entries = value_at(params, _REFERENCE.fullmatch(stage["foreach"])[1])  # type: ignore[index]
    yield from entries.items() if isinstance(entries, dict) else ((item, item) for item in entries)


def _definition(stage: Mapping[str, Any], known: Mapping[str, Any]) -> Definition:
    def path(text: str) -> Path:
        return Path(_filled(text, known))

    return Definition(
        tuple((_name(dep), path(dep)) for dep in stage.get("deps", ())),
        tuple(
            (path(file), _filled(value, known))
            for each in stage.get("params", ())
            for file, values in (each if isinstance(each, dict) else {str(layout.PARAMS): [each]}).items()
            for value in values
        ),
        tuple(path(out if isinstance(out, str) else next(iter(out))) for out in stage["outs"]),
    )


def _filled(text: str, known: Mapping[str, Any]) -> str:
    return _REFERENCE.sub(lambda found: str(value_at(known, found[1])), text)


def _name(dep: str) -> str:
    """The last field that a path contains: "dataset" of "data/ready/${item.dataset}"."""
    return next((field.rpartition(".")[2] for field in reversed(_REFERENCE.findall(dep))), dep)
