"""The stages of a profile in their order, without DVC."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter

from pipeline.failures import NO_MEMORY
from pipeline.layout import NONE
from pipeline.params import Params

#: A stage's name and the key of its entry.
Stage = tuple[str, str]


@dataclass(frozen=True)
class Outcome:
    """How a stage ended.

    Attributes:
        failure: its one line; None if it succeeded.
        memory: the peak of its process, in bytes; 0 if the system ended it.
        asked: the shape that did not fit in memory, if that is why it failed.
        fits: the largest shape that fits then; 0 if none does.
        note: what else is to be said.
        unrun: it was not run, for a stage that it needs failed.
    """

    stage: Stage
    failure: str | None
    seconds: float = 0.0
    memory: int = 0
    asked: int | None = None
    fits: int | None = None
    note: str = ""
    unrun: bool = False

    @property
    def out_of_memory(self) -> bool:
        """Whether it failed because memory ran out."""
        return self.failure is not None and NO_MEMORY in self.failure


def graph_of(params: Params) -> dict[Stage, set[Stage]]:
    """Every stage of a profile, with the stages that it needs; as dvc.yaml has them."""
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


def shrink(
    run: Callable[[], Outcome], shape: int | None, set_shape: Callable[[int], None], *, least: int = 1
) -> Outcome:
    """Run a stage; if memory runs out, halve its shape until it fits.

    Args:
        run: runs the stage as it is set now.
        shape: a batch or a beam; None if the stage has none.
        set_shape: changes it.
        least: the smallest shape that is tried.

    Returns:
        The first outcome. If memory ran out, `fits` is the largest shape that fits, of those tried, and `memory` is
        what the last of them took.
    """
    first = outcome = run()
    if not first.out_of_memory or shape is None:
        return first
    fits = shape
    while outcome.out_of_memory and fits // 2 >= least:
        fits //= 2
        set_shape(fits)
        outcome = run()
    return replace(first, memory=outcome.memory, asked=shape, fits=0 if outcome.failure else fits)


def run_all(
    graph: Mapping[Stage, set[Stage]], run: Callable[[Stage], Outcome], jobs: int, failed: Iterable[Stage] = ()
) -> Iterator[Outcome]:
    """Run stages, several at once; outcomes as they end. What needs a stage that failed is not run, and fails too.

    Args:
        failed: stages that others need, and that have failed already.
    """
    sorter, running, missing = TopologicalSorter(graph), set[Future[Outcome]](), {stage: stage for stage in failed}
    sorter.prepare()
    ready: list[Stage] = []
    with ThreadPoolExecutor(jobs) as pool:
        while sorter.is_active():
            ready += sorter.get_ready()
            while ready and len(running) < jobs:
                stage = ready.pop(0)
                if stage in missing:
                    sorter.done(stage)
                    ready += sorter.get_ready()
                    continue
                lacking = next((missing[need] for need in sorted(graph.get(stage, ())) if need in missing), None)
                if lacking is not None:
                    missing[stage] = lacking
                    sorter.done(stage)
                    yield Outcome(stage, f"not run, for {' '.join(lacking)} failed", unrun=True)
                    ready += sorter.get_ready()
                else:
                    running.add(pool.submit(run, stage))
            if not running:
                continue
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for outcome in (future.result() for future in done):
                if outcome.failure is not None and not outcome.fits:
                    missing[outcome.stage] = outcome.stage
                sorter.done(outcome.stage)
                yield outcome
