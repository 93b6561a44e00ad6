"""Countable defects of paraphrases (GuiG, section 4.3): repeated words, wrong negation, nonexistent words.

The paper names these defects without counting them; the counts are ours. They are signs, not proofs: some human
paraphrases show them too, so compare each share with that of the references.

A word that occurs neither in the training texts nor in the source, such as "brokenke", counts as nonexistent: models of
word pieces can join pieces to any string. Rare words and hyphenated compounds may be counted too. Words are compared in
lower case, and a token without letter or digit is not a word: "no , no" has no repetition in a row.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from espalier.io.calls import checked_call
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import Family
from espalier.metrics.metric import Metric, require_lengths, share_of, signature_of
from espalier.metrics.texts import Pairs

#: The words that negate, beside all that end in n't. "nor" only goes on with a negation that is there, "cannot" may
#: stand as "can not".
NEGATIONS: Final = ("cannot", "neither", "never", "no", "nobody", "none", "not", "nothing", "nowhere")

#: The words that a sentence may well hold three times: they count as repeated only in a row. Of human paraphrases 8 to
#: 9 % have one of them three times and more often than their source, and about 1 % another word.
COMMON: Final = (
    "'s", "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "in", "is", "it", "of", "on", "or", "that",
    "the", "to", "was", "were", "with",
)  # fmt: skip

_KEYS: Final = ("repeated_words", "negation_lost", "negation_doubled", "empty", "incomprehensible")
#: The columns of counts: of outputs whose training words are known, and of all outputs.
_KNOWN, _OUTPUTS = len(_KEYS), len(_KEYS) + 1
_MANY: Final = 3


def defect_statistics(
    sources: Sequence[str],
    references: Sequence[str],
    hypotheses: Sequence[str],
    training_words: Collection[str] | None = None,
) -> Array:
    """Statistics of each output, (outputs, 7): 1 for each of its five defects; 1 if training words are given; 1.

    The defects are: repeated words, a lost negation, a doubled negation, an empty output, an unknown word. An empty
    output has no other defect.

    Args:
        sources: words joined by spaces, like references and hypotheses.
        references: one per source.
        hypotheses: one per source.
        training_words: the words of the training texts, in lower case; None if unknown.

    Raises:
        EspalierError: the lists differ in length.
    """
    require_lengths("hypotheses", len(hypotheses), sources=sources, references=references)
    statistics = np.ones((len(hypotheses), _OUTPUTS + 1))
    for row, texts in enumerate(zip(sources, references, hypotheses, strict=True)):
        source, reference, hypothesis = (text.lower().split() for text in texts)
        in_reference, in_hypothesis = negations(reference), negations(hypothesis)
        statistics[row, :_OUTPUTS] = (
            repeats(hypothesis, source, reference),
            bool(hypothesis) and in_hypothesis < in_reference,
            in_hypothesis >= 2 and in_hypothesis > in_reference,
            not hypothesis,
            training_words is not None and bool(unknown_words(hypothesis, source, training_words)),
            training_words is not None,
        )
    return statistics


def repeats(hypothesis: Sequence[str], *others: Sequence[str]) -> bool:
    """Whether a word occurs twice in a row, or three times in all, and more often so than in each of the other texts.

    Args:
        hypothesis: lower-case tokens, as in the other texts.
    """
    if len(set(hypothesis)) == len(hypothesis):
        return False
    return any(
        times >= threshold and all(times > count(other)[word] for other in others)
        for count, threshold in ((_in_a_row, 1), (_in_all, _MANY))
        for word, times in count(hypothesis).items()
    )


def negations(words: Sequence[str]) -> int:
    """The number of negating words."""
    return sum(word in _NEGATIONS or word.endswith(("n't", "n’t")) for word in words)


def unknown_words(hypothesis: Sequence[str], source: Sequence[str], training_words: Collection[str]) -> list[str]:
    """The words, with at least one letter, that occur neither in the source nor in the training texts; in order."""
    return [
        word for word in hypothesis if word not in training_words and word not in source and any(map(str.isalpha, word))
    ]


_NEGATIONS: Final = frozenset(NEGATIONS)
_COMMON: Final = frozenset(COMMON)


def _in_a_row(tokens: Sequence[str]) -> Counter[str]:
    """The number of times each word directly follows itself."""
    return Counter(one for one, other in pairwise(tokens) if one == other and any(map(str.isalnum, one)))


def _in_all(tokens: Sequence[str]) -> Counter[str]:
    """The number of occurrences of each word, without common words."""
    return Counter(token for token in tokens if token not in _COMMON and any(map(str.isalnum, token)))


def _metrics() -> tuple[Metric, ...]:
    negation = signature_of("defects", counts="negation", words="+".join(("n't", *NEGATIONS)), against="reference")
    signatures = {
        "repeated_words": signature_of(
            "defects", counts="repeated_words", row=2, all=_MANY, common=len(COMMON), against="source+reference"
        ),
        "negation_lost": f"{negation}|fewer:1",
        "negation_doubled": f"{negation}|more:1|least:2",
        "empty": signature_of("defects", counts="empty"),
        "incomprehensible": signature_of("defects", counts="unknown_words", against="training+source", case="lower"),
    }
    return tuple(
        share_of(
            key,
            column,
            _KNOWN if key == "incomprehensible" else _OUTPUTS,
            signatures[key],
            "no training words" if key == "incomprehensible" else "no outputs",
        )
        for column, key in enumerate(_KEYS)
    )


@checked_call
class Defects(Family[Pairs]):
    """Countable defects."""

    name = "defects"
    metrics = _metrics()

    def statistics(self, pairs: Pairs, /) -> Array:
        return defect_statistics(*pairs.sides, pairs.training_words)
