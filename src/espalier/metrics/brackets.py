"""Labelled brackets of constituency trees, scored by the rules of EVALB (Sekine and Collins 1997, its COLLINS.prm).

A bracket is a label over a stretch of words; a part of speech is none. Before brackets are compared

- words tagged -NONE- , : `` '' or . go, each tree going by its own tags, and with them the brackets left without words;
- brackets labelled TOP, ROOT, S1 or as those tags go, their words stay;
- functions go from labels (NP-SBJ is NP), and ADVP and PRT are the same.

Equal brackets are counted as often as they occur: an NP over an NP over the same words is two. Counts are pooled over
sentences. Where the words that remain differ EVALB reports an error, where none remains in the parse it skips the
sentence, and scores neither. Such sentences, above all those with a comma mistagged, are counted in `bracket_errors`.

Leaving such sentences out raises the score. `bracket_all_*` are the same of every sentence: where EVALB gives up
and the trees have the same words, the gold tags decide which go in both; where they have not, or there is no parse, all
gold brackets are missed. Its tag accuracy is that of all words, marks too; EVALB's is that of the words that remain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, compress
from typing import Final, NamedTuple

import numpy as np

from espalier.io.errors import EspalierError
from espalier.metrics.bootstrap import Array
from espalier.metrics.metric import Metric, f1, ratio, require_lengths, share_of, signature_of
from espalier.syntax.constituency import TRACE, WRAPPERS, category, read_tree
from espalier.syntax.tree import Tree

#: Tags of the words that are left out.
MARKS: Final = frozenset({TRACE, ",", ":", "``", "''", "."})

_DELETED: Final = MARKS.union(WRAPPERS)
_SAME: Final = {"PRT": "ADVP"}

_SCORED = 6  # the last of seven columns, those of `_Counts`
_ALL = 7  # the same seven columns, of every sentence
_ERRORS = 14


class _Bracketing(NamedTuple):
    """The words of a tree, their tags, and its brackets: label, first word (from 0), and the one after the last."""

    words: list[str]
    tags: list[str]
    brackets: list[tuple[str, int, int]]


class _Counts(NamedTuple):
    """What a sentence contributes, by the rules of EVALB or of every sentence."""

    matched: int
    predicted: int
    gold: int
    exact: bool
    tags: int
    words: int
    scored: bool


# --- One sentence ----------------------------------------------------------------------------------------------------


def _bracketing(tree: Tree) -> _Bracketing:
    words, tags = list[str](), list[str]()
    brackets: list[tuple[str, int, int]] = []
    waiting: list[Tree | tuple[str, int]] = [tree]  # a pair: a node that ends, with its label and its first word
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            brackets.append((*node, len(words)))
        elif isinstance(node[0], str):
            words.append(node[0])
            tags.append(node.label())
        else:
            label = category(node.label())
            waiting.append((_SAME.get(label, label), len(words)))
            waiting += reversed(node)
    return _Bracketing(words, tags, brackets)


def _sentence(gold: _Bracketing, predicted: _Bracketing | None) -> tuple[_Counts, _Counts]:
    """The counts by EVALB, all 0 where it does not score, and those of every sentence."""
    spoken = [tag != TRACE for tag in gold.tags]
    gold_kept = [tag not in MARKS for tag in gold.tags]
    missed = _Counts(0, 0, _spans(gold, gold_kept).total(), False, 0, sum(spoken), True)
    if predicted is None:
        return _NOTHING, missed
    not_trace = [tag != TRACE for tag in predicted.tags]
    same = list(compress(gold.words, spoken)) == list(compress(predicted.words, not_trace))
    tags = _right(compress(gold.tags, spoken), compress(predicted.tags, not_trace)) if same else None
    predicted_kept = [tag not in MARKS for tag in predicted.tags]
    if any(predicted_kept) and list(compress(gold.words, gold_kept)) == list(compress(predicted.words, predicted_kept)):
        kept_tags = _right(compress(gold.tags, gold_kept), compress(predicted.tags, predicted_kept))
        counts = _compared(gold, predicted, gold_kept, predicted_kept, kept_tags)
        # If only marks differ, such as " and ``, tags are compared on the other words.
        return counts, counts._replace(tags=tags[0], words=tags[1]) if tags else counts
    if tags is None:
        return _NOTHING, missed
    by_gold = compress(gold_kept, spoken)  # a parse may have traces of its own
    return _NOTHING, _compared(gold, predicted, gold_kept, [word and next(by_gold) for word in not_trace], tags)


_NOTHING: Final = _Counts(0, 0, 0, False, 0, 0, False)


def _compared(
    gold: _Bracketing,
    predicted: _Bracketing,
    gold_kept: Sequence[bool],
    predicted_kept: Sequence[bool],
    tags: tuple[int, int],
) -> _Counts:
    gold_spans, predicted_spans = _spans(gold, gold_kept), _spans(predicted, predicted_kept)
    matched = (gold_spans & predicted_spans).total()
    exact = matched == gold_spans.total() == predicted_spans.total()
    return _Counts(matched, predicted_spans.total(), gold_spans.total(), exact, *tags, True)


def _spans(of: _Bracketing, kept: Sequence[bool]) -> Counter[tuple[str, int, int]]:
    """The brackets that count, over the words that are kept."""
    before = list(accumulate(kept, initial=0))
    spans = ((label, before[start], before[end]) for label, start, end in of.brackets if label not in _DELETED)
    return Counter(span for span in spans if span[1] < span[2])


def _right(gold: Iterable[str], predicted: Iterable[str]) -> tuple[int, int]:
    """How many tags are right, and of how many."""
    right = [_SAME.get(one, one) == _SAME.get(other, other) for one, other in zip(gold, predicted, strict=True)]
    return sum(right), len(right)


# --- The family ------------------------------------------------------------------------------------------------------


def bracket_statistics(gold: Sequence[str], predicted: Sequence[str]) -> Array:
    """What one sentence contributes, (sentences, 15).

    Columns: brackets matched, predicted, gold; 1 for an exact match; tags that are right, words, 1, all 0 where EVALB
    does not score the sentence; the same seven of every sentence; 1 where EVALB does not score it.

    Args:
        gold: Penn strings.
        predicted: as many, parses of the same words; an empty string is a sentence that could not be parsed.

    Raises:
        TreeError: a string that is no tree; it names the row, from 1.
        EspalierError: lists of different lengths, or an empty gold string.
    """
    require_lengths("gold trees", len(gold), parses=predicted)
    counts = np.zeros((len(gold), _ERRORS + 1))
    for row, (reference, prediction) in enumerate(zip(gold, predicted, strict=True), start=1):
        if not reference:
            raise EspalierError("no gold tree", where=f"row {row}", remedy="filter it out before")
        parse = _bracketing(read_tree(prediction, file="parses", row=row)) if prediction else None
        evalb, every = _sentence(_bracketing(read_tree(reference, file="gold trees", row=row)), parse)
        counts[row - 1] = (*evalb, *every, not evalb.scored)
    return counts


def _metrics(prefix: str, start: int, protocol: str, words: str, undefined: str) -> tuple[Metric, ...]:
    signature = signature_of("brackets", protocol=protocol, labels="COLLINS.prm", mean="micro")
    matched, predicted, gold, exact, tags, counted, scored = range(start, start + _ALL)
    return (
        Metric(f"{prefix}_p", ratio(matched, predicted, evidence=scored, scale=100.0), signature, undefined),
        Metric(f"{prefix}_r", ratio(matched, gold, evidence=scored, scale=100.0), signature, undefined),
        Metric(f"{prefix}_f1", f1(matched, predicted, gold, evidence=scored, scale=100.0), signature, undefined),
        share_of(f"{prefix}_exact", exact, scored, signature, undefined),
        Metric(f"{prefix}_tag_accuracy", ratio(tags, counted, scale=100.0), f"{signature}|words:{words}", undefined),
    )


#: Over `bracket_statistics`, all times 100.
METRICS: Final = (
    *_metrics("bracket", 0, "evalb", "no-marks", "EVALB scores no sentence"),
    share_of(
        "bracket_errors",
        _ERRORS,
        _ALL + _SCORED,
        signature_of("brackets", protocol="evalb", counts="errors+skips"),
        "no sentences",
    ),
    *_metrics("bracket_all", _ALL, "every-sentence", "all", "no sentences"),
)

#: Their keys, always all of them, in this order.
KEYS: Final = tuple(metric.name for metric in METRICS)
