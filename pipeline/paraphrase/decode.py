"""decode pairs: texts that models write under trees, and trees that expanders write under templates."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pandas as pd

from espalier.corpora.records import Pair, table_of, words_of
from espalier.corpora.splits import components
from espalier.datasets.pairs.data import PairData, PairView
from espalier.datasets.pairs.encode import linearize_pairs
from espalier.decoding.paraphrase import PairDecoder, pair_constraint, tree_text, write_pairs
from espalier.io.errors import ConfigError, DataError
from espalier.io.files import read_json
from espalier.io.tables import read_table, write_table
from espalier.models.contract import ChainModel
from espalier.models.serialization import load_model
from espalier.syntax.constituency import read_tree, template
from pipeline import layout
from pipeline.artifacts import fits_none, read_split
from pipeline.likelihood import nats_of
from pipeline.params import Params, Run
from pipeline.stage import device, followed, say
from pipeline.validation import validated

#: Sources decoded together. It changes the speed, never the text.
BATCH = 128


def run(key: str, wanted: Run, params: Params) -> None:
    """One row for each pair and sample, with what guided it and what was written.

    Columns: id, cluster (the id of one of the pairs that share a sentence with it, directly or through others), seed,
    sample, source, reference, source_tree, reference_tree, guide, template, text, tree, score (the hypothesis's
    log-probability), and nll and tokens, the reference's surprise. The table's metadata holds under "unfit" how many
    pairs the model has no ids for.
    """
    decoder = validated(PairDecoder, wanted.decoder, f"params.yaml: runs.{key}.decoder")
    records = read_split(wanted.corpus, wanted.split, Pair)
    if decoder.rows:
        records = records[:: max(1, len(records) // decoder.rows)][: decoder.rows]
    clusters = components(table_of(records, Pair), sides=True, bare=True)
    tables, unfit = [], 0
    for seed in params.models[wanted.model].seeds:
        loaded, vocabulary = load_model(layout.model(wanted.model), seed)
        model: Any = loaded.to(device())
        view: PairView = model.config.view
        if decoder.steps > model.config.positions:
            raise ConfigError(
                f"{decoder.steps} steps, of a model that has {model.config.positions} positions",
                where=f"params.yaml: runs.{key}.decoder.steps",
                remedy="lower it",
            )
        for sample in range(wanted.samples):
            guides = _guides(wanted, decoder, records, seed, sample, view)
            templates = _templates(params, wanted, decoder, records, sample, view)
            data, aside, places = linearize_pairs(
                records, vocabulary, most=model.config.positions - 2, guides=guides,
                templates=templates if decoder.template == "frequent" else None, stage="decode",
            )  # fmt: skip
            if not len(data):
                raise fits_none(wanted, len(records), "pairs")
            unfit += len(aside)
            written = _written(model, data, decoder)
            table = pd.DataFrame([_row(records[place], vocabulary) for place in places])
            table = table.assign(
                cluster=[records[clusters[place]].id for place in places],
                seed=seed,
                sample=sample,
                guide=[(guides or [""] * len(records))[place] for place in places],
                template=[templates[place] for place in places],
            )
            tables.append(pd.concat([table, written, _surprise(model, data)], axis=1))
    made = pd.concat(tables, ignore_index=True)
    write_table(layout.output(wanted.paper, key), made, {"unfit": str(unfit)})
    say(f"{key}: {len(made):,} hypotheses" + (f", {unfit} pairs unfit for the model" if unfit else ""))


def _row(record: Pair, vocabulary: Any) -> dict[str, str]:
    return {
        "id": record.id,
        "source": vocabulary.text_of(words_of(record, "source")),
        "reference": vocabulary.text_of(words_of(record, "target")),
        "source_tree": record.source_tree,
        "reference_tree": record.target_tree,
    }


def _guides(
    wanted: Run, decoder: PairDecoder, records: list[Pair], seed: int, sample: int, view: PairView
) -> list[str] | None:
    """The tree that guides each text; None where a model writes trees, or reads none."""
    if view.writes == "tree" or "target_tree" not in view.reads:
        return None
    if decoder.guide == "target":
        return [record.target_tree for record in records]
    cuts = _tops(records, view.template)
    if decoder.guide == "template":
        return cuts
    if wanted.guidance == layout.NONE:
        raise DataError("no run to be guided by", file="params.yaml", remedy="name one as the run's guidance")
    paper, other = wanted.guidance.split("/")
    table = read_table(layout.output(paper, other), ["id", "seed", "sample", "tree"])
    table = table[(table["sample"] == sample)]
    table = table[table["seed"] == (seed if (table["seed"] == seed).any() else table["seed"].min())]
    trees = dict(zip(table["id"], table["tree"], strict=True))
    # What an expander without a constraint failed to make a tree of is guided by the bare template.
    return [trees.get(record.id) or bare for record, bare in zip(records, cuts, strict=True)]


def _templates(
    params: Params, wanted: Run, decoder: PairDecoder, records: list[Pair], sample: int, view: PairView
) -> list[str]:
    """Each row's template: its target's own, or the sample-th most frequent of the dataset; "" where none is read."""
    if decoder.template == "frequent":
        found = read_json(layout.ready(params.models[wanted.model].dataset) / "templates.json")
        if sample >= len(found):
            raise DataError(f"{len(found)} templates", file="templates.json", remedy="ask for fewer samples")
        return [str(found[sample]["template"])] * len(records)
    if "template" not in view.reads:
        return [""] * len(records)
    return _tops(records, view.template)


def _tops(records: list[Pair], levels: int) -> list[str]:
    return [template(read_tree(record.target_tree, words=False), levels) for record in records]


def _written(model: Any, data: PairData, decoder: PairDecoder) -> pd.DataFrame:
    """text, tree and score of each row's best hypothesis."""
    view, vocabulary = model.config.view, data.vocabulary
    constraint = pair_constraint(decoder, view, vocabulary)
    order = np.argsort(data.sizes(view), kind="stable")
    parts = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
    rows: list[dict[str, Any]] = [{}] * len(data)
    for part in followed(parts, len(parts), "decode"):
        batch = data.batch(part, view).to(device())
        for place, found in zip(part, write_pairs(cast(ChainModel, model), batch, decoder, constraint), strict=True):
            ids, score = (found[0].tokens, found[0].log_probability) if found else ([], float("nan"))
            rows[place] = {
                "text": vocabulary.decode_text(ids) if view.writes == "text" else "",
                "tree": tree_text(ids, view, vocabulary) if view.writes == "tree" else "",
                "score": round(score, 6),
            }
    return pd.DataFrame(rows)


def _surprise(model: Any, data: PairData) -> pd.DataFrame:
    """Nats and ids of each reference, its end counted, under the model and the row's guide."""
    view = model.config.view
    nll = nats_of(model, data, lambda batch: model.token_losses(batch).double().sum(1))
    tokens = data.row("target" if view.writes == "text" else "target_tree", view).lengths + 1
    return pd.DataFrame({"nll": nll.round(6), "tokens": tokens})
