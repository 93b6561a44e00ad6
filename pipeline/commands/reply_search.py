"""A model of dialogue that answers people: how it reads a post, and the replies that it finds to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np

from espalier.datasets.vocabulary import UNK, WordVocabulary
from espalier.io.errors import ConfigError, DataError
from espalier.syntax.parsers.parser import Parser, Refused
from espalier.text.language import is_mark
from pipeline import layout
from pipeline.commands.requests import dataset_of, parser_of
from pipeline.device import device
from pipeline.params import DialogueDataset, Params
from pipeline.progress import say

if TYPE_CHECKING:
    from espalier.decoding.dialogue import DialogueDecoder, Reply

    from espalier.datasets.dialogue.data import DialogueData

#: What is searched where nothing is asked for: beams of trees and of chains, and groups of children.
TREES, CHAINS, LOCAL = 6, 50, 6
#: The most beams, and groups of children, that can be asked for.
MOST = 1000
#: Longer words are not parted.
LETTERS = 16


@dataclass(frozen=True)
class Answerer:
    """A trained model, and what it needs to answer a post.

    Attributes:
        parser_key: the name of its parser.
        grows: whether its replies are trees.
        most: the longest post that it reads, in words.
    """

    key: str
    model: Any
    vocabulary: WordVocabulary
    decoder: DialogueDecoder
    parser: Parser
    parser_key: str
    grows: bool
    most: int


@dataclass(frozen=True)
class Post:
    """What somebody wrote, and its words as the model reads them.

    Attributes:
        name: what errors call it.
    """

    name: str
    text: str
    words: list[str]


@dataclass(frozen=True)
class Answer:
    """One of the replies to a post; the best has rank 1."""

    post: Post
    rank: int
    reply: Reply


def answerer(params: Params, key: str, *, beam: int | None, local: int | None, least: int) -> Answerer:
    """A trained model with its parser, both loaded.

    Args:
        beam, local: of the search; None where nobody asks for them.
        least: words of a reply.

    Raises:
        ConfigError: it cannot be searched so, or its corpus has no parser.
    """
    from espalier.decoding.dialogue import NEVER, DialogueDecoder

    from espalier.models.serialization import load_model
    from espalier.syntax.parsers.registry import load_parser

    dataset = dataset_of(params, key, DialogueDataset, "replies", "--model")
    parser = parser_of(params, dataset.corpus)
    model: Any
    model, vocabulary = load_model(layout.model(key))
    arity = getattr(model, "arity", 0)
    room = vocabulary.text_size - len(NEVER)
    _check(key, arity, room, beam, local)
    most = model.config.positions - 1
    words = min(dataset.most, most)
    if least > words:
        raise ConfigError(f"model {key} writes {words} words at most", where="--least", remedy=f"at most {words}")
    decoder = DialogueDecoder(
        beam=beam or (TREES if arity else CHAINS), local=local or min(LOCAL, room**arity), least=least, words=words
    )
    read = load_parser(layout.parser(parser))
    return Answerer(key, model.to(device()), vocabulary, decoder, read, parser, arity > 1, most)


def _check(key: str, arity: int, room: int, beam: int | None, local: int | None) -> None:
    """Make sure that a model can be searched so: 0 children a node are a chain, `room` is what each can be."""
    from espalier.datasets.dialogue.data import ARITY

    if arity not in (0, 1, ARITY):
        what = f"model {key} grows trees of {arity} children a node, which have no order of words"
        raise ConfigError(what, where="--model", remedy=f"name one of {ARITY}")
    if local is not None and not arity:
        raise ConfigError(f"model {key} writes chains, which have no children", where="--local", remedy="leave it out")
    if (local or 0) > room**arity:
        what = f"{local} groups of children, where {room} words make {room**arity} groups of {arity}"
        raise ConfigError(what, where="--local", remedy=f"at most {min(room**arity, MOST)}")
    for name, value in (("--beam", beam), ("--local", local)):
        if (value or 0) > MOST:
            raise ConfigError(f"{value} is too large", where=name, remedy=f"at most {MOST}")


def read(posts: Sequence[tuple[str, str]], by: Answerer) -> list[Post]:
    """Posts as the model reads them: Simplified, in words.

    Args:
        posts: what errors call each, and its text.

    Raises:
        DataError: one cannot be read, is too long, or has no word that the model knows.
    """
    plain = [_plain(text, name, by) for name, text in posts]
    found = list[Post]()
    for (name, text), parse in zip(posts, by.parser.parse(plain), strict=True):
        short = f"at most {by.most} words; give one sentence at a time"
        if isinstance(parse, Refused):
            what = f"parser {by.parser_key} refuses its {len(text)} characters ({parse.reason})"
            raise DataError(what, file=name, remedy=short if parse.reason == "too long" else "word it otherwise")
        words = list(parse.words)
        if by.vocabulary.language == "zh":
            words = [part for word in words for part in known_parts(word, by.vocabulary)]
        if len(words) > by.most:
            raise DataError(f"{len(words)} words", file=name, remedy=short)
        if all(is_mark(word) or by.vocabulary.id_of(word) == UNK for word in words):
            few = shorten(" ".join(words), 40, placeholder=" ...")
            raise DataError(f"model {by.key} knows none of its words ({few})", file=name, remedy="word it otherwise")
        found.append(Post(name, text, words))
    return found


def _plain(text: str, name: str, by: Answerer) -> str:
    if by.vocabulary.language != "zh":
        return text
    from espalier.text.normalize import simplified

    plain = simplified(text)
    if plain != text:
        say(f"espalier: note: {name}: Traditional characters are read as Simplified ones")
    return plain


def known_parts(word: str, vocabulary: WordVocabulary) -> list[str]:
    """The fewest words of a vocabulary that make up a Chinese one; itself where none do, or where it is known.

    What is one word to one parser is two to another: corpora that came with their words are not parted as new posts
    are.
    """
    if len(word) > LETTERS:
        return [word]
    best: list[list[str] | None] = [None] * len(word) + [[]]  # of what follows on each place
    for start in reversed(range(len(word))):
        ways = [
            [word[start:end], *rest]
            for end in range(len(word), start, -1)
            if (rest := best[end]) is not None and vocabulary.id_of(word[start:end]) != UNK
        ]
        best[start] = min(ways, key=len, default=None)
    return best[0] or [word]


def answers_to(posts: Sequence[Post], by: Answerer, n: int) -> Iterator[Answer]:
    """The `n` best replies to each post, in order, the best first; fewer where beams end in the same words."""
    from espalier.decoding.dialogue import replies

    from pipeline.dialogue.decode import BEAMS

    size = max(1, BEAMS // by.decoder.beam)
    for start in range(0, len(posts), size):
        part = posts[start : start + size]
        batch = _data(part, by.vocabulary).batch(np.arange(len(part)), by.model.config.view).to(device())
        for post, found in zip(part, replies(by.model, batch, by.decoder, by.vocabulary), strict=True):
            for rank, reply in enumerate(found[:n], start=1):
                yield Answer(post, rank, reply)


def _data(posts: Sequence[Post], vocabulary: WordVocabulary) -> DialogueData:
    """The posts, each with a response of one word, which nobody reads."""
    from espalier.datasets.dialogue.data import ARITY, DialogueData
    from espalier.syntax.ternary import EOB

    columns: dict[str, list[Any]] = {
        "source": [vocabulary.encode(post.words) for post in posts],
        "target": [[UNK]] * len(posts),
        "order": [[0]] * len(posts),
        "children": [[EOB] * ARITY] * len(posts),
    }
    return DialogueData.of([post.name for post in posts], columns, vocabulary)
