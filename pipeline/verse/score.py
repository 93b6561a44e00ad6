"""score verse: format, rhyme, variety and perplexity."""

from __future__ import annotations

import json

from espalier.io.errors import ConfigError
from espalier.io.files import write_json
from espalier.io.tables import read_table, table_metadata, write_table
from espalier.metrics.metric import scores, scores_json
from espalier.metrics.perplexity import METRICS, Likelihood, perplexity_statistics
from espalier.metrics.verse import verse_scores
from pipeline import layout
from pipeline.params import Params, Run

#: Of the perplexities, those that the paper prints for dev too.
DEV_KEYS = ("perplexity", "ppl_released")


def run(key: str, wanted: Run, params: Params) -> None:
    """Format, rhyme, variety and perplexity."""
    path = layout.output(wanted.paper, key)
    table = read_table(path)
    likelihood = Likelihood(*(table[name].tolist() for name in ("nll", "tokens", "word_nll", "words")))
    if wanted.rules == "none":
        raise ConfigError("verse has rules", where=f"params.yaml: runs.{key}.rules", remedy="songci or sonnet")
    found = verse_scores(
        table["reference"].tolist(),
        table["text"].tolist(),
        table["rhyme"].tolist(),
        language=params.corpora[wanted.corpus].language,
        rules=wanted.rules,
        likelihood=likelihood,
        ids=table["id"].tolist(),
        samples=(table["seed"] * wanted.samples + table["sample"]).tolist(),
        seed=wanted.seed,
    )
    metadata = table_metadata(path)
    dev = json.loads(metadata["dev"])
    unseen = Likelihood(dev["nll"], dev["tokens"], dev["word_nll"], dev["words"])
    of_dev = scores(METRICS, perplexity_statistics(unseen), seed=wanted.seed)
    found |= {f"{name}_dev": of_dev[name] for name in DEV_KEYS}
    counts = {"poems": int(table["id"].nunique()), "texts": len(table), "empty": int((table["text"] == "").sum())}
    counts["unfit"] = int(metadata["unfit"])
    write_json(layout.metrics(wanted.paper, key), {**scores_json(found), "counts": counts})
    write_table(layout.segments(wanted.paper, key), table[["id", "seed", "sample"]])
