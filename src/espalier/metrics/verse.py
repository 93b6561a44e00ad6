"""All metrics of generated verse (SongNet, section 4.3): one fixed set of keys for all systems, languages and rules."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from espalier.metrics.bootstrap import Array
from espalier.metrics.distinct import Distinct
from espalier.metrics.family import Family, by_part
from espalier.metrics.integrity import Integrity
from espalier.metrics.literals import Literals
from espalier.metrics.perplexity import Perplexity
from espalier.metrics.prosody import Prosody
from espalier.metrics.rhyme import Rhyme, ShuffledRhyme
from espalier.metrics.rhyme_units import RhymeUnits
from espalier.metrics.texts import Verses
from espalier.metrics.verse_format import FormatAccuracy, Rules
from espalier.verse.rhyme import Rule

#: The metrics that `dvc metrics show` prints, by their short names there.
HEADLINE: Final = {
    "ppl_dev": "perplexity_dev",
    "ppl": "perplexity",
    "ma_d1": "distinct_1_macro",
    "ma_d2": "distinct_2_macro",
    "format": "format_macro_f1",
    "rhyme": "rhyme_macro_f1",
    "shuffled": "rhyme_shuffled_macro_f1",
    "integ": "integrity",
}


def verse_families(verses: Verses, *, rules: Rules, seed: int, rule: Rule = "strict") -> list[Family[Verses]]:
    """The families of which the verses have what they are computed from."""
    language = verses.language
    families: list[Family[Verses]] = [
        Perplexity(),
        Distinct(),
        Distinct(pooled=True),
        FormatAccuracy(rules),
        Rhyme(language, rule=rule),
        ShuffledRhyme(language, rule=rule, seed=seed),
        RhymeUnits(language),
    ]
    if verses.books is not None and verses.tunes is not None and language == "zh":
        families.append(Prosody())
    if verses.marks is not None:
        families += [Integrity(), Integrity(len({*verses.seeds}) or 1, len({*verses.samples}) or 1)]
    if verses.templates is not None:
        families.append(Literals())
    return families


def by_format(statistics: Mapping[Family[Any], Array], seen: Sequence[bool]) -> dict[Family[Any], Array]:
    """For each part, a copy of the families with metrics for parts, with zeros for rows outside the part.

    Args:
        seen: for each text, whether its format occurs in training.
    """
    divided = {family: rows for family, rows in statistics.items() if family.in_parts}
    return by_part(divided, {"seen": seen, "new": [not each for each in seen]})
