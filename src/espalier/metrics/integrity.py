"""Integrity (SongNet, equation 11): the perplexity, under a language model, of the mark that ends each unit.

    2^(-1/|Y| sum over units of log P(mark | everything before it))

A sentence that breaks off leads nobody to expect its full stop, so that lower is better. The paper leaves open three
things, and each reading has a key of its own:

- the logarithm. Of base 2 it makes a perplexity. The released code of the paper's PPL column takes 2 to the power of
  nats, and the same slip would give `_nats`, which is smaller.
- what Y is. All texts of a sample pooled, or one text each and then their mean (`_texts`), which a few texts dominate.
- units that end in no mark that the judge knows. They have no such probability and are left out; `integrity_marked`
  says how many remain.

`_deviation` is the standard deviation over the samples of a seed (n - 1), which the paper prints after its mean.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from espalier.io.errors import EspalierError
from espalier.metrics.bootstrap import Array
from espalier.metrics.metric import Aggregate, Metric, exp_ratio, ratio, require_lengths, signature_of

_NATS, _MARKS, _UNITS, _TEXT, _TEXT_NATS, _TEXTS, _REFERENCE_NATS, _REFERENCE_MARKS = range(8)
#: The columns of one draw, from which its deviation is computed: the first six of a text without its units.
_PER_DRAW = (_NATS, _MARKS, _TEXT, _TEXT_NATS, _TEXTS)

NO_JUDGE: Final = "no judge"


@dataclass(frozen=True, slots=True)
class MarkLikelihoods:
    """What the judge says of each text, and of the reference of each. One entry per text in every list.

    Attributes:
        nats: -log P of the marks that end the units, summed.
        marks: how many units end in a mark that the judge knows.
        units: how many units there are.
        reference_nats: as `nats`, of the text's reference.
        reference_marks: as `marks`, likewise.
    """

    nats: Sequence[float]
    marks: Sequence[int]
    units: Sequence[int]
    reference_nats: Sequence[float]
    reference_marks: Sequence[int]


def integrity_statistics(likelihoods: MarkLikelihoods) -> Array:
    """(texts, 8): nats, marks and units; equation 11 of the text by both logarithms, and 1; the reference's two sums.

    A text without marks has 0 for equation 11 and for the 1 after it.

    Raises:
        EspalierError: the lists differ in length, or a value is not a number.
    """
    count = len(likelihoods.nats)
    others = {name: getattr(likelihoods, name) for name in MarkLikelihoods.__dataclass_fields__ if name != "nats"}
    require_lengths("texts", count, **others)
    nats = np.asarray(likelihoods.nats, dtype=float)
    if len(broken := np.flatnonzero(np.isnan(nats) | np.isnan(np.asarray(likelihoods.reference_nats, dtype=float)))):
        raise EspalierError(
            "the judge's log-probability is not a number",
            where=f"scoring, row {broken[0] + 1}",
            remedy="train the judge again",
        )
    statistics = np.zeros((count, 8))
    for column, values in ((_NATS, nats), (_MARKS, likelihoods.marks), (_UNITS, likelihoods.units),
                           (_REFERENCE_NATS, likelihoods.reference_nats),
                           (_REFERENCE_MARKS, likelihoods.reference_marks)):  # fmt: skip
        statistics[:, column] = values
    some = statistics[:, _MARKS] > 0
    mean = statistics[some, _NATS] / statistics[some, _MARKS]
    with np.errstate(over="ignore"):  # an infinite value is reported as such, not warned about
        statistics[some, _TEXT], statistics[some, _TEXT_NATS] = np.exp(mean), np.exp2(mean)
    statistics[some, _TEXTS] = 1.0
    return statistics


def integrity_families(
    likelihoods: MarkLikelihoods, seeds: Sequence[Hashable], samples: Sequence[Hashable]
) -> dict[str, Array]:
    """The statistics of `METRICS`, and those of `deviation_metrics` under "integrity:SEEDS:SAMPLES".

    The latter are (texts, SEEDS * SAMPLES * 5), with columns of its own for each draw, which is a seed's sample.

    Args:
        likelihoods: of each text.
        seeds: one for each text; likewise `samples`.
    """
    statistics = integrity_statistics(likelihoods)
    seed_of, sample_of = (np.unique(np.asarray(labels), return_inverse=True)[1] for labels in (seeds, samples))
    shape = (int(seed_of.max(initial=-1)) + 1, int(sample_of.max(initial=-1)) + 1)
    columns = np.zeros((len(statistics), *shape, len(_PER_DRAW)))
    columns[np.arange(len(statistics)), seed_of, sample_of] = statistics[:, _PER_DRAW]
    return {"integrity": statistics, f"integrity:{shape[0]}:{shape[1]}": columns.reshape(len(statistics), -1)}


def _readings(nats: int, marks: int, text: int, text_nats: int, texts: int) -> dict[str, Aggregate]:
    """The four readings by key, from the places of the columns that they need."""
    return {
        "integrity": exp_ratio(nats, marks),
        "integrity_nats": exp_ratio(nats, marks, np.exp2),
        "integrity_texts": ratio(text, texts),
        "integrity_texts_nats": ratio(text_nats, texts),
    }


def _signature(key: str) -> str:
    return signature_of(
        "integrity", marks="last-of-unit", base="2^nats" if key.endswith("nats") else "2^bits",
        mean="texts" if "texts" in key else "pooled",
    )  # fmt: skip


_OF_TEXTS = _readings(_NATS, _MARKS, _TEXT, _TEXT_NATS, _TEXTS)
_OF_REFERENCES = exp_ratio(_REFERENCE_NATS, _REFERENCE_MARKS)

METRICS: Final = (
    *(Metric(key, aggregate, _signature(key), NO_JUDGE) for key, aggregate in _OF_TEXTS.items()),
    Metric("integrity_reference", _OF_REFERENCES, f"{_signature('integrity')}|of:references", NO_JUDGE),
    Metric(
        "integrity_times_reference",
        lambda sums: _OF_TEXTS["integrity"](sums) / _OF_REFERENCES(sums),
        f"{_signature('integrity')}|over:references",
        NO_JUDGE,
    ),
    Metric("integrity_marked", ratio(_MARKS, _UNITS, scale=100.0), signature_of("integrity", share="units"), NO_JUDGE),
)


def deviation_metrics(seeds: int, samples: int) -> tuple[Metric, ...]:
    """Each reading's standard deviation over samples, the root of its mean variance over the seeds."""
    of_draw = _readings(*range(len(_PER_DRAW)))

    def of(reading: Aggregate) -> Aggregate:
        def aggregate(sums: Array) -> Array:
            if samples < 2:
                return np.full(sums.shape[:-1], np.nan)
            values = reading(sums.reshape(*sums.shape[:-1], seeds, samples, len(_PER_DRAW)))
            return np.sqrt(values.var(axis=-1, ddof=1).mean(axis=-1))

        return aggregate

    silent = NO_JUDGE if samples > 1 else "one sample"
    return tuple(
        Metric(f"{key}_deviation", of(reading), f"{_signature(key)}|deviation:samples|samples:{samples}", silent, True)
        for key, reading in of_draw.items()
    )


KEYS: Final = tuple(metric.name for metric in (*METRICS, *deviation_metrics(1, 1)))
