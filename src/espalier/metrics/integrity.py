"""Integrity (SongNet, equation 11): the perplexity of the mark that ends each unit under a language model.

    2^(-1/|Y| sum over units of log P(mark | everything before it))

A full stop is improbable after an incomplete sentence, so lower is better. The paper leaves three points open, and each
reading has its own key:

- the base of the logarithm. Base 2 gives a perplexity. The released code for the paper's PPL column raises 2 to the
  power of nats; the same error here would give `_nats`, which is smaller.
- the set Y. Either all texts of a sample are pooled, or Y is one text and values are averaged (`_texts`), which a few
  texts dominate.
- units that do not end in a mark known to the judge. They have no probability and are left out; `integrity_marked` is
  the share that remains.

`_deviation` is the standard deviation (n - 1) over the samples of a seed, which the paper prints after the mean.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from espalier.io.calls import checked_call
from espalier.io.errors import EspalierError
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import Family
from espalier.metrics.metric import Aggregate, Metric, exp_ratio, ratio, require_lengths, signature_of
from espalier.metrics.texts import MarkLikelihoods, Verses

_NATS, _MARKS, _UNITS, _TEXT, _TEXT_NATS, _TEXTS, _REFERENCE_NATS, _REFERENCE_MARKS = range(8)
#: The columns of one draw, from which its deviation is computed: the first six of a text without its units.
_PER_DRAW = (_NATS, _MARKS, _TEXT, _TEXT_NATS, _TEXTS)

NO_JUDGE: Final = "no judge"


def integrity_statistics(likelihoods: MarkLikelihoods) -> Array:
    """(texts, 8): nats, marks, units; equation 11 of the text with both logarithms, and 1; two sums of the reference.

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


def _readings(nats: int, marks: int, text: int, text_nats: int, texts: int) -> dict[str, Aggregate]:
    """The four readings by key, given the indices of their columns."""
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
    """The standard deviation of each reading over samples: the root of the mean variance over seeds."""
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


@checked_call
@dataclass(frozen=True)
class Integrity(Family[Verses]):
    """Integrity of verses with `marks`, or, if `seeds` and `samples` are given, its deviations over samples.

    Attributes:
        seeds, samples: number of distinct seeds and samples of the texts.
    """

    name = "integrity"
    seeds: int | None = None
    samples: int | None = None

    def statistics(self, verses: Verses, /) -> Array:
        """`integrity_statistics`, or (texts, seeds * samples * 5) with separate columns for each draw.

        A draw is one sample of one seed.
        """
        statistics = integrity_statistics(verses.needed("marks"))
        if self.seeds is None or self.samples is None:
            return statistics
        seed_of, sample_of = (
            np.unique(np.asarray(labels), return_inverse=True)[1] if len(labels) else 0
            for labels in (verses.seeds, verses.samples)
        )
        columns = np.zeros((len(statistics), self.seeds, self.samples, len(_PER_DRAW)))
        columns[np.arange(len(statistics)), seed_of, sample_of] = statistics[:, _PER_DRAW]
        return columns.reshape(len(statistics), -1)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        if self.seeds is None or self.samples is None:
            return METRICS
        return deviation_metrics(self.seeds, self.samples)
