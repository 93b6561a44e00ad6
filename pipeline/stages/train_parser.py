"""train_parser: a parser, off the shelf or trained here on a treebank; either way with its signature and its scores."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from espalier.corpora.records import Pair
from espalier.io.errors import ConfigError, DataError
from espalier.io.files import atomic_folder, write_json
from espalier.io.hashing import digest, file_sha256
from espalier.io.tables import read_table
from espalier.syntax.parse import Parse, parse_of
from espalier.syntax.parsers.parser import Parser, Refused
from espalier.syntax.parsers.registry import MODEL, save_parser
from pipeline import layout
from pipeline.params import ParserEntry, entry, load_params
from pipeline.progress import progress_bar, say
from pipeline.stages.train import read_versions
from pipeline.validation import validated

if TYPE_CHECKING:
    import rich.progress

#: Constituency parsers are compared on sentences of up to so many words, as EVALB does beside all.
SHORT = 40


def run(key: str) -> None:
    """Make `parsers/<key>/`, and score it on its treebank's test sentences, with their gold words."""
    wanted = entry("parser", load_params().parsers, key)
    trained = wanted.treebank != layout.NONE
    scratch = layout.scratch("train_parser", key, _identity(wanted))
    with atomic_folder(layout.parser(key)) as folder:
        if trained:
            _train(key, wanted, folder / MODEL, scratch)
        model = wanted.model if wanted.model != layout.NONE else None
        parser = save_parser(folder, wanted.backend, model, wanted.options)
        found: dict[str, Any] = {"signature": parser.signature}
        if trained:
            found |= scored(parser, read_treebank(wanted.treebank, "test"))
        write_json(layout.parser_metrics(key), found)
    shutil.rmtree(scratch, ignore_errors=True)
    say(f"{key}: {parser.signature}")


def read_treebank(corpus: str, split: str) -> list[Parse]:
    """The gold sentences of one split, each once; of pairs those of both sides."""
    file = layout.corpus(corpus) / f"{split}.parquet"
    table = read_table(file)
    if not len(table):
        raise DataError("no sentences", file=file, remedy="check the corpus's filters and split")
    sides = [side for side in Pair.sides if f"{side}_words" in table]
    return list(dict.fromkeys(parse_of(row, side) for row in table.to_dict("records") for side in sides))


def scored(parser: Parser, gold: list[Parse]) -> dict[str, Any]:
    """Scores of a parser that is given the gold words, of all sentences and again of the short ones."""
    from espalier.metrics.metric import details_json
    from espalier.metrics.parsing import parsing_scores

    answers = parser.parse([each.words for each in gold])
    found = [Parse(()) if isinstance(each, Refused) else each for each in answers]
    short = [number for number, each in enumerate(gold) if len(each.words) <= SHORT]
    return {
        **details_json(parsing_scores(gold, found)),
        f"up_to_{SHORT}_words": details_json(
            parsing_scores([gold[number] for number in short], [found[number] for number in short])
        )["scores"],
        "counts": {
            "sentences": len(gold),
            f"up_to_{SHORT}_words": len(short),
            "refused": sum(isinstance(each, Refused) for each in answers),
        },
    }


def _train(key: str, wanted: ParserEntry, folder: Path, scratch: Path) -> None:
    train, dev = (read_treebank(wanted.treebank, split) for split in ("train", "dev"))
    where = f"params.yaml: parsers.{key}.training"
    with progress_bar() as bar:
        watch = _watcher(bar, key)
        match wanted.backend:
            case "benepar":
                from espalier.syntax.parsers.benepar_training import BeneparTraining, train_benepar

                train_benepar(train, dev, validated(BeneparTraining, wanted.training, where), folder, scratch,
                              seed=wanted.seed, watch=watch)  # fmt: skip
            case "spacy":
                from espalier.syntax.parsers.spacy_training import SpacyTraining, train_spacy

                training = {"language": wanted.language, **wanted.training}
                train_spacy(train, dev, validated(SpacyTraining, training, where), folder, scratch,
                            seed=wanted.seed, watch=watch)  # fmt: skip
            case other:
                raise ConfigError(f"{other} is not trained here", where=f"parsers.{key}.treebank", remedy="none")


def _watcher(bar: rich.progress.Progress, key: str) -> Callable[[int, int, str], None]:
    task = bar.add_task(key, total=None, note="")

    def watch(done: int, total: int, note: str) -> None:
        bar.update(task, completed=done, total=total, note=note)

    return watch


def _identity(wanted: ParserEntry) -> str:
    """Names everything that a trained parser follows from, so that no other training's checkpoint is resumed."""
    inputs = sorted(layout.corpus(wanted.treebank).iterdir()) if wanted.treebank != layout.NONE else []
    return digest(wanted.model_dump(mode="json"), read_versions(), [(path.name, file_sha256(path)) for path in inputs])
