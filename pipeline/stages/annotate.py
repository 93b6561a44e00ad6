"""annotate: a run's texts parsed or tagged again, so that a change of a metric never parses."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd

from espalier.cli.progress import counted, say
from espalier.io.registry import entry
from espalier.io.tables import read_table, write_table
from espalier.syntax.parse import Parse, columns_of
from espalier.syntax.parsers.parser import Refused
from espalier.syntax.parsers.registry import parser_signature
from espalier.tasks.registry import task
from espalier.tasks.task import TEXT_COLUMNS
from pipeline import layout
from pipeline.graph.shards import parse_all
from pipeline.params.read import load_params


def run(key: str) -> None:
    """Parse the texts of one run into `data/annotations/<key>.parquet`."""
    params = load_params()
    annotation = entry("annotation", params.annotations, key)
    texts = read_table(layout.output(annotation.paper, annotation.run), [*TEXT_COLUMNS, "text"])
    parser = layout.parser(annotation.parser)
    signature = parser_signature(parser)
    scratch = layout.scratch("annotate", key)
    run_ = params.runs[annotation.run]
    language = params.corpora[params.datasets.every[run_.dataset].corpus].language
    table = annotated(texts, parser, scratch, words=task(run_.task).writes_words(language))
    write_table(layout.annotation(key), table, {"parser": signature})
    shutil.rmtree(scratch, ignore_errors=True)
    say(counted([("texts", len(table)), ("not parsed", int((table["reason"] != "").sum()))]))


def annotated(texts: pd.DataFrame, parser: Path, scratch: Path, *, words: bool) -> pd.DataFrame:
    """The parses of texts, a row for each under its `id`, `seed` and `sample`, with the columns of its grammar.

    A text that cannot be parsed has a `reason` and empty columns: hypotheses are scored, never dropped.

    Args:
        words: whether the texts are words joined by spaces. These are parsed as they stand: a parser that split such a
            text itself would find other words than those that were written.
    """
    sentences = [tuple(text.split()) if words else text for text in texts["text"]]
    answers, _ = parse_all(sentences, parser, scratch)
    parses = [Parse(()) if isinstance(answer, Refused) else answer for answer in answers]
    columns = pd.DataFrame([columns_of(parse, "target") for parse in parses]).astype("str")
    reasons = [answer.reason if isinstance(answer, Refused) else "" for answer in answers]
    keys = texts[list(TEXT_COLUMNS)].reset_index(drop=True)
    return pd.concat([keys, columns], axis=1).assign(reason=reasons)
