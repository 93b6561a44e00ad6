"""score replies against those that were given, and by what the nursery's grammar says of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from espalier.io.tables import read_table, table_metadata
from espalier.metrics.bootstrap import Array
from espalier.metrics.dialogue import KEYS, dialogue_statistics, metrics_of
from espalier.metrics.metric import family_scores
from pipeline import layout
from pipeline.artifacts import write_scores
from pipeline.params import Params, Run


def run(key: str, wanted: Run, params: Params) -> None:
    """The scores of one run, and the statistics that they are made of, a row for each pair.

    Pairs of one post are one cluster, and resampled together, as are those of several seeds.
    """
    path = layout.output(wanted.paper, key)
    table, known = read_table(path), table_metadata(path)
    reader = params.corpora[wanted.corpus].reader
    seeds = [_statistics(own, known["writes"], reader) for _, own in table.groupby("seed", sort=False)]
    statistics = {family: np.concatenate([own[family] for own in seeds]) for family in seeds[0]}
    first = table[table["sample"] == 0].reset_index(drop=True)
    found = family_scores(statistics, metrics_of, seed=wanted.seed, groups=first["cluster"].tolist(), keys=KEYS)
    counts = {
        "pairs": int(first["id"].nunique()),
        "posts": int(first["cluster"].nunique()),
        "replies": len(table),
        "missing": int(table["score"].isna().sum()),
        "cut": int((table["cut"] != "").sum()),
        "unfit": int(known["unfit"]),
    }
    write_scores(key, wanted, first, statistics, found, counts)


def _statistics(table: pd.DataFrame, writes: Any, reader: str) -> dict[str, Array]:
    """Of one seed's rows, a row for each pair."""
    first = table[table["sample"] == 0]
    return dialogue_statistics(
        first["source"].tolist(),
        first["reference"].tolist(),
        [texts.tolist() for _, texts in table.groupby("id", sort=False)["text"]],
        writes=writes,
        likelihood=(first["nll"].tolist(), first["words"].tolist()),
        whole=((first["heads"] != "") & (first["cut"] == "")).tolist() if writes == "tree" else None,
        grammatical=_grammatical(first["text"].tolist(), reader),
    )


def _grammatical(texts: list[str], reader: str) -> list[bool] | None:
    """Whether each is a reply by the grammar that the nursery grew its corpus from; None for published corpora."""
    if reader != "dialogue_zh":
        return None
    from espalier.nursery.dialogue_zh import is_grammatical

    return [is_grammatical(text.split()) for text in texts]
