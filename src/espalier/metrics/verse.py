"""All metrics of generated verse, from one call: one fixed set of keys, whatever the system, language or rules."""

from __future__ import annotations

from collections.abc import Sequence

from espalier.io.errors import EspalierError
from espalier.metrics import distinct
from espalier.metrics.bootstrap import Array
from espalier.metrics.metric import Metric, Score, require_lengths, scores, whole_score
from espalier.metrics.perplexity import METRICS as PERPLEXITY
from espalier.metrics.perplexity import Likelihood, perplexity_statistics
from espalier.metrics.rhyme import rhyme_metrics, rhyme_statistics
from espalier.metrics.rhyme_places import shuffle_ends
from espalier.metrics.verse_format import Rules, format_metrics, format_statistics
from espalier.text.language import Language
from espalier.verse.rhyme import Rule, UUmlaut
from espalier.verse.text import units_of

#: The keys that `verse_scores` returns, always all of them, in this order.
KEYS = (
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
)


def verse_scores(
    references: Sequence[str],
    hypotheses: Sequence[str],
    rhymes: Sequence[str],
    *,
    language: Language,
    rules: Rules,
    seed: int,
    likelihood: Likelihood | None = None,
    ids: Sequence[str] | None = None,
    samples: Sequence[int] | None = None,
    resamples: int = 1000,
    u_umlaut: UUmlaut = "u",
    rule: Rule = "strict",
) -> dict[str, Score]:
    """Score generated verse against the references whose formats it was to follow.

    Args:
        references: verses as `espalier.verse.text` writes them; the format is read off them.
        hypotheses: as many; an empty one is kept and counts as wrong.
        rhymes: one scheme per reference, a letter or "." per unit; "" (Chinese) has it read off the reference.
        language: of all texts.
        rules: of format accuracy.
        seed: of the bootstrap and of the shuffled baseline.
        likelihood: of the references under the model, one entry per distinct reference or per hypothesis; without it
            the perplexities are undefined.
        ids: one per hypothesis; hypotheses of one id are samples of the same poem and are resampled together.
        samples: one per hypothesis; which draw it belongs to (pooled Distinct is averaged over draws).
        resamples: of the bootstrap; 0 for no intervals.
        u_umlaut: with which group a bare ü rhymes.
        rule: when English words rhyme.

    Returns:
        `KEYS`, in that order.

    Raises:
        EspalierError: lists of different lengths, an empty reference, or a scheme that does not fit its reference.
    """
    count = len(references)
    require_lengths("references", count, hypotheses=hypotheses, rhymes=rhymes)
    require_lengths("references", count, ids=ids if ids is not None else references)
    require_lengths("references", count, samples=samples if samples is not None else references)
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
    surprise = perplexity_statistics(likelihood if likelihood is not None else Likelihood([], [], [], []))
    layout = format_statistics(references, hypotheses, language=language, rules=rules)
    shuffled = shuffle_ends(hypotheses, language, seed)
    heard, chance = (
        rhyme_statistics(references, texts, rhymes, language=language, u_umlaut=u_umlaut, rule=rule)
        for texts in (hypotheses, shuffled)
    )
    draws = distinct.pooled_statistics(hypotheses, language, samples)

    def scored(metrics: Sequence[Metric], statistics: Array) -> dict[str, Score]:
        # Likelihoods may come one per poem while hypotheses come several: then they have no groups of their own.
        groups = ids if len(statistics) == count else None
        return scores(metrics, statistics, seed=seed, resamples=resamples, groups=groups)

    found = {
        **scored(PERPLEXITY, surprise),
        **scored(distinct.MACRO, distinct.distinct_statistics(hypotheses, language)),
        **{metric.name: whole_score(metric, draws, segments=count) for metric in distinct.MICRO},
        **scored(format_metrics(rules), layout),
        **scored(rhyme_metrics(language, u_umlaut=u_umlaut, rule=rule), heard),
        **scored(rhyme_metrics(language, u_umlaut=u_umlaut, rule=rule, shuffle_seed=seed), chance),
    }
    return {key: found[key] for key in KEYS}
