"""Consistency checks of params.yaml, made before any stage runs."""

from collections.abc import Collection, Mapping
from graphlib import CycleError, TopologicalSorter

from espalier.corpora.catalogue import Source
from espalier.corpora.filters import Filters
from espalier.corpora.readers import READERS, reader
from espalier.corpora.records import RECORDS
from espalier.datasets.encoding import Settings
from espalier.datasets.registry import ENCODINGS
from espalier.inference.registry import SERVICES, service
from espalier.io.errors import ConfigError
from espalier.io.validation import check_options
from espalier.syntax.parsers.registry import BACKENDS
from espalier.text.language import LANGUAGES
from pipeline.layout import NONE, PRINTED
from pipeline.params.check_runs import check_annotation, check_baseline, check_protocol, check_run
from pipeline.params.entries import Corpus, Dataset, Params, ParserEntry
from pipeline.params.references import check_reference, source_folders


def check(params: Params, catalogue: Mapping[str, Source]) -> None:
    """Check that references name entries, settings have the right types, and entries that are used together fit.

    Raises:
        ConfigError: a check fails; the message names the path of the key and the allowed values.
    """
    _check_sources(params, catalogue)
    for key, corpus in params.corpora.items():
        reader(corpus.reader, where=f"corpora.{key}")
    for key, parser in params.parsers.items():
        _check_parser(f"parsers.{key}", parser, params.corpora)
    for key, corpus in params.corpora.items():
        _check_corpus(f"corpora.{key}", corpus, params)
    for way, datasets in (("linearize", params.datasets.linearize), ("canonicalize", params.datasets.canonicalize)):
        for key, dataset in datasets.items():
            if way == "linearize" and "pieces_from" not in dataset.model_fields_set:  # dvc.yaml reads it
                raise ConfigError(
                    "Field required",
                    where=f"datasets.{way}.{key}.pieces_from",
                    remedy="add it: none, or SHELF/SOURCE of published pieces",
                )
            _check_dataset(f"datasets.{way}.{key}", dataset, params.corpora, datasets)
            check_reference(f"datasets.{way}.{key}.pieces_from", dataset.pieces_from, source_folders(params))
    _check_cycles(params)
    for key in params.models:
        _check_model(key, params)
    _check_defaults(params)
    for key in params.runs:
        check_run(key, params)
    for key in params.baselines:
        check_baseline(key, params)
    for key, annotation in params.annotations.items():
        check_annotation(f"annotations.{key}", annotation.run, annotation.paper, annotation.parser, params)
    for key in params.protocols:
        check_protocol(key, params)
    if PRINTED.is_dir():  # it is not on a machine that only trains
        for paper in params.reports:
            check_reference("reports", paper, [path.stem for path in sorted(PRINTED.glob("*.yaml"))], optional=False)
    if len(set(params.reports)) < len(params.reports):
        raise ConfigError("a paper stands twice", where="reports", remedy="name each paper once")


def _check_sources(params: Params, catalogue: Mapping[str, Source]) -> None:
    """Check that published sources are in the catalogue, and that no source is in another source's folder."""
    sources = params.sources
    for key in sources.published:
        check_reference(f"sources.published.{key}", key, catalogue, optional=False)
    if twice := sorted(sources.published.keys() & sources.local.keys()):
        raise ConfigError(
            f"{', '.join(twice)} stands under published and under local", where="sources", remedy="rename one"
        )
    folders = {f"{source.shelf}/{key}": key for key, source in sources.every.items()}
    for key, source in sources.every.items():
        parts = source.shelf.split("/")
        if parts[0] == NONE:
            raise ConfigError(f"{NONE} is no shelf", where=f"sources: {key}.shelf", remedy="rename the shelf")
        for count in range(1, len(parts) + 1):
            if (above := "/".join(parts[:count])) in folders:
                raise ConfigError(
                    f"shelf {source.shelf} of {key} lies in the folder of source {folders[above]}",
                    where="sources",
                    remedy="rename the shelf",
                )


def _check_cycles(params: Params) -> None:
    """Check that no entry depends on itself."""
    _check_cycle("vocab_from", {key: [dataset.vocab_from] for key, dataset in params.datasets.every.items()})
    _check_cycle("init", {key: [model.init] for key, model in params.models.items()})
    _check_cycle("guidance", {key: [run.guidance.rpartition("/")[2]] for key, run in params.runs.items()})
    corpora = {
        f"corpora.{key}": [*(f"corpora.{name}" for name in corpus.corpora), f"parsers.{corpus.parser}"]
        for key, corpus in params.corpora.items()
    }
    parsers = {f"parsers.{key}": [f"corpora.{parser.treebank}"] for key, parser in params.parsers.items()}
    _check_cycle("also_1, also_2, parser or treebank", corpora | parsers)


def _check_cycle(key: str, references: Mapping[str, Collection[str]]) -> None:
    try:
        TopologicalSorter(references).prepare()
    except CycleError as error:
        cycle = list(reversed(error.args[1]))
        raise ConfigError(f"{key} forms a cycle: {' -> '.join(cycle)}", remedy=f"set one of them to {NONE}") from error


def _check_parser(path: str, parser: ParserEntry, corpora: Mapping[str, Corpus]) -> None:
    """Check that a parser has one model from one place, and a treebank that needs no other parser first."""
    check_reference(f"{path}.treebank", parser.treebank, corpora)
    backend = BACKENDS[parser.backend]
    named, trained = parser.model != NONE, parser.treebank != NONE
    if backend.needs_model and named == trained:
        raise ConfigError(
            "both a model and a treebank" if named else "neither a model nor a treebank",
            where=path,
            remedy="model: a name or a path, off the shelf; or treebank: a corpus to train on; the other is none",
        )
    if not backend.needs_model and (named or trained):
        raise ConfigError(f"{parser.backend} takes no model", where=path, remedy="model and treebank: none")
    if trained and backend.train is None:
        names = [name for name, other in BACKENDS.items() if other.train]
        raise ConfigError(
            f"{parser.backend} is not trained here", where=f"{path}.treebank", remedy=f"one of {', '.join(names)}"
        )
    if not trained:
        return
    records = corpora[parser.treebank].records
    if not RECORDS[records].parsed:
        raise ConfigError(
            f"the records of corpus {parser.treebank} are {records}, which have no trees",
            where=f"{path}.treebank",
            remedy=f"a corpus of {' or '.join(name for name, kind in RECORDS.items() if kind.parsed)}",
        )
    if corpora[parser.treebank].parser != NONE:
        raise ConfigError(
            f"the trees of corpus {parser.treebank} are a parser's own", where=f"{path}.treebank", remedy="gold trees"
        )


def _check_corpus(path: str, corpus: Corpus, params: Params) -> None:
    """Check that reader, sources, corpora, parser and filters fit the records of a corpus."""
    kind, reads_sources = RECORDS[corpus.records], READERS[corpus.reader].reads_sources
    if reads_sources != bool(corpus.shelves or corpus.corpora):
        raise ConfigError(
            f"reader {corpus.reader} reads {'files' if reads_sources else 'no files'}",
            where=f"{path}.shelf",
            remedy="name a shelf" if reads_sources else f"set it to {NONE}",
        )
    for shelf in corpus.shelves:
        if not params.sources.folders(shelf):
            shelves = sorted({source.shelf for source in params.sources.every.values()})
            raise ConfigError(
                f"no source stands on shelf {shelf}",
                where=path,
                remedy=f"put one there under sources; shelves with sources: {', '.join(shelves) or '(none)'}",
            )
    for name in corpus.corpora:
        check_reference(path, name, params.corpora, optional=False)
    check_reference(f"{path}.parser", corpus.parser, params.parsers)
    if corpus.parser != NONE and not kind.parsed:
        raise ConfigError(f"{corpus.records} are not parsed", where=f"{path}.parser", remedy=f"set it to {NONE}")
    corpus.filters.check(kind, where=f"{path}.filters")


def _check_dataset(path: str, dataset: Dataset, corpora: Mapping[str, Corpus], others: Mapping[str, Dataset]) -> None:
    """Check the records of a dataset's corpus, and the encoding of its vocabulary."""
    kind, settings = ENCODINGS[dataset.encoding], dataset.settings
    check_reference(f"{path}.corpus", dataset.corpus, corpora, optional=False)
    if RECORDS[(records := corpora[dataset.corpus].records)] is not kind.record:
        allowed = [name for name, record in RECORDS.items() if record is kind.record]
        raise ConfigError(
            f"the records of corpus {dataset.corpus} are {records}, which encoding {dataset.encoding} does not read",
            where=f"{path}.corpus",
            remedy=f"a corpus of {' or '.join(allowed)}",
        )
    _check_bounds(path, settings, dataset.corpus, corpora[dataset.corpus].filters)
    check_reference(f"{path}.vocab_from", dataset.vocab_from, others)
    if dataset.vocab_from != NONE and (other := others[dataset.vocab_from].encoding) != dataset.encoding:
        raise ConfigError(
            f"dataset {dataset.vocab_from} has the encoding {other}",
            where=f"{path}.vocab_from",
            remedy=f"one with the encoding {dataset.encoding}",
        )
    if dataset.pieces_from != NONE and not (settings.reads_pieces and dataset.vocab_from == NONE):
        what = "the vocabulary is another dataset's" if settings.reads_pieces else f"{dataset.encoding} reads no pieces"
        raise ConfigError(what, where=f"{path}.pieces_from", remedy=f"set it to {NONE}")


def _check_bounds(path: str, settings: Settings, corpus: str, filters: Filters) -> None:
    """Check that rows that pass the filters of the corpus can fit the settings of the dataset."""
    for name, rule in settings.opposite.items():
        bound, other = getattr(settings, name), getattr(filters, rule)
        if other is not None and (bound < other if rule.startswith("min_") else bound > other):
            raise ConfigError(
                f"no row fits both {name} {bound} and {rule} {other}, a filter of corpus {corpus}",
                where=f"{path}.{name}",
                remedy="change one of them",
            )


def _check_model(key: str, params: Params) -> None:
    """Check the encoding of a model's dataset, and the model that it starts from."""
    model, datasets, path = params.models[key], params.datasets.every, f"models.{key}"
    check_reference(f"{path}.dataset", model.dataset, datasets, optional=False)
    if (name := datasets[model.dataset].encoding) != model.encoding:
        raise ConfigError(
            f"dataset {model.dataset} has the encoding {name}, and {model.arch} reads {model.encoding}",
            where=f"{path}.dataset",
            remedy=f"a dataset with the encoding {model.encoding}",
        )
    check_reference(f"{path}.init", model.init, params.models)
    if model.init == NONE and model.training.init_vocab != "same":
        raise ConfigError(
            "no model whose vocabulary could be mapped",
            where=f"{path}.training.init_vocab",
            remedy="same, or name an init",
        )
    if model.init != NONE and (other := params.models[model.init].arch) != model.arch:
        raise ConfigError(
            f"model {model.init} is of arch {other}", where=f"{path}.init", remedy=f"one of arch {model.arch}"
        )


def _check_defaults(params: Params) -> None:
    """Check the defaults of options of each model, that it serves the commands for which it is the default, and that no
    command has two defaults."""
    owners = dict[tuple[str, str], str]()
    for key, model in params.models.items():
        for name, own in model.options.items():
            path = f"models.{key}.options"
            check_options(SERVICES.find(name, where=path).options, own, f"{path}.{name}")
        for list_ in ("default_for", "released_for"):
            for default in getattr(model, list_):
                _check_default(default, key, list_, params)
                if (owner := owners.setdefault((list_, default), key)) != key:
                    what = f"model {owner} is the default for {default} too"
                    raise ConfigError(what, where=f"models.{key}.{list_}", remedy="name one default")


def _check_default(default: str, key: str, list_: str, params: Params) -> None:
    """Check that a model serves a command in a language that there is."""
    model, path, (method, _, language) = params.models[key], f"models.{key}.{list_}", default.partition(".")
    if method not in SERVICES or language not in LANGUAGES:
        allowed = [f"{name}.{each}" for name in SERVICES for each in LANGUAGES]
        raise ConfigError.unknown("command", default, allowed, where=path)
    try:
        service(method, key, model.encoding, model.network)
    except ConfigError as error:
        raise ConfigError(error.what, where=path, remedy=f"remove {default}") from error
