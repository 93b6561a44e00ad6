"""Whole trees that fit a text and keep a template (GuiG, section 3.1). Decoding is deterministic."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from espalier.datasets.pairs.data import PairData, PairView
from espalier.datasets.ragged import Ragged
from espalier.inference.pairs import Guided, PairJob, PairWriter, encoded_pairs, max_ids
from espalier.inference.requests import PairRequest
from espalier.inference.results import Expansion
from espalier.inference.templates import given_words
from espalier.inference.writer import InferenceWarning
from espalier.io.errors import ConfigError
from espalier.tasks.paraphrase_decoder import PairDecoder
from espalier.tasks.paraphrase_search import pair_constraint, search, tree_text

if TYPE_CHECKING:
    from espalier.inference.pairs import PairSystem


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
        rows = search(self.system.model, batch.to(self.system.device), self.decoder, self.view)
        vocabulary = self.system.vocabulary
        return [
            [(tree_text(one.tokens, self.view, vocabulary), one.log_probability) for one in row[:n]] for row in rows
        ]


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
