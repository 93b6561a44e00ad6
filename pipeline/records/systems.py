"""The folders of a system: the model, parser and expander named by a profile's keys."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from espalier.corpora.readers import READERS
from espalier.datasets.registry import ENCODINGS
from espalier.inference.folder import Added, save_system
from espalier.inference.registry import SERVICES, reads_trees, service, services_of
from espalier.inference.released import released_for, released_names
from espalier.inference.requests import SEARCH, Options
from espalier.inference.system import System, load
from espalier.io.errors import ConfigError
from espalier.io.registry import entry
from espalier.tasks.settings import Decoder
from espalier.text.language import language_name
from pipeline import layout
from pipeline.params.entries import Model, Params
from pipeline.params.plugins import MODULES
from pipeline.params.read import load_params, read_yaml
from pipeline.records.machine import device


def describe(folder: Path, key: str, params: Params, templates: Sequence[Mapping[str, Any]]) -> None:
    """Write the files that `espalier.load` needs besides the model into the folder of a trained model.

    Args:
        folder: folder that will become `data/models/<key>`, in the same parent folder.
        templates: the most frequent templates of its dataset, with their counts.
    """
    dataset = params.datasets.every[params.models[key].dataset]
    parser, expander = parser_of(params, dataset.corpus), expander_of(params, key)
    save_system(
        folder,
        dataset.settings.model_dump(mode="json"),
        parser=layout.parser(parser) if parser else None,
        expander=layout.model(expander) if expander else None,
        templates=templates,
        plugins=_plugins_of(params.models[key]),
    )


def _plugins_of(model: Model) -> list[str]:
    """The modules that register the architecture and the encoding of a model."""
    parts = (("ARCHITECTURES", model.arch), ("ENCODINGS", model.encoding))
    return list(dict.fromkeys(MODULES[part] for part in parts if part in MODULES))


def open_system(
    method: str,
    language: str,
    *,
    model: str | None,
    expander: str | None,
    expands: bool,
    load: Callable[..., System] = load,
) -> System:
    """The system of a model of the present profile, with its parser and expander.

    Args:
        model: key of the model; None for the default for the method and language, or the only one that serves them.
        expander: key of the expander; None for one of the model's own dataset, else the default.
        expands: whether a model that reads trees needs an expander.
        load: what loads the model; a page that keeps models has its own.

    Raises:
        ConfigError: a model does not exist, is not trained, or does not serve the method.
    """
    params = load_params()
    key = find_model(params, method, language, model, "--model")
    settings = params.datasets.every[params.models[key].dataset].settings
    guided = expands and reads_trees(params.models[key].network.view)
    own = expander or expander_of(params, key)
    second = find_model(params, "expand", language, own, "--expander") if guided else None
    for named in filter(None, (key, second)):  # before the parser: the command that trains a model makes its parser too
        require_folder(params, layout.model(named), f"model {named} is not trained", f"train@{named}")
    corpus = corpus_of(params, key)
    # If a parser segmented the training texts into words, it also segments requests, with or without trees.
    parser = find_parser(params, corpus) if SERVICES[method].parses(settings) or parser_of(params, corpus) else None
    system = load(
        layout.model(key),
        parser=layout.parser(parser) if parser else None,
        expander=layout.model(second) if second else None,
        device=device(),
    )
    # From params.yaml, not the model's folder, so that a change of them trains nothing again.
    system.options = {**system.options, **options_of(params, key)}
    system.synthetic = is_synthetic(params, key)
    if method == "reply":
        system.posts = partial(posts_of, params, key)
    return system


def added_to(params: Params, key: str) -> Added:
    """What an exported model has besides the files of its folder."""
    posts = posts_of(params, key) or None
    options, synthetic = options_of(params, key), is_synthetic(params, key)
    return Added(params.models[key].default_for, options, posts, synthetic, books_of(params, key))


def books_of(params: Params, key: str) -> Path | None:
    """The folder of the rhyme books and tunes of ci, for a model of Chinese verse; None if they are not downloaded."""
    folder = layout.raw("forms/couyun")
    is_ci = params.models[key].encoding == "verse" and params.corpora[corpus_of(params, key)].language == "zh"
    return folder if is_ci and folder.is_dir() else None


def is_synthetic(params: Params, key: str) -> bool:
    """Whether a grammar writes the corpus of a model."""
    return not READERS[params.corpora[corpus_of(params, key)].reader].reads_sources


def options_of(params: Params, key: str) -> dict[str, dict[str, Any]]:
    """A model's defaults of the options of its services: those of its entry, above those of its run in the tables.

    The run is the one on test that has the model's name, else the model's first on test.
    """
    model = params.models[key]
    runs = {name: run for name, run in params.runs.items() if run.model == key and run.split == "test"}
    run = runs.get(key) or next(iter(runs.values()), None)
    return {
        name: {
            **(searched(SERVICES[name].options, run.decoder, model.network.view) if run else {}),
            **model.options.get(name, {}),
        }
        for name in services_of(model.encoding, model.network)
    }


def searched(options: type[Options], decoder: Decoder[Any, Any], view: object) -> dict[str, Any]:
    """The settings of a run's search that are options of a service, for models with this view."""
    settings = {name: getattr(decoder, name) for name in SEARCH if hasattr(decoder, name)}
    if getattr(decoder, "method", "beam") != "beam":
        settings["beam"] = 0  # samples
    if getattr(view, "shape", "chain") != "tree":
        settings.pop("local", None)
    return {field.name: settings[field.name] for field in fields(options) if field.name in settings}


def posts_of(params: Params, key: str) -> Sequence[Sequence[str]]:
    """The posts over which runs average p(reply), in words: ten of the dev split of the model's dataset.

    Empty if the model is no model of dialogue, or the dataset is not made.
    """
    model = params.models[key]
    if "reply" not in services_of(model.encoding, model.network) or not layout.ready(model.dataset).is_dir():
        return ()
    from espalier.inference.dialogue import marginal_posts
    from pipeline.records.artifacts import read_ready

    return marginal_posts(read_ready(model.dataset, "dev", ENCODINGS[model.encoding]))


def parser_folder(name: str | None, language: str) -> Path:
    """The folder of a parser of the present profile.

    Args:
        name: key of the parser; None for that of the default model that expands templates of a language.

    Raises:
        ConfigError: it does not exist, or is not made.
    """
    params, option = load_params(), "--parser"
    if name is not None:
        entry("parser", params.parsers, name, where=option)
        require_parser(params, name)
        return layout.parser(name)
    model = default_for(params, "expand", language)
    if model is None:
        what = f"profile {params.profile} has no default parser of trees in {language_name(language)}"
        raise ConfigError(what, where=option, remedy="name a parser of constituency trees, or another --profile")
    return layout.parser(find_parser(params, corpus_of(params, model)))


def find_model(params: Params, method: str, language: str, given: str | None, option: str) -> str:
    """The given key, else that of the model that is taken if none is named.

    Args:
        option: name of the option that gives the key.

    Raises:
        ConfigError: the model does not exist, or does not serve the method.
    """
    if given is None:
        given = _unnamed(params, method, language)
    if given is None:
        fitting, default = _serving(params, method, language), released_for(method, language)
        others = [f"--model {default.name}"] if default else []
        others += [f"--profile {name}" for name in profiles_with(f"{method}.{language}") if name != params.profile]
        raise ConfigError(
            f"no model of profile {params.profile} is the default for {method}.{language}",
            where=option,
            remedy=f"name one: {', '.join(fitting)}" if fitting else " or ".join(others) or "name a --model",
        )
    if given not in params.models:
        raise ConfigError.unknown("model", given, [*params.models, *released_names()], where=option)
    model = params.models[given]
    try:
        service(method, given, model.encoding, model.network)
    except ConfigError as error:
        raise ConfigError(error.what, where=option) from error
    writes = params.corpora[corpus_of(params, given)].language
    if writes != language:
        raise ConfigError(f"model {given} writes {writes}, not {language}", where=option, remedy=f"one of {language}")
    return given


def default_for(params: Params, method: str, language: str) -> str | None:
    """The model marked as the default for a method and language."""
    return next((key for key, model in params.models.items() if f"{method}.{language}" in model.default_for), None)


def taken_for(params: Params, key: str) -> tuple[str, ...]:
    """The methods and languages for which commands take a model if none is named."""
    model, language = params.models[key], params.corpora[corpus_of(params, key)].language
    own = services_of(model.encoding, model.network)
    return tuple(f"{name}.{language}" for name in own if _unnamed(params, name, language) == key)


def _unnamed(params: Params, method: str, language: str) -> str | None:
    """The default for a method and language, else the only model that serves them."""
    if default := default_for(params, method, language):
        return default
    fitting = _serving(params, method, language)
    return fitting[0] if len(fitting) == 1 else None


def _serving(params: Params, method: str, language: str) -> list[str]:
    """The models that serve a method in a language."""
    return [
        key
        for key, model in params.models.items()
        if SERVICES[method].fits(model.encoding, model.network)
        and params.corpora[corpus_of(params, key)].language == language
    ]


def profiles_with(default: str) -> list[str]:
    """The profiles that have a default model for a method and language, "generate.en"."""
    files = {name: root / layout.PARAMS for name, root in layout.PROFILES.items()}
    models = {name: read_yaml(file)["models"] for name, file in files.items() if file.is_file()}
    return [
        name for name, each in models.items() if any(default in one.get("default_for", ()) for one in each.values())
    ]


def expander_of(params: Params, key: str) -> str | None:
    """The model that expands templates for this one: another one of the same dataset, the default if it is.

    Labels of trees are those of a dataset.
    """
    model = params.models[key]
    own = [
        name
        for name, other in params.models.items()
        if name != key and other.dataset == model.dataset and SERVICES["expand"].fits(other.encoding, other.network)
    ]
    default = default_for(params, "expand", params.corpora[corpus_of(params, key)].language)
    return default if default in own else next(iter(own), None)


def parser_of(params: Params, corpus: str) -> str | None:
    """The parser that parsed a corpus, else the parser trained on its trees."""
    if (named := params.corpora[corpus].parser) != layout.NONE:
        return named
    return next((key for key, parser in params.parsers.items() if parser.treebank == corpus), None)


def find_parser(params: Params, corpus: str) -> str:
    """The parser for the texts of a corpus.

    Raises:
        ConfigError: there is no parser, or it does not exist yet.
    """
    key = parser_of(params, corpus)
    if key is None:
        raise ConfigError(
            f"no parser for the texts of corpus {corpus}",
            where="params.yaml: parsers",
            remedy=f"train one on it (treebank: {corpus}), or name one as the corpus's parser",
        )
    require_parser(params, key)
    return key


def require_parser(params: Params, key: str) -> None:
    """Raise a ConfigError unless a parser is made."""
    require_folder(params, layout.parser(key), f"parser {key} is not made", f"train_parser@{key}")


def require_folder(params: Params, folder: Path, what: str, stage: str) -> None:
    """Raise a ConfigError unless a folder exists. The message names the command that makes it."""
    if not folder.is_dir():
        raise ConfigError(what, where=folder, remedy=f"{repro_command(params, stage)}, or another --profile")


def repro_command(params: Params, stage: str) -> str:
    """The command that makes a stage of the present profile, run from the root of the project."""
    place = "" if params.profile == "nursery" else f"--cd profiles/{params.profile} "
    return f"dvc {place}repro {stage}"


def profile_option(params: Params) -> str:
    """What follows a command of Espalier to name the present profile; nothing for the nursery, the default."""
    return "" if params.profile == "nursery" else f" --profile {params.profile}"


def corpus_of(params: Params, key: str) -> str:
    """The corpus that a model is trained on."""
    return params.datasets.every[params.models[key].dataset].corpus
