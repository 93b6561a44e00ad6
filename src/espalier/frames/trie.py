"""Tries of tokens by characters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from espalier.frames.utf8 import bits, code_points, split

Ids = npt.NDArray[np.int64]


@dataclass(slots=True)
class Node:
    """A place in tokens, between two characters.

    Attributes:
        children: what may come next.
        ends: the tokens that end here.
        parts: of tokens that end inside the next character: the range of code points that it can still be, and the id.
        size: the number of tokens below.
    """

    children: dict[str, Node] = field(default_factory=dict)
    ends: list[int] = field(default_factory=list)
    parts: list[tuple[int, int, int]] = field(default_factory=list)
    size: int = 0

    def add(self, token: int, rest: bytes) -> bool:
        """Add a token that goes on with the bytes `rest`; False if no text has these bytes."""
        whole, lead = split(rest)
        try:
            characters = whole.decode()
        except UnicodeDecodeError:
            return False
        node, path = self, [self]
        for character in characters:
            path.append(node := node.children.setdefault(character, Node()))
        if lead:
            node.parts.append((*code_points(lead), token))
        else:
            node.ends.append(token)
        for each in path:
            each.size += 1
        return True


class Level:
    """Places of the trie.

    Attributes:
        size: the number of tokens below.
        width: the number of characters, whole or begun, that come next.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes, self.size = nodes, sum(node.size for node in nodes)
        self.width = sum(len(node.children) + len(node.parts) for node in nodes)

    @cached_property
    def single(self) -> tuple[Ids, Ids]:
        """(m,) both: code points, and the tokens that end after them."""
        items = [item for node in self.nodes for item in node.children.items()]
        pairs = [(ord(character), token) for character, child in items for token in child.ends]
        points, tokens = np.array(pairs, np.int64).reshape(-1, 2).T
        return points, tokens

    @cached_property
    def parts(self) -> tuple[Ids, Ids, Ids]:
        """(n,) all: the ranges of code points, from the first to before the last, of tokens that end inside one."""
        first, last, tokens = np.array([part for node in self.nodes for part in node.parts], np.int64).reshape(-1, 3).T
        return first, last, tokens

    @cached_property
    def deep(self) -> tuple[Ids, Sequence[tuple[str, Sequence[Node]]]]:
        """(k,) both: code points after which tokens go on, and the places behind each character."""
        places = defaultdict[str, list[Node]](list)
        for character, child in (item for node in self.nodes for item in node.children.items()):
            if child.children or child.parts:
                places[character].append(child)
        return np.array([*map(ord, places)], np.int64), [*places.items()]


class Tails:
    """Tokens that begin with bytes that go on with a character.

    Attributes:
        bits: (n,) the bits of these bytes, and `nodes`, the tries of what follows them.
        ends: (m,) the tokens that are these bytes alone, and `at`, (m,) the index of the bytes of each.
    """

    def __init__(self, tries: Mapping[bytes, Node]) -> None:
        self.bits, self.nodes = np.array([*map(bits, tries)], np.int64), [*tries.values()]
        pairs = [(at, token) for at, node in enumerate(self.nodes) for token in node.ends]
        self.at, self.ends = np.array(pairs, np.int64).reshape(-1, 2).T
