"""The trivial baseline of a parser: frequent tags, and trees of a fixed shape.

It shows how much of a parser's score is due to chance and to the word order of the language.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel

from espalier.io.errors import DataError
from espalier.io.files import atomic_folder, read_json, write_json
from espalier.io.hashing import file_sha256
from espalier.io.validation import Strict
from espalier.syntax.constituency import read_tree, write_tree
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.parser import EMPTY, NO_ROUND_TRIP, Refused, Sentence, are_words
from espalier.syntax.tree import Tree

_FILE: Final = "trivial.json"


class TrivialTraining(Strict):
    """No settings."""


class TrivialModel(BaseModel):
    """Counts of a treebank.

    Attributes:
        tags: the most frequent tag of each word.
        tag: the most frequent tag, for other words.
        root: the most frequent label of a whole tree; empty if the treebank has no constituency trees.
        label: the most frequent label of other constituents with at least two words.
        heads: the neighbour that is the head of a word more often; None if the treebank has no heads.
        relations: the most frequent relation of each tag.
    """

    tags: dict[str, str]
    tag: str
    root: str = ""
    label: str = ""
    heads: Literal["previous", "next"] | None = None
    relations: dict[str, str] = {}


def load(model: str | Path) -> TrivialParser:
    """The parser of a folder written by `train_trivial`."""
    file = Path(model) / _FILE
    return TrivialParser(TrivialModel(**read_json(file, TrivialModel)), f"trivial {file_sha256(file)[:8]}")


def train_trivial(
    train: Sequence[Parse],
    dev: Sequence[Parse],
    settings: TrivialTraining,
    folder: Path,
    scratch: Path,
    *,
    seed: int,
    watch: Callable[[int, int, str], None],
) -> None:
    """Count a treebank, as `Backend.trained` does. Ties go to the first item in the treebank.

    Raises:
        DataError: no sentence has tags.
    """
    model = counted(train)
    with atomic_folder(folder) as part:
        write_json(part / _FILE, model.model_dump(mode="json"))
    watch(1, 1, "counted")


def counted(parses: Sequence[Parse]) -> TrivialModel:
    """The model of the sentences of a treebank."""
    tagged = [(word, tag) for parse in parses for word, tag in zip(parse.words, parse.tags, strict=False)]
    if not tagged:
        raise DataError("no sentence with tags", file="treebank")
    roots, labels = Counter[str](), Counter[str]()
    neighbours, relations = Counter[str](previous=0, next=0), dict[str, Counter[str]]()
    by_word: dict[str, Counter[str]] = {}
    for word, tag in tagged:
        by_word.setdefault(word, Counter())[tag] += 1
    for parse in parses:
        if parse.tree:
            tree = read_tree(parse.tree)
            roots[tree.label()] += 1
            labels.update(_labels(tree))
        for place, (tag, head, label) in enumerate(zip(parse.tags, parse.heads, parse.labels, strict=False), start=1):
            neighbours["previous"] += 0 < head == place - 1
            neighbours["next"] += head == place + 1
            relations.setdefault(tag, Counter())[label] += 1
    return TrivialModel(
        tags={word: _commonest(tags) for word, tags in by_word.items()},
        tag=_commonest(Counter(tag for _, tag in tagged)),
        root=_commonest(roots),
        label=_commonest(labels) or _commonest(roots),
        heads=("previous" if neighbours["previous"] >= neighbours["next"] else "next") if relations else None,
        relations={tag: _commonest(found) for tag, found in relations.items()},
    )


class TrivialParser:
    """A `Parser` that ignores the words of a sentence except for their tags.

    A constituency tree is right-branching under a root whose last child is the last word. In a dependency tree, each
    word depends on the same neighbour (left or right), and the word without that neighbour is the root.
    """

    def __init__(self, model: TrivialModel, signature: str) -> None:
        self.model, self.signature = model, signature

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse | Refused]:
        """A parse of each sentence, given as words or as text with spaces between words."""
        words = [tuple(each.split() if isinstance(each, str) else each) for each in sentences]
        return [self._parse(each) for each in words]

    def _parse(self, words: tuple[str, ...]) -> Parse | Refused:
        if not words:
            return EMPTY
        if not are_words(words):
            return NO_ROUND_TRIP
        model = self.model
        tags = tuple(model.tags.get(word, model.tag) for word in words)
        tree = write_tree(self._tree(words, tags)) if model.root else ""
        if model.heads is None:
            return Parse(words, tags, tree)
        count = len(words)
        heads = range(count) if model.heads == "previous" else [*range(2, count + 1), 0]
        relations = (model.relations.get(tag, "dep") if head else "root" for tag, head in zip(tags, heads, strict=True))
        return Parse(words, tags, tree, tuple(heads), tuple(relations))

    def _tree(self, words: Sequence[str], tags: Sequence[str]) -> Tree:
        *leaves, last = (Tree(tag, [word]) for word, tag in zip(words, tags, strict=True))
        if not leaves:
            return Tree(self.model.root, [last])
        rest = leaves.pop()
        while leaves:
            rest = Tree(self.model.label, [leaves.pop(), rest])
        return Tree(self.model.root, [rest, last])


def _labels(tree: Tree) -> Iterable[str]:
    """The labels of constituents below the root with at least two children."""
    waiting = list(tree)
    while waiting:
        node = waiting.pop()
        if not isinstance(node, str):
            if len(node) > 1:
                yield node.label()
            waiting += node


def _commonest(found: Counter[str]) -> str:
    return found.most_common(1)[0][0] if found else ""
