"""Results of a system. These types do not import torch."""

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
        format: the format in canonical spelling, for `espalier.verse.grammar.parse_format`.
        rhyme: one letter per unit, "." for none.
        tune: the tune's name, or "".
        seed: seed of the call.
        sample: index among the texts of this format, from 0.
        tones: one sign per word, without marks; "" if tones are unknown.
        rhyme_groups: for each unit, its rhyme groups in the book, with groups of other readings in brackets
            (`espalier.verse.rhyme_groups`); "" if the unit has no rhyme letter.
        stanza: the units of the first of a tune's two stanzas; 0 for one stanza, or if it is not known where they part.
        rules: what the text is to keep, as `espalier.frames.frame_of` takes it. A tune stands for its format and its
            rhymes, unless others were asked for.
    """

    text: str
    format: str
    rhyme: str
    tune: str
    seed: int
    sample: int
    tones: str
    rhyme_groups: tuple[str, ...]
    stanza: int = 0
    rules: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True)
class Paraphrase:
    """A paraphrase of a text.

    Attributes:
        text: the paraphrase as normal text.
        words: the paraphrase as written by the model.
        source: the paraphrased text.
        template: the top levels of the tree, given by the caller or the training data; or the whole tree; or "".
        tree: the constituency tree that guided the text, a Penn string without words; "" for none.
        log_probability: log-probability of the text, given the source and the tree.
    """

    text: str
    words: tuple[str, ...]
    source: str
    template: str
    tree: str
    log_probability: float


@dataclass(frozen=True)
class StrictParaphrase(Paraphrase):
    """A paraphrase taken from candidates.

    Attributes:
        template_kept: whether its own parse keeps every node of the template. If not, no candidate under any tree that
            was tried does, and `tree` is the best tree.
    """

    template_kept: bool


@dataclass(frozen=True)
class TextGranularity:
    """The granularity of word pieces of a text and its paraphrase: 0 for pieces of a template, 1 for details.

    Attributes:
        source: the text.
        text: the best paraphrase, as normal text.
        source_pieces: the input of the encoder.
        text_pieces: the input of the decoder: BOS, then the paraphrase.
        encoder: a value per source piece, for each layer with a granularity head; layers count from 1.
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
        """The side, its text, its pieces and their values by layer. A side without layers is left out."""
        sides = [
            ("encoder", self.source, self.source_pieces, self.encoder),
            ("decoder", self.text, self.text_pieces, self.decoder),
        ]
        return [side for side in sides if side[-1]]


@dataclass(frozen=True)
class Expansion:
    """A whole tree that keeps a template.

    Attributes:
        tree: the tree as a Penn string without words.
        source: the text for which the tree was chosen.
        template: the top levels of the tree.
        log_probability: log-probability of the tree, given the source and the template.
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
        words: the words of the reply.
        post: the post.
        post_words: the words of the post, in the form of the model.
        heads: for each word, the number of its head, from 1, or 0 for the root; empty for a chain, and for a tree whose
            root has a right child.
        tree: the ternary tree, such as "吃(我,E,E)"; "" for a chain.
        cut: the cap that stopped the search: "words", "depth", "rounds", or "" for none.
        log_probability: log-probability of the reply, given the post.
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
        text: the text, including the prompt.
        template: the template in its tagger's tokens.
        prompt: the given beginning; empty for none.
        topics: the topic words that the model read before the text.
        seed: seed of the call.
        sample: index among the texts of this template, from 0.
        template_structure: the template's structures, as defined by the model's dataset.
        text_structure: the same for the text, tagged by the tagger of the template.
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
class Sample:
    """A text of a model that reads nothing but its beginning.

    Attributes:
        text: the text, including the prompt.
        prompt: the given beginning; empty for none.
        seed: seed of the call.
        sample: index among the texts of this prompt, from 0.
    """

    text: str
    prompt: str
    seed: int
    sample: int


@dataclass(frozen=True)
class Likelihood:
    """The likelihood of a record's target under a model.

    Attributes:
        nll: negative log-likelihood of the whole target, in nats.
        tokens: number of tokens of the target, including its end.
        counts: further measurements of the task, such as `words`.
    """

    nll: float
    tokens: int
    counts: Mapping[str, float] = field(default_factory=dict)

    @property
    def perplexity(self) -> float:
        """exp(nll / tokens)."""
        return math.exp(self.nll / self.tokens)
