"""From pairs with trees to the rows of ids that models read; what they cannot hold is put aside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from espalier.corpora.records import Pair, Quarantined, words_of
from espalier.datasets.pairs.data import PairData, pairs_of
from espalier.datasets.pairs.tree_symbols import TreeSymbols
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.io.errors import ConfigError
from espalier.syntax.constituency import read_tree
from espalier.text.language import Language

SIDES = ("source", "target")


def vocabulary_of(rows: Sequence[Pair], *, pieces: int, depth: int, lower: bool) -> PairVocabulary:
    """Word pieces and tree symbols of both sides of the rows that train.

    Args:
        pieces: how many word pieces (16,000 in GuiG).
        depth: the levels of a tree (8 in GuiG).
    """
    language: Language = "zh" if rows and rows[0].language == "zh" else "en"
    trees = TreeSymbols.build((read_tree(tree, words=False) for row in rows for tree in _trees(row) if tree), depth)
    texts = (" ".join(words_of(row, side)) for row in rows for side in SIDES)
    return PairVocabulary.build(texts, trees, language, pieces=pieces, lower=lower)


def linearize_pairs(
    rows: Sequence[Pair],
    vocabulary: PairVocabulary,
    *,
    least: int = 1,
    most: int = 510,
    guides: Sequence[str] | None = None,
    templates: Sequence[str] | None = None,
    stage: str = "linearize",
) -> tuple[PairData, list[Quarantined], list[int]]:
    """Pieces and symbols of the rows that fit, the others with their reasons, and the places of those that fit.

    Args:
        least, most: pieces of each side, and nodes of each tree down to the vocabulary's depth (3 and 50 in GuiG).
        guides: for each row a tree in place of its target's.
        templates: for each row a tree to be expanded, in place of the top of its target's.
        stage: what the quarantine table calls the one who puts rows aside.
    """

    @cache
    def encoded(tree: str) -> list[int]:  # a pair and its reverse, and all rows under one template, share trees
        return vocabulary.trees.encode(read_tree(tree, words=False))

    texts = {side: vocabulary.encode_texts([vocabulary.text_of(words_of(row, side)) for row in rows]) for side in SIDES}
    columns: dict[str, list[list[int]]] = {name: [] for name in ("source", "target", "source_tree", "target_tree")}
    ids, places, given = list[str](), list[int](), list[list[int]]()
    aside = list[Quarantined]()
    for place, row in enumerate(rows):
        pieces = [texts[side][place] for side in SIDES]
        trees = list(_trees(row))
        if guides is not None:
            trees[1] = guides[place]
        if templates is not None:
            trees.append(templates[place])
        nodes = list[list[int]]()
        reason = None if all(trees) else "no tree"
        try:
            nodes = [encoded(tree) for tree in trees if tree]
        except ConfigError:
            reason = "unknown label"
        reason = reason or _unfit(pieces, "word pieces", least, most) or _unfit(nodes[:2], "nodes", least, most)
        if reason:
            text = "\t".join(getattr(row, side) for side in SIDES)
            aside.append(Quarantined(id=row.id, stage=stage, reason=reason, text=text))
            continue
        for name, ids_ in zip(columns, [*pieces, *nodes[:2]], strict=True):
            columns[name].append(ids_)
        given += nodes[2:]
        ids.append(row.id)
        places.append(place)
    return pairs_of(ids, columns, vocabulary, given if templates is not None else None), aside, places


def reversed_pairs(rows: Iterable[Pair]) -> list[Pair]:
    """Each pair the other way round, under its id and "/reversed": training reads both directions."""
    turned = []
    for row in rows:
        swapped = {f"{side}{name}": getattr(row, f"{other}{name}") for side, other in (SIDES, SIDES[::-1])
                   for name in ("", "_words", "_tags", "_tree", "_heads", "_labels")}  # fmt: skip
        turned.append(replace(row, id=f"{row.id}/reversed", **swapped))
    return turned


def _trees(row: Pair) -> tuple[str, str]:
    return row.source_tree, row.target_tree


def _unfit(rows: Sequence[Sequence[int]], what: str, least: int, most: int) -> str | None:
    if any(len(row) < least for row in rows):
        return f"under {least} {what}"
    return f"over {most} {what}" if any(len(row) > most for row in rows) else None
