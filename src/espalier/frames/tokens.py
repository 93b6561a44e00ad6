"""The bytes that each token of a tokenizer stands for, and a trie of them by characters."""

from __future__ import annotations

import json
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from espalier.io.errors import ConfigError

Ids = npt.NDArray[np.int64]

#: Bytes that begin a character of several bytes, and those that go on. With them and ASCII any text can be spelled.
_LEADS, _FOLLOWS, _ASCII = range(0xC2, 0xF1), range(0x80, 0xC0), (0x0A, *range(0x20, 0x7F))


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


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of a tokenizer.

    Args:
        spelled: the bytes of each token by id; None for one that is not part of a text, such as EOS.
        ends: the ids that end a text.
    """

    spelled: Sequence[bytes | None]
    ends: frozenset[int]
    _counts: dict[bytes, int | None] = field(default_factory=dict, repr=False)
    _levels: dict[tuple[int, ...], Level] = field(default_factory=dict, repr=False)

    @cached_property
    def root(self) -> Node:
        """The trie of the tokens that begin with a whole character, or are the first part of one."""
        return self._tries[b""]

    @cached_property
    def tails(self) -> dict[int, Tails]:
        """The tokens that begin with the last or the middle bytes of a character, by the number of these bytes."""
        tries = {tail: node for tail, node in self._tries.items() if tail}
        return {size: Tails({tail: tries[tail] for tail in tries if len(tail) == size}) for size in (1, 2, 3)}

    @cached_property
    def _tries(self) -> dict[bytes, Node]:
        """By the bytes of tokens that go on with a character, if any, the trie of what follows them."""
        tries = defaultdict[bytes, Node](Node)
        for token, spelled in enumerate(self.spelled):
            if spelled and (self.has_parts or not is_part(spelled)):
                rest = spelled.lstrip(bytes(_FOLLOWS))
                tries[spelled[: len(spelled) - len(rest)]].add(token, rest)
        return tries

    def level(self, nodes: Sequence[Node]) -> Level:
        """The arrays of places of the trie. They are made once."""
        key = tuple(map(id, nodes))
        if key not in self._levels:
            self._levels[key] = Level(nodes)
        return self._levels[key]

    @cached_property
    def single(self) -> frozenset[bytes]:
        """What tokens spell at most one character."""
        return frozenset(each for each in self.spelled if each and len(each) <= length(each))

    @cached_property
    def characters(self) -> frozenset[str]:
        """The characters that one token spells."""
        decoded = ((each, each.decode(errors="ignore")) for each in self.single)
        return frozenset(text for each, text in decoded if text.encode() == each)

    @cached_property
    def has_parts(self) -> bool:
        """Whether the rest of any character can be spelled; if not, tokens that are parts of one are not used."""
        return all(bytes([byte]) in self.single for byte in _FOLLOWS)

    @cached_property
    def spells_all(self) -> bool:
        """Whether there is a token for each byte of a text."""
        return self.has_parts and all(bytes([byte]) in self.single for byte in (*_ASCII, *_LEADS))

    def spells(self, character: str) -> bool:
        """Whether tokens spell a character alone."""
        spelled = character.encode()
        return spelled in self.single or (
            self.has_parts and any(spelled[:size] in self.single for size in range(1, len(spelled)))
        )

    def count(self, spelled: bytes) -> int | None:
        """The least number of tokens that spell a character, or its end, alone; None if no tokens do."""
        if spelled not in self._counts:
            counts = [
                1 + rest
                for size in range(1, len(spelled))
                if spelled[:size] in self.single and (rest := self.count(spelled[size:])) is not None
            ]
            self._counts[spelled] = 1 if spelled in self.single else min(counts, default=None)
        return self._counts[spelled]

    def text(self, ids: Sequence[int]) -> bytes:
        """The bytes of a row of ids."""
        return b"".join(self.spelled[i] or b"" for i in ids if i < len(self.spelled))


def is_part(spelled: bytes) -> bool:
    """Whether bytes begin or end inside a character."""
    return spelled[0] in _FOLLOWS or bool(split(spelled)[1])


def split(spelled: bytes) -> tuple[bytes, bytes]:
    """Bytes without, and the bytes of, a last character that is not whole."""
    size = len(spelled) - len(spelled.rstrip(bytes(_FOLLOWS))) + 1
    if size > min(3, len(spelled)) or length(spelled[-size:]) <= size:
        return spelled, b""
    return spelled[:-size], spelled[-size:]


def length(spelled: bytes) -> int:
    """The number of bytes of the character that begins so."""
    lead = spelled[0]
    return 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


def code_points(lead: bytes) -> tuple[int, int]:
    """The first code point whose character begins with these bytes, and the one after the last."""
    value, shift = bits(lead), 6 * (length(lead) - len(lead))
    return max(value << shift, least(lead)), value + 1 << shift


def least(lead: bytes) -> int:
    """The first code point with so many bytes as a character that begins so."""
    return (0, 0x80, 0x800, 0x10000)[length(lead) - 1]


def bits(part: bytes) -> int:
    """The bits of the code point that bytes of a character give, from its first byte on or not."""
    value = 0
    for byte in part:
        value = value << 6 | byte & (
            0x3F if byte in _FOLLOWS else 0x7F if byte < 0x80 else 0x1F if byte < 0xE0 else 0x0F
        )
    return value


_KNOWN: Final = WeakKeyDictionary[Any, Tokens]()


def tokens_of(tokenizer: Any) -> Tokens:
    """The tokens of a tokenizer of `transformers`: byte-level BPE, SentencePiece, WordPiece, or whole characters.

    They are read once for each tokenizer.

    Raises:
        ConfigError: the tokenizer has no EOS, or a decoder that is not known.
    """
    if tokenizer not in _KNOWN:
        _KNOWN[tokenizer] = Tokens(list(_spelled(tokenizer)), _ends(tokenizer))
    return _KNOWN[tokenizer]


def _ends(tokenizer: Any) -> frozenset[int]:
    end = tokenizer.eos_token_id
    if end is None:
        raise ConfigError("no token ends a text", where="tokenizer", remedy="set its eos_token")
    return frozenset([end])


def _spelled(tokenizer: Any) -> Iterator[bytes | None]:
    pieces: list[str] = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    added, special, spell = tokenizer.added_tokens_decoder, set(tokenizer.all_special_ids), _speller(tokenizer)
    for number, piece in enumerate(pieces):
        if number in special or piece is None or (number in added and added[number].special):
            yield None
        else:
            yield added[number].content.encode() if number in added else spell(piece)


def _speller(tokenizer: Any) -> Any:
    """A function from a piece to its bytes."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    decoder = json.loads(backend.to_str())["decoder"] if backend is not None else {"type": "Metaspace"}
    kinds = {each["type"]: each for each in (decoder or {}).get("decoders", [decoder or {"type": "Fuse"}])}
    if "ByteLevel" in kinds:
        return lambda piece: bytes(map(_BYTES.__getitem__, piece))
    if "WordPiece" in kinds:
        return lambda piece: _of_word(piece, kinds["WordPiece"]["prefix"])
    if unknown := sorted(kinds.keys() - {"Metaspace", "Replace", "ByteFallback", "Fuse", "Strip"}):
        raise ConfigError(f"a decoder {unknown[0]}", where="tokenizer", remedy="use ByteLevel, Metaspace or WordPiece")
    return _of_sentence_piece


def _of_sentence_piece(piece: str) -> bytes:
    if len(piece) == 6 and piece.startswith("<0x") and piece.endswith(">"):
        return bytes.fromhex(piece[3:5])
    return piece.replace("▁", " ").encode()


def _of_word(piece: str, prefix: str) -> bytes:
    """A blank is before each word of letters or digits; Han characters and marks have none."""
    if piece.startswith(prefix):
        return piece.removeprefix(prefix).encode()
    is_word = unicodedata.category(piece[0])[0] in "LN" and not unicodedata.name(piece[0], "").startswith("CJK")
    return (" " * is_word + piece).encode()


def _byte_level() -> dict[str, int]:
    """The byte of each character of byte-level BPE (GPT-2)."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {chr(byte): byte for byte in shown} | {chr(256 + n): byte for n, byte in enumerate(hidden)}


_BYTES: Final = _byte_level()
