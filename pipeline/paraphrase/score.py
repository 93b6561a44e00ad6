"""score paraphrases against their references, and expanded trees against the targets' own."""

from __future__ import annotations

import pandas as pd

from espalier.io.errors import ArtifactError, ConfigError
from espalier.io.tables import read_table, table_metadata
from espalier.metrics.metric import family_scores
from espalier.metrics.paraphrase import (
    EXPANSION_KEYS,
    KEYS,
    expansion_statistics,
    metrics_of,
    paraphrase_statistics,
)
from pipeline import layout
from pipeline.artifacts import write_scores
from pipeline.params import Params, Run


def run(key: str, wanted: Run, params: Params) -> None:
    """The scores of one run, and the statistics that they are made of, a row for each hypothesis.

    Pairs that share a sentence are one cluster, and resampled together: they are no independent evidence.
    """
    path = layout.output(wanted.paper, key)
    table = read_table(path)
    templates = [own or whole for own, whole in zip(table["template"], table["reference_tree"], strict=True)]
    metadata = table_metadata(path)
    counts = {"pairs": int(table["id"].nunique()), "hypotheses": len(table), "unfit": int(metadata["unfit"])}
    if params.models[wanted.model].network.get("writes", "text") == "tree":
        trees = table["tree"].tolist()
        statistics = expansion_statistics(table["reference_tree"].tolist(), trees, templates=templates)
        keys = EXPANSION_KEYS
        counts["no tree"] = trees.count("")
    else:
        parsed = _parsed(key, wanted, table)
        lexicon = layout.raw(wanted.lexicon) if wanted.lexicon != layout.NONE else None
        statistics = paraphrase_statistics(
            table["source"].tolist(),
            table["reference"].tolist(),
            table["text"].tolist(),
            table["reference_tree"].tolist(),
            parsed["target_tree"].tolist(),
            templates=templates,
            likelihood=(table["nll"].tolist(), table["tokens"].tolist()),
            wordnet=lexicon,
        )
        keys = KEYS
        counts["not parsed"] = int((parsed["reason"] != "").sum())
    found = family_scores(statistics, metrics_of, seed=wanted.seed, groups=table["cluster"].tolist(), keys=keys)
    write_scores(key, wanted, table, statistics, found, counts)


def _parsed(key: str, wanted: Run, table: pd.DataFrame) -> pd.DataFrame:
    """The hypotheses' parses, in the table's order."""
    if wanted.annotation == layout.NONE:
        raise ConfigError(
            "texts are compared by their trees", where=f"params.yaml: runs.{key}.annotation", remedy="name one"
        )
    parsed = read_table(layout.annotation(wanted.annotation))
    keys = ["id", "seed", "sample"]
    if not parsed[keys].equals(table[keys]):
        raise ArtifactError(
            f"its rows are not those of run {key}", where=layout.annotation(wanted.annotation), remedy="annotate again"
        )
    return parsed
