"""linearize pairs with trees: word pieces and tree symbols, and the templates that the corpus has most often."""

from __future__ import annotations

from espalier.corpora.records import Pair
from espalier.datasets.pairs.encode import linearize_pairs, reversed_pairs, vocabulary_of
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.vocabulary import UNK
from espalier.io.files import write_json
from espalier.syntax.constituency import frequent_templates, read_tree
from pipeline import layout
from pipeline.artifacts import read_split, write_ready
from pipeline.params import PairDataset, Params
from pipeline.stage import counted, say
from pipeline.stages.filter import SPLITS

#: How many of the most frequent templates are kept, and their levels (GuiG, section 2 and table 5).
TEMPLATES, LEVELS = 100, 3


def run(key: str, dataset: PairDataset, params: Params) -> None:
    """One table a split, the vocabulary, the templates, and what did not fit."""
    rows = {name: read_split(dataset.corpus, name, Pair) for name in SPLITS}
    if dataset.both_directions:
        rows["train"] += reversed_pairs(rows["train"])
    if dataset.vocab_from != layout.NONE:
        vocabulary = PairVocabulary.load(layout.ready(dataset.vocab_from) / "vocabulary.json")
    else:
        once = rows["train"][: len(rows["train"]) // (1 + dataset.both_directions)]
        vocabulary = vocabulary_of(once, pieces=dataset.pieces, depth=dataset.depth, lower=dataset.lower)
    made = {name: linearize_pairs(rows[name], vocabulary, least=dataset.least, most=dataset.most) for name in SPLITS}
    aside = [row for _, dropped, _ in made.values() for row in dropped]
    splits = {name: data for name, (data, _, _) in made.items()}
    trees = (read_tree(row.target_tree, words=False) for row in rows["train"] if row.target_tree)
    templates = frequent_templates(trees, LEVELS, TEMPLATES)
    listed = [{"template": text, "count": count} for text, count in templates]
    write_ready(key, vocabulary, splits, aside, templates=listed)
    counts = {name: len(data) for name, data in splits.items()}
    sizes = {"pieces": vocabulary.text_size, "labels": len(vocabulary.trees.labels), "levels": vocabulary.trees.levels}
    write_json(
        layout.dataset_metrics(key),
        {
            "rows": {**counts, "quarantined": len(aside)},
            "pieces": {name: int(data.columns["target"].lengths.sum()) for name, data in splits.items()},
            "nodes": {name: int(data.columns["target_tree"].lengths.sum()) for name, data in splits.items()},
            "unknown": {name: int((data.columns["target"].flat == UNK).sum()) for name, data in splits.items()},
            "quarantined": {reason: sum(row.reason == reason for row in aside) for reason in {r.reason for r in aside}},
            "vocabulary": sizes,
        },
    )
    say(counted([*sizes.items(), *counts.items(), ("quarantined", len(aside))]))
