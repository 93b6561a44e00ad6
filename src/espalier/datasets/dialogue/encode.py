"""From pairs of post and response to words' ids and canonical trees; what models cannot hold is put aside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from espalier.corpora.records import Pair, Quarantined, words_of
from espalier.datasets.dialogue.data import COLUMNS, DialogueData
from espalier.datasets.vocabulary import UNK, WordVocabulary
from espalier.syntax.dependency import Dependencies, mistake
from espalier.syntax.projective import projectivize
from espalier.syntax.ternary import Ternary, ternary
from espalier.text.language import Language

SIDES: Final = ("source", "target")


def words_known(rows: Sequence[Pair], *, most: int, coverage: float) -> WordVocabulary:
    """The most frequent words of both sides of the rows that train (28,000 in X2Tree, which cover 97 %)."""
    language: Language = "zh" if rows and rows[0].language == "zh" else "en"
    tokens = (word for row in rows for side in SIDES for word in words_of(row, side))
    return WordVocabulary.most_frequent(tokens, language, most=most, coverage=coverage)


def canonicalize(
    rows: Sequence[Pair],
    vocabulary: WordVocabulary,
    *,
    least: int = 1,
    most: int = 50,
    unknown: float = 1.0,
    lift: bool = True,
    stage: str = "canonicalize",
) -> tuple[DialogueData, list[Quarantined], int]:
    """Ids and ternary trees of the rows that fit, the others with their reasons, and how many trees were lifted.

    Args:
        least, most: words of each side.
        unknown: the largest share of either side's words that may be unknown; a side of unknown words alone never fits.
        lift: whether a tree that is not projective is made so (`syntax/projective.py`) or put aside.
        stage: what the quarantine table calls the one who puts rows aside.
    """
    columns: dict[str, list[npt.ArrayLike]] = {name: [] for name in COLUMNS}
    ids, aside, lifted = list[str](), list[Quarantined](), 0
    for row in rows:
        words = [words_of(row, side) for side in SIDES]
        coded = [vocabulary.encode(side) for side in words]
        tree: Ternary | None = None
        reason = _unfit(coded, least, most, unknown)
        if not reason:
            tree, reason, lifts = _tree(row, words[1], lift)
            lifted += lifts > 0
        if tree is None:
            text = "\t".join(getattr(row, side) for side in SIDES)
            aside.append(Quarantined(id=row.id, stage=stage, reason=reason, text=text))
            continue
        ids.append(row.id)
        parts: tuple[npt.ArrayLike, ...] = (*coded, tree.words, tree.children.ravel())
        for name, value in zip(COLUMNS, parts, strict=True):
            columns[name].append(value)
    return DialogueData.of(ids, columns, vocabulary), aside, lifted


def _unfit(sides: Sequence[Sequence[int]], least: int, most: int, unknown: float) -> str:
    lengths = [len(side) for side in sides]
    if min(lengths) < max(1, least):
        return f"under {max(1, least)} words"
    if max(lengths) > most:
        return f"over {most} words"
    shares = [np.mean(np.array(side) == UNK) for side in sides]
    if max(shares) == 1:
        return "unknown words alone"
    return "too many unknown words" if max(shares) > unknown else ""


def _tree(row: Pair, words: Sequence[str], lift: bool) -> tuple[Ternary | None, str, int]:
    """The response's tree, or a reason why there is none; and how many arcs were lifted."""
    heads = tuple(map(int, row.target_heads.split()))
    if not heads:
        return None, "no tree", 0
    if len(heads) != len(words) or mistake(heads):
        return None, "no single tree", 0
    blank = ("",) * len(heads)
    tree, lifts = projectivize(Dependencies(tuple(words), blank, heads, blank))
    if lifts and not lift:
        return None, "not projective", 0
    return ternary(tree.heads), "", lifts
