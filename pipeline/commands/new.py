"""The command `new`: add an entry to params.yaml, complete and checked, in the format in which DVC writes it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from espalier.cli.progress import say
from espalier.corpora.readers import READERS
from espalier.corpora.records import RECORDS, Pair
from espalier.datasets.registry import ENCODINGS
from espalier.inference.released import released_names
from espalier.io.errors import ConfigError
from espalier.io.registry import entry
from espalier.models.registry import ARCHITECTURES
from espalier.tasks.registry import TASKS
from espalier.text.language import LANGUAGES
from pipeline.graph.stage_graph import value_at
from pipeline.layout import NONE, PARAMS
from pipeline.params.entries import Params
from pipeline.params.insert import insert
from pipeline.params.read import load_params, read_yaml
from pipeline.records.systems import corpus_of, parser_of, repro_command

Raw = dict[str, Any]
#: Entries by their paths, "models.songnet"; the first is the one that was asked for.
Entries = dict[str, Raw]

#: The sections of params.yaml, and the stage that makes the output of an entry.
SECTIONS: Final = {
    "corpus": {"corpora": "filter"},
    "dataset": {"datasets.linearize": "linearize", "datasets.canonicalize": "canonicalize"},
    "model": {"models": "train"},
    "run": {"runs": "score"},
}
#: The paper of a user's own models, which has no report.
PAPER: Final = "mine"
#: The numbers of held-out records of a corpus.
DEV, TEST = 100, 200


def new(kind: str, name: str, given: Mapping[str, Any], like: str | None, changes: Sequence[str]) -> None:
    """Add an entry to params.yaml, with the source of a corpus, or the annotation of a run if its task needs one.

    Args:
        kind: a key of `SECTIONS`.
        given: values of the entry. The others are those of the entry `like`; else they follow from the entries to which
            it refers, or say nothing: none, {}, 1.
        like: an entry of this kind. Its title and its default commands are not copied.
        changes: KEY=VALUE, with a path in the entry and YAML.

    Raises:
        ConfigError: an option is missing, the name exists, or the entry is invalid. The file is then unchanged.
    """
    paths = add(kind, name, given, like, changes)
    stage = SECTIONS[kind][paths[0].rpartition(".")[0]]
    say(f"{PARAMS}: {', '.join(paths)}", f"to make it: {repro_command(load_params(), f'{stage}@{name}')}")


def add(
    kind: str, name: str, given: Mapping[str, Any], like: str | None = None, changes: Sequence[str] = ()
) -> list[str]:
    """Add an entry as `new` does, and say nothing.

    Returns:
        The paths of the entries: "models.songnet".
    """
    if kind == "model" and name in released_names():
        raise ConfigError(f"a released model is called {name}", where="models", remedy="choose another name")
    params, raw = load_params(), read_yaml(PARAMS)
    section, base = _copied(kind, like, raw)
    build = {"corpus": _corpus, "dataset": _dataset, "model": _model, "run": _run}[kind]
    entries = build(name, section, base, dict(given), params)
    path = next(iter(entries))
    for change in changes:
        change_in(entries[path], change)
    insert(entries)
    return list(entries)


def _shelf(name: str) -> str:
    """The folder of a local source, whose name has no hyphens."""
    return name.replace("-", "_")


def _copied(kind: str, like: str | None, raw: Raw) -> tuple[str, Raw]:
    """The section and the copied values of an entry; the first section and no values without one."""
    places = {section: value_at(raw, section) for section in SECTIONS[kind]}
    if like is None:
        return next(iter(places)), {}
    section = next((section for section, entries in places.items() if like in entries), None)
    if section is None:
        raise ConfigError.unknown(kind, like, [name for entries in places.values() for name in entries], where="--like")
    unshared = json.loads(json.dumps(places[section][like]))  # else YAML would have an alias for what stands twice
    return section, {key: value for key, value in unshared.items() if key not in ("title", "default_for")}


def _corpus(name: str, section: str, base: Raw, given: Raw, params: Params) -> Entries:
    """A corpus, and the local file that it reads, if one is given."""
    file = given.pop("file", None)
    source = {} if file is None else {f"sources.local.{name}": {"shelf": _shelf(name), "file": file}}
    sizes = {part: given.pop(part) for part in ("dev", "test") if part in given}
    usual: Raw = {}
    if not base:
        record = READERS.find(_named("reader", given.get("reader"), READERS), where="--reader").record
        parser = params.parsers.get(given.get("parser", NONE))
        language = given.get("language", parser and parser.language)
        usual = {
            "language": _named("language", language, LANGUAGES),
            "reader": given["reader"],
            "options": {},
            **dict.fromkeys(("shelf", "also_1", "also_2", "parser"), NONE),
            "filters": {"deduplicate": True},
            "split": {"kind": "group" if issubclass(record, Pair) else "random", "seed": 1, "dev": DEV, "test": TEST},
        }
    corpus = usual | base | given | ({} if file is None else {"shelf": _shelf(name)})
    return {f"{section}.{name}": corpus | {"split": corpus["split"] | sizes}} | source


def _dataset(name: str, section: str, base: Raw, given: Raw, params: Params) -> Entries:
    """A dataset in the only encoding of its corpus's records, unless one is given."""
    if not base:
        corpus = entry("corpus", params.corpora, given.get("corpus", name), where="--corpus")
        fitting = [key for key, kind in ENCODINGS.items() if kind.record is RECORDS[corpus.records]]
        encoding = _only("encoding", given.get("encoding"), fitting)
        if encoding in {dataset.encoding for dataset in params.datasets.canonicalize.values()}:
            section = "datasets.canonicalize"
        base = {"encoding": encoding, "corpus": name, "vocab_from": NONE, "pieces_from": NONE}
    return {f"{section}.{name}": base | given}


def _model(name: str, section: str, base: Raw, given: Raw, params: Params) -> Entries:
    """A model with the preset of its architecture's name, unless one is given."""
    if not base:
        arch = _named("arch", given.get("arch"), ARCHITECTURES)
        usable = [key for key, preset in params.presets.items() if None not in (preset.network, preset.training)]
        preset = _named("preset", given.get("preset", arch if arch in usable else None), usable)
        base = {"paper": PAPER, "arch": arch, "dataset": name, "init": NONE, "seeds": [1], "preset": preset}
        base |= {"network": {}, "training": {}}
    return {f"{section}.{name}": base | given}


def _run(name: str, section: str, base: Raw, given: Raw, params: Params) -> Entries:
    """A run of a model on the test split of its dataset, and its annotation."""
    chosen = base | given
    key = chosen.get("model", name)
    model = entry("model", params.models, key, where="--model")
    encoding = params.datasets.every[model.dataset].encoding
    fitting = [each for each, kind in TASKS.items() if encoding in kind.encodings]
    task_name = _only("task", chosen.get("task"), fitting)
    usual = {
        "paper": model.paper,
        "task": task_name,
        "preset": chosen.get("preset") or _preset(task_name, model.preset, params),
        "model": key,
        "dataset": model.dataset,
        "split": "test",
        **dict.fromkeys(("guidance", "annotation", "lm", "lexicon"), NONE),
        "decoder": {},
        "scoring": {},
        "samples": 1,
        "seed": 1,
    }
    run = usual | chosen
    dataset = entry("dataset", params.datasets.every, run["dataset"], where="--dataset")
    parser = None
    if run["annotation"] != NONE:  # of the copied run, whose texts alone it parses
        parser = params.annotations[run["annotation"]].parser
    elif TASKS.find(task_name, where="--task").needs_annotation(model.network, dataset.settings):
        parser = parser_of(params, corpus_of(params, key))
    if parser is None:
        return {f"{section}.{name}": run}
    annotation = {"paper": run["paper"], "parser": parser, "run": name}
    return {f"{section}.{name}": run | {"annotation": name}, f"annotations.{name}": annotation}


def _preset(task_name: str, of_model: str, params: Params) -> str:
    """The preset of a run: that of its model, if it says how to decode and score, else that of all runs of the task."""
    usable = [key for key, preset in params.presets.items() if None not in (preset.decoder, preset.scoring)]
    if of_model in usable:
        return of_model
    used = list(dict.fromkeys(run.preset for run in params.runs.values() if run.task == task_name))
    return _named("preset", used[0] if len(used) == 1 else None, usable)


def _only(option: str, given: str | None, fitting: Sequence[str]) -> str:
    return _named(option, given or (fitting[0] if len(fitting) == 1 else None), fitting)


def _named(option: str, value: str | None, allowed: Iterable[str]) -> str:
    """The value of an option that must be given.

    Raises:
        ConfigError: it is not.
    """
    if value is None:
        raise ConfigError("is not given", where=f"--{option}", remedy=f"one of {', '.join(sorted(allowed))}")
    return value


def change_in(values: Raw, change: str) -> None:
    """Set a value at a path in an entry."""
    path, equals, text = change.partition("=")
    *above, last = path.split(".")
    if not equals or not all((*above, last)):
        raise ConfigError(f"'{change}' is not KEY=VALUE", where="--set", remedy="as in training.steps=500")
    for key in above:
        values = values.setdefault(key, {})
        if not isinstance(values, dict):
            raise ConfigError(f"{key} of {path} has no keys", where="--set", remedy="name a key of the entry")
    try:
        values[last] = YAML(typ="safe").load(text)  # as DVC reads it
    except YAMLError as error:
        raise ConfigError(f"the value of {path} is not YAML", where="--set", remedy="as in a.b=[x, y]") from error
