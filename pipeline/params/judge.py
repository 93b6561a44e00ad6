"""Which models may judge the texts of a run or baseline: its `lm` in params.yaml."""

from collections.abc import Iterator, Mapping

from espalier.io.errors import ConfigError
from espalier.tasks.registry import TASKS
from pipeline.layout import NONE
from pipeline.params.entries import Model, Params, Scored


def check_judge(path: str, entry_: Scored, params: Params) -> None:
    """Check that the judge suits the task, reads the language of the texts, and has not seen the texts."""
    kind, datasets, judge = TASKS[entry_.task], params.datasets.every, params.models[entry_.lm]
    if kind.judge is None:
        raise ConfigError(f"texts of task {entry_.task} have no judge", where=f"{path}.lm", remedy=f"set it to {NONE}")
    trained_on = datasets[judge.dataset]
    language = params.corpora[datasets[entry_.dataset].corpus].language
    if trained_on.encoding not in kind.encodings or params.corpora[trained_on.corpus].language != language:
        raise ConfigError(
            f"model {entry_.lm} does not read such texts",
            where=f"{path}.lm",
            remedy=f"a model of {' or '.join(kind.encodings)} in the language {language}",
        )
    if judge.dataset not in (entry_.dataset, datasets[entry_.dataset].vocab_from):
        texts = f"the {entry_.split} texts of {entry_.dataset}"
        raise ConfigError(
            f"model {entry_.lm} is trained on {judge.dataset}, which may contain {texts}",
            where=f"{path}.lm",
            remedy=f"a model trained on {entry_.dataset}, or on the dataset that gives it its vocabulary",
        )
    try:
        kind.judge.check(entry_.decoder, judge.network, datasets[entry_.dataset].settings)
    except ConfigError as error:
        raise ConfigError(error.what, where=f"{path}.{error.where}", remedy=error.remedy) from error


def check_another(path: str, judge: str, model: str, models: Mapping[str, Model]) -> None:
    """Refuse a judge that is the judged model, or shares its initial weights, its settings or a seed."""
    one, other = models[judge], models[model]
    same = None
    if judge == model:
        same = f"the judge is the judged model {model}"
    elif shared := {*_ancestors(judge, models)} & {*_ancestors(model, models)}:
        same = f"the judge {judge} and the judged model {model} share initial weights, of {min(shared)}"
    elif (one.arch, one.network) == (other.arch, other.network):
        same = f"the judge {judge} has the network of the judged model {model}"
    elif seeds := {*one.seeds} & {*other.seeds}:
        same = f"the judge {judge} has seed {min(seeds)} of the judged model {model}"
    if same is not None:
        raise ConfigError(same, where=path, remedy="a plain decoder of another shape and seed")


def _ancestors(model: str, models: Mapping[str, Model]) -> Iterator[str]:
    """A model, and the models from which it is initialised. No `init` forms a cycle."""
    while model != NONE:
        yield model
        model = models[model].init
