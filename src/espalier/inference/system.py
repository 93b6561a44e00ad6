"""A trained model and its methods. Importing this module does not import torch."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from espalier.corpora.records import Record, Verse
from espalier.datasets.encoding import Split
from espalier.datasets.registry import ENCODINGS
from espalier.inference.loaded import LoadedModel
from espalier.inference.registry import SERVICES, Service, service, services_of
from espalier.inference.released import folder_of, is_downloaded
from espalier.inference.requests import without_effect
from espalier.inference.results import Likelihood
from espalier.inference.writer import ArgumentError, InferenceWarning, called
from espalier.io.calls import checked_call
from espalier.io.errors import ConfigError, DataError, EspalierError
from espalier.io.validation import check_options
from espalier.syntax.parse import columns_of
from espalier.tasks.likelihood import measured
from espalier.tasks.registry import TASKS
from espalier.tasks.task import Task
from espalier.verse.text import units_of

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from espalier.datasets.batch import Batch
    from espalier.inference.requests import PairRequest, Post, SampleRequest, TemplateRequest, VerseRequest
    from espalier.inference.results import (
        Composition,
        Expansion,
        Paraphrase,
        Poem,
        Reply,
        Sample,
        TextGranularity,
    )
    from espalier.inference.writer import Writer
    from espalier.models.contract import Model
    from espalier.syntax.parsers.parser import Parser


def _task(system: LoadedModel[Any, Any, Any]) -> Task:
    for task in TASKS.values():
        if system.encoding in task.encodings:
            return task
    raise ConfigError(f"no task reads the encoding {system.encoding}", where="TASKS", remedy="register one")


def _record(
    kind: type[Record], value: Record | Mapping[str, str], name: str, system: LoadedModel[Any, Any, Any]
) -> Record:
    """A record under its own name. A mapping needs all fields without a default."""
    if isinstance(value, Record):
        if not isinstance(value, kind):
            raise DataError(f"a {type(value).__name__}", file=name, remedy=f"the model reads a {kind.__name__}")
        return _readable(replace(value, id=name), system)
    given: dict[str, Any] = {"origin": "given", "language": system.language, **value, "id": name}
    known = {field.name: field.default is MISSING for field in fields(kind)}
    if lacking := [field for field, needed in known.items() if needed and field not in given]:
        raise DataError(f"no {', '.join(lacking)}", file=name, remedy="add it to the record, as a string")
    if unknown := sorted({*given} - {*known}):
        raise DataError(f"unknown field {', '.join(unknown)}", file=name, remedy=f"known: {', '.join(known)}")
    if wrong := [field for field, text in given.items() if not isinstance(text, str)]:
        raise DataError(f"{wrong[0]} is no text", file=name, remedy="give it as text")
    return _readable(kind(**given), system)


def _readable(record: Record, system: LoadedModel[Any, Any, Any]) -> Record:
    if record.language != system.language:
        what = f"its language is {record.language!r}"
        raise DataError(what, file=record.id, remedy=f"the model reads {system.language!r}")
    if isinstance(record, Verse) and len(record.rhyme) != (units := len(units_of(record.target))):
        what = f"{len(record.rhyme)} rhyme letters, units: {units}"
        raise DataError(what, file=record.id, remedy="give one letter for each unit, . for none")
    return record


def _parsed(records: Sequence[Record], system: LoadedModel[Any, Any, Any]) -> list[Record]:
    """The records, with sides parsed whose words are a column but are missing."""
    rows = list(records)
    if system.reads_plain_text or not rows:
        return rows
    for side in type(rows[0]).sides:
        lacking = [place for place, row in enumerate(rows) if getattr(row, f"{side}_words", None) == ""]
        texts = [getattr(rows[place], side) for place in lacking]
        for place, parse in zip(lacking, system.parse(texts, [rows[place].id for place in lacking]), strict=True):
            if isinstance(parse, EspalierError):
                raise parse
            columns: Mapping[str, Any] = columns_of(parse, side)
            rows[place] = replace(rows[place], **columns)
    return rows


@checked_call
def load(
    folder: str | Path,
    *,
    seed: int | None = None,
    parser: str | Path | Parser | None = None,
    expander: str | Path | System | None = None,
    device: str | torch.device | None = None,
    bfloat16: bool = False,
) -> System:
    """Load a trained model for inference.

    Args:
        folder: folder written by training: `model.json`, `vocabulary.json`, `system.json`, `seed*.safetensors`; or the
            name of a released model ("songci"), or of a model on the Hugging Face Hub ("user/name").
        seed: seed of the weights; None means the lowest.
        parser: a parser or its folder, instead of the one named in `system.json`.
        expander: a system that expands templates, or its folder, instead of the one named in `system.json`.
        device: None means a GPU if there is one.
        bfloat16: multiply matrices in bfloat16 to generate texts on a CPU, which is faster and may change the texts.

    Raises:
        ArgumentError: there is no such device.
        ArtifactError: a file is missing, has another version, or does not match the others.
        ConfigError: `system.json` names an option that its service does not have.
    """
    found = folder_of(folder)
    system = System(found, seed=seed, parser=parser, expander=expander, device=device, bfloat16=bfloat16)
    if is_downloaded(folder, found):
        system.name = str(folder)  # the folder's own is that of a commit
    where = f"{system.described_in}: options"
    for name, own in system.options.items():
        check_options(SERVICES.find(name, where=where).options, own, f"{where}.{name}")
    return system


class System(LoadedModel[Any, Any, Any]):
    """A trained model, made by `load`. Each method requires a suitable model, and raises an error otherwise."""

    def __repr__(self) -> str:
        """The model's name, its encoding, what it serves, and its device."""
        serves = ", ".join(services_of(self.encoding, self.model.config)) or "likelihood"
        return f"<System {self.name} of {self.encoding}: {serves}; on {self.device}>"

    @checked_call
    def generate(self, formats: Sequence[str | VerseRequest], **options: Any) -> list[Poem]:
        """Poems in formats such as "5,5。7,5。" or "_雨___，____到。". Options are the fields of `VerseOptions`."""
        return self.answer("generate", formats, **options)

    @checked_call
    def polish(self, templates: Sequence[str | VerseRequest], **options: Any) -> list[Poem]:
        """Like `generate`, for formats that keep some words."""
        return self.answer("polish", templates, **options)

    @checked_call
    def paraphrase(self, texts: Sequence[str | PairRequest], **options: Any) -> list[Paraphrase]:
        """Paraphrases of texts. Options are the fields of `ParaphraseOptions`, whose templates guide the texts.

        If the model reads only texts, options are the fields of `PlainParaphraseOptions`.
        """
        return self.answer("paraphrase", texts, **options)

    @checked_call
    def expand(self, texts: Sequence[str | PairRequest], **options: Any) -> list[Expansion]:
        """Whole trees for paraphrases of texts under templates. Options are the fields of `ExpandOptions`."""
        return self.answer("expand", texts, **options)

    @checked_call
    def granularities(self, texts: Sequence[str | PairRequest], **options: Any) -> list[TextGranularity]:
        """The granularity of each piece of texts and of their paraphrases, in each layer of C-DNPG.

        Options are the fields of `GranularityOptions`.
        """
        return self.answer("granularity", texts, **options)

    @checked_call
    def compose(self, templates: Sequence[str | TemplateRequest], **options: Any) -> list[Composition]:
        """Texts under the structures of templates (SAT). Options are the fields of `ComposeOptions`."""
        return self.answer("compose", templates, **options)

    @checked_call
    def sample(self, prompts: Sequence[str | SampleRequest] = ("",), **options: Any) -> list[Sample]:
        """Texts of a model that reads nothing but their beginning (GPT2). Options are the fields of `SampleOptions`."""
        return self.answer("sample", prompts, **options)

    @checked_call
    def reply(self, posts: Sequence[str | Post], **options: Any) -> list[Reply]:
        """Replies to posts, the best first. Options are the fields of `ReplyOptions`."""
        return self.answer("reply", posts, **options)

    @checked_call
    def likelihood(self, records: Sequence[Record | Mapping[str, str]]) -> list[Likelihood]:
        """The likelihood of the targets of records.

        Args:
            records: records of the encoding, or mappings of their fields. Missing grammar of a side is added by the
                parser.

        Raises:
            DataError: a record lacks a field, cannot be parsed, or does not fit the encoding.
            ConfigError: no task reads the encoding.
        """
        if not records:
            return []
        task, data = _task(self), self.encode(records)

        def measure(model: Model[Any, Any, Any], batch: Batch) -> dict[str, Tensor]:
            return {**task.likelihood(model, batch), "tokens": batch.real.sum(1)}

        found = measured(measure, self.model, data, np.arange(len(records)), self.device)
        columns = {name: values.tolist() for name, values in found.items()}
        nll, tokens = columns.pop("nll"), columns.pop("tokens")
        counts = ({name: values[row] for name, values in columns.items()} for row in range(len(records)))
        return [*map(Likelihood, nll, tokens, counts)]

    @checked_call
    def encode(self, records: Sequence[Record | Mapping[str, str]]) -> Split[Any, Any, Any]:
        """Encode records.

        `system.encode(records).batch(np.arange(len(records)), system.view)` is a batch for the model.

        Args:
            records: records, as in `likelihood`.

        Raises:
            DataError: a record lacks a field, cannot be parsed, or does not fit the encoding.
        """
        kind = ENCODINGS[self.encoding]
        rows = [_record(kind.record, value, f"records[{place}]", self) for place, value in enumerate(records)]
        try:
            found = kind.encode(_parsed(rows, self), self.vocabulary, self.settings)
        except ValueError as error:  # such as rhyme letters that are too few
            remedy = "correct the fields of the record, such as one rhyme letter for each unit"
            raise DataError(
                f"the fields of a record do not fit together: {error}", file="records", remedy=remedy
            ) from error
        for row in found.quarantined:
            raise DataError(row.reason, file=row.id, remedy="the model was not trained on such records")
        if (longest := found.split.longest(self.view)) > self.positions:
            raise DataError(
                f"a record of {longest} ids", file="records", remedy=f"give records of at most {self.positions}"
            )
        return found.split

    @checked_call
    def push_to_hub(self, repository: str, *, private: bool = False, token: str | None = None) -> str:
        """Upload the model with its parts to the Hugging Face Hub, where `espalier.load("user/name")` finds it.

        Args:
            repository: "user/name"; it is made if there is none.
            private: whether only its owner sees a repository that is made.
            token: a token with the right to write; None for that of `HF_TOKEN` or of `hf auth login`.

        Returns:
            The address of the upload.

        Raises:
            ArtifactError: the Hub cannot be reached or refuses.
            ConfigError: the package `huggingface_hub` is not installed, or the name is none.
        """
        from espalier.inference.hub import push

        return push(self.described_in.parent, repository, private=private, token=token)

    @checked_call
    def answer(self, name: str, inputs: Sequence[Any], **options: Any) -> list[Any]:
        """The results of any service in `SERVICES`.

        Raises:
            ConfigError: the model does not offer the service, or an option is invalid.
            EspalierError: the first input that cannot be answered.
        """
        with called(f"{self.name}.{name}"):
            return self.writer(name, **options).answers(inputs)

    @checked_call
    def writer(self, name: str, **options: Any) -> Writer[Any, Any, Any]:
        """A service with fixed options. It tells which inputs cannot be answered, and answers one batch at a time.

        An option that is not given is the model's own default if it has one (`system.json`), else the field's.

        Raises:
            CallError: there is no such option.
            ConfigError: the model does not offer the service, or an option is invalid.
        """
        own, chosen = self.options.get(name, {}), self.require(name)
        try:
            chosen.require_options(options)
            for note in without_effect(chosen.options, options, own):
                warnings.warn(note, InferenceWarning, stacklevel=3)
            return chosen.open(self, **{**own, **options})
        except ArgumentError as error:
            if error.where not in own.keys() - options.keys():
                raise
            where = f"{self.described_in}: options.{name}.{error.where}"
            raise ConfigError(error.what, where=where, remedy=error.remedy) from error

    @checked_call
    def require(self, name: str) -> Service[Any, Any]:
        """Look up a service of the model.

        Raises:
            ConfigError: the model does not offer it.
        """
        return service(name, self.name, self.encoding, self.model.config)
