"""The reduced params.yaml of a profile: the same entries and networks, with few rows, steps and decoded records."""

import copy
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from espalier.corpora.readers import READERS
from espalier.syntax.parsers.registry import BACKENDS
from espalier.tasks.registry import TASKS
from pipeline.layout import NONE
from pipeline.params.entries import Params

#: Rows of each corpus, optimizer steps of each model, decoded records of each run.
ROWS, STEPS, DECODED = 64, 3, 2
#: Rows of dev and of test; some may not fit a dataset's bounds.
HELD_OUT: Final = 6
#: The largest batch on a CPU, in tokens: a full one takes minutes there, and its memory can be computed.
CPU_TOKENS: Final = 1024
#: The module that makes readers stop, imported by every stage of the rehearsal.
PLUGIN: Final = "pipeline.graph.rehearsal.readers"
#: Under this name a corpus's options tell the plugin what to read.
OPTION: Final = "rehearsal"

Raw = dict[str, Any]


def cut_params(raw: Raw, params: Params, *, max_tokens: int | None) -> Raw:
    """Reduce the content of params.yaml.

    Args:
        max_tokens: largest batch of a training; None keeps the batches.
    """
    cut = copy.deepcopy(raw)
    cut["plugins"] = [*cut["plugins"], PLUGIN]
    for parser in cut["parsers"].values():
        if parser["treebank"] != NONE and "epochs" in BACKENDS[parser["backend"]].settings().model_fields:
            parser["training"]["epochs"] = 1
    for corpus in cut["corpora"].values():
        _cut_corpus(corpus)
    datasets = {key: dataset for group in cut["datasets"].values() for key, dataset in group.items()}
    _share_parsers(cut, datasets)
    # N-gram models need targets without unknown words. Few words of so few rows occur twice, or in other rows.
    for dataset in datasets.values():
        if "min_count" in dataset:
            dataset["min_count"] = 1
    for baseline in cut["baselines"].values():
        if baseline["train"] == NONE:
            baseline["train"] = datasets[baseline["dataset"]]["vocab_from"]
    for key, model in cut["models"].items():
        tokens = params.models[key].training.batch_tokens
        model["seeds"] = model["seeds"][:1]
        model["training"] |= {
            "steps": STEPS,
            "evaluate_every": STEPS,
            "patience": 0,
            "batch_tokens": tokens if max_tokens is None else min(tokens, max_tokens),
        }
    for run in (*cut["runs"].values(), *cut["baselines"].values()):
        _cut_run(run)
    return cut


def with_shape(cut: Raw, stage: str, key: str, shape: int) -> None:
    """Give an entry a smaller shape: the largest batch of a training, or the beam of a run."""
    if stage == "train":
        cut["models"][key]["training"]["batch_tokens"] = shape
    else:
        cut["runs"][key]["decoder"]["beam"] = shape


def shape_of(cut: Raw, stage: str, key: str) -> int | None:
    """The shape on which an entry's memory depends; None if it has none that can be reduced."""
    if stage == "train":
        return int(cut["models"][key]["training"]["batch_tokens"])
    if stage == "decode":
        run = cut["runs"][key]
        decoder = {**cut["presets"][run["preset"]]["decoder"], **run["decoder"]}
        settings: Any = TASKS[run["task"]].decoder.model_validate(decoder)
        searches = "beam" in _fields(run) and getattr(settings, "method", "beam") == "beam"
        return int(settings.beam) if searches else None
    return None


def replace_parser(cut: Raw, key: str) -> str | None:
    """Replace the parser of this key by a trained parser of the same language; None if there is none."""
    parsers = cut["parsers"]
    language = parsers[key]["language"]
    trained = (name for name, parser in parsers.items() if parser["treebank"] != NONE)
    usable = (name for name in trained if not BACKENDS[parsers[name]["backend"]].baseline)
    other = next((name for name in usable if parsers[name]["language"] == language), None)
    if other is not None:
        for corpus in cut["corpora"].values():
            corpus["parser"] = other if corpus["parser"] == key else corpus["parser"]
        for entry_ in (*cut["baselines"].values(), *cut["annotations"].values()):
            entry_["parser"] = other if entry_["parser"] == key else entry_["parser"]
        del parsers[key]
    return other


def limit_of(task_name: str) -> str | None:
    """The decoder setting of a task that limits the number of decoded records; None if it has none."""
    fields = TASKS[task_name].decoder.model_fields
    return next((name for name in ("rows", "posts") if name in fields), None)


def _cut_corpus(corpus: Raw) -> None:
    filters, options = corpus["filters"], corpus["options"]
    if READERS.find(corpus["reader"]).reads_sources:
        for name in ("count", "shares"):  # a sample of the sample
            options.pop(name, None)
    # Fractions and counts of a sample say nothing of the corpus.
    if "min_label_count" in filters:
        filters["min_label_count"] = 1
    filters["max_bad_fraction"] = 1.0
    options[OPTION] = {"rows": ROWS, "filters": {**filters}}
    split = corpus["split"]
    match split["kind"]:
        case "title":
            sizes = {"dev_titles": 2, "test_titles": 2, "dev_size": HELD_OUT, "test_size": HELD_OUT, "tolerance": 1.0}
            # A sample need not have the names, and its tunes have other shares.
            split |= sizes | {"test_names": [], "largest": 1.0}
        case "author":
            corpus["split"] = {"kind": "random", "seed": split["seed"], "dev": HELD_OUT, "test": HELD_OUT}
        case "random" | "group":
            split |= {"dev": HELD_OUT, "test": HELD_OUT}


def _share_parsers(cut: Raw, datasets: Mapping[str, Raw]) -> None:
    """Also parse a corpus with gold trees if its dataset uses the vocabulary of a parsed one.

    A parser trained for one epoch writes few labels, and all rows with other labels would be quarantined.
    """
    for dataset in datasets.values():
        if dataset["vocab_from"] != NONE:
            parser = cut["corpora"][datasets[dataset["vocab_from"]]["corpus"]]["parser"]
            corpus = cut["corpora"][dataset["corpus"]]
            if corpus["parser"] == NONE:
                corpus["parser"] = parser


def _cut_run(run: Raw) -> None:
    """Decode few records if the task has a limit; otherwise one sample of each held-out record."""
    fields, limit = _fields(run), limit_of(run["task"])
    if limit is None:
        run["samples"] = 1
    else:
        run["decoder"] |= {limit: DECODED, **({"skip": 0} if "skip" in fields else {})}


def _fields(run: Raw) -> dict[str, Any]:
    decoder: type[BaseModel] = TASKS[run["task"]].decoder
    return dict(decoder.model_fields)
