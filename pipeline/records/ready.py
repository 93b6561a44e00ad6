"""A corpus encoded as rows of ids for models, with its vocabulary."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from espalier.cli.progress import counted, say
from espalier.corpora.records import Quarantined, Record, table_of
from espalier.corpora.splits import SPLITS
from espalier.datasets.encoding import Encoding, Vocabulary
from espalier.datasets.registry import ENCODINGS
from espalier.io.errors import DataError
from espalier.io.files import atomic_folder, read_json, together, write_json
from espalier.io.tables import write_table
from pipeline import layout
from pipeline.params.entries import Dataset, Params
from pipeline.records.artifacts import ParsingDetails, RowCounts, read_records, write_metrics

Record_ = TypeVar("Record_", bound=Record)
Vocabulary_ = TypeVar("Vocabulary_", bound=Vocabulary)


def make_ready(key: str, dataset: Dataset, params: Params) -> None:
    """Encode the splits of a dataset's corpus into `data/ready/<key>/`, and count the rows that fit and those that do
    not.

    `details.json` counts the rows at each step from raw files to ids, for reports.
    """
    kind = ENCODINGS.find(dataset.encoding, where=f"datasets: {key}.encoding")
    settings = dataset.settings
    records = {name: read_records(layout.corpus(dataset.corpus), name, kind.record) for name in SPLITS}
    vocabulary = _vocabulary(kind, dataset, records["train"], params)
    records["train"] = list(kind.training_records(records["train"], settings))
    encoded = {name: kind.encode(rows, vocabulary, settings) for name, rows in records.items()}
    if dataset.vocab_from == layout.NONE and not len(encoded["train"].split):
        raise DataError(
            "no row for training is left",
            file=layout.corpus(dataset.corpus) / "train.parquet",
            remedy=f"loosen the bounds of dataset {key}, or the filters of corpus {dataset.corpus}",
        )
    quarantined = [row for part in encoded.values() for row in part.quarantined]
    numbers = {**{name: len(part.split) for name, part in encoded.items()}, "quarantined": len(quarantined)}
    numbers |= kind.numbers(vocabulary)
    details = {
        "corpus": dataset.corpus,
        "language": params.corpora[dataset.corpus].language,
        "rows": numbers,
        "splits": {name: {**kind.counts(part.split), **part.facts} for name, part in encoded.items()},
        "quarantined": dict(sorted(Counter(row.reason for row in quarantined).items())),
        "measures": kind.measures(encoded["train"].split),
        "filtered": read_json(layout.details("corpora", dataset.corpus), RowCounts),
        "parsed": _without_speed(read_json(layout.details("parsing", dataset.corpus), ParsingDetails)),
    }
    with together():
        with atomic_folder(layout.ready(key)) as folder:
            vocabulary.save(folder / "vocabulary.json")
            for name, part in encoded.items():
                part.split.save(folder / f"{name}.parquet")
                write_table(folder / f"{name}.quarantine.parquet", table_of(part.quarantined, Quarantined))
                # Training reads ids alone.
                if name != "train":
                    rows = [records[name][place] for place in part.places]
                    write_table(folder / f"{name}.records.parquet", table_of(rows, kind.record))
            write_json(folder / "extras.json", dict(kind.extras(records["train"], settings)))
            write_json(folder / "details.json", details)
        write_metrics("datasets", key, numbers, details)
    say(counted(list(numbers.items())))
    for name, part in encoded.items():
        if changed := [(fact.replace("_", " "), count) for fact, count in part.facts.items() if count]:
            say(f"{name}: {counted(changed)}")


def _vocabulary(
    kind: Encoding[Record_, Any, Vocabulary_, Any], dataset: Dataset, records: Sequence[Record_], params: Params
) -> Vocabulary_:
    """The vocabulary: built on the training split, with learnt or published pieces; or that of another dataset."""
    if dataset.vocab_from != layout.NONE:
        return kind.vocabulary.load(layout.ready(dataset.vocab_from) / "vocabulary.json")
    language = params.corpora[dataset.corpus].language
    if dataset.pieces_from == layout.NONE:
        return kind.build_vocabulary(records, dataset.settings, language)
    build: Callable[..., Vocabulary_] = kind.build_vocabulary  # of an encoding with `reads_pieces`
    return build(records, dataset.settings, language, published=layout.raw(dataset.pieces_from))


def _without_speed(parsing: Mapping[str, Any]) -> dict[str, Any]:
    """Details of parsing without the speed in files of earlier versions, which would make trainings run again."""
    return {name: value for name, value in parsing.items() if name != "speed"}
