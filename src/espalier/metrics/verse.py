"""All metrics of generated verse (SongNet, section 4.3): one fixed set of keys for all systems, languages and rules."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from espalier.metrics.bootstrap import Array
from espalier.metrics.distinct import Distinct
from espalier.metrics.family import Family, by_part
from espalier.metrics.integrity import Integrity
from espalier.metrics.literals import Literals
from espalier.metrics.perplexity import METRICS as PERPLEXITY
from espalier.metrics.perplexity import Perplexity
from espalier.metrics.prosody import Prosody
from espalier.metrics.rhyme import Rhyme, ShuffledRhyme
from espalier.metrics.rhyme_units import RhymeUnits
from espalier.metrics.texts import Verses
from espalier.metrics.verse_format import FormatAccuracy, Rules
from espalier.verse.rhyme import Rule

#: The metrics of verses of which only texts, language and likelihood are known, always all of them.
KEYS: Final = (
    "perplexity", "perplexity_words", "ppl_released", "distinct_1_macro", "distinct_2_macro", "distinct_1_micro",
    "distinct_2_micro", "format_macro_p", "format_macro_r", "format_macro_f1", "format_micro_p", "format_micro_r",
    "format_micro_f1", "format_released_macro_f1", "format_released_micro_f1", "rhyme_macro_p", "rhyme_macro_r",
    "rhyme_macro_f1", "rhyme_micro_p", "rhyme_micro_r", "rhyme_micro_f1", "rhyme_released_macro_f1",
    "rhyme_released_micro_f1", "rhyme_accuracy", "rhyme_shuffled_macro_f1", "rhyme_shuffled_micro_f1",
    "rhyme_released_shuffled_macro_f1", "rhyme_released_shuffled_micro_f1", "rhyme_within_macro_f1",
    "rhyme_within_micro_f1", "rhyme_units_macro_f1", "rhyme_units_micro_f1", "rhyme_unknown",
)  # fmt: skip

#: The metrics of `Perplexity` of the dev split. The paper prints perplexities of both splits.
DEV_KEYS: Final = tuple(f"{metric.name}_dev" for metric in PERPLEXITY)

#: The texts whose format occurs in training, and the others; of these metrics, a value of each under NAME_PART.
PARTS: Final = ("seen", "new")
OF_PARTS: Final = (*Perplexity.in_parts, *FormatAccuracy.in_parts, *Rhyme.in_parts)
PART_KEYS: Final = tuple(f"{name}_{part}" for part in PARTS for name in OF_PARTS)

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
        families += [Integrity(), Integrity(len({*verses.seeds}), len({*verses.samples}))]
    if verses.templates is not None:
        families.append(Literals())
    return families


def by_format(statistics: Mapping[Family[Any], Array], seen: Sequence[bool]) -> dict[Family[Any], Array]:
    """For each part, a copy of the families with metrics in `PART_KEYS`, with zeros for rows outside the part.

    Args:
        seen: for each text, whether its format occurs in training.
    """
    divided = {family: rows for family, rows in statistics.items() if family.in_parts}
    return by_part(divided, {"seen": seen, "new": [not each for each in seen]})
