"""linearize: a corpus as the rows of ids that sequence models read, with its vocabulary."""

from __future__ import annotations

from espalier.corpora.frames import frame_of, target_of
from espalier.corpora.records import Quarantined, Verse, records_of, table_of
from espalier.corpora.verse_data import VerseData
from espalier.corpora.vocabulary import UNK, Vocabulary
from espalier.io.errors import ConfigError
from espalier.io.files import atomic_folder, write_json
from espalier.io.tables import read_table, write_table
from espalier.verse.format import format_of
from espalier.verse.text import Language, tokens_of, units_of
from pipeline import layout
from pipeline.filter import SPLITS
from pipeline.params import VerseDataset, entry, load_params
from pipeline.stage import counted, say


def run(key: str) -> None:
    """Make `data/ready/<key>/`: one table a split, the vocabulary, and what did not fit."""
    params = load_params()
    dataset = entry("dataset", params.datasets.linearize, key)
    language = params.corpora[dataset.corpus].language
    rows = {name: _read(dataset.corpus, name) for name in SPLITS}
    vocabulary = _vocabulary(dataset, rows["train"], language)
    aside: list[Quarantined] = []
    made = {name: _linearized(rows[name], vocabulary, dataset.max_tokens, aside) for name in SPLITS}
    with atomic_folder(layout.ready(key)) as folder:
        vocabulary.save(folder / "vocabulary.json")
        for name, data in made.items():
            data.save(folder / f"{name}.parquet")
        write_table(folder / "quarantine.parquet", table_of(aside, Quarantined))
    write_json(
        layout.dataset_metrics(key),
        {
            "rows": {**{name: len(data) for name, data in made.items()}, "quarantined": len(aside)},
            "tokens": {name: int(data.lengths.sum()) for name, data in made.items()},
            "unknown": {name: int((data.columns["target"].flat == UNK).sum()) for name, data in made.items()},
            "vocabulary": len(vocabulary.words),
        },
    )
    say(counted([("vocabulary", len(vocabulary.words)), *((name, len(data)) for name, data in made.items())]))


def _read(corpus: str, split: str) -> list[Verse]:
    return records_of(read_table(layout.corpus(corpus) / f"{split}.parquet"), Verse)


def _vocabulary(dataset: VerseDataset, rows: list[Verse], language: Language) -> Vocabulary:
    """Built on the training split alone, or another dataset's, whose S and P symbols then count as well."""
    if dataset.vocab_from != layout.NONE:
        return Vocabulary.load(layout.ready(dataset.vocab_from) / "vocabulary.json")
    tokens = (token for row in rows for unit in units_of(row.target) for token in tokens_of(unit, language))
    return Vocabulary.build(tokens, language, min_count=dataset.min_count, units=dataset.units, length=dataset.length)


def _linearized(rows: list[Verse], vocabulary: Vocabulary, longest: int, aside: list[Quarantined]) -> VerseData:
    ids, frames, targets, titles = [], [], [], []
    for row in rows:
        try:
            frame = frame_of(format_of(row.target, vocabulary.language, row.rhyme), vocabulary)
            reason = f"over {longest} tokens" if len(frame) > longest else None
        except ConfigError:
            reason = f"over {vocabulary.units} units or {vocabulary.length} tokens a unit"
        if reason:
            aside.append(Quarantined(id=row.id, stage="linearize", reason=reason, text=row.target))
            continue
        ids.append(row.id)
        frames.append(frame)
        targets.append(target_of(row.target, vocabulary))
        titles.append(vocabulary.encode(title_tokens(row.tune, vocabulary)))
    return VerseData.of(ids, frames, vocabulary, targets=targets, titles=titles)


def title_tokens(tune: str, vocabulary: Vocabulary) -> list[str]:
    """A tune's name as a unit of its own, no longer than the vocabulary has positions for."""
    return tokens_of(tune.lower(), vocabulary.language)[: vocabulary.length]
