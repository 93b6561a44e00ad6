"""train_parser: a published parser, or one trained here on a treebank, with its signature and scores."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from espalier.cli.progress import progress_bar, say
from espalier.corpora.records import Pair
from espalier.io.errors import DataError
from espalier.io.files import atomic_folder, together, write_json
from espalier.io.hashing import digest, file_sha256
from espalier.io.registry import entry
from espalier.io.tables import read_table
from espalier.metrics.metric import details_json
from espalier.metrics.parsing import HEADLINE, parsing_scores
from espalier.syntax.parse import Parse, parse_of
from espalier.syntax.parsers.parser import Parser, Refused
from espalier.syntax.parsers.registry import BACKENDS, MODEL, save_parser
from pipeline import layout
from pipeline.params.entries import ParserEntry
from pipeline.params.read import load_params
from pipeline.params.versions import version_of
from pipeline.records.artifacts import write_metrics
from pipeline.records.measured import Clock

if TYPE_CHECKING:
    import rich.progress

#: Constituency parsers are also compared on sentences of at most so many words, as by EVALB.
SHORT = 40


def run(key: str) -> None:
    """Make `data/parsers/<key>/`, and score it on the test sentences of its treebank, with gold words."""
    parser_entry = entry("parser", load_params().parsers, key)
    trained = parser_entry.treebank != layout.NONE
    scratch = layout.scratch("train_parser", key, _identity(parser_entry))
    numbers: dict[str, float] = {}
    details: dict[str, Any] = {}
    with together():
        with atomic_folder(layout.parser(key)) as folder:
            if trained:
                clock = Clock()
                _train(key, parser_entry, folder / MODEL, scratch)
                clock.write("train_parser", key, {})
            model = parser_entry.model if parser_entry.model != layout.NONE else None
            parser = save_parser(folder, parser_entry.backend, model, parser_entry.options)
            if trained:
                details = scored(parser, read_treebank(parser_entry.treebank, "test"))
                values = {name: details["scores"].get(metric) for name, metric in HEADLINE.items()}
                numbers = {name: value for name, value in values.items() if value is not None}
                write_json(folder / "scores.json", numbers)
        write_metrics("parsers", key, numbers, {"signature": parser.signature, **details})
    shutil.rmtree(scratch, ignore_errors=True)
    say(f"{key}: {parser.signature}")


def read_treebank(corpus: str, split: str) -> list[Parse]:
    """The distinct gold sentences of one split; for pairs, those of both sides."""
    file = layout.corpus(corpus) / f"{split}.parquet"
    table = read_table(file)
    if not len(table):
        raise DataError("no sentences", file=file, remedy="check the corpus's filters and split")
    sides = [side for side in Pair.sides if f"{side}_words" in table]
    return list(dict.fromkeys(parse_of(row, side) for row in table.to_dict("records") for side in sides))


def scored(parser: Parser, gold: Sequence[Parse]) -> dict[str, Any]:
    """Scores of a parser with given gold words: of all sentences, and of those with at most `SHORT` words.

    A tagger is scored by its tags, whether or not the treebank has trees.
    """
    answers = parser.parse([parse.words for parse in gold])
    parses = [Parse(()) if isinstance(answer, Refused) else answer for answer in answers]
    if any(parse.tags for parse in parses) and not any(parse.tree or parse.heads for parse in parses):
        gold = [Parse(parse.words, parse.tags) for parse in gold]
    short = [number for number, parse in enumerate(gold) if len(parse.words) <= SHORT]
    return {
        **_scores(gold, parses),
        f"up_to_{SHORT}_words": _scores([gold[n] for n in short], [parses[n] for n in short])["scores"],
        "counts": {
            "sentences": len(gold),
            f"up_to_{SHORT}_words": len(short),
            "refused": sum(isinstance(answer, Refused) for answer in answers),
        },
    }


def _scores(gold: Sequence[Parse], parses: Sequence[Parse]) -> Mapping[str, Any]:
    return details_json(parsing_scores(gold, parses))


def _train(key: str, parser: ParserEntry, folder: Path, scratch: Path) -> None:
    train, dev = (read_treebank(parser.treebank, split) for split in ("train", "dev"))
    with progress_bar() as bar:
        BACKENDS[parser.backend].trained(
            train, dev, parser.settings, folder, scratch, seed=parser.seed, watch=_watcher(bar, key)
        )


def _watcher(bar: rich.progress.Progress, key: str) -> Callable[[int, int, str], None]:
    task = bar.add_task(key, total=None)

    def watch(done: int, total: int, note: str) -> None:
        bar.update(task, completed=done, total=total, note=note)

    return watch


def _identity(parser: ParserEntry) -> str:
    """A hash of all inputs of a trained parser, so that checkpoints of other trainings are never resumed."""
    inputs = sorted(layout.corpus(parser.treebank).iterdir()) if parser.treebank != layout.NONE else []
    version = version_of("parsers", parser.backend)
    return digest(parser.model_dump(mode="json"), version, [(path.name, file_sha256(path)) for path in inputs])
