"""Scores of outputs: statistics of each segment, and the metrics computed from them."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import pandas as pd

from espalier.datasets.encoding import Split
from espalier.io.hashing import digest
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import Family, family_scores, statistics_of
from espalier.metrics.metric import Score, confirmed, details_json, headline_json
from espalier.metrics.registry import Own, require_own_names
from espalier.tasks.data import SEGMENT_COLUMNS, Outputs, Segments
from espalier.tasks.settings import Scoring
from espalier.tasks.task import ScoringTask

Data_ = TypeVar("Data_", bound=Split[Any, Any, Any])
Scoring_ = TypeVar("Scoring_", bound=Scoring)


def scored(
    kind: ScoringTask[Data_, Any, Any, Scoring_], outputs: Outputs[Data_], scoring: Scoring_
) -> tuple[pd.DataFrame, dict[str, float], dict[str, Any]]:
    """The scores of outputs.

    Returns:
        A table of statistics with one row per segment; the metrics that DVC compares; and the details of all metrics,
        with counts.
    """
    own = statistics_of(map(Own, scoring.own_metrics), outputs)
    first, *others = kind.statistics(outputs, scoring)
    blocks = [_with_own(first, own, outputs.table), *others]
    require_own_names([family for block in blocks for family in block.families])
    scores: dict[str, Score] = {}
    for block in blocks:
        scores |= _confirmed(block, outputs.seed)
    table = outputs.table
    counts = {
        "records": int(table["id"].nunique()),
        "texts": len(table),
        "empty": int((table["text"] == "").sum()),
        "unfit": int(outputs.facts["unfit"]),
        **kind.counts(outputs, scoring),
    }
    audits = {name: dict(value) for block in blocks for name, value in block.audits.items()}
    # Scores compare if they are of the same records.
    ids = digest(*sorted(set(table["id"])))
    headline = {**kind.headline(outputs), **{metric.name: metric.name for family in own for metric in family.metrics}}
    details = {**details_json(scores), **audits, "ids": ids, "counts": counts}
    return _table(blocks), headline_json(scores, headline), details


def _confirmed(block: Segments, seed: int) -> dict[str, Score]:
    """The scores of all segments, after a comparison with the libraries'."""
    own = family_scores(block.families, seed=seed, groups=block.rows["cluster"].tolist())
    if block.confirmed is None:
        return confirmed(own, block.library)
    sample = {family: rows[block.confirmed] for family, rows in block.families.items()}
    confirmed(family_scores(sample, seed=seed, resamples=0), block.library)
    return own


def _with_own(block: Segments, own: Mapping[Family[Any], Array], table: pd.DataFrame) -> Segments:
    """The segments of a task with the statistics of user-defined metrics, which have one row per text.

    If a segment consists of all samples of a record, as in dialogue, the rows of its samples are summed.
    """
    keys = list(SEGMENT_COLUMNS) if len(block.rows) == len(table) else ["id", "seed"]
    for family, rows in own.items():
        sums = pd.DataFrame(rows).groupby([table[key].to_numpy() for key in keys], sort=False).sum()
        rows = sums.loc[pd.MultiIndex.from_frame(block.rows[keys])].to_numpy()
        block = block._replace(families={**block.families, family: rows})
    return block


def _table(blocks: Sequence[Segments]) -> pd.DataFrame:
    """One column per statistic; empty if a family has none for the segment of a row."""
    tables = []
    for block in blocks:
        columns: dict[str, Any] = {
            f"{family.key}.{place}": values[:, place]
            for family, values in block.families.items()
            for place in range(values.shape[1])
        }
        tables.append(pd.concat([block.rows.reset_index(drop=True), pd.DataFrame(columns)], axis=1))
    return pd.concat(tables, ignore_index=True)
