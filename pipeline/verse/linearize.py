"""linearize verse: frames, targets and titles as ids."""

from __future__ import annotations

from espalier.corpora.records import Verse
from espalier.datasets.verse.encode import linearize as to_frames
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import UNK
from espalier.io.files import write_json
from espalier.text.language import Language, tokens_of
from espalier.verse.text import units_of
from pipeline import layout
from pipeline.artifacts import read_split, write_ready
from pipeline.params import Params, VerseDataset
from pipeline.stage import counted, say
from pipeline.stages.filter import SPLITS


def run(key: str, dataset: VerseDataset, params: Params) -> None:
    """One table a split, the vocabulary, and what did not fit."""
    rows = {name: read_split(dataset.corpus, name, Verse) for name in SPLITS}
    vocabulary = _vocabulary(dataset, rows["train"], params.corpora[dataset.corpus].language)
    made = {name: to_frames(rows[name], vocabulary, dataset.max_tokens) for name in SPLITS}
    aside = [row for _, dropped in made.values() for row in dropped]
    splits = {name: data for name, (data, _) in made.items()}
    write_ready(key, vocabulary, splits, aside)
    counts = {name: len(data) for name, data in splits.items()}
    write_json(
        layout.dataset_metrics(key),
        {
            "rows": {**counts, "quarantined": len(aside)},
            "tokens": {name: int(data.lengths.sum()) for name, data in splits.items()},
            "unknown": {name: int((data.columns["target"].flat == UNK).sum()) for name, data in splits.items()},
            "vocabulary": len(vocabulary.words),
        },
    )
    say(counted([("vocabulary", len(vocabulary.words)), *counts.items(), ("quarantined", len(aside))]))


def _vocabulary(dataset: VerseDataset, rows: list[Verse], language: Language) -> VerseVocabulary:
    """Built on the training split alone, or another dataset's, whose S and P symbols then count as well."""
    if dataset.vocab_from != layout.NONE:
        return VerseVocabulary.load(layout.ready(dataset.vocab_from) / "vocabulary.json")
    tokens = (token for row in rows for unit in units_of(row.target) for token in tokens_of(unit, language))
    return VerseVocabulary.build(
        tokens, language, min_count=dataset.min_count, units=dataset.units, length=dataset.length
    )
