"""Encoded pairs in memory, and their batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from espalier.corpora.leakage import letters_of
from espalier.datasets.batch import Batch, tensors
from espalier.datasets.pairs.paths import tree_paths
from espalier.datasets.pairs.tree_symbols import CLOSE, FIRST, FIRST_BRACKETED, OPEN
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.ragged import IntArray, Ragged, RaggedSplit
from espalier.datasets.vocabulary import BOS, EOS, PAD
from espalier.io.errors import ConfigError
from espalier.syntax.constituency import read_tree

if TYPE_CHECKING:
    from torch import Tensor

#: The rows that an encoder can read; `template` is the top levels of the target's tree.
Row = Literal["source", "source_tree", "target_tree", "template"]
ROWS: tuple[Row, ...] = get_args(Row)
#: The pairs that are looked at at a time.
PART = 1 << 16


def modality_of(row: Row) -> Literal["text", "tree"]:
    """Whether a row holds word pieces or tree symbols."""
    return "text" if row == "source" else "tree"


@dataclass(frozen=True, slots=True)
class PairView:
    """The rows of a pair that a model reads and writes.

    Attributes:
        reads: names of the rows that the encoders read.
        writes: the target's "text" or "tree".
        form: form of trees: "levels" (GuiG: one symbol per node) or "brackets" (SCPN: three ids per node).
        template: the number of levels of a template (3 in GuiG).
        boundary_ids: whether encoders' rows begin with BOS and end with EOS (released GuiG).
        cut: in training, the share of target trees that encoders read cut by `cut_at_random`.
        paths: names of the trees, in the form "levels", along whose paths an encoder attends.
    """

    reads: tuple[Row, ...]
    writes: Literal["text", "tree"] = "text"
    form: Literal["levels", "brackets"] = "levels"
    template: int = 3
    boundary_ids: bool = False
    cut: float = 0.0
    paths: tuple[Row, ...] = ()


@dataclass(frozen=True)
class PairBatch(Batch):
    """A batch of pairs. Rows are right-padded with `PAD`; rows that the view does not read have width 0.

    Attributes:
        source: (batch, source pieces).
        source_tree, target_tree, template: (batch, nodes), or (batch, 3 x nodes) where trees are bracketed.
        inputs: (batch, time) BOS, then the target shifted by one.
        target: (batch, time) the ids to be predicted, ended by EOS.
    """

    PADDED: ClassVar[tuple[str, ...]] = ("target", "source")

    source: Tensor
    source_tree: Tensor
    target_tree: Tensor
    template: Tensor
    inputs: Tensor
    target: Tensor


@dataclass(frozen=True)
class PathBatch(PairBatch):
    """A batch for a model that attends along paths.

    Attributes:
        paths: for each tree of `view.paths` its root-to-leaf paths, (batch, paths, depth), as in `tree_paths`.
    """

    paths: Mapping[str, Tensor]


@dataclass(frozen=True)
class PairData(RaggedSplit[PairVocabulary]):
    """A split of encoded pairs: word pieces of both sides, and symbols of both trees, cut at a depth.

    Attributes:
        template: the symbols of each pair's template; None means the top levels of the target tree.
    """

    COLUMNS: ClassVar[tuple[str, ...]] = ("source", "target", "source_tree", "target_tree")

    template: Ragged | None = None

    @classmethod
    def of(
        cls,
        ids: Sequence[str],
        columns: Mapping[str, Sequence[npt.ArrayLike]],
        vocabulary: PairVocabulary,
        template: Sequence[npt.ArrayLike] | None = None,
    ) -> PairData:
        """Build a split from a list of rows for each column."""
        ragged = {name: Ragged.of(columns[name]) for name in cls.COLUMNS}
        return cls(list(ids), ragged, vocabulary, None if template is None else Ragged.of(template))

    def select(self, places: IntArray) -> Self:
        """The pairs with these indices, in that order."""
        selected = super().select(places)
        return selected if self.template is None else replace(selected, template=self.template.select(places))

    def with_trees(self, guides: Sequence[str] | None, templates: Sequence[str] | None) -> PairData:
        """The same pairs with other target trees and templates, given as Penn strings.

        Args:
            guides: a target tree for each pair; None keeps the present ones.
            templates: a template for each pair; None means the top levels of the target's tree.

        Raises:
            ConfigError: a tree has a label that the vocabulary lacks.
        """
        columns = dict(self.columns)
        if guides is not None:
            columns["target_tree"] = self._symbols(guides)
        return PairData(self.ids, columns, self.vocabulary, None if templates is None else self._symbols(templates))

    def _symbols(self, trees: Sequence[str]) -> Ragged:
        symbols = {tree: self.vocabulary.trees.encode(read_tree(tree, words=False)) for tree in dict.fromkeys(trees)}
        return Ragged.of([symbols[tree] for tree in trees])

    def rows(self, name: str, places: IntArray, view: PairView) -> Ragged:
        """One of `ROWS` or "target" for the pairs at these places, without specials, in the form of `view`."""
        if name in ("source", "target"):
            return self.columns[name].select(places)
        if name != "template":
            trees = self.columns[name].select(places)
        elif self.template is not None:
            trees = self.template.select(places)
        else:
            trees = top_levels(self.columns["target_tree"].select(places), view.template, self.vocabulary)
        return trees if view.form == "levels" else bracketed(trees, self.vocabulary)

    def words(self) -> frozenset[str]:
        """The distinct words of both sides, in lower case."""
        return frozenset(
            word.lower() for side in ("source", "target") for word in self.vocabulary.words_of(self.columns[side])
        )

    def letters(self, among: Set[str]) -> set[str]:
        """Those of these letters of texts that are all letters of a text of either side, compared as in leakage."""
        pieces = [letters_of(piece) for piece in self.vocabulary.pieces_of(range(self.vocabulary.text_size))]
        texts = (
            "".join([pieces[id_] for id_ in part.flat[start:end].tolist()])
            for side in ("source", "target")
            for part in self.columns[side].parts(PART)
            for start, end in pairwise(part.offsets.tolist())
        )
        return {text for text in texts if text and text in among}

    def sizes(self, view: PairView) -> IntArray:
        """(examples,) size of each pair in a batch's budget: the number of ids of both texts and both trees.

        Sizes do not depend on the view, so all models of a dataset train on the same batches in the same order.
        """
        return sum((self.columns[name].lengths for name in self.COLUMNS), start=np.ones(len(self), dtype=np.int64))

    def longest(self, view: PairView) -> int:
        """The length of the longest row that a model with this view reads or writes, BOS and EOS included.

        Raises:
            ConfigError: the view reads trees, and the pairs have none.
        """
        names = {*view.reads, "target" if view.writes == "text" else "target_tree"}
        if self.vocabulary.symbols is None and (trees := sorted(names - {"source", "target"})):
            raise ConfigError(
                f"the dataset has no trees, and the model reads or writes {', '.join(trees)}",
                where="network",
                remedy="make the dataset with trees: true, or choose a model of texts alone",
            )
        return max((self._longest(name, view) for name in names), default=0) + 2

    def _longest(self, name: str, view: PairView) -> int:
        """The length of the longest of these rows, without specials."""
        form = 3 if view.form == "brackets" and name not in ("source", "target") else 1
        if name == "template" and self.template is None:
            tops = (
                top_levels(part, view.template, self.vocabulary) for part in self.columns["target_tree"].parts(PART)
            )
            return form * max((int(part.lengths.max()) for part in tops), default=0)
        trees = self.columns[name] if name != "template" or self.template is None else self.template
        return form * int(trees.lengths.max(initial=0))

    def batch(
        self, indices: IntArray, view: PairView, rng: np.random.Generator | None = None, *, grain: int = 1
    ) -> PairBatch:
        """Collate the rows `indices` for a model with this view. `rng` chooses the trees to cut (`view.cut`)."""
        rows: dict[str, npt.NDArray[np.int64]] = {name: np.zeros((len(indices), 0), dtype=np.int64) for name in ROWS}
        every = np.arange(len(indices))
        for name in view.reads:
            if name == "target_tree" and view.cut and rng is not None:
                ids = self._cut_trees(indices, view, rng)
            else:
                ids = self.rows(name, indices, view).padded(every, PAD)
            rows[name] = _widened(_with_boundaries(ids) if view.boundary_ids else ids, grain)
        target = self.rows("target" if view.writes == "text" else "target_tree", indices, view)
        ids = _widened(_with_boundaries(target.padded(every, PAD)), grain, 1)
        rows["inputs"] = np.where(ids[:, :-1] == EOS, PAD, ids[:, :-1])
        rows["target"] = ids[:, 1:]
        if not view.paths:
            return PairBatch(**tensors(rows))
        levels = {name: np.maximum(self.vocabulary.trees.levels_of(rows[name]), 0) for name in view.paths}
        paths = tensors({name: tree_paths(level) for name, level in levels.items()})
        return PathBatch(**tensors(rows), paths=paths)

    def _cut_trees(self, indices: IntArray, view: PairView, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """(batch, nodes or 3 x nodes) target trees, of which a share is cut."""
        trees = self.columns["target_tree"].select(indices)
        trees = cut_at_random(trees, view.cut, view.template, rng, self.vocabulary)
        trees = trees if view.form == "levels" else bracketed(trees, self.vocabulary)
        return trees.padded(np.arange(len(indices)), PAD)


def cut_at_random(
    trees: Ragged, share: float, levels: int, rng: np.random.Generator, vocabulary: PairVocabulary
) -> Ragged:
    """Cut a random share of the trees; a cut tree loses at least its last level.

    A cut tree of n levels keeps a number of levels that is uniform from `levels` to n - 1. A chosen tree of at most
    `levels` levels stays whole. The number of chosen trees is share x trees, rounded up or down at random so that its
    mean is exact.
    """
    level, count = vocabulary.trees.levels_of(trees.flat), len(trees.lengths)
    owner = np.repeat(np.arange(count), trees.lengths)
    own = np.zeros(count, dtype=np.int64)
    np.maximum.at(own, owner, level)
    chosen = np.zeros(count, dtype=bool)
    chosen[rng.permutation(count)[: int(share * count + rng.random())]] = True
    kept = rng.integers(levels, np.maximum(own, levels + 1))
    inside = level <= np.where(chosen & (own > levels), kept, own)[owner]
    before = np.concatenate([[0], np.cumsum(inside)])
    return Ragged(trees.flat[inside], before[trees.offsets])


def top_levels(trees: Ragged, levels: int, vocabulary: PairVocabulary) -> Ragged:
    """The nodes of each tree's top `levels` levels."""
    in_top = vocabulary.trees.levels_of(trees.flat) <= levels
    before = np.concatenate([[0], np.cumsum(in_top)])
    return Ragged(trees.flat[in_top], before[trees.offsets])


def bracketed(trees: Ragged, vocabulary: PairVocabulary) -> Ragged:
    """Each row in SCPN's form, three ids per node: "(" and its label before its children, ")" after them."""
    symbols = vocabulary.trees
    level = symbols.levels_of(trees.flat)
    following = np.append(level[1:], 1)
    following[trees.offsets[1:][trees.lengths > 0] - 1] = 1  # after the last node all brackets close
    starts = np.concatenate([[0], np.cumsum(2 + np.maximum(0, level - following + 1))])
    flat = np.full(starts[-1], CLOSE, dtype=np.int32)
    flat[starts[:-1]] = OPEN
    flat[starts[:-1] + 1] = FIRST_BRACKETED + symbols.label_ids[trees.flat] - FIRST
    return Ragged(flat, starts[trees.offsets])


def _with_boundaries(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """(count, n) right-padded rows to (count, n + 2), with BOS before and EOS after each."""
    count = len(rows)
    framed = np.full((count, rows.shape[1] + 2), PAD, dtype=np.int64)
    framed[:, 0], framed[:, 1:-1] = BOS, rows
    framed[np.arange(count), 1 + (rows != PAD).sum(1)] = EOS
    return framed


def _widened(rows: npt.NDArray[np.int64], grain: int, extra: int = 0) -> npt.NDArray[np.int64]:
    """Pad (count, n) rows to the next width that is a multiple of `grain`, plus `extra`."""
    return np.pad(rows, ((0, 0), (0, -(rows.shape[1] - extra) % grain)))
