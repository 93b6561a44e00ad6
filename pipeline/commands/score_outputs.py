"""The command `score RUN --outputs FILE`: score texts of any origin like the texts of a run."""

from __future__ import annotations

import json
import tempfile
from functools import partial
from pathlib import Path

from espalier.cli.progress import followed
from espalier.corpora.published import plain_text, published_texts
from espalier.corpora.records import Verse
from espalier.datasets.registry import ENCODINGS
from espalier.io.errors import ConfigError
from espalier.io.registry import entry
from espalier.models.ngram import NGram, NGramConfig
from espalier.tasks.data import RunOptions
from espalier.tasks.decode import Decoding, judged
from espalier.tasks.registry import TASKS
from espalier.tasks.scoring import scored
from espalier.verse.marks import verse_of_line
from pipeline import layout
from pipeline.graph.shards import annotated
from pipeline.graph.written import require_written
from pipeline.params.read import load_params
from pipeline.records.artifacts import (
    lexicon_of,
    read_judge,
    read_ready,
    read_texts,
    require_rows,
)
from pipeline.records.machine import device
from pipeline.stages.score import outputs_of


def score_outputs(key: str, file: Path, *, as_json: bool) -> None:
    """Score the texts of a file like the texts of a run, and print the scores. Nothing is written.

    The run's model is not needed, only its dataset; its parser, if its texts are judged by their parses; and its judge
    or guidance, if it names one. Metrics of likelihoods are undefined.

    Args:
        key: key of the run.
        file: UTF-8 text: `ID<TAB>TEXT` in each line, or one text per record, in the order of their ids. A verse is on
            one line (`verse_of_line`).
        as_json: print all details instead of the numbers that DVC compares.

    Raises:
        ConfigError: the file or the run does not exist, or the run writes trees.
        DataError: a record of the run's split has no text in the file.
    """
    if not file.is_file():
        what = f"{file} is no regular file" if file.exists() and not file.is_dir() else f"no file {file}"
        raise ConfigError(what, where="--outputs", remedy="write ID<TAB>TEXT for each record")
    params = load_params()
    run_ = entry("run", params.runs, key)
    kind, dataset = TASKS[run_.task], params.datasets.every[run_.dataset]
    form, corpus = ENCODINGS[dataset.encoding], params.corpora[dataset.corpus]
    if getattr(params.models[run_.model].network.view, "writes", "text") == "tree":
        raise ConfigError("writes trees", where=f"run {key}", remedy="name a run that writes texts")
    require_written([layout.ready(run_.dataset), layout.raw(run_.lexicon), layout.model(run_.lm)])
    ready = read_ready(run_.dataset, run_.split, form)
    require_rows(ready.data, run_.dataset, run_.split)
    # Only its view and vocabulary are used.
    row = next(iter(kind.ngrams(ready.data.vocabulary).values()))
    model = NGram.fit(NGramConfig(row.view), ready.data.vocabulary, [], ready.data.vocabulary.text_size)
    guidance = read_texts(*run_.guide) if run_.guide else None
    options = RunOptions(1, run_.seed, guidance, lexicon_of(run_.lexicon))
    seed = 0 if guidance is None else int(guidance["seed"].iloc[0])
    table = Decoding(kind, model, run_.decoder, options, seed, device(), followed).unwritten(ready)
    table = table.drop_duplicates("id", ignore_index=True)
    text_of = partial(verse_of_line, language=corpus.language) if issubclass(form.record, Verse) else plain_text
    texts = published_texts(file, table["id"].tolist(), text_of, numbered=False)
    table = table.assign(**dict.fromkeys(kind.likelihood_columns, 0), text=texts)
    if (judge := read_judge(run_.lm, params)) is not None:
        table = judged(kind.judge, judge, table, device(), followed)
    parses = None
    if run_.annotation != layout.NONE:
        parser = layout.parser(params.annotations[run_.annotation].parser)
        with tempfile.TemporaryDirectory() as scratch:
            parses = annotated(table, parser, Path(scratch), words=kind.writes_words(corpus.language))
    facts = {"unfit": str(ready.unfit), **kind.facts(model)}
    outputs = outputs_of(run_, params, table, facts, dev=None, annotations=parses)
    _, numbers, details = scored(kind, outputs, run_.scoring)
    print(json.dumps(details if as_json else numbers, ensure_ascii=False, indent=2))
