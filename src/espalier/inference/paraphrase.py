"""Whole trees that fit a text and keep a template (GuiG, section 3.1), and texts under them (section 3.2).

Decoding is deterministic.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from espalier.datasets.pairs.data import PairData, PairView
from espalier.datasets.pairs.word_classes import Lexicon
from espalier.datasets.ragged import Ragged
from espalier.datasets.vocabulary import UNK
from espalier.decoding.constraints.words import GivenWord, GivenWords
from espalier.inference.pairs import (
    Guided,
    PairJob,
    PairWriter,
    distinct_texts,
    encoded_pairs,
    max_ids,
    max_length,
)
from espalier.inference.registry import service
from espalier.inference.requests import PairRequest, ParaphraseOptions
from espalier.inference.results import Expansion, Paraphrase, StrictParaphrase
from espalier.inference.templates import given_words, top, word_places
from espalier.inference.writer import InferenceWarning, argument
from espalier.io.errors import ConfigError, EspalierError
from espalier.io.hashing import seed_from
from espalier.io.imports import nltk_module
from espalier.metrics.expansion import TEMPLATE_LEVELS, keeps
from espalier.syntax.constituency import cut, read_tree, write_tree
from espalier.tasks.paraphrase_decoder import PairDecoder
from espalier.tasks.paraphrase_search import candidates, of_classes, pair_constraint, ranked, search, tree_text

if TYPE_CHECKING:
    from espalier.decoding.beam import Hypothesis
    from espalier.inference.pairs import PairSystem


#: The most trees of a template that are tried for a text which must keep it.
TREES: Final = 8


@dataclass(frozen=True)
class _Texts:
    """Texts under a tree, with log-probabilities, and whether they keep the template; None if they need not."""

    tree: str
    texts: list[tuple[str, float]]
    kept: bool | None = None


@dataclass(frozen=True)
class Expander:
    """A search for trees.

    Attributes:
        system: a system whose model writes trees.
        beam: beam size.
        max_length: largest number of nodes of a tree, and of word pieces of a text.
    """

    system: PairSystem
    beam: int
    max_length: int

    @property
    def decoder(self) -> PairDecoder:
        """The settings of the task."""
        return PairDecoder(beam=self.beam, max_ids=max_ids(self.system, self.max_length), constraint="open_template")

    @property
    def view(self) -> PairView:
        """The view of the model, with a template even if the model reads none: the constraint keeps all its levels."""
        view = self.system.view
        reads = dict.fromkeys((*view.reads, "template"))
        return replace(view, reads=tuple(reads), template=self.system.vocabulary.trees.depth)

    def require_room(self, template: str, where: str) -> None:
        """Raise a ConfigError if the shortest tree that keeps a template is too long."""
        empty = PairData([where], {name: Ragged.of([[]]) for name in PairData.COLUMNS}, self.system.vocabulary)
        batch = empty.with_trees(None, [template]).batch(np.array([0]), self.view)
        try:
            pair_constraint(self.decoder, self.view, self.system.vocabulary).start(batch)
        except ConfigError as error:
            raise ConfigError(error.what, where=f"{where} {template}", remedy="give a smaller template") from error

    def best(self, jobs: Sequence[Guided], n: int = 1) -> list[list[tuple[str, float]]]:
        """For each job the `n` best trees that keep its template, each with its log-probability."""
        data = encoded_pairs([job.source for job, _ in jobs], self.system, self.max_length)
        batch = data.with_trees(None, [template for _, template in jobs]).batch(np.arange(len(jobs)), self.view)
        rows = search(self.system.model, batch.to(self.system.device), self.decoder, self.view, best=n)
        vocabulary = self.system.vocabulary
        return [[(tree_text(one.tokens, self.view, vocabulary), one.log_probability) for one in row] for row in rows]


@dataclass(frozen=True)
class ExpansionWriter(PairWriter[Expansion]):
    """Expands templates to whole trees that fit a text."""

    @cached_property
    def expander(self) -> Expander:
        """The search for trees."""
        return Expander(self.system, self.beam, self.max_length)

    def require_room(self, template: str, where: str) -> None:
        """As in `Expander.require_room`; also warn of words, which trees do not have."""
        self.expander.require_room(template, where)
        if words := given_words(template):
            warnings.warn(
                f"{where}: trees have no words, and do without {' '.join(words)}", InferenceWarning, stacklevel=2
            )

    def write(self, jobs: Sequence[PairJob]) -> Iterator[tuple[PairRequest, Expansion]]:
        """The `n` best trees for each text under each of its templates."""
        for part in self.guided(jobs):
            for (job, template), found in zip(part, self.expander.best(part, self.n), strict=True):
                for tree, log_probability in found:
                    yield job.request, Expansion(tree, job.request.text, template, log_probability)


@dataclass(frozen=True)
class ParaphraseWriter(ParaphraseOptions, PairWriter[Paraphrase]):
    """Writes paraphrases. A template is expanded to a tree, which guides the text."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.expander is not None:
            with argument("expander"):
                _require_same_trees(self.expander.system, self.system)

    @property
    def shows_trees(self) -> bool:
        """Whether results have trees to show: those that guide the texts."""
        return True

    @property
    def names(self) -> dict[str, str | None]:
        """The model, and the expander unless whole trees are given."""
        return {**super().names, "expander": self.expander.system.name if self.expander else None}

    @property
    def max_length(self) -> int:
        """The largest number of word pieces of a text, or nodes of a tree, that both models can read."""
        return max_length(self.system) if self.expander is None else self.expander.max_length

    @cached_property
    def expander(self) -> Expander | None:
        """The search for trees; None if whole trees are given."""
        if self.full:
            return None
        system = self.system.expander
        with argument("expander"):
            service("expand", system.name, system.encoding, system.model.config)
        return Expander(system, self.beam, min(max_length(self.system), max_length(system)))

    def require_room(self, template: str, where: str) -> None:
        """Raise a ConfigError if a template leads to a tree that is too long, or has words that cannot be written."""
        if self.expander is not None:
            self.expander.require_room(template, where)
        vocabulary = self.system.vocabulary
        words = given_words(template)
        pieces = [vocabulary.encode_texts([vocabulary.text_of([word])])[0] for word in words]
        if unknown := [word for word, ids in zip(words, pieces, strict=True) if UNK in ids]:
            raise ConfigError(
                f"the word {unknown[0]} has characters that the model does not know", where=where, remedy="leave it out"
            )
        if (total := sum(map(len, pieces))) > self.max_length:
            remedy = f"at most {self.max_length}; leave some out"
            raise ConfigError(f"its words take {total} word pieces", where=where, remedy=remedy)

    def own_template(self, request: PairRequest) -> str:
        """The template of a request.

        Raises:
            EspalierError: the string is not a template, or templates are not expanded.
        """
        if self.full:
            raise ConfigError("a template beside a whole tree", where=request.name, remedy="leave out one of them")
        return super().own_template(request)

    def shared_templates(self) -> tuple[str, ...]:
        """The templates for texts without their own, or the whole tree.

        Raises:
            ArgumentError: a string is not a template.
        """
        if self.like is None:
            return super().shared_templates()
        with argument("like"):
            self.require_readable(self.like, "like")
            (parse,) = self.parses([("like", self.like)])
            if isinstance(parse, EspalierError):
                raise parse
            levels = self.symbols.depth if self.full else self.system.view.template
            template = top(parse.tree, self.symbols, levels, "like")
            nodes = len(self.symbols.encode(read_tree(template, words=False)))
            if nodes > self.max_length:
                raise ConfigError(f"its tree has over {self.max_length} nodes", remedy="give a shorter sentence")
            self.require_room(template, "like")
            return (template,)

    def texts(self, requests: Sequence[PairRequest]) -> int:
        """The largest number of texts: `n` for each template of each request; `like` gives one template."""
        return super().texts(requests) if self.like is None else self.n * len(requests)

    @property
    def decoder(self) -> PairDecoder:
        """The settings of the task."""
        most = max_ids(self.system, self.max_length)
        return PairDecoder(max_ids=most, min_ids=1, **self.shared(PairDecoder))

    @property
    def prefixes(self) -> int:
        """As in the task."""
        return self.decoder.prefixes

    # --- Writing -----------------------------------------------------------------------------------------------------

    def write(self, jobs: Sequence[PairJob]) -> Iterator[tuple[PairRequest, Paraphrase]]:
        """The `n` best texts for each text under each of its templates."""
        for part in self.guided(jobs):
            for (job, template), found in zip(part, self._guided_texts(part), strict=True):
                for text, log_probability in found.texts:
                    written = tuple(text.split())
                    printed = print_words(written, self.system.vocabulary.lower)
                    result = Paraphrase(printed, written, job.request.text, template, found.tree, log_probability)
                    kept = found.kept
                    yield job.request, result if kept is None else StrictParaphrase(**vars(result), template_kept=kept)

    def _guided_texts(self, jobs: Sequence[Guided]) -> list[_Texts]:
        """The texts of each job under its best tree.

        With `strict`: under the first of its `TREES` best trees under which a text keeps the template, if there is one.
        """
        if self.expander is None:
            return self._texts_under(jobs, [tree for _, tree in jobs])
        found = self._texts_under(jobs, [row[0][0] for row in self.expander.best(jobs)])
        left = [place for place, texts in enumerate(found) if texts.kept is False]
        more = self.expander.best([jobs[place] for place in left], min(self.beam, TREES)) if left else []
        trees = dict(zip(left, more, strict=True))
        for rank in range(1, TREES):
            left = [place for place in left if not found[place].kept and rank < len(trees[place])]
            if not left:
                break
            again = self._texts_under([jobs[place] for place in left], [trees[place][rank][0] for place in left])
            for place, texts in zip(left, again, strict=True):
                if texts.kept:
                    found[place] = texts
        return found

    def _texts_under(self, jobs: Sequence[Guided], trees: Sequence[str]) -> list[_Texts]:
        system, decoder = self.system, self.decoder
        data = encoded_pairs([job.source for job, _ in jobs], system, self.max_length).with_trees(trees, None)
        batch = data.batch(np.arange(len(jobs)), system.view).to(system.device)
        given = self._given(jobs, trees)
        rule = GivenWords(given, system.vocabulary.starts, decoder.max_ids) if any(given) else None
        if not self.strict:
            rows = search(system.model, batch, decoder, system.view, rule)
            return [_Texts(tree, distinct_texts(row, system, self.n)) for tree, row in zip(trees, rows, strict=True)]
        seeds = [seed_from(job.request.text, template) for job, template in jobs]
        rows = candidates(system.model, batch, decoder, system.view, seeds, rule)
        parsed = self._parsed(rows, {})
        # There are no training pairs here, so a class has the words that the candidates have of it.
        parses = [[tree for text in self._texts(row) if (tree := parsed[text])] for row in rows]
        lexicons = [Lexicon.of_trees(own, system.vocabulary) for own in parses]
        more = of_classes(system.model, batch, decoder, system.view, lexicons, given)
        rows = [ranked([*row, *own], system.vocabulary) for row, own in zip(rows, more, strict=True)]
        return self._chosen(jobs, trees, rows, self._parsed(more, parsed))

    def _parsed(self, rows: Sequence[Sequence[Hypothesis]], known: Mapping[str, str]) -> dict[str, str]:
        """The tree of each text, beside those that are known; "" if it cannot be parsed."""
        texts = dict.fromkeys(text for row in rows for text in self._texts(row) if text not in known)
        parses = self.system.parse([text.split() for text in texts], [*texts])
        trees = ("" if isinstance(parse, EspalierError) else parse.tree for parse in parses)
        return {**known, **dict(zip(texts, trees, strict=True))}

    def _texts(self, row: Sequence[Hypothesis]) -> list[str]:
        return [self.system.vocabulary.decode_text(each.tokens) for each in row]

    def _chosen(
        self,
        jobs: Sequence[Guided],
        trees: Sequence[str],
        rows: Sequence[Sequence[Hypothesis]],
        parsed: Mapping[str, str],
    ) -> list[_Texts]:
        """For each job the `n` first texts whose parse keeps its template, else the first.

        Of a whole tree its top levels are the template.
        """
        found = list[_Texts]()
        for (_, template), tree, row in zip(jobs, trees, rows, strict=True):
            wanted = write_tree(cut(read_tree(template, words=False), TEMPLATE_LEVELS)) if self.full else template
            texts = distinct_texts(row, self.system, len(row))
            kept = [each for each in texts if keeps(wanted, parsed[each[0]])]
            found.append(_Texts(tree, kept[: self.n] or texts[:1], bool(kept)))
        return found

    def _given(self, jobs: Sequence[Guided], trees: Sequence[str]) -> list[list[GivenWord]]:
        """For each job the words of its template, each at the place of its leaf in the tree."""
        vocabulary = self.system.vocabulary
        return [
            [
                GivenWord(place, vocabulary.encode_texts([vocabulary.text_of([word])])[0])
                for place, word in word_places(template, tree)
            ]
            for (_, template), tree in zip(jobs, trees, strict=True)
        ]


def _require_same_trees(expander: PairSystem, writer: PairSystem) -> None:
    """Raise a ConfigError if `expander` writes trees that `writer` cannot read."""
    own, other = expander.vocabulary.trees, writer.vocabulary.trees
    names = f"{expander.name} and {writer.name} were trained with other"
    remedy = "train both on one dataset, or on two that share a vocabulary (vocab_from)"
    if unshared := sorted({*own.labels} ^ {*other.labels}):
        more = f" and {len(unshared) - 5} more" if len(unshared) > 5 else ""
        raise ConfigError(f"{names} labels: only one knows {', '.join(unshared[:5])}{more}", remedy=remedy)
    if own.depth != other.depth:
        raise ConfigError(f"{names} depths of trees: {own.depth} and {other.depth}", remedy=remedy)


def print_words(words: Sequence[str], lower: bool) -> str:
    """English words as normal text: marks and clitics are attached to the word before.

    Args:
        lower: whether the words are lower-cased; if so, "i" and the first letter are capitalized.
    """
    detokenizer = nltk_module("tokenize.treebank").TreebankWordDetokenizer()
    text = str(detokenizer.detokenize(["I" if word == "i" and lower else word for word in words]))
    start = next((place for place, character in enumerate(text) if character.isalnum()), 0)
    return text[:start] + text[start : start + 1].upper() + text[start + 1 :] if lower else text
