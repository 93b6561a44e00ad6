"""All metrics of generated verse (SongNet, section 4.3): one fixed set of keys for all systems, languages and rules.

Statistics are grouped by family, with one row per text. The name of a family has its settings after colons:

    perplexity, perplexity:dev, distinct, distinct:pooled, format:RULES, rhyme:LANGUAGE:u:RULE,
    rhyme_shuffled:LANGUAGE:u:RULE:SEED, rhyme_units:LANGUAGE, prosody, literals, integrity,
    integrity:SEEDS:SAMPLES

The u after a language means that ü rhymes with u. `prosody` needs a rhyme book and a form book; its keys are those of
`espalier.metrics.prosody`. The last part `seen` or `new` selects the rows whose format occurs, or does not occur, in
training. `perplexity:dev` has other rows: the statistics of `perplexity` for the references of the dev split.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, cast, get_args

import numpy as np

from espalier.io.errors import ConfigError, EspalierError
from espalier.metrics import distinct, literals, prosody
from espalier.metrics.bootstrap import Array
from espalier.metrics.integrity import METRICS as INTEGRITY
from espalier.metrics.integrity import deviation_metrics
from espalier.metrics.metric import Metric, require_lengths
from espalier.metrics.perplexity import METRICS as PERPLEXITY
from espalier.metrics.perplexity import CorpusLikelihood, perplexity_statistics
from espalier.metrics.rhyme import rhyme_metrics, rhyme_statistics
from espalier.metrics.rhyme_places import shuffle_ends
from espalier.metrics.rhyme_units import unit_metrics, unit_statistics
from espalier.metrics.verse_format import RULES, Rules, format_metrics, format_statistics
from espalier.text.language import LANGUAGES, Language
from espalier.verse.rhyme import Rule
from espalier.verse.text import units_of

#: The metrics of `verse_statistics`, always all of them.
KEYS: Final = (
    "perplexity",
    "perplexity_words",
    "ppl_released",
    "distinct_1_macro",
    "distinct_2_macro",
    "distinct_1_micro",
    "distinct_2_micro",
    "format_macro_p",
    "format_macro_r",
    "format_macro_f1",
    "format_micro_p",
    "format_micro_r",
    "format_micro_f1",
    "format_released_macro_f1",
    "format_released_micro_f1",
    "rhyme_macro_p",
    "rhyme_macro_r",
    "rhyme_macro_f1",
    "rhyme_micro_p",
    "rhyme_micro_r",
    "rhyme_micro_f1",
    "rhyme_released_macro_f1",
    "rhyme_released_micro_f1",
    "rhyme_accuracy",
    "rhyme_shuffled_macro_f1",
    "rhyme_shuffled_micro_f1",
    "rhyme_released_shuffled_macro_f1",
    "rhyme_released_shuffled_micro_f1",
    "rhyme_within_macro_f1",
    "rhyme_within_micro_f1",
    "rhyme_units_macro_f1",
    "rhyme_units_micro_f1",
    "rhyme_unknown",
)


#: The metrics of `perplexity:dev`. The paper prints perplexities of both splits.
DEV_KEYS: Final = tuple(f"{metric.name}_dev" for metric in PERPLEXITY)

#: The texts whose format occurs in training, and the others; of these metrics, a value of each under NAME_PART.
PARTS: Final = ("seen", "new")
OF_PARTS: Final = (
    "perplexity",
    "perplexity_words",
    "format_macro_f1",
    "format_micro_f1",
    "rhyme_macro_f1",
    "rhyme_micro_f1",
)
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

_FAMILIES: Final = (
    "perplexity", "perplexity:dev", "distinct", "distinct:pooled", *(f"format:{rules}" for rules in RULES),
    "rhyme:zh:u:strict", "rhyme_shuffled:zh:u:strict:1", "rhyme_units:en", "prosody", "literals",
    "integrity", "integrity:1:5",
)  # fmt: skip


def metrics_of(family: str) -> tuple[Metric, ...]:
    """The metrics of one family.

    Raises:
        ConfigError: the family is unknown.
    """
    *base, part = family.split(":")
    if part in PARTS:
        return tuple(
            replace(
                metric,
                name=f"{metric.name}_{part}",
                signature=f"{metric.signature}|formats:{part}",
                undefined=f"no text of a format that is {part}, or {metric.undefined}",
            )
            for metric in metrics_of(":".join(base))
            if metric.name in OF_PARTS
        )
    match family.split(":"):
        case ["perplexity"]:
            return PERPLEXITY
        case ["perplexity", "dev"]:
            return tuple(replace(metric, name=f"{metric.name}_dev") for metric in PERPLEXITY)
        case ["distinct"]:
            return distinct.MACRO
        case ["distinct", "pooled"]:
            return distinct.MICRO
        case ["literals"]:
            return literals.METRICS
        case ["prosody"]:
            return prosody.METRICS
        case ["rhyme_units", language] if language in LANGUAGES:
            return unit_metrics(language)
        case ["integrity"]:
            return INTEGRITY
        case ["integrity", seeds, samples] if seeds.isdecimal() and samples.isdecimal():
            return deviation_metrics(int(seeds), int(samples))
        case ["format", rules] if rules in RULES:
            return format_metrics(rules)
        case [("rhyme" | "rhyme_shuffled") as kind, language, "u", rule, *seed] if (
            language in LANGUAGES
            and rule in get_args(Rule)
            and [part.isdecimal() for part in seed] == [True] * (kind == "rhyme_shuffled")
        ):
            return rhyme_metrics(
                language,
                rule=cast(Rule, rule),
                shuffle_seed=int(seed[0]) if seed else None,
            )
    raise ConfigError.unknown("family", family, _FAMILIES, where="metrics of verse")


def by_format(statistics: Mapping[str, Array], seen: Sequence[bool]) -> dict[str, Array]:
    """For each part, a copy of the families with metrics in `PART_KEYS`, with zeros for rows outside the part.

    Args:
        statistics: result of `verse_statistics`.
        seen: for each text, whether its format occurs in training.
    """
    places = np.array(seen, dtype=bool)[:, None]
    families = [name for name in statistics if name.partition(":")[0] in ("perplexity", "format", "rhyme")]
    return {
        f"{name}:{part}": np.where(places == (part == "seen"), statistics[name], 0.0)
        for part in PARTS
        for name in families
    }


def verse_statistics(
    references: Sequence[str],
    hypotheses: Sequence[str],
    rhymes: Sequence[str],
    *,
    language: Language,
    rules: Rules,
    seed: int,
    likelihood: CorpusLikelihood | None = None,
    draws: Sequence[Hashable] | None = None,
    rule: Rule = "strict",
    tunes: Sequence[str] | None = None,
    books: Path | None = None,
) -> dict[str, Array]:
    """Statistics of generated verse and of the references, whose formats the verse had to follow.

    Args:
        references: verses in the form of `espalier.verse.text`; they define the formats.
        hypotheses: one per reference; an empty text counts as wrong.
        rhymes: one scheme per reference, a letter or "." per unit; "" (Chinese) derives it from the reference.
        language: language of all texts.
        rules: rules of format accuracy.
        seed: seed of the shuffled baseline.
        likelihood: likelihood of each reference under the model. Without it the perplexities are undefined.
        draws: one label per hypothesis; pooled Distinct is averaged over draws. None if all belong to one draw.
        rule: rule for when English words rhyme.
        tunes: tune name of each reference, needed for `prosody`.
        books: the folder of the source `couyun`. Without it the family `prosody` is missing.

    Returns:
        (texts, columns of the family), by family; the scores are listed by `metrics_of` and `KEYS`.

    Raises:
        EspalierError: the lists differ in length, a reference is empty, or a scheme does not fit its reference.
    """
    count = len(references)
    require_lengths("references", count, hypotheses=hypotheses, rhymes=rhymes)
    if draws is not None:
        require_lengths("references", count, draws=draws)
    for row, (reference, rhyme) in enumerate(zip(references, rhymes, strict=True), start=1):
        units = len(units_of(reference))
        if not units:
            raise EspalierError("the reference is empty", where=f"scoring, row {row}", remedy="filter it out before")
        if rhyme and len(rhyme) != units:
            raise EspalierError(
                f"{len(rhyme)} rhyme letters for {units} units",
                where=f"scoring, row {row}",
                remedy="give one letter per unit, . for none",
            )
    if likelihood is None:
        likelihood = CorpusLikelihood([0.0] * count, [0] * count, [0.0] * count, [0] * count)
    require_lengths("references", count, likelihood=likelihood.nll)

    def rhyme_rows(texts: Sequence[str]) -> Array:
        return rhyme_statistics(references, texts, rhymes, language=language, rule=rule)

    settings = f"{language}:u:{rule}"
    families = {
        "perplexity": perplexity_statistics(likelihood),
        "distinct": distinct.distinct_statistics(hypotheses, language),
        "distinct:pooled": distinct.draw_shares(hypotheses, language, draws),
        f"format:{rules}": format_statistics(references, hypotheses, language=language, rules=rules),
        f"rhyme:{settings}": rhyme_rows(hypotheses),
        f"rhyme_shuffled:{settings}:{seed}": rhyme_rows(shuffle_ends(hypotheses, language, seed)),
        f"rhyme_units:{language}": unit_statistics(references, hypotheses, rhymes, language=language),
    }
    if books is not None and tunes is not None and language == "zh":
        families["prosody"] = prosody.prosody_statistics(tunes, references, hypotheses, books)
    return families
