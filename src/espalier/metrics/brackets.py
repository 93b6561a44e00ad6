"""Labelled brackets of constituency trees, scored by the rules of EVALB (Sekine and Collins 1997, COLLINS.prm).

A bracket is a label over a span of words; a part of speech is not a bracket. Before brackets are compared

- words tagged -NONE- , : `` '' or . are removed, in each tree by its own tags, together with brackets left empty;
- brackets labelled TOP, ROOT, S1 or like those tags are removed, but their words stay;
- functions are removed from labels (NP-SBJ becomes NP), and ADVP and PRT count as equal.

Equal brackets are counted as often as they occur: an NP over an NP over the same words is two. Counts are pooled over
sentences. If the remaining words differ, EVALB reports an error; if the parse has none left, it skips the sentence. It
scores neither case. `bracket_errors` counts such sentences, which mostly have a mistagged comma.

Leaving such sentences out raises the score. `bracket_all_*` are the same scores over all sentences. If EVALB gives up
and both trees have the same words, the gold tags decide which words are removed from both; otherwise, or without a
parse, all gold brackets are missed. The tag accuracy of `bracket_all_*` counts all words including marks; EVALB's
counts only the remaining words.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, compress
from typing import Final, NamedTuple

import numpy as np

from espalier.io.calls import checked_call
from espalier.io.errors import EspalierError
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import Family
from espalier.metrics.metric import Metric, f1, ratio, require_lengths, share_of, signature_of
from espalier.metrics.texts import Parses
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
    """Counts of one sentence, either by EVALB or over every sentence."""

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
    """The counts by EVALB, all 0 if EVALB does not score the sentence, and the counts over every sentence."""
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
    """The brackets over the kept words."""
    before = list(accumulate(kept, initial=0))
    spans = ((label, before[start], before[end]) for label, start, end in of.brackets if label not in _DELETED)
    return Counter(span for span in spans if span[1] < span[2])


def _right(gold: Iterable[str], predicted: Iterable[str]) -> tuple[int, int]:
    """The number of correct tags, and the number of tags."""
    right = [_SAME.get(one, one) == _SAME.get(other, other) for one, other in zip(gold, predicted, strict=True)]
    return sum(right), len(right)


# --- The family ------------------------------------------------------------------------------------------------------


def bracket_statistics(gold: Sequence[str], predicted: Sequence[str]) -> Array:
    """Statistics of each sentence, (sentences, 15).

    Columns: brackets matched, predicted, gold; 1 for an exact match; correct tags, words, 1. These seven are 0 if EVALB
    does not score the sentence. Then the same seven over every sentence, and 1 if EVALB does not score it.

    Args:
        gold: Penn strings.
        predicted: parses of the same words; an empty string means that the sentence could not be parsed.

    Raises:
        TreeError: a string is not a tree; the message names the row, from 1.
        EspalierError: the lists differ in length, or a gold string is empty.
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


@checked_call
class Brackets(Family[Parses]):
    """Brackets of constituency trees, times 100."""

    name = "brackets"
    metrics = (
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

    def statistics(self, parses: Parses, /) -> Array:
        return bracket_statistics([parse.tree for parse in parses.gold], [parse.tree for parse in parses.predicted])
