"""decode verse: texts in a corpus's formats, and how probable a model finds the corpus's own texts."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
import torch

from espalier.corpora.records import Verse
from espalier.datasets.batching import length_batches
from espalier.datasets.verse.data import VerseData
from espalier.datasets.verse.encode import linearize
from espalier.datasets.vocabulary import EOS, PAD, SEP
from espalier.decoding.verse import VerseDecoder, text_of, verse_constraint, write
from espalier.io.hashing import seed_from
from espalier.io.tables import write_table
from espalier.models.serialization import load_model
from espalier.verse.format import format_of
from pipeline import layout
from pipeline.artifacts import fits_none, read_split
from pipeline.params import Params, Run
from pipeline.stage import device, followed, say
from pipeline.validation import validated

if TYPE_CHECKING:
    from espalier.models.songnet import SongNet

#: Texts decoded together. It changes the speed, never the text.
BATCH = 64


def run(key: str, wanted: Run, params: Params) -> None:
    """Texts in the formats of a corpus's poems.

    The table's metadata holds as JSON, under "dev", the same likelihoods for the corpus's dev split, and, under
    "unfit", how many poems the model has no symbols for.
    """
    decoder = validated(VerseDecoder, wanted.decoder, f"params.yaml: runs.{key}.decoder")
    records = read_split(wanted.corpus, wanted.split, Verse)
    tables, dev, unfit = [], [], 0
    for seed in params.models[wanted.model].seeds:
        loaded, vocabulary = load_model(layout.model(wanted.model), seed)
        model = cast("SongNet", loaded.to(device()))
        longest = model.config.positions - decoder.slack
        data, aside = linearize(records, vocabulary, longest, stage="decode")
        if not len(data):
            raise fits_none(wanted, len(records), "poems")
        unfit += len(aside)
        fitting = {row.id: row for row in records}
        table = _written(model, data, [fitting[each] for each in data.ids], wanted, decoder, seed)
        tables.append(table.merge(_surprise(model, data), on="id", validate="many_to_one"))
        dev.append(_surprise(model, linearize(read_split(wanted.corpus, "dev", Verse), vocabulary, longest)[0]))
    write_table(
        layout.output(wanted.paper, key),
        pd.concat(tables, ignore_index=True),
        {"dev": json.dumps(pd.concat(dev, ignore_index=True).drop(columns="id").to_dict("list")), "unfit": str(unfit)},
    )
    say(f"{key}: {sum(map(len, tables)):,} texts" + (f", {unfit} poems unfit for the model" if unfit else ""))


def _written(
    model: SongNet, data: VerseData, records: list[Verse], run_: Run, decoder: VerseDecoder, seed: int
) -> pd.DataFrame:
    """One row per poem and sample."""
    constraint = verse_constraint(decoder, data.vocabulary)
    formats = [format_of(row.target, data.vocabulary.language, row.rhyme) for row in records]
    jobs = [(row, sample) for row in np.argsort(data.lengths, kind="stable") for sample in range(run_.samples)]
    parts = [jobs[start : start + BATCH] for start in range(0, len(jobs), BATCH)]
    rows: list[dict[str, Any]] = []
    for part in followed(parts, len(parts), "decode"):
        batch = data.batch(np.array([row for row, _ in part]), replace(model.config.view, literals=0.0)).to(device())
        seeds = [seed_from(run_.seed, seed, data.ids[row], sample) for row, sample in part]
        for (row, sample), ids in zip(part, write(model, batch, seeds, decoder, constraint), strict=True):
            record = records[row]
            rows.append(
                {
                    "id": record.id,
                    "seed": seed,
                    "sample": sample,
                    "tune": record.tune,
                    "format": str(formats[row]),
                    "rhyme": record.rhyme,
                    "reference": record.target,
                    "text": text_of(ids, data.vocabulary, formats[row] if decoder.mode == "frame" else None),
                }
            )
    return pd.DataFrame(rows).sort_values(["id", "sample"], ignore_index=True)


def _surprise(model: SongNet, data: VerseData) -> pd.DataFrame:
    """Nats and tokens of each reference under the model: of all its targets, and of its words alone."""
    vocabulary = data.vocabulary
    no_word = torch.zeros(vocabulary.text_size, dtype=torch.bool)
    no_word[[PAD, SEP, EOS, *vocabulary.mark_ids.tolist()]] = True
    rows = []
    with torch.inference_mode():
        batches = length_batches(data.lengths, budget=8192)
        for indices in followed(batches, len(batches), "likelihood"):
            batch = data.batch(indices, replace(model.config.view, literals=0.0)).to(device())
            losses = model.token_losses(batch).double()
            word = ~no_word.to(losses.device)[batch.target]
            columns = torch.stack([losses.sum(1), batch.real.sum(1), (losses * word).sum(1), word.sum(1)], dim=1)
            rows += [(data.ids[index], *values) for index, values in zip(indices, columns.tolist(), strict=True)]
    table = pd.DataFrame(rows, columns=["id", "nll", "tokens", "word_nll", "words"])
    return table.astype({"tokens": "int64", "words": "int64"}).round({"nll": 6, "word_nll": 6})
