"""Encodes pairs as word pieces and, if they have trees, as tree symbols (GuiG, section 4.1)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Final, Self, overload

from pydantic import Field, model_validator

from espalier.corpora.records import Pair, Quarantined, words_of
from espalier.datasets.encoding import Encoded, Encoding, Extras, Settings
from espalier.datasets.pairs.data import PairData
from espalier.datasets.pairs.tree_symbols import TreeSymbols
from espalier.datasets.pairs.vocabulary import MAX_PIECES, PairVocabulary
from espalier.datasets.vocabulary import UNK
from espalier.io.errors import ConfigError
from espalier.syntax.constituency import frequent_templates, read_tree
from espalier.text.language import Language
from espalier.text.wordpieces import VOCABULARY, WordPieces

SIDES: Final = ("source", "target")
#: The number of frequent templates that a dataset lists, and their levels (GuiG, section 2 and table 5).
MAX_TEMPLATES, TEMPLATE_LEVELS = 100, 3


class PairSettings(Settings):
    """Settings for pairs as rows of word pieces and tree symbols."""

    #: A word has one piece or more.
    opposite: ClassVar[Mapping[str, str]] = {"max_length": "min_words"}
    reads_pieces: ClassVar[bool] = True

    #: The size of a vocabulary of word pieces that is learnt, specials included.
    pieces: int = Field(16_000, ge=10, le=MAX_PIECES)
    #: Smallest number of occurrences in training for a published word piece (`pieces_from`) to be kept.
    min_count: int = Field(1, ge=1, le=100_000_000)
    #: Whether both sides have trees. Without trees, rows consist only of word pieces.
    trees: bool = True
    #: The levels of a tree that are kept.
    depth: int = Field(8, ge=1, le=1000)
    #: Bounds of the word pieces of a side, and of the nodes of its tree. Other pairs are quarantined; with `cut` the
    #: pieces after `max_length` are left out (C-DNPG's released code: 19).
    min_length: int = Field(3, ge=1, le=65_536)
    max_length: int = Field(50, ge=1, le=65_536)
    cut: bool = False
    lower: bool = True
    #: Whether training reads each pair in the other direction as well.
    both_directions: bool = True
    #: Whether the texts of the training pairs are kept: for a look-up in them, and to tell which pairs of the test they
    #: share a side with.
    keep_pairs: bool = False

    @property
    def needs(self) -> tuple[str, ...]:
        """The trees of both sides, if there are to be any."""
        return ("source_tree", "target_tree") if self.trees else ()

    @model_validator(mode="after")
    def _bounds(self) -> Self:
        if self.min_length > self.max_length:
            raise ValueError(f"min_length {self.min_length} is greater than max_length {self.max_length}")
        if self.cut and self.trees:
            raise ValueError("cut: true is for pairs without trees; set trees: false")
        return self


class PairEncoding(Encoding[Pair, PairSettings, PairVocabulary, PairData]):
    """Word pieces of both sides, and symbols of their trees."""

    settings, record, vocabulary, split = PairSettings, Pair, PairVocabulary, PairData

    def build_vocabulary(
        self, records: Sequence[Pair], settings: PairSettings, language: Language, published: Path | None = None
    ) -> PairVocabulary:
        """Word pieces and tree symbols of both sides of the training pairs."""
        if published is not None:
            WordPieces(published / VOCABULARY)  # is refused before the trees are read
        trees = (read_tree(tree, words=False) for row in records for tree in _trees(row) if tree)
        symbols = TreeSymbols.build(trees, settings.depth) if settings.trees else None
        texts = (" ".join(words_of(row, side)) for row in records for side in SIDES)
        if published is not None:
            file = published / VOCABULARY
            return PairVocabulary.published(texts, symbols, language, file=file, min_count=settings.min_count)
        return PairVocabulary.build(texts, symbols, language, pieces=settings.pieces, lower=settings.lower)

    def training_records(self, records: Sequence[Pair], settings: PairSettings) -> Sequence[Pair]:
        """The pairs, followed by the reversed pairs if `both_directions`."""
        return BothDirections(records) if settings.both_directions else records

    def encode(self, records: Sequence[Pair], vocabulary: PairVocabulary, settings: PairSettings) -> Encoded[PairData]:
        """Encode the pairs that fit as word pieces and tree symbols."""
        texts = {
            side: vocabulary.encode_texts([vocabulary.text_of(words_of(row, side)) for row in records])
            for side in SIDES
        }
        symbols = tree_encoder(vocabulary)
        columns: dict[str, list[list[int]]] = {name: [] for name in PairData.COLUMNS}
        ids, places, quarantined = list[str](), list[int](), list[Quarantined]()
        shortened = dict.fromkeys(SIDES, 0)
        for place, row in enumerate(records):
            pieces = [texts[side][place] for side in SIDES]
            if settings.cut:
                for side in SIDES:
                    shortened[side] += len(texts[side][place]) > settings.max_length
                pieces = [ids_[: settings.max_length] for ids_ in pieces]
            nodes, reason = _nodes(row, symbols) if settings.trees else ([[], []], None)
            reason = reason or _out_of_bounds(pieces, "word pieces", settings)
            if reason is None and settings.trees:
                reason = _out_of_bounds(nodes, "nodes", settings)
            if reason:
                text = "\t".join(getattr(row, side) for side in SIDES)
                quarantined.append(Quarantined(id=row.id, stage="linearize", reason=reason, text=text))
                continue
            for name, ids_ in zip(PairData.COLUMNS, [*pieces, *nodes], strict=True):
                columns[name].append(ids_)
            ids.append(row.id)
            places.append(place)
        facts = {f"cut_{side}": count for side, count in shortened.items()} if settings.cut else {}
        return Encoded(PairData.of(ids, columns, vocabulary), places, quarantined, facts)

    def extras(self, records: Sequence[Pair], settings: PairSettings) -> Extras:
        """`templates`: the most frequent templates of the target trees; `pairs`: the texts, if they are kept."""
        kept: dict[str, Any] = {}
        if settings.keep_pairs:
            kept["pairs"] = [{side: getattr(row, side) for side in SIDES} for row in records]
        if not settings.trees:
            return kept
        trees = (read_tree(row.target_tree, words=False) for row in records if row.target_tree)
        templates = frequent_templates(trees, TEMPLATE_LEVELS, MAX_TEMPLATES)
        return {"templates": [{"template": text, "count": count} for text, count in templates], **kept}

    def counts(self, split: PairData) -> Mapping[str, float]:
        """The number of pieces and nodes of the targets, and of unknown pieces."""
        return {
            "pieces": int(split.columns["target"].lengths.sum()),
            "nodes": int(split.columns["target_tree"].lengths.sum()),
            "unknown": split.columns["target"].count(UNK),
        }

    def numbers(self, vocabulary: PairVocabulary) -> Mapping[str, int]:
        """The number of pieces, labels and levels, including specials."""
        symbols = vocabulary.symbols
        trees = {"labels": len(symbols.labels), "levels": symbols.levels} if symbols else {}
        return {"pieces": vocabulary.text_size, **trees}


def tree_encoder(vocabulary: PairVocabulary) -> Callable[[str], list[int]]:
    """A cached function from Penn strings to symbols.

    The function raises a ConfigError for a tree with a label that the vocabulary lacks.
    """
    return cache(lambda tree: vocabulary.trees.encode(read_tree(tree, words=False)))


class BothDirections(Sequence[Pair]):
    """Pairs, followed by the reversed pairs, which are made each time they are read."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self._pairs = pairs

    def __len__(self) -> int:
        return 2 * len(self._pairs)

    def __iter__(self) -> Iterator[Pair]:
        return chain(self._pairs, map(reversed_pair, self._pairs))

    @overload
    def __getitem__(self, place: int) -> Pair: ...
    @overload
    def __getitem__(self, place: slice) -> list[Pair]: ...
    def __getitem__(self, place: int | slice) -> Pair | list[Pair]:
        """The pair at a place, or the pairs at several."""
        wanted, count = range(len(self))[place], len(self._pairs)
        if not isinstance(wanted, int):
            return [self[each] for each in wanted]
        return self._pairs[wanted] if wanted < count else reversed_pair(self._pairs[wanted - count])


def reversed_pair(pair: Pair) -> Pair:
    """The pair with source and target exchanged. Its id ends with "/reversed"."""
    columns = ("", "_words", "_tags", "_tree", "_heads", "_labels")
    exchanged = {
        f"{side}{name}": getattr(pair, f"{opposite}{name}")
        for side, opposite in (SIDES, SIDES[::-1])
        for name in columns
    }
    return replace(pair, id=f"{pair.id}/reversed", **exchanged)


def _trees(row: Pair) -> tuple[str, str]:
    return row.source_tree, row.target_tree


def _nodes(row: Pair, symbols: Callable[[str], list[int]]) -> tuple[list[list[int]], str | None]:
    """The symbols of both trees, or the reason for quarantine."""
    if not all(_trees(row)):
        return [], "no tree"
    try:
        return [symbols(tree) for tree in _trees(row)], None
    except ConfigError:
        return [], "unknown label"


def _out_of_bounds(rows: Sequence[Sequence[int]], unit: str, settings: PairSettings) -> str | None:
    if any(len(row) < settings.min_length for row in rows):
        return f"under {settings.min_length} {unit}"
    return f"over {settings.max_length} {unit}" if any(len(row) > settings.max_length for row in rows) else None
