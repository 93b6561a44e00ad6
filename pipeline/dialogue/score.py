"""score replies against those that were given, and by what the nursery's grammar says of them."""

from __future__ import annotations

from espalier.io.tables import read_table, table_metadata
from espalier.metrics.dialogue import Writes, dialogue_scores, dialogue_statistics
from pipeline import layout
from pipeline.artifacts import write_scores
from pipeline.params import Params, Run


def run(key: str, wanted: Run, params: Params) -> None:
    """The scores of one run, and the statistics that they are made of, a row for each pair.

    Pairs of one post are one cluster, and resampled together.
    """
    path = layout.output(wanted.paper, key)
    table = read_table(path)
    first = table[table["sample"] == 0].reset_index(drop=True)
    lists = [texts.tolist() for _, texts in table.groupby(["seed", "id"], sort=False)["text"]]
    model = params.models[wanted.model]
    writes: Writes = "tree" if model.arch == "x2tree" else "chain"
    grown = writes == "tree" and model.network.get("arity", 3) > 1
    statistics = dialogue_statistics(
        first["source"].tolist(),
        first["reference"].tolist(),
        lists,
        writes=writes,
        likelihood=(first["nll"].tolist(), first["words"].tolist()),
        whole=((first["heads"] != "") & (first["cut"] == "")).tolist() if grown else None,
        grammatical=_grammatical(first["text"].tolist(), params.corpora[wanted.corpus].reader),
    )
    found = dialogue_scores(statistics, seed=wanted.seed, ids=first["cluster"].tolist())
    counts = {
        "pairs": int(first["id"].nunique()),
        "posts": int(first["cluster"].nunique()),
        "replies": len(table),
        "cut": int((table["cut"] != "").sum()),
        "unfit": int(table_metadata(path)["unfit"]),
    }
    write_scores(key, wanted, first, statistics, found, counts)


def _grammatical(texts: list[str], reader: str) -> list[bool] | None:
    """Whether each is a reply by the grammar that the nursery grew its corpus from; None for published corpora."""
    if reader != "dialogue_zh":
        return None
    from espalier.nursery.dialogue_zh import is_grammatical

    return [is_grammatical(text.split()) for text in texts]
