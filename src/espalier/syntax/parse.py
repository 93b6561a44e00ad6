"""The parse of one sentence, and its columns in a table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

#: The columns of a parse; in a table each has the side of the example as its prefix: `target_words`, `source_tree`.
COLUMNS = ("words", "tags", "tree", "heads", "labels")
#: How PTB writes a word outside its vocabulary.
UNKNOWN: Final = "<unk>"


@dataclass(frozen=True, slots=True)
class Parse:
    """One parsed sentence. Attributes that the parser does not predict are empty.

    Attributes:
        words: the tokens; not empty and without white space.
        tags: one part of speech per word.
        tree: a constituency tree as one canonical Penn string, never cut (see `constituency.write_tree`).
        heads: for each word, the number of its head, from 1; 0 for the root.
        labels: for each word, the relation to its head.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...] = ()
    tree: str = ""
    heads: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()


def columns_of(parse: Parse, side: str) -> dict[str, str]:
    """The five columns of one side as text. Lists are joined by spaces."""
    values = (parse.words, parse.tags, parse.tree, parse.heads, parse.labels)
    return {
        f"{side}_{name}": value if isinstance(value, str) else " ".join(map(str, value))
        for name, value in zip(COLUMNS, values, strict=True)
    }


def parse_of(row: Mapping[Any, Any], side: str) -> Parse:
    """The inverse of `columns_of`."""
    words, tags, tree, heads, labels = (row[f"{side}_{name}"] for name in COLUMNS)
    return Parse(
        tuple(words.split(" ")) if words else (),
        tuple(tags.split(" ")) if tags else (),
        tree,
        tuple(map(int, heads.split())),
        tuple(labels.split(" ")) if labels else (),
    )
