"""The bytes that each token of a tokenizer stands for."""

from __future__ import annotations

import json
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final
from weakref import WeakKeyDictionary

from espalier.frames.trie import Level, Node, Tails
from espalier.frames.utf8 import ASCII, FOLLOWS, LEADS, is_part, length
from espalier.io.calls import shown
from espalier.io.errors import CallError, ConfigError


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
    def count_of_ids(self) -> int:
        """The number of ids up to the last one that is written."""
        return 1 + max((token for token, spelled in enumerate(self.spelled) if spelled), default=-1)

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
                rest = spelled.lstrip(bytes(FOLLOWS))
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
        return all(bytes([byte]) in self.single for byte in FOLLOWS)

    @cached_property
    def spells_all(self) -> bool:
        """Whether there is a token for each byte of a text."""
        return self.has_parts and all(bytes([byte]) in self.single for byte in (*ASCII, *LEADS))

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


_KNOWN: Final = WeakKeyDictionary[Any, Tokens]()


def tokens_of(tokenizer: Any) -> Tokens:
    """The tokens of a tokenizer of `transformers`: byte-level BPE, SentencePiece, WordPiece, or whole characters.

    They are read once for each tokenizer.

    Raises:
        CallError: it is no tokenizer.
        ConfigError: the tokenizer has no EOS, or a decoder that is not known.
    """
    if not hasattr(tokenizer, "convert_ids_to_tokens"):
        raise CallError(f"{shown(tokenizer)} instead of a tokenizer of transformers", where="tokenizer")
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
        return lambda piece: bytes(map(_BYTES.__getitem__, piece)) if _BYTES.keys() >= {*piece} else None
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
