"""Texts with templates as requests: texts are parsed, and templates are checked."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar, TypeAlias, cast

from espalier.corpora.records import Pair
from espalier.datasets.registry import ENCODINGS
from espalier.datasets.vocabulary import UNK
from espalier.inference.registry import reads_trees
from espalier.inference.requests import ExpandOptions, PairRequest
from espalier.inference.templates import canonical
from espalier.inference.texts import require_text, with_ascii_marks
from espalier.inference.writer import (
    ArgumentError,
    InferenceWarning,
    Result,
    Writer,
    argument,
    attempt,
    attempt_with,
    batches,
    note_unknown,
)
from espalier.io.errors import ConfigError, DataError, EspalierError
from espalier.syntax.constituency import read_tree, write_tree
from espalier.syntax.levels import cut, linearize
from espalier.syntax.parse import Parse

if TYPE_CHECKING:
    from espalier.datasets.pairs.data import PairData, PairView
    from espalier.datasets.pairs.encode import PairSettings
    from espalier.datasets.pairs.tree_symbols import TreeSymbols
    from espalier.datasets.pairs.vocabulary import PairVocabulary
    from espalier.decoding.beam import Hypothesis
    from espalier.inference.loaded import LoadedModel

    PairSystem: TypeAlias = LoadedModel[PairVocabulary, PairView, PairSettings]


@dataclass(frozen=True)
class PairJob:
    """A request that can be answered.

    Attributes:
        source: the text with its parse. The target is a copy that is not read.
        templates to expand one by one, or whole trees that guide directly.
    """

    request: PairRequest
    source: Pair
    templates: tuple[str, ...]


#: A job under one of its templates.
Guided = tuple[PairJob, str]


@dataclass(frozen=True)
class PairWriter(ExpandOptions, Writer[PairRequest, PairJob, Result]):
    """Reads texts and templates."""

    system: PairSystem
    inputs: ClassVar[str] = "texts"
    request_type = PairRequest

    def texts(self, requests: Sequence[PairRequest]) -> int:
        """The largest number of texts: `n` for each template of each request."""
        shared = self.templates if isinstance(self.templates, int) else len(self.templates)
        return self.n * sum(shared if request.template is None else 1 for request in requests)

    @property
    def max_length(self) -> int:
        """The largest number of word pieces of a text, or nodes of a tree, that can be read."""
        return max_length(self.system)

    @property
    def symbols(self) -> TreeSymbols:
        """The labels and levels known to the model."""
        return self.system.vocabulary.trees

    def require_room(self, template: str, where: str) -> None:
        """Raise a ConfigError if a template leads to a tree that is too long. The base class accepts all."""

    # --- Reading -----------------------------------------------------------------------------------------------------

    def read(self, requests: Sequence[PairRequest]) -> list[PairJob | EspalierError]:
        """Jobs for the requests. Templates are checked before texts are parsed."""
        alone = [request for request in requests if request.template is None]
        shared = self.shared_templates() if alone else ()

        def templates_of(request: PairRequest) -> tuple[PairRequest, tuple[str, ...]]:
            self.require_readable(request.text, request.name)
            request = replace(request, text=with_ascii_marks(request.text, self.system.language, request.name))
            return request, shared if request.template is None else (self.own_template(request),)

        rows = attempt(requests, templates_of)

        def parses(readable: Sequence[tuple[PairRequest, tuple[str, ...]]]) -> list[Parse | EspalierError]:
            return self.parses([(request.name, request.text) for request, _ in readable])

        return attempt_with(rows, parses, lambda row, parse: self._job(*row, parse))

    def shared_templates(self) -> tuple[str, ...]:
        """The templates for texts without their own.

        Raises:
            ArgumentError: a string is not a template, or there are fewer templates than requested.
        """
        if isinstance(self.templates, int):
            given = self.system.templates[: self.templates]
            if self.templates > len(given):
                remedy = f"model {self.system.name} has {len(given)} of its training data"
                raise ArgumentError(f"{self.templates} templates", where="templates", remedy=remedy)
        else:
            given = tuple(self.templates)
        templates = []
        for text in given:
            with argument("templates", text if len(given) > 1 else ""):
                templates.append(canonical(text, self.symbols, "templates"))
                self.require_room(templates[-1], "templates")
        return tuple(templates)

    def own_template(self, request: PairRequest) -> str:
        """The template of a request.

        Raises:
            EspalierError: the string is not a template.
        """
        where = f"{request.name}, template"
        template = canonical(request.template or "", self.symbols, where)
        self.require_room(template, where)
        return template

    def require_readable(self, text: str, name: str) -> None:
        """Raise a DataError unless a text can be one sentence that the model reads."""
        require_readable(text, self.system, self.max_length, name)

    def parses(self, texts: Sequence[tuple[str, str]]) -> list[Parse | EspalierError]:
        """The parses of texts, given as pairs of name and text.

        Raises:
            ConfigError: the parser does not give constituency trees.
        """
        parses = self.system.parse([text for _, text in texts], [name for name, _ in texts])
        if any(isinstance(parse, Parse) and not parse.tree for parse in parses):
            what = f"parser {self.system.parser_name} gives no constituency trees"
            raise ConfigError(what, remedy="name one that does")
        return parses

    def _job(self, request: PairRequest, templates: tuple[str, ...], parse: Parse) -> PairJob:
        tree = cut(read_tree(parse.tree, words=False), self.symbols.depth)
        if unknown := sorted({*linearize(tree)[0]} - {*self.symbols.labels}):
            what = f"its parse has labels that the models do not know: {', '.join(unknown)}"
            raise DataError(what, file=request.name, remedy="word it otherwise")
        words, nodes = " ".join(parse.words), write_tree(tree)
        source = Pair(
            id=request.name, origin="given", language=self.system.language,
            source=request.text, source_words=words, source_tree=nodes,
            target=request.text, target_words=words, target_tree=nodes,
        )  # fmt: skip
        encoded_pairs([source], self.system, self.max_length)  # raises where the text is too long
        note_unknown_words(source, self.system, self.max_length)
        return PairJob(request, source, templates)

    def guided(self, jobs: Sequence[PairJob]) -> Iterator[Sequence[Guided]]:
        """Batches of jobs, each under one template."""
        return batches([(job, template) for job in jobs for template in job.templates], self.prefixes)

    @property
    def prefixes(self) -> int:
        """The number of prefixes that are searched for each text under a template."""
        return self.beam


def require_readable(text: str, system: PairSystem, length: int, name: str) -> None:
    """Raise a DataError unless a text can be one sentence of at most `length` word pieces, or texts are cut."""
    require_text(text, system.language, name)
    if not cuts(system) and (words := len(text.split())) > length:
        remedy = f"at most {length} word pieces; give one sentence at a time"
        raise DataError(f"{words} words", file=name, remedy=remedy)


def distinct_texts(hypotheses: Sequence[Hypothesis], system: PairSystem, n: int) -> list[tuple[str, float]]:
    """The `n` best distinct texts with log-probabilities. Different word pieces may spell the same text."""
    scores = dict[str, float]()
    for hypothesis in hypotheses:
        scores.setdefault(system.vocabulary.decode_text(hypothesis.tokens), hypothesis.log_probability)
    return list(scores.items())[:n]


def max_length(system: PairSystem) -> int:
    """The largest number of word pieces of a text, or nodes of a tree, in training."""
    return min(int(system.settings.max_length), system.positions - 2)


def max_ids(system: PairSystem, length: int) -> int:
    """The length of the longest row that a model writes for `length` word pieces or nodes, including its end."""
    view = system.view
    unit = 3 if view.writes == "tree" and view.form == "brackets" else 1
    return min(unit * length + 1, system.positions)


def cuts(system: PairSystem) -> bool:
    """Whether texts are cut after the largest number of word pieces in training."""
    return bool(system.settings.cut)


def note_unknown_words(pair: Pair, system: PairSystem, length: int) -> None:
    """Warn of words with characters that the model does not know, and of words without pieces.

    Args:
        length: number of word pieces that the model reads; words after them are not checked.
    """
    words = (pair.source_words or pair.source).split()
    pieces = system.vocabulary.encode_texts([system.vocabulary.text_of([word]) for word in words])
    before = accumulate(map(len, pieces), initial=0)
    read = [(word, ids) for word, ids, place in zip(words, pieces, before, strict=False) if place < length]
    note_unknown([word for word, ids in read if UNK in ids], system.name, pair.id)
    if unspelt := " ".join(dict.fromkeys(word for word, ids in read if not ids)):
        what = f"{pair.id}: model {system.name} has no pieces for {unspelt}, and leaves it out"
        warnings.warn(what, InferenceWarning, stacklevel=2)


def encoded_pairs(sources: Sequence[Pair], system: PairSystem, length: int, *, warn: bool = False) -> PairData:
    """Texts in the form of the model.

    Args:
        warn: whether to warn of a text that is cut.

    Raises:
        DataError: a text is longer than `length`, and the model's dataset does not cut texts.
    """
    bounds = {"min_length": 1, "max_length": length, "trees": reads_trees(system.view)}
    settings = system.settings.model_copy(update=bounds)
    rows = ENCODINGS[system.encoding].encode(sources, system.vocabulary, settings)
    for row in rows.quarantined:
        what = f"{'its parse' if 'nodes' in row.reason else 'it'} has {row.reason}"
        raise DataError(what, file=row.id, remedy="give one sentence at a time")
    if warn and rows.facts.get("cut_source"):
        what = f"{sources[0].id}: the text is cut after {length} word pieces, the most that the model reads"
        warnings.warn(what, InferenceWarning, stacklevel=2)
    return cast("PairData", rows.split)
