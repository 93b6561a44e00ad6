"""annotate: a run's texts parsed or tagged again, so that a change of a metric never parses."""

from __future__ import annotations

import shutil

import pandas as pd

from espalier.io.files import read_json
from espalier.io.hashing import digest
from espalier.io.tables import read_table, write_table
from espalier.syntax.parse import Parse, columns_of
from espalier.syntax.parsers.parser import Refused
from pipeline import layout
from pipeline.params import entry, load_params
from pipeline.progress import counted, say
from pipeline.shards import parse_all


def run(key: str) -> None:
    """Parse the texts of one run into `annotations/<key>.parquet`.

    One row for each text, under its `id`, `seed` and `sample`, with the columns of its grammar; what could not be
    parsed has a `reason` and empty columns: hypotheses are scored, never dropped.
    """
    params = load_params()
    wanted = entry("annotation", params.annotations, key)
    texts = read_table(layout.output(wanted.paper, wanted.run), ["id", "seed", "sample", "text"])
    parser = layout.parser(wanted.parser)
    signature = str(read_json(parser / "parser.json")["signature"])
    scratch = layout.scratch("annotate", key, digest(signature))
    answers, _ = parse_all(texts["text"].tolist(), parser, scratch)
    columns = [columns_of(Parse(()) if isinstance(each, Refused) else each, "target") for each in answers]
    reasons = [each.reason if isinstance(each, Refused) else "" for each in answers]
    table = pd.concat([texts.drop(columns="text"), pd.DataFrame(columns).astype("str")], axis=1)
    write_table(layout.annotation(key), table.assign(reason=reasons), {"parser": signature})
    shutil.rmtree(scratch, ignore_errors=True)
    say(counted([("texts", len(answers)), ("not parsed", sum(map(bool, reasons)))]))
