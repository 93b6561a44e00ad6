"""English rhyme by overlapping units (SongNet, section 4.3). The paper only says that it works

    "by counting the overlapping units from both the original words and the extracted phonemes group by group".

A group consists of the lines with the same letter. The units of a line's last word are the word itself and each
phoneme, with stress, of its first pronunciation in the CMU dictionary; for a word not in the dictionary, only the word.
Overlap is that of multisets. The paper leaves open which units are compared, so there are two readings:

- `rhyme_within`: the lines of a group are compared with each other, as in the paper's example of "asleep" and "steep".
  They have 6 and 5 units and share S, IY1 and P: F1 is 6/11.
- `rhyme_units`: each group of the output is compared with the same group of the reference; a reference scores 100
  against itself.

Neither considers the position of a phoneme in the word, so random words overlap too; `rhyme_*` requires a rhyme.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from espalier.io.calls import checked_call
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import Family
from espalier.metrics.metric import Metric, f1, ratio, signature_of
from espalier.metrics.rhyme import lexicon_of
from espalier.metrics.rhyme_places import FREE, end_words
from espalier.metrics.texts import Verses
from espalier.text.language import Language
from espalier.verse.rhyme import group_name, pronunciations

Units = Counter[tuple[str, str]]
_UNKNOWN, _ENDS = 10, 11


def units_of_word(word: str | None) -> Units:
    """A word and its phonemes; empty for a line that is missing or has no word."""
    if word is None:
        return Counter()
    sounds = next(iter(pronunciations(word)), ())
    return Counter([("word", word.lower()), *(("phoneme", sound) for sound in sounds)])


def overlap_within(text: str, scheme: str) -> tuple[int, int, int]:
    """The overlap of pairs of lines with the same letter, and the numbers of units of their first and second lines."""
    units = _ends(text, len(scheme))
    pairs = [(units[i], units[j]) for i, j in combinations(range(len(scheme)), 2) if scheme[i] == scheme[j] != FREE]
    return sum((a & b).total() for a, b in pairs), sum(a.total() for a, _ in pairs), sum(b.total() for _, b in pairs)


def overlap_with_reference(reference: str, hypothesis: str, scheme: str) -> tuple[int, int, int]:
    """The overlap of each letter's units in both texts, and the numbers of its units in hypothesis and reference."""
    counts = np.zeros(3, dtype=int)
    ends = _ends(hypothesis, len(scheme)), _ends(reference, len(scheme))
    for letter in dict.fromkeys(scheme.replace(FREE, "")):
        produced, gold = (
            sum((own for own, name in zip(units, scheme, strict=True) if name == letter), Counter()) for units in ends
        )
        counts += ((produced & gold).total(), produced.total(), gold.total())
    correct, of_hypothesis, of_reference = counts.tolist()
    return correct, of_hypothesis, of_reference


def _ends(text: str, lines: int) -> list[Units]:
    """The units of the last words of the first `lines` lines; empty for missing lines."""
    words = end_words(text, "en")[:lines]
    return [units_of_word(word) for word in [*words, *[None] * (lines - len(words))]]


def unit_statistics(
    references: Sequence[str], hypotheses: Sequence[str], rhymes: Sequence[str], *, language: Language
) -> Array:
    """(texts, 12): for both readings overlap, units, units, F1 and 1; then last words of unknown sound, and last words.

    The ten columns of the readings are 0 in Chinese, and if no letter has two lines.
    """
    statistics = np.zeros((len(references), 12))
    for row, reference, hypothesis, scheme in zip(statistics, references, hypotheses, rhymes, strict=True):
        ends = [word for word in end_words(hypothesis, language) if word is not None]
        row[_UNKNOWN], row[_ENDS] = sum(group_name(word, language) is None for word in ends), len(ends)
        if language != "en" or max(Counter(scheme.replace(FREE, "")).values(), default=0) < 2:
            continue
        readings = overlap_within(hypothesis, scheme), overlap_with_reference(reference, hypothesis, scheme)
        for start, counts in zip((0, 5), readings, strict=True):
            row[start : start + 3] = counts
            row[start + 3] = 2 * counts[0] / (counts[1] + counts[2]) if counts[1] + counts[2] else 0.0
            row[start + 4] = 1.0
    return statistics


@checked_call
@dataclass(frozen=True)
class RhymeUnits(Family[Verses]):
    """Both readings of overlapping units."""

    name = "rhyme_units"
    language: Language

    def statistics(self, verses: Verses, /) -> Array:
        return unit_statistics(verses.references, verses.hypotheses, verses.rhymes, language=self.language)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        package, number = lexicon_of(self.language)
        silent = "no letter has two lines" if self.language == "en" else "Chinese counts places"
        found = []
        for start, name, against in ((0, "rhyme_within", "lines"), (5, "rhyme_units", "reference")):
            signature = signature_of(
                "rhyme",
                protocol="overlap",
                lang=self.language,
                units="words+phonemes",
                against=against,
                **{package: number},
            )
            correct, produced, expected, macro, texts = range(start, start + 5)
            found += [
                Metric(f"{name}_macro_f1", ratio(macro, texts, scale=100.0), f"{signature}|mean:macro", silent),
                Metric(
                    f"{name}_micro_f1",
                    f1(correct, produced, expected, evidence=texts, scale=100.0),
                    f"{signature}|mean:micro",
                    silent,
                ),
            ]
        unknown = signature_of("rhyme", share="unknown", lang=self.language, **{package: number})
        return (*found, Metric("rhyme_unknown", ratio(_UNKNOWN, _ENDS, scale=100.0), unknown, "no last words"))
