"""Pairs scored a second, and ROUGE against rouge-score, and against rouge-score-rs where it is installed.

    ESPALIER_MIRROR=FOLDER python benchmarks/score_pairs.py [rounds] [pairs] [--record]

The sources and references are questions of Quora, and an output is the first half of its source with the second half of
its reference. All values must agree: ROUGE's to 1e-10, and the scores and their intervals to the last digit of a file.
Times are of the process, so other work on the machine changes them little.

rouge-score-rs (Apache-2.0) is not installed with this project, since it is weeks old: install it for this comparison.
"""

from __future__ import annotations

import os

os.environ["RAYON_NUM_THREADS"] = "1"

import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
from measuring import Record, arguments, mirror_folder, rate_table, rounds

from espalier.metrics import bootstrap
from espalier.metrics.family import family_scores
from espalier.metrics.metric import confirmed, confirmed_rows, details_json
from espalier.metrics.paraphrase import library_scores, paraphrase_statistics
from espalier.metrics.rouge import KEYS, countable, library_rouge, rouge_statistics
from espalier.metrics.texts import Pairs

DEFAULTS = (3, 20_000)
OURS = "Espalier"
SEED = 1


def questions(count: int) -> Pairs:
    """Pairs as they are published, with made-up outputs."""
    folder = mirror_folder() / "quora/pos50k"
    sides = [(folder / f"train.{side}.txt").read_text(encoding="utf-8").splitlines()[:count] for side in ("src", "tgt")]
    return Pairs(*sides, [_joined(*map(str.split, pair)) for pair in zip(*sides, strict=True)])


def _joined(source: list[str], reference: list[str]) -> str:
    return " ".join([*source[: len(source) // 2], *reference[len(reference) // 2 :]])


def scored(pairs: Pairs, *, sample: bool) -> dict[str, object]:
    """What the stage `score` does with texts that have no parses.

    Args:
        sample: whether the libraries confirm a sample, and resamples are drawn once for all families; otherwise the
            libraries confirm all pairs, and each family draws its own.
    """
    statistics = paraphrase_statistics(pairs, scored=("similarity", "defects"))
    bootstrap._kept_draws.cache_clear()
    bootstrap._KEPT = 64_000_000 if sample else 0
    scores = family_scores(statistics, seed=SEED, groups=range(len(pairs.sources)))
    rows = confirmed_rows(len(pairs.sources), SEED) if sample else None
    library = library_scores(*pairs.chosen(rows).sides)
    if rows is None:
        return details_json(confirmed(scores, library))
    confirmed(family_scores({family: all_[rows] for family, all_ in statistics.items()}, seed=0, resamples=0), library)
    return details_json(scores)


def rs_rouge(references: Sequence[str], hypotheses: Sequence[str]) -> dict[str, float]:
    """The values of `library_rouge` by rouge-score-rs."""
    from rouge_score_rs.rouge_scorer import RougeScorer

    found: list[float] = []
    for stems in (True, False):
        scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=stems)
        rows = scorer.score_batch(list(references), list(hypotheses))
        found += [100.0 * float(np.mean([row[kind].fmeasure for row in rows])) for kind in scorer.rouge_types]
    return dict(zip(KEYS, found, strict=True))


def own_rouge(references: Sequence[str], hypotheses: Sequence[str]) -> dict[str, float]:
    rows = rouge_statistics(references, hypotheses).sum(axis=0)
    return dict(zip(KEYS, 100.0 * rows[:-1] / rows[-1], strict=True))


def clocked(run: Callable[[], object], pairs: int) -> Callable[[], float]:
    """Pairs a second of the process."""

    def rate() -> float:
        started = time.process_time()
        run()
        return pairs / (time.process_time() - started)

    return rate


def main() -> None:
    repeats, count = arguments(*DEFAULTS)
    pairs = questions(count)
    count = len(pairs.sources)
    ways = {OURS: True, "all pairs confirmed, resamples drawn by each family": False}
    if len({repr(scored(pairs, sample=sample)) for sample in ways.values()}) > 1:
        sys.exit("the scores differ")
    whole = {name: clocked(lambda sample=sample: scored(pairs, sample=sample), count) for name, sample in ways.items()}
    peers = {OURS: own_rouge, "rouge-score": library_rouge}
    try:
        import rouge_score_rs
    except ImportError:
        print("rouge-score-rs is not installed, and left out")
    else:
        peers[f"rouge-score-rs {rouge_score_rs.__version__}"] = rs_rouge
    texts = countable(pairs.references, pairs.hypotheses)
    expected = own_rouge(*texts)
    for name, peer in peers.items():
        if any(abs(value - expected[key]) > 1e-10 for key, value in peer(*texts).items()):
            sys.exit(f"{name} finds other values")
    rouge = {name: clocked(lambda peer=peer: peer(*texts), count) for name, peer in peers.items()}
    with Record(__file__) as record:
        title = f"{count:,} pairs: BLEU, BLEU to the source, ROUGE, METEOR and shares of defects, with intervals"
        record.add(rate_table(title, rounds(whole, repeats, warm_up=0), OURS, "pairs/s"))
        title = f"{count:,} pairs: ROUGE-1, -2 and -L, of stems and of words"
        record.add(rate_table(title, rounds(rouge, repeats, warm_up=0), OURS, "pairs/s"))


if __name__ == "__main__":
    main()
