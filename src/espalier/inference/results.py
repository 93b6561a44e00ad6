"""What a system writes. These types import no torch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from espalier.datasets.structure.structures import StructuredText


@dataclass(frozen=True)
class Poem:
    """A text in a format.

    Attributes:
        text: its units, joined by line feeds.
        format: in canonical spelling; `espalier.verse.grammar.parse_format` reads it.
        rhyme: one letter for each unit, "." for none.
        tune: the tune's name, or "".
        seed: of the call.
        sample: which of the texts of this format, from 0.
        tones: one sign for each word, marks left out; "" where nothing is known of them.
        rhyme_groups: for each unit, by which groups of the book it rhymes, and the groups of other readings in
            brackets (`espalier.verse.rhyme_groups`); "" if the unit has no rhyme letter.
    """

    text: str
    format: str
    rhyme: str
    tune: str
    seed: int
    sample: int
    tones: str
    rhyme_groups: tuple[str, ...]


@dataclass(frozen=True)
class Paraphrase:
    """A text that says another again.

    Attributes:
        text: as people write it.
        words: as the model wrote it.
        source: the text that is paraphrased.
        template: the top of the tree, which the caller or the training data gave; or the whole tree; or "".
        tree: the constituency tree that guided the text, a Penn string without words; "" where none did.
        log_probability: of the text, given the source and the tree.
    """

    text: str
    words: tuple[str, ...]
    source: str
    template: str
    tree: str
    log_probability: float


@dataclass(frozen=True)
class TextGranularity:
    """The granularity of the word pieces of a text and of its paraphrase: 0 for a template's, 1 for a detail.

    Attributes:
        source: the text.
        text: the best paraphrase, as people write it.
        source_pieces: what the encoder reads.
        text_pieces: what the decoder reads: the begin mark, then the paraphrase.
        encoder: for each layer with a granularity head, from 1, a value for each of `source_pieces`.
        decoder: the same for `text_pieces`.
    """

    source: str
    text: str
    source_pieces: tuple[str, ...]
    text_pieces: tuple[str, ...]
    encoder: Mapping[int, tuple[float, ...]]
    decoder: Mapping[int, tuple[float, ...]]

    @property
    def sides(self) -> list[tuple[str, str, tuple[str, ...], Mapping[int, tuple[float, ...]]]]:
        """The side, its text, its pieces and their values by layer; a side without layers is left out."""
        sides = [
            ("encoder", self.source, self.source_pieces, self.encoder),
            ("decoder", self.text, self.text_pieces, self.decoder),
        ]
        return [side for side in sides if side[-1]]


@dataclass(frozen=True)
class Expansion:
    """A whole tree that keeps a template.

    Attributes:
        tree: a Penn string without words.
        source: the text that the tree was chosen for.
        template: the top of the tree.
        log_probability: of the tree, given the source and the template.
    """

    tree: str
    source: str
    template: str
    log_probability: float


@dataclass(frozen=True)
class Reply:
    """A reply to a post.

    Attributes:
        text: the reply.
        words: the same in words.
        post: the post.
        post_words: the post in words, as the model reads it.
        heads: for each word the number of its head, from 1, 0 for the root; empty where a chain was written, and for a
            tree whose root has a right child.
        tree: the ternary tree, such as "吃(我,E,E)"; "" for a chain.
        cut: the cap that stopped the search: "words", "depth", "rounds", or "" for none.
        log_probability: of the reply, given the post.
    """

    text: str
    words: tuple[str, ...]
    post: str
    post_words: tuple[str, ...]
    heads: tuple[int, ...]
    tree: str
    cut: str
    log_probability: float


@dataclass(frozen=True)
class Composition:
    """A text under the structure of a template.

    Attributes:
        text: begins with the prompt.
        template: in the tokens of its tagger.
        prompt: the beginning that was given; empty without one.
        topics: the words that the model read before the text.
        seed: of the call.
        sample: which of the texts of this template, from 0.
        template_structure: the structures of the model's dataset, of the template.
        text_structure: the same of the text, tagged again by the tool that tagged the template.
    """

    text: str
    template: str
    prompt: str
    topics: tuple[str, ...]
    seed: int
    sample: int
    template_structure: StructuredText
    text_structure: StructuredText


@dataclass(frozen=True)
class Likelihood:
    """How probable a model finds a record's target.

    Attributes:
        nll: negative log-likelihood of the whole target, in nats.
        tokens: the tokens of the target, its end included.
        counts: what the task measures besides, such as `words`.
    """

    nll: float
    tokens: int
    counts: Mapping[str, float] = field(default_factory=dict)

    @property
    def perplexity(self) -> float:
        """exp(nll / tokens)."""
        return math.exp(self.nll / self.tokens)
