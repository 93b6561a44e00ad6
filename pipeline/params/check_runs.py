"""Consistency checks of the entries of params.yaml that decode, and of those that parse and judge what they wrote."""

from collections.abc import Mapping

from espalier.io.errors import ConfigError
from espalier.tasks.registry import TASKS
from pipeline.layout import NONE
from pipeline.params.entries import Params, Run, Scored, vocabulary_of
from pipeline.params.judge import check_another, check_judge
from pipeline.params.references import check_reference, source_folders


def check_run(key: str, params: Params) -> None:
    """Check a run: the vocabulary of its dataset, guidance over the same rows, needs of scoring."""
    run, datasets, path = params.runs[key], params.datasets.every, f"runs.{key}"
    kind = TASKS[run.task]
    _check_decoded(path, run, params)
    check_reference(f"{path}.model", run.model, params.models, optional=False)
    model, dataset = params.models[run.model], datasets[run.dataset]
    if (name := datasets[model.dataset].encoding) not in kind.encodings:
        raise ConfigError(
            f"model {run.model} reads the encoding {name}, which task {run.task} does not decode",
            where=f"{path}.model",
            remedy=f"a model of {' or '.join(kind.encodings)}",
        )
    if vocabulary_of(datasets, run.dataset) != vocabulary_of(datasets, model.dataset):
        raise ConfigError(
            f"dataset {run.dataset} does not have the vocabulary of model {run.model}",
            where=f"{path}.dataset",
            remedy=f"{model.dataset}, or a dataset with vocab_from: {model.dataset}",
        )
    if run.lm != NONE:
        check_another(f"{path}.lm", run.lm, run.model, params.models)
    _check_guidance(f"{path}.guidance", run, params.runs)
    rows = [row.dataset for row in params.baselines.values() if row.paper == run.paper]
    if run.paper in params.reports and run.dataset not in rows:
        raise ConfigError(
            f"the report of {run.paper} has no baselines on dataset {run.dataset}",
            where=f"{path}.dataset",
            remedy=f"an entry of baselines with paper: {run.paper} and dataset: {run.dataset}",
        )
    try:
        run.decoder.check(model.network, dataset.settings, run.samples)
    except ConfigError as error:
        raise ConfigError(error.what, where=f"{path}.{error.where}", remedy=error.remedy) from error
    check_reference(f"{path}.annotation", run.annotation, params.annotations)
    if run.annotation == NONE and kind.needs_annotation(model.network, dataset.settings):
        raise ConfigError(
            f"texts of task {run.task} are scored by their parses",
            where=f"{path}.annotation",
            remedy=f"an entry of annotations with run: {key}",
        )
    if run.annotation != NONE and (other := params.annotations[run.annotation].run) != key:
        raise ConfigError(
            f"annotation {run.annotation} parses run {other}", where=f"{path}.annotation", remedy=f"one with run: {key}"
        )


def check_baseline(key: str, params: Params) -> None:
    """Check a baseline: a dataset that the task can decode, needs of scoring."""
    baseline, path = params.baselines[key], f"baselines.{key}"
    kind = TASKS[baseline.task]
    _check_decoded(path, baseline, params)
    if (name := params.datasets.every[baseline.dataset].encoding) not in kind.encodings:
        raise ConfigError(
            f"dataset {baseline.dataset} has the encoding {name}, which task {baseline.task} does not decode",
            where=f"{path}.dataset",
            remedy=f"a dataset with the encoding {' or '.join(kind.encodings)}",
        )
    check_reference(f"{path}.train", baseline.train, params.datasets.every)
    if baseline.train != NONE:
        own, other = (vocabulary_of(params.datasets.every, key) for key in (baseline.dataset, baseline.train))
        if own != other:
            raise ConfigError(
                f"dataset {baseline.train} does not have the vocabulary of dataset {baseline.dataset}",
                where=f"{path}.train",
                remedy=f"{own}, or a dataset with vocab_from: {own}",
            )
    check_reference(f"{path}.parser", baseline.parser, params.parsers)
    check_reference(f"{path}.published", baseline.published, source_folders(params))
    if bool(baseline.texts) != (baseline.published != NONE):
        raise ConfigError(
            "files of no source" if baseline.texts else f"no file of source {baseline.published}",
            where=f"{path}.texts",
            remedy="give both published and texts, or neither",
        )
    for name, files in baseline.texts.items():
        if not isinstance(files, str) and len(files) < baseline.samples:
            raise ConfigError(
                f"{len(files)} files for {baseline.samples} samples",
                where=f"{path}.texts.{name}",
                remedy="one file, or one for each sample",
            )


def _check_decoded(path: str, entry_: Scored, params: Params) -> None:
    """Check the dataset, judge and lexicon of a run or baseline."""
    check_reference(f"{path}.dataset", entry_.dataset, params.datasets.every, optional=False)
    check_reference(f"{path}.lm", entry_.lm, params.models)
    if entry_.lm != NONE:
        check_judge(path, entry_, params)
    check_reference(f"{path}.lexicon", entry_.lexicon, source_folders(params))
    if entry_.lexicon == NONE and entry_.decoder.needs_lexicon:
        raise ConfigError(
            "this decoder looks words up in a source", where=f"{path}.lexicon", remedy="name it, as forms/couyun"
        )


def _check_guidance(path: str, run: Run, runs: Mapping[str, Run]) -> None:
    """Check that the guidance is another run over the same rows, given as PAPER/RUN."""
    check_reference(path, run.guidance, [f"{other.paper}/{key}" for key, other in runs.items()])
    if run.guide is None:
        return
    other = runs[run.guide[1]]
    if (other.dataset, other.split, other.samples) != (run.dataset, run.split, run.samples):
        raise ConfigError(
            f"run {run.guidance} has another dataset, split or number of samples",
            where=path,
            remedy="give both the same",
        )


def check_annotation(path: str, run: str, paper: str, parser: str, params: Params) -> None:
    """Check that an annotation is of a run of its paper, and names a parser."""
    check_reference(f"{path}.run", run, params.runs, optional=False)
    check_reference(f"{path}.parser", parser, params.parsers, optional=False)
    if paper != (own := params.runs[run].paper):
        raise ConfigError(f"run {run} is of paper {own}", where=f"{path}.paper", remedy=f"set it to {own}")


def check_protocol(key: str, params: Params) -> None:
    """Check that a protocol judges runs of its paper on the same texts, and gives no run a score that another gives."""
    protocol, path = params.protocols[key], f"protocols.{key}"
    first = params.runs.get(protocol.runs[0])
    for name in protocol.runs:
        check_reference(f"{path}.runs", name, params.runs, optional=False)
        run = params.runs[name]
        if run.paper != protocol.paper:
            raise ConfigError(
                f"run {name} is of paper {run.paper}", where=f"{path}.paper", remedy=f"set it to {run.paper}"
            )
        if first is not None and (run.dataset, run.split) != (first.dataset, first.split):
            raise ConfigError(
                f"run {name} is on {run.dataset} {run.split}, and {protocol.runs[0]} on {first.dataset} {first.split}",
                where=f"{path}.runs",
                remedy="name runs on the same texts",
            )
    for other, settings in params.protocols.items():
        if other == key:
            break
        shared = {*protocol.criteria} & {*settings.criteria}
        if shared and {*protocol.runs} & {*settings.runs}:
            raise ConfigError(
                f"protocol {other} judges a run of it by {min(shared)} too", where=path, remedy="rename the criterion"
            )
