"""annotate: parse or tag the texts of a run, so that changes of metrics need no parsing."""

import shutil

from espalier.cli.progress import counted, say
from espalier.io.registry import entry
from espalier.io.tables import read_table, write_table
from espalier.syntax.parsers.registry import parser_signature
from espalier.tasks.data import TEXT_COLUMNS
from espalier.tasks.registry import TASKS
from pipeline import layout
from pipeline.graph.shards import annotated
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
    words = TASKS[run_.task].writes_words(params.language_of(run_.dataset))
    table = annotated(texts, parser, scratch, words=words)
    write_table(layout.annotation(key), table, {"parser": signature})
    shutil.rmtree(scratch, ignore_errors=True)
    say(counted([("texts", len(table)), ("not parsed", int((table["reason"] != "").sum()))]))
