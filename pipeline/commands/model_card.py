"""The card of an exported model: description, loading, scores with intervals, data and their terms.

A card begins with YAML metadata for model hubs. Its scores come from `metrics/details/`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pandas as pd
import yaml

from espalier.corpora.catalogue import Source
from espalier.corpora.readers import READERS
from espalier.inference.registry import services_of
from espalier.inference.released import BOOKS
from espalier.io.errors import ConfigError
from espalier.metrics.registry import Own
from espalier.report.printed import load_printed
from espalier.report.results import in_words
from espalier.tasks.data import Outputs
from espalier.tasks.registry import TASKS
from pipeline import layout
from pipeline.graph.stage_graph import Stage, definitions, needs_of
from pipeline.params.entries import Params, Run
from pipeline.params.read import load_catalogue, read_yaml
from pipeline.records.artifacts import decoding_settings, read_details, read_training
from pipeline.records.systems import (
    books_of,
    corpus_of,
    expander_of,
    is_synthetic,
    parser_of,
    profile_option,
    repro_command,
)

#: An example of each service, by language.
EXAMPLES: Final = {
    ("generate", "zh"): 'generate(["5,5。7,5。"], seed=1)',
    ("polish", "zh"): 'polish(["_雨___，____到。"], seed=1)',
    ("generate", "en"): 'generate(["5,5."], seed=1)',
    ("polish", "en"): 'polish(["the _ _ night."], seed=1)',
    ("paraphrase", "en"): 'paraphrase(["Where do you live?"])',
    ("expand", "en"): 'expand(["Where do you live?"])',
    ("granularity", "en"): 'granularities(["Where do you live?"])',
    ("compose", "zh"): 'compose(["我喜欢炸薯条"])',
    ("compose", "en"): 'compose(["a dog was running in a room"])',
    ("sample", "zh"): 'sample(["今天"], seed=1)',
    ("sample", "en"): 'sample(["the"], seed=1)',
    ("reply", "zh"): 'reply(["你好！"])',
    ("reply", "en"): 'reply(["Hello!"])',
}
#: What the card of a model that learned from texts of a grammar says.
SYNTHETIC: Final = (
    "It learned from the texts of a grammar, which are simple and few. Words and sentences of other kinds confuse it. "
    "It shows how the system works, not how well."
)
#: Facts of a training that are in its folder and in the details of its runs.
LEARNED: Final = ("tokens", "best_step", "best_dev_loss")


def card_of(key: str, params: Params, *, name: str = "", scores: str = "", folder: Path | None = None) -> str:
    """The card of a trained model of the present profile, as Markdown.

    Args:
        name: the name of a released model.
        scores: the section of metrics of a released model; else it has those of the model's runs.
        folder: the released folder, if the profile's model is not at hand.

    Raises:
        ConfigError: the model has no scored run, or one of its runs was not scored after the last training.
    """
    model = params.models[key]
    training = read_training(key, place=folder)
    corpus = corpus_of(params, key)
    language, parser, expander = params.corpora[corpus].language, parser_of(params, corpus), expander_of(params, key)
    origins = origins_of(params, trainings_of(params, key))
    facts = {
        "architecture": f"`{model.arch}`",
        "parameters": f"{next(iter(training.values()))['parameters']:,}",
        "training": "; ".join(f"{seed}: {facts['steps']:,} steps" for seed, facts in training.items()),
        "data": f"profile `{params.profile}`, corpus `{corpus}`, dataset `{model.dataset}`",
        **{stage: f"`{name}`" for stage, name in (("parser", parser), ("expander", expander)) if name},
    }
    if books_of(params, key) or (folder and (folder / BOOKS).is_file()):
        facts["books"] = f"`{BOOKS}`: rhyme books and tunes of ci, for `--tune 卜算子 --book cilin --tone`"
    limits = model.limits.strip() or (SYNTHETIC if is_synthetic(params, key) else "")
    if name:
        facts["weights"] = "rounded to bfloat16"
        facts["made by"] = f"`{repro_command(params, f'train@{key}')}`, then `{_release(key, name, params)}`"
    parts = [
        _metadata(model.paper, language, origins, free=bool(name)),
        f"# {name or model.title or key}\n",
        f"{model.title}.\n" if name else "",
        "\n".join(f"- {fact}: {value}" for fact, value in facts.items()) + "\n",
        _usage(key, language, params, name),
        f"## Limits\n\n{limits}\n" if limits else "",
        scores or _scores(key, params, training),
        _data(origins, [part for part in ("parser", "expander") if part in facts], free=bool(name)),
        _citation(model.paper),
    ]
    return "\n".join(filter(None, parts))


def _release(key: str, name: str, params: Params) -> str:
    """The command that releases a model."""
    named = "" if name == key else f" --name {name}"
    return f"espalier release {key}{named}{profile_option(params)}"


def _metadata(paper: str, language: str, origins: Origins, *, free: bool) -> str:
    """The metadata for model hubs."""
    values = {
        "library_name": "espalier",
        "pipeline_tag": "text-generation",
        "language": language,
        "license": "other" if (origins.published or origins.local) and not free else "apache-2.0",
        "tags": [paper, "controlled-text-generation"],
    }
    return f"---\n{yaml.safe_dump(values, sort_keys=False)}---\n"


def _usage(key: str, language: str, params: Params, name: str) -> str:
    """How to load the model, and an example call of each of its services."""
    model = params.models[key]
    own = services_of(model.encoding, model.network)
    calls = [f">>> model.{EXAMPLES[each, language]}" for each in own if (each, language) in EXAMPLES]
    lines = [">>> import espalier", f'>>> model = espalier.load("{name or "PATH OF THIS FOLDER"}")', *calls]
    return "\n".join(["## Use\n", "```python", *lines, "```\n"])


def _scores(key: str, params: Params, training: Mapping[str, Any]) -> str:
    """A table for each run of the model, with 95 % intervals, followed by the signatures."""
    runs = {name: run for name, run in params.runs.items() if run.model == key}
    if not runs:
        remedy = "add a run of it to params.yaml, or give --no-card"
        raise ConfigError("no run scores it, so that there are no metrics for a card", where=f"models.{key}",
                          remedy=remedy)  # fmt: skip
    parts, signatures = ["## Metrics\n"], dict[str, dict[str, list[str]]]()
    for name, run in runs.items():
        details = _details(name, run, params, training)
        metrics = shown(run, params, details)
        parts += _table(name, run, params, details, metrics)
        for metric in metrics:
            signatures.setdefault(metric, {}).setdefault(details["signatures"][metric], []).append(name)
    parts.append("<details><summary>Signatures: how each number is computed</summary>\n")
    for metric, found in signatures.items():
        for signature, names in found.items():
            of = f" of {', '.join(f'`{name}`' for name in names)}" if len(found) > 1 else ""
            parts.append(f"- `{metric}`{of}: `{signature}`")
    return "\n".join([*parts, "\n</details>\n"])


def _details(name: str, run: Run, params: Params, training: Mapping[str, Any]) -> dict[str, Any]:
    """The details of a run.

    Raises:
        ConfigError: they are missing, or belong to another training of the model.
    """
    file, remedy = layout.details(run.paper, name), f"{repro_command(params, f'score@{name}')}, or give --no-card"
    if not file.is_file():
        raise ConfigError("no metrics for a card", where=file, remedy=remedy)
    details = read_details(run.paper, name)
    scored: Mapping[str, Any] = details["settings"]["training"]
    if any(scored.get(seed, {}).get(fact) != facts.get(fact) for seed, facts in training.items() for fact in LEARNED):
        raise ConfigError("metrics of another training of the model", where=file, remedy=remedy)
    return details


def shown(run: Run, params: Params, details: Mapping[str, Any]) -> list[str]:
    """The headline and user-defined metrics of a run that have a value."""
    kind, view = TASKS[run.task], params.models[run.model].network.view
    outputs: Outputs[Any] = Outputs(
        pd.DataFrame(), params.language_of(run.dataset), facts={"writes": getattr(view, "writes", "text")}
    )
    own = [metric.name for name in run.scoring.own_metrics for metric in Own(name).metrics]
    return [name for name in [*kind.headline(outputs).values(), *own] if details["scores"].get(name) is not None]


def _table(name: str, run: Run, params: Params, details: Mapping[str, Any], metrics: Sequence[str]) -> Iterator[str]:
    """The texts that a run is scored on, its decoding, and its scores."""
    yield heading(name, run, params, details) + "\n"
    yield "| metric | value | 95 % interval |"
    yield "| --- | ---: | ---: |"
    for metric in metrics:
        yield f"| `{metric}` | {' | '.join(cells(details, metric))} |"
    yield ""


def heading(name: str, run: Run, params: Params, details: Mapping[str, Any]) -> str:
    """The name of a run, the texts that it is scored on, and its decoding."""
    settings = decoding_settings(run, params.models[run.model])
    corpus = params.datasets.every[run.dataset].corpus
    records = f"{details['counts']['records']:,} records of split {run.split} of `{corpus}`"
    facts = "; ".join([records, *map(" ".join, in_words(settings))])
    return f"**`{name}`**{f' ({run.title})' if run.title else ''}: {facts}"


def cells(details: Mapping[str, Any], metric: str) -> tuple[str, str]:
    """The value of a metric and its interval; a dash for what is unknown."""
    value, interval = details["scores"].get(metric), details["intervals"].get(metric)
    if value is None:
        return "–", "–"
    digits = 3 if abs(value) < 1 else 2
    around = "–" if interval is None else " to ".join(f"{bound:.{digits}f}" for bound in interval)
    return f"{value:.{digits}f}", around


def _data(origins: Origins, parts: Sequence[str], *, free: bool) -> str:
    """The data of the model and its parts, such as its parser, with their terms."""
    lines = [
        f"- {source.title}. Licence: {source.licence}. {source.citation}."
        + (f" <{source.homepage}>" if source.homepage else "")
        for source in origins.published.values()
    ]
    lines += [f"- Local file `{key}`, whose licence is not recorded." for key in origins.local]
    lines += [f"- `{key}`: generated by a grammar of Espalier. Licence: Apache-2.0." for key in origins.generated]
    terms = "The code of Espalier is under the Apache License 2.0."
    if free:
        terms += " So are these weights: the licences of the data allow it, and ask that the data be named."
    elif origins.published or origins.local:
        terms += " The weights, and what they generate, may be bound by the terms of the data."
    whole = " and ".join(["the model", *(f"its {part}" for part in parts)])
    return "\n".join(["## Data and licence\n", f"{terms}\n", f"Data of {whole}:\n", *lines, ""])


def _citation(paper: str) -> str:
    """How to cite the paper, if its printed numbers are known, and Espalier."""
    lines = ["## Citation\n"]
    if (file := layout.printed(paper)).exists():
        of = load_printed(file).paper
        lines.append(f"- {of.authors}. {of.title}. {of.venue}. <{of.url}>")
    own = read_yaml(layout.ROOT / "CITATION.cff")
    authors = ", ".join(author["name"] for author in own["authors"])
    lines.append(f"- {authors}. {own['title']}. Version {own['version']}.")
    return "\n".join([*lines, ""])


@dataclass(frozen=True)
class Origins:
    """The origins of data.

    Attributes:
        published: sources of the catalogue, by key.
        local: keys of local files.
        generated: keys of corpora generated by grammars of this project.
    """

    published: dict[str, Source]
    local: tuple[str, ...]
    generated: tuple[str, ...]


def trainings_of(params: Params, key: str) -> list[Stage]:
    """The stages that train a model, its expander and its parser."""
    parser, expander = parser_of(params, corpus_of(params, key)), expander_of(params, key)
    stages = (("train", key), ("train", expander), ("train_parser", parser))
    return [(stage, name) for stage, name in stages if name]


def origins_of(params: Params, stages: Iterable[Stage]) -> Origins:
    """The origins that these stages of the present profile read, directly or through stages that they need."""
    needs, reached, queue = needs_of(definitions()), set[Stage](), [*stages]
    while queue:
        stage = queue.pop()
        if stage not in reached:
            reached.add(stage)
            queue += needs[stage]
    catalogue = load_catalogue(params) if params.sources.published else {}
    return Origins(
        {key: catalogue[key] for key in params.sources.published if ("download", key) in reached},
        tuple(key for key in params.sources.local if ("copy", key) in reached),
        tuple(
            key
            for key, corpus in params.corpora.items()
            if ("filter", key) in reached and not READERS[corpus.reader].reads_sources
        ),
    )
