"""Encoded verse in memory, and its batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from espalier.datasets.batch import GRAIN, Batch, tensors
from espalier.datasets.ragged import IntArray, Ragged, RaggedSplit
from espalier.datasets.verse.frames import NO_TONE, Frame, target_of
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import BOS, EOS, PAD, SEP, UNK
from espalier.io.errors import ConfigError

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class View:
    """The symbols of a frame that a model reads. Each ablation of the paper's table 4 is a view.

    Attributes:
        order: "descending" (equation 4) or "ascending" (w/ inverse-P).
        literals: in training, the share of words whose C symbol is the word itself (section 3.3; 0.2 in the paper).
        title: whether the tune's name is read as memory (released).
        tones: whether the tones of places are read (T; ours).
    """

    order: str = "descending"
    literals: float = 0.0
    title: bool = False
    tones: bool = False


@dataclass(frozen=True)
class VerseBatch(Batch):
    """A batch of verse. Rows are right-padded with `PAD`.

    Attributes:
        inputs: (batch, time) BOS, then the target shifted by one.
        target: (batch, time) the ids to be predicted.
        c, p, s: (batch, time) the symbols of the target's places (equations 3-5).
        letter: (batch, time) index of the rhyme letter at rhyme places, -1 elsewhere.
        tone: (batch, time) tone of each place, as in `Frame`.
        copy: (batch, time) the place that each place repeats, as in `Frame`; width 0 if no frame repeats a word.
        t: (batch, time) symbols of the tones, `PAD` at marks and separators; width 0 if the model reads
            no tones.
        title: (batch, title length) ids of the tune's name; width 0 if the model reads no title.
    """

    inputs: Tensor
    target: Tensor
    c: Tensor
    p: Tensor
    s: Tensor
    letter: Tensor
    tone: Tensor
    copy: Tensor
    t: Tensor
    title: Tensor


@dataclass(frozen=True)
class VerseData(RaggedSplit[VerseVocabulary]):
    """A split of encoded verse. `title` is as long as the tune's name; the other columns are as long as the target.

    A file has the column `tone` only if the vocabulary has tone symbols; else tones are unknown.
    """

    COLUMNS: ClassVar[tuple[str, ...]] = ("target", "c", "p", "inverse", "s", "letter", "title")
    GRAIN: ClassVar[int] = GRAIN

    @classmethod
    def of(
        cls,
        ids: list[str],
        frames: Sequence[Frame],
        vocabulary: VerseVocabulary,
        *,
        targets: Sequence[npt.ArrayLike] | None = None,
        titles: Sequence[npt.ArrayLike] | None = None,
    ) -> Self:
        """Build a split from frames. Without `targets`, target rows are empty."""
        names = (*cls.COLUMNS[1:-1], "tone", *(["copy"] if any((frame.copy >= 0).any() for frame in frames) else []))
        columns = {name: Ragged.of([getattr(frame, name) for frame in frames]) for name in names}
        columns["target"] = Ragged.of(targets if targets is not None else [[] for _ in frames])
        columns["title"] = Ragged.of(titles if titles is not None else [[] for _ in frames])
        return cls(ids, columns, vocabulary)

    @classmethod
    def names(cls, vocabulary: VerseVocabulary) -> tuple[str, ...]:
        """The columns of a file."""
        return (*cls.COLUMNS, "tone") if vocabulary.tones else cls.COLUMNS

    @property
    def lengths(self) -> IntArray:
        """(examples,) length of each frame."""
        return self.columns["c"].lengths

    def has_formats(self, texts: Sequence[str]) -> list[bool]:
        """For each text, whether a poem of the split has its format: the same marks, and as many words between them.

        Marks that the vocabulary lacks count as words.
        """
        voc, target = self.vocabulary, self.columns["target"]
        is_word = np.ones(voc.text_size, dtype=bool)
        is_word[[SEP, EOS, *voc.mark_ids.tolist()]] = False

        def pattern(ids: npt.NDArray[Any]) -> bytes:
            return np.where(is_word[ids], UNK, ids).astype(np.int64).tobytes()

        wanted = [pattern(target_of(text, voc)) for text in texts]
        among = set(wanted)
        patterns = (pattern(target.flat[start:end]) for start, end in pairwise(target.offsets))
        known = {each for each in patterns if each in among}
        return [each in known for each in wanted]

    def sizes(self, view: View) -> IntArray:
        """(examples,) size of each example in a batch's budget: its length."""
        return self.lengths

    def longest(self, view: View) -> int:
        """The length of the longest row that a model reads or writes.

        Raises:
            ConfigError: the view reads tones, but the vocabulary has no tone symbols.
        """
        if view.tones and not self.vocabulary.tones:
            raise ConfigError(
                "the vocabulary has no symbols for tones", where="symbols", remedy="give the dataset tones: true"
            )
        return int(self.lengths.max(initial=0))

    def batch(
        self, indices: IntArray, view: View, rng: np.random.Generator | None = None, *, grain: int = 1
    ) -> VerseBatch:
        """Collate the rows `indices` for a model with this view.

        Args:
            rng: draws the literals of section 3.3; None (evaluation) draws none.
            grain: lengths are padded to a multiple of it.
        """
        voc = self.vocabulary
        padded = {
            name: ragged.padded(indices, -1 if name in ("letter", "tone", "copy") else PAD, grain)
            for name, ragged in self.columns.items()
        }
        c = padded["c"]
        if view.literals and rng is not None:
            words = (c == voc.c_word) | (c == voc.c_rhyme)
            c = np.where(words & (rng.random(c.shape) < view.literals), padded["target"], c)
        rows = {
            "inputs": _shifted(padded["target"], len(indices)),
            "target": padded["target"],
            "c": c,
            "p": padded["p" if view.order == "descending" else "inverse"],
            "s": padded["s"],
            "letter": padded["letter"],
            "tone": padded["tone"] if "tone" in padded else np.full_like(c, NO_TONE),
            "copy": padded["copy"] if "copy" in padded else c[:, :0],
            "t": np.where((own := padded["tone"]) < 0, PAD, voc.t_either + own) if view.tones else c[:, :0],
            "title": padded["title"] if view.title else padded["title"][:, :0],
        }
        return VerseBatch(**tensors(rows))


def _shifted(target: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """(count, time): BOS, then the target without its last column."""
    if target.shape[1] == 0:
        return np.full((count, 1), BOS, dtype=np.int64)
    return np.concatenate([np.full((count, 1), BOS, dtype=np.int64), target[:, :-1]], axis=1)
