"""score verse: format, rhyme, variety and perplexity."""

from __future__ import annotations

import json

from espalier.io.errors import ConfigError
from espalier.io.tables import read_table, table_metadata
from espalier.metrics.metric import family_scores
from espalier.metrics.perplexity import Likelihood
from espalier.metrics.verse import KEYS, dev_statistics, metrics_of, verse_statistics
from pipeline import layout
from pipeline.artifacts import write_scores
from pipeline.params import Params, Run


def run(key: str, wanted: Run, params: Params) -> None:
    """Format, rhyme, variety and perplexity."""
    path = layout.output(wanted.paper, key)
    table = read_table(path)
    likelihood = Likelihood(*(table[name].tolist() for name in ("nll", "tokens", "word_nll", "words")))
    if wanted.rules == "none":
        raise ConfigError("verse has rules", where=f"params.yaml: runs.{key}.rules", remedy="songci or sonnet")
    statistics = verse_statistics(
        table["reference"].tolist(),
        table["text"].tolist(),
        table["rhyme"].tolist(),
        language=params.corpora[wanted.corpus].language,
        rules=wanted.rules,
        likelihood=likelihood,
        draws=list(zip(table["seed"], table["sample"], strict=True)),
        seed=wanted.seed,
    )
    found = family_scores(statistics, metrics_of, seed=wanted.seed, groups=table["id"].tolist(), keys=KEYS)
    metadata = table_metadata(path)
    dev = json.loads(metadata["dev"])
    unseen = Likelihood(dev["nll"], dev["tokens"], dev["word_nll"], dev["words"])
    found |= family_scores(dev_statistics(unseen), metrics_of, seed=wanted.seed)
    counts = {"poems": int(table["id"].nunique()), "texts": len(table), "empty": int((table["text"] == "").sum())}
    counts["unfit"] = int(metadata["unfit"])
    # A poem is a cluster of its own.
    write_scores(key, wanted, table.assign(cluster=table["id"]), statistics, found, counts)
