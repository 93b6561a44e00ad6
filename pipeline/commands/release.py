"""The command `release`: a model of a profile for everyone, in `released/`, with scores of the released file itself."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pandas as pd

from espalier.cli.progress import say
from espalier.inference import released
from espalier.inference.export import export_system
from espalier.inference.folder import CARD, write_checksums
from espalier.io.errors import ArtifactError, ConfigError
from espalier.io.files import atomic_folder, write_json
from espalier.io.registry import entry
from espalier.tasks.registry import TASKS
from espalier.tasks.scoring import scored
from pipeline import layout
from pipeline.commands.export import size_of, trained
from pipeline.commands.model_card import card_of, cells, heading, origins_of, shown, trainings_of
from pipeline.graph.shards import annotated
from pipeline.params.entries import Params, Run
from pipeline.params.read import free_sources, load_params
from pipeline.records.artifacts import read_details, read_training
from pipeline.records.baseline_rows import place_of, row_folder, row_names
from pipeline.records.systems import added_to, taken_for
from pipeline.stages.decode import decoded
from pipeline.stages.score import outputs_of

#: The most bytes of one released model, and of all.
LARGEST: Final = 20_000_000
ALL: Final = 60_000_000
#: The scores of a released model, by run.
SCORES: Final = "scores.json"

Details = Mapping[str, Any]


def release(key: str, name: str | None = None, *, again: bool = False) -> None:
    """Write `released/<name>/`: weights in bfloat16, what they need, their scores, a card, and checksums.

    The model's runs on test are decoded with the released file and scored, beside the scores of the profile's model and
    of the rows without a trained model over the same records.

    Args:
        name: the name of the folder; None for the key.
        again: whether to keep the weights in `released/<name>/`, and to measure and describe them again.

    Raises:
        ConfigError: the model does not exist or is not trained, learned from a source that is not free, or has no run
            on test.
        ArtifactError: the folder would be too large, or `again` and there is none.
    """
    params, name = load_params(), name or key
    if not re.fullmatch(r"[\w-]+", name):
        raise ConfigError(f"'{name}' is no name of a folder", where="--name", remedy="letters, digits, _ and -")
    model = entry("model", params.models, key)
    _require_free(key, params)
    runs = {run: each for run, each in params.runs.items() if each.model == key and each.split == "test"}
    if not runs:
        raise ConfigError("no run on test scores it", where=f"models.{key}", remedy="add one to params.yaml")
    out = released.RELEASED / name
    if again and not released.is_model(out):
        raise ArtifactError("no released model", where=out, remedy="leave out --again")
    source = out if again else layout.model(key)
    if not again:
        trained(key, params)
    with atomic_folder(out) as part:
        whole = part / "whole"  # a new folder, as an export wants it
        added = replace(added_to(params, key), default_for=model.released_for or taken_for(params, key))
        export_system(source, whole, bfloat16=True, hub=True, added=added)
        for file in whole.iterdir():
            shutil.move(file, part / file.name)
        whole.rmdir()
        _require_small(part, name)
        found = {run: _measured(run, each, part, params) for run, each in runs.items()}
        write_json(part / SCORES, {run: each.facts for run, each in found.items()})
        text = card_of(key, params, name=name, scores="\n".join(_section(found, params)), folder=part)
        (part / CARD).write_text(text, encoding="utf-8")
        write_checksums(part)
    say(f"{out}: {size_of(out) / 1e6:.1f} MB; espalier.load({name!r}) reads it")


def _require_free(key: str, params: Params) -> None:
    """Raise a ConfigError if the model or a part of it learned from a source that is not free."""
    origins = origins_of(params, trainings_of(params, key))
    free = free_sources(params) if origins.published else frozenset[str]()
    bound = {source: each.licence for source, each in origins.published.items() if source not in free}
    bound |= dict.fromkeys(origins.local, "not recorded")
    if bound:
        source, *others = bound
        what = (
            f"it learned from {source}, whose licence ({bound[source]}) does not let anyone use and pass on its models"
        )
        more = f"; so it is with {', '.join(others)}" if others else ""
        remedy = "train a model on sources under `free` of sources.yaml"
        raise ConfigError(what + more, where=f"models.{key}", remedy=remedy)


def _require_small(folder: Path, name: str) -> None:
    """Raise an ArtifactError if a released folder is too large, alone or with the others."""
    size = size_of(folder)
    every = size + sum(size_of(other) for other in released.released() if other.name != name)
    for bytes_, most, what in ((size, LARGEST, "it"), (every, ALL, "all released models")):
        if bytes_ > most:
            raise ArtifactError(
                f"{what} would have {bytes_ / 1e6:.1f} MB, over {most / 1e6:g} MB",
                where=released.RELEASED / name,
                remedy="train a narrower model, or one with fewer words",
            )


@dataclass(frozen=True)
class Measured:
    """The scores of a run by the released file, and beside it.

    Attributes:
        run: the run.
        own: details of the released file.
        original: details of the profile's model; None if they are of other records or of another training.
        rows: details of the rows without a trained model over the same records, by name.
        metrics: the metrics that are shown.
    """

    run: Run
    own: Details
    original: Details | None
    rows: Mapping[str, Details]
    metrics: Sequence[str]

    @property
    def columns(self) -> Iterator[tuple[str, Details]]:
        """The scores side by side, each with its title."""
        yield "released", self.own
        if self.original is not None:
            yield "in 32 bits", self.original
        yield from self.rows.items()

    @property
    def facts(self) -> dict[str, Any]:
        """What `scores.json` has of the run."""

        def of(details: Details) -> dict[str, Any]:
            return {part: {name: details[part].get(name) for name in self.metrics} for part in ("scores", "intervals")}

        return {
            "records": self.own["counts"]["records"],
            "ids": self.own["ids"],
            "decoder": self.run.decoder.model_dump(mode="json"),
            "columns": {title: of(details) for title, details in self.columns},
        }


def _measured(key: str, run: Run, folder: Path, params: Params) -> Measured:
    """The scores of a run with the weights of a released folder, and those beside it."""
    tables = list[pd.DataFrame]()
    found = decoded(key, run, folder, params, tables.append)
    table = pd.concat(tables, ignore_index=True)
    dev = [each for each in found.dev if each is not None]
    parses = None
    if run.annotation != layout.NONE:
        words = TASKS[run.task].writes_words(params.language_of(run.dataset))
        parser, scratch = layout.parser(params.annotations[run.annotation].parser), layout.scratch("release", key)
        parses = annotated(table, parser, scratch, words=words)
        shutil.rmtree(scratch, ignore_errors=True)
    known = pd.concat(dev, ignore_index=True) if dev else None
    outputs = outputs_of(run, params, table, found.facts, dev=known, annotations=parses)
    _, numbers, own = scored(TASKS[run.task], outputs, run.scoring)
    say(f"{key}: {', '.join(f'{name} {value:,}' for name, value in numbers.items())}")
    method = getattr(run.decoder, "method", "")
    rows = {
        row: details
        for name, baseline in params.baselines.items()
        if (baseline.dataset, baseline.split, baseline.task) == (run.dataset, run.split, run.task)
        for row in row_names(row_folder(layout.details, baseline.paper, name))
        if (details := read_details(baseline.paper, place_of(name, row)))["ids"] == own["ids"]
        # A row that names a method of decoding is compared only with runs that have it.
        and details["settings"].get("method", method) == method
    }
    return Measured(run, own, _original(key, run, own, folder), rows, shown(run, params, own))


def _original(key: str, run: Run, own: Details, folder: Path) -> Details | None:
    """The details of the profile's model, if they are of the same training and records."""
    if not layout.details(run.paper, key).is_file():
        return None
    details = read_details(run.paper, key)
    losses = {seed: facts.get("best_dev_loss") for seed, facts in read_training(run.model, place=folder).items()}
    theirs = {seed: facts.get("best_dev_loss") for seed, facts in details["settings"]["training"].items()}
    return details if details["ids"] == own["ids"] and losses == theirs else None


def _section(found: Mapping[str, Measured], params: Params) -> Iterator[str]:
    """The section of metrics: a table for each run, with 95 % intervals, and the signatures."""
    yield "## Metrics\n"
    yield "Of the released file itself, beside the model before rounding and rows without a trained model.\n"
    for key, each in found.items():
        yield heading(key, each.run, params, each.own) + "\n"
        titles = [title for title, _ in each.columns]
        yield f"| metric | {titles[0]} | 95 % interval | {' | '.join(titles[1:])} |"
        yield "| --- | ---: | ---: |" + " ---: |" * (len(titles) - 1)
        for metric in each.metrics:
            first, *others = (cells(details, metric) for _, details in each.columns)
            yield f"| `{metric}` | {' | '.join([*first, *(value for value, _ in others)])} |"
        yield ""
        for row, details in each.rows.items():
            yield f"- {row}: {details['settings']['title']}"
        yield ""
    signatures = {metric: each.own["signatures"][metric] for each in found.values() for metric in each.metrics}
    yield "<details><summary>Signatures: how each number is computed</summary>\n"
    yield from (f"- `{metric}`: `{signature}`" for metric, signature in signatures.items())
    yield "\n</details>\n"
