"""baselines: rows of a paper's tables that need no trained model, on the same records as the runs."""

import shutil
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from espalier.cli.progress import followed
from espalier.corpora.published import published_texts
from espalier.corpora.readers import READERS
from espalier.datasets.encoding import Split, Vocabulary
from espalier.datasets.registry import ENCODINGS
from espalier.io.errors import ConfigError
from espalier.io.files import read_json, together, write_json
from espalier.io.registry import entry, imported
from espalier.models.ngram import NGram, NGramConfig
from espalier.models.ngram_tree import NGramTree
from espalier.tasks.data import TEXT_COLUMNS, BaselineRow, NGramRow, Outputs, RunOptions
from espalier.tasks.decode import Decoding, judged
from espalier.tasks.registry import TASKS
from espalier.text.language import Language
from pipeline import layout
from pipeline.graph.shards import annotated
from pipeline.params.entries import Baseline, Corpus, reads_of
from pipeline.params.read import load_params
from pipeline.records.artifacts import (
    DatasetDetails,
    grammar_of,
    lexicon_of,
    read_judge,
    read_ready,
    read_train,
    require_rows,
)
from pipeline.records.baseline_rows import DATASET, place_of
from pipeline.records.machine import device
from pipeline.records.outputs import write_outputs, write_scores

#: Training rows that are counted at a time.
ROWS = 4096


def run(key: str) -> None:
    """Write and score n-gram models of the training targets, and the task's own rows, such as `human`.

    Texts published by others for the records are also scored, if the entry names any. With a judge, so are references
    with broken endings, which the judge must rate worse than the references.

    Each row has a file in `data/outputs/<paper>/baselines/<key>/`, and likewise in the folders of metrics, details and
    segments. The details of the dataset are beside those of the rows.

    An entry whose decoder has another method than the default has the rows of n-gram models alone. If the dataset has
    no dev rows, their likelihoods are not measured.

    Raises:
        DataError: the split or the training split has no rows, or none that can be used.
    """
    params = load_params()
    baseline = entry("baseline", params.baselines, key)
    kind, dataset = TASKS[baseline.task], params.datasets.every[baseline.dataset]
    form, corpus = ENCODINGS[dataset.encoding], params.corpora[dataset.corpus]
    ready = read_ready(baseline.dataset, baseline.split, form)
    dev = read_ready(baseline.dataset, "dev", form) if kind.dev_likelihood else None
    counted = baseline.dataset if baseline.train == layout.NONE else baseline.train
    train = read_train(counted, form)
    require_rows(train, counted, "train")
    require_rows(ready.data, baseline.dataset, baseline.split)
    ngrams = kind.ngrams(train.vocabulary)
    models = {name: _fitted(train, row) for name, row in ngrams.items()}
    lexicon = lexicon_of(baseline.lexicon)
    options = RunOptions(baseline.samples, baseline.seed, lexicon=lexicon)
    written = {}
    for name, model in models.items():
        decoding = Decoding(kind, model, baseline.decoder, options, 0, device(), followed)
        written[name] = decoding.outputs(ready), decoding.likelihoods(dev)
    first = next(iter(ngrams))
    table = written[first][0]
    unknown = dict.fromkeys(kind.likelihood_columns, 0)
    method = _method(baseline)
    rows = {name: BaselineRow(_title(row, method), {}, given=row.given) for name, row in ngrams.items()}
    if not method:
        rows |= kind.baselines(table, ready, train, baseline.seed)
    judge = read_judge(baseline.lm, params)
    if judge is not None and kind.judge is not None and not method:
        rows |= kind.judge.controls(table, train, baseline.seed)
    reads = {name: reads_of(row.view) for name, row in ngrams.items()}
    scores = dict[str, tuple[Outputs[Any], dict[str, Any]]]()
    for name, row in {**rows, **_published(key, baseline, corpus, table, {*rows, DATASET})}.items():
        texts, likelihoods = written.get(name) or (table.assign(**unknown, **row.columns), None)
        if judge is not None:
            texts = judged(kind.judge, judge, texts, device(), followed)
        outputs = Outputs(
            texts,
            corpus.language,
            baseline.seed,
            annotations=_parses(texts, row, baseline, key, corpus.language) if baseline.parser != layout.NONE else None,
            dev=likelihoods,
            lexicon=lexicon,
            is_grammatical=grammar_of(corpus),
            facts={"unfit": str(ready.unfit), **kind.facts(models.get(name, models[first]))},
            train=lambda: train,
            extras=lambda: ready.extras,
        )
        scores[name] = outputs, _settings(baseline, name, row, reads.get(name, row.reads))
    with together():
        for name, (outputs, settings) in scores.items():
            place = place_of(key, name)
            write_outputs(layout.output(baseline.paper, place), outputs.table, outputs.dev, outputs.facts)
            write_scores(baseline.paper, place, kind, outputs, baseline.scoring, settings)
        # Last, for a report refuses a folder without it: the rows are whole then.
        write_json(
            layout.details(baseline.paper, place_of(key, DATASET)),
            read_json(layout.ready(baseline.dataset) / "details.json", DatasetDetails),
        )


def _settings(baseline: Baseline, name: str, row: BaselineRow, structures: Sequence[str]) -> dict[str, Any]:
    """The `settings` in the details of a row."""
    settings = {
        "dataset": baseline.dataset,
        "task": baseline.task,
        "split": baseline.split,
        "row": name,
        "title": row.title,
        "trivial": row.trivial,
        "given": list(row.given),
    }
    if structures:
        settings["structures"] = list(structures)
    if method := _method(baseline):
        settings["method"] = method
    if baseline.lm != layout.NONE:
        settings["judge"] = baseline.lm
    return settings


def _method(baseline: Baseline) -> str:
    """The method of decoding, if it is not the default one."""
    return str(baseline.decoder.changed(()).get("method", ""))


def _title(row: NGramRow[Any], method: str) -> str:
    where, how = " over trees" if _writes_trees(row) else "", f"; decoded by {method}" if method else ""
    return f"a model of the training targets' {row.order}-grams{where}, which reads {row.reads}{how}"


def _writes_trees(row: NGramRow[Any]) -> bool:
    return getattr(row.view, "shape", "") == "tree"


def _fitted(train: Split[Any, Any, Any], row: NGramRow[Any]) -> NGram[Vocabulary, object] | NGramTree[Vocabulary]:
    """An n-gram model fitted to the targets of the training split."""
    places = np.arange(len(train))
    batches = (train.batch(places[start : start + ROWS], row.view) for start in range(0, len(places), ROWS))
    config = NGramConfig(row.view, row.order, row.discounts)
    return (NGramTree if _writes_trees(row) else NGram).fit(
        config, train.vocabulary, batches, train.vocabulary.text_size
    )


def _published(
    key: str, baseline: Baseline, corpus: Corpus, table: pd.DataFrame, taken: set[str]
) -> dict[str, BaselineRow]:
    """The texts published by others for the records: one row per name in the entry, one file per sample."""
    if clash := sorted(taken & {*baseline.texts}):
        raise ConfigError(f"the row {clash[0]} has this name", where=f"baselines.{key}.texts", remedy="choose another")
    folder = layout.raw(baseline.published)
    text_of = imported("text_of", READERS[corpus.reader].text_of, where="READERS")
    ids = table["id"].tolist()
    rows = {}
    for name, files in baseline.texts.items():
        named = [files] if isinstance(files, str) else files
        drawn = [published_texts(folder / file, ids, text_of) for file in named]
        texts = [drawn[sample % len(named)][row] for row, sample in enumerate(table["sample"].tolist())]
        rows[name] = BaselineRow("published by others", {"text": texts}, trivial=False)
    return rows


def _parses(texts: pd.DataFrame, row: BaselineRow, baseline: Baseline, key: str, language: Language) -> pd.DataFrame:
    """The parses published with the texts, else those of the parser."""
    keys = texts[list(TEXT_COLUMNS)]
    if row.trees is not None:
        return keys.assign(target_tree=list(row.trees), reason="")
    scratch = layout.scratch("baselines", key)
    words = TASKS[baseline.task].writes_words(language)
    parses = annotated(texts, layout.parser(baseline.parser), scratch, words=words)
    shutil.rmtree(scratch, ignore_errors=True)
    return parses
