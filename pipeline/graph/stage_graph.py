"""The dependencies between the stages of a profile, without DVC."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.layout import NONE
from pipeline.params.entries import Params

#: A stage's name and the key of its entry.
Stage = tuple[str, str]


def graph_of(params: Params) -> dict[Stage, set[Stage]]:
    """Every stage of a profile with the stages that it needs, as in dvc.yaml."""
    graph: dict[Stage, set[Stage]] = {("download", key): set() for key in params.sources.published}
    graph |= {("copy", key): set() for key in params.sources.local}
    sources = {key: ("copy" if key in params.sources.local else "download", key) for key in params.sources.every}
    folders = {f"{source.shelf}/{key}": sources[key] for key, source in params.sources.every.items()}
    ready = {key: ("linearize", key) for key in params.datasets.linearize}
    ready |= {key: ("canonicalize", key) for key in params.datasets.canonicalize}

    def named(stage: str, key: str) -> set[Stage]:
        return set() if key == NONE else {(stage, key)}

    for key, parser in params.parsers.items():
        graph["train_parser", key] = named("filter", parser.treebank)
    for key, corpus in params.corpora.items():
        raw = {sources[source] for shelf in corpus.shelves for source in params.sources.folders(shelf)}
        others = {("filter", name) for name in corpus.corpora}
        graph["parse", key] = raw | others | named("train_parser", corpus.parser)
        graph["filter", key] = {("parse", key)}
    for key, dataset in params.datasets.every.items():
        shared = set() if dataset.vocab_from == NONE else {ready[dataset.vocab_from]}
        graph[ready[key]] = {("filter", dataset.corpus)} | shared | _of_source(dataset.pieces_from, folders)
    for key, model in params.models.items():
        graph["train", key] = {ready[model.dataset]} | named("train", model.init)
    for key, run in params.runs.items():
        models = {("train", run.model)} | named("train", run.lm)
        guidance = named("decode", run.guidance.rpartition("/")[2])
        lexicon = _of_source(run.lexicon, folders)
        graph["decode", key] = {ready[run.dataset]} | models | guidance | lexicon
        graph["score", key] = {("decode", key)} | named("annotate", run.annotation) | lexicon
    for key, annotation in params.annotations.items():
        graph["annotate", key] = {("decode", annotation.run), ("train_parser", annotation.parser)}
    for key, baseline in params.baselines.items():
        needs = named("train_parser", baseline.parser) | named("train", baseline.lm)
        needs |= _of_source(baseline.lexicon, folders) | _of_source(baseline.published, folders)
        data = {ready[name] for name in (baseline.dataset, baseline.train) if name != NONE}
        graph["baselines", key] = data | needs
    for paper in params.reports:
        scored = {("score", key) for key, run in params.runs.items() if run.paper == paper}
        graph["report", paper] = scored | {
            ("baselines", key) for key, row in params.baselines.items() if row.paper == paper
        }
    return graph


def _of_source(name: str, folders: Mapping[str, Stage]) -> set[Stage]:
    return set() if name == NONE else {folders[name]}
