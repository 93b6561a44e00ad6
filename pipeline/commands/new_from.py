"""The command `new corpus FILE`: look at one's own data, and add the entries of a model of it."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import yaml

from espalier.cli.progress import say
from espalier.corpora.filters import Filters, screen, why_none
from espalier.corpora.guess.guess import Guess, guess
from espalier.corpora.guess.uses import CUTS, SPACES, TREEBANKS, WORDS, service_of
from espalier.corpora.readers import READERS
from espalier.corpora.records import Pair, Quarantined, Record
from espalier.inference.registry import reads_trees
from espalier.io.errors import ConfigError, DataError
from espalier.io.files import atomic_file
from espalier.io.terminal import printable
from espalier.io.validation import validated
from espalier.text.language import LANGUAGES, Language
from espalier.verse.text import pattern_of
from pipeline.commands.new import DEV, PAPER, TEST, Raw, add, change_in
from pipeline.layout import NONE, PARAMS
from pipeline.params.entries import Params
from pipeline.params.insert import insert
from pipeline.params.read import load_params, read_yaml
from pipeline.records.systems import corpus_of, default_for, expander_of, parser_of, profile_option

#: So many rows are read for a look, so many records are shown, and so many rows for each reason of quarantine.
ROWS, SHOWN, EXAMPLES = 100_000, 5, 2
#: Fewer records are hardly enough for a model.
FEW: Final = 200
#: The characters of a side that are shown.
WIDTH: Final = 60
#: The ending of the name of a model that expands templates.
EXPANDER: Final = "_se"


@dataclass(frozen=True)
class Look:
    """The rows of a file as a reader gives them: all, or the first `ROWS`."""

    records: Sequence[Record]
    quarantined: Sequence[Quarantined]
    more: bool

    @property
    def text(self) -> Iterator[str]:
        """Some records, and what is quarantined, as lines for people. Each begins with the place of its row."""
        rows, first = len(self.records) + len(self.quarantined), self.records[:SHOWN]
        yield f"rows: {rows:,}{', the first of more' * self.more}; records: {len(self.records):,}"
        for row in first:
            yield f"  {_place(row.id)}: {' → '.join(_short(getattr(row, side)) for side in row.sides)}"
        if self.quarantined:
            yield f"would be quarantined: {len(self.quarantined):,}"
        for reason, number in Counter(row.reason for row in self.quarantined).most_common():
            yield f"  {number:,} {reason}"
            for bad in islice((each for each in self.quarantined if each.reason == reason), EXAMPLES):
                yield f"    {_place(bad.id)}: {_short(bad.text)}"


def new_from(
    path: Path,
    name: str | None,
    given: Mapping[str, Any],
    changes: Sequence[str],
    *,
    alone: bool,
    dry_run: bool,
) -> None:
    """Look at a file or folder, print what a reader makes of it, and add the entries of a corpus and of a model of it.

    Args:
        path: the file or folder, absolute.
        name: name of the entries; None for the name of the file.
        given: values of the corpus that are not guessed: reader, language, parser, dev, test.
        changes: KEY=VALUE in the corpus.
        alone: whether only the corpus and its source are added.
        dry_run: whether nothing is added.

    Raises:
        ConfigError: an entry of the name exists, or an option cannot be.
        DataError: the file cannot be read, or has no records.
    """
    path = Path(_shown(path))
    if not path.exists():
        raise DataError("no such file or folder", file=path)
    name = name or _name_of(path)
    corpus, notes = _corpus(path, given, changes)
    look = _looked_at(path, name, corpus)
    found = f"{path}: reader {corpus['reader']}, {corpus['language']}, options {_inline(corpus['options'])}"
    for line in (found, *(f"note: {note}" for note in notes), *look.text):
        print(printable(line))
    if not look.records:
        raise DataError(f"no records: {why_none(look.quarantined)}", file=path, remedy="give other options: -S")
    if len(look.records) < FEW:
        print(f"note: {len(look.records)} records are few; a model needs some hundreds, better thousands")
    dev, test = _held_out(given, len(look.records))
    if dev + test >= len(look.records) and not look.more and "split" not in corpus:
        print(f"note: dev {dev} + test {test} leave no record to train on; ask for fewer: --dev, --test")
    if dry_run:
        return
    with _unless_it_fails():
        given = {**given, "dev": dev, "test": test}
        paths, commands = _added(path, name, corpus, look, given, changes, alone=alone)
    for line in (f"{PARAMS}: {', '.join(paths)}", *(f"  {command}" for command in commands)):
        print(line)


def _corpus(path: Path, given: Mapping[str, Any], changes: Sequence[str]) -> tuple[Raw, Sequence[str]]:
    """The reader, language, options, filters and split of a corpus, guessed where they are not given."""
    reader, language = given.get("reader"), given.get("language")
    kind = None if reader is None else READERS.find(reader, where="--reader")
    try:
        found = guess(path, language)
    except DataError:
        if reader is None or language is None:
            raise
        found = Guess(reader, language, {}, {})
    if reader is not None and reader != found.reader:
        found = Guess(reader, found.language, {}, found.splits)
    kind = kind or READERS[found.reader]
    corpus: Raw = {"reader": found.reader, "language": found.language, "options": dict(found.options)}
    corpus["filters"] = {"deduplicate": True, **({"without_identical": True} if issubclass(kind.record, Pair) else {})}
    if found.splits:
        corpus["split"] = {"kind": "published", **{part: list(names) for part, names in found.splits.items()}}
    for change in changes:
        change_in(corpus, change)
    return corpus, found.notes


def _looked_at(path: Path, name: str, corpus: Raw) -> Look:
    """What the reader gives, without the rows that the usual filters drop."""
    kind = READERS.find(str(corpus["reader"]), where="--reader")
    if not isinstance(corpus["options"], dict):
        raise ConfigError("no mapping", where=f"corpora.{name}.options", remedy="as in -S options.rhyme=AA")
    with tempfile.TemporaryDirectory() as folder:
        if path.is_file():  # alone, as after the stage `copy`
            (Path(folder) / path.name).symlink_to(path.resolve())
        given = {name: path if path.is_dir() else Path(folder)}
        found = kind.rows(given, corpus["options"], language=corpus["language"], where=f"corpora.{name}")
        try:
            rows = list(islice(found, ROWS + 1))
        except DataError as error:
            where = str(error.where).replace(folder, str(path.parent))
            raise DataError(error.what, file=where, remedy=error.remedy) from error
    records = [row for row in rows[:ROWS] if isinstance(row, Record)]
    filters = validated(Filters, corpus["filters"], f"corpora.{name}.filters")
    filters = filters.model_copy(update=dict.fromkeys(("max_levels", "min_label_count")))  # of trees, not yet parsed
    kept, dropped = screen(records, filters)
    return Look(kept, [*(row for row in rows[:ROWS] if isinstance(row, Quarantined)), *dropped], len(rows) > ROWS)


def _added(
    path: Path, name: str, corpus: Raw, look: Look, given: Mapping[str, Any], changes: Sequence[str], *, alone: bool
) -> tuple[list[str], list[str]]:
    """Add the entries.

    Returns:
        Their paths, and the commands that make and use the model.
    """
    params, reader, paths = load_params(), corpus["reader"], list[str]()
    treebank = reader in TREEBANKS
    like = None if alone or treebank else _model_like(params, reader, corpus["language"])
    parser = given.get("parser")
    if parser is None and like is not None and READERS[reader].record.parsed:
        parser = _cutting(params, parser_of(params, corpus_of(params, like[1])), name, paths)
    values = {
        "reader": reader, "language": corpus["language"], "file": os.path.relpath(path),
        **({"parser": parser} if parser else {}),
        "dev": given["dev"], "test": given["test"],
    }  # fmt: skip
    settings = {key: corpus[key] for key in ("options", "filters", "split") if key in corpus}
    paths += add(
        "corpus", name, values, None, [*(f"{key}={_inline(each)}" for key, each in settings.items()), *changes]
    )
    params = load_params()
    if treebank and not alone:
        return _parser_of(params, name, reader, corpus["language"], paths)
    if like is None:
        if not alone:
            what = f"profile {params.profile} has no model in {corpus['language']} that could be copied for them"
            say(f"note: {what}; espalier new dataset, new model and new run add one")
        return paths, [_repro(params, f"filter@{name}")]
    return _models(params, name, *like, look.records[0], paths)


def _held_out(given: Mapping[str, Any], kept: int) -> tuple[int, int]:
    """The numbers of dev and of test records of `kept`, where they are not given a part of these."""
    return given.get("dev", min(DEV, max(1, kept // 10))), given.get("test", min(TEST, max(1, kept // 5)))


def _model_like(params: Params, reader: str, language: Language) -> tuple[str, str] | None:
    """The service of a model of such records, and the profile's model for it."""
    service = service_of(reader, language)
    if service is None:
        return None
    # A format of verse is of no language.
    languages = (language, *LANGUAGES) if service == "generate" else (language,)
    keys = (default_for(params, service, each) for each in languages)
    key = next(filter(None, keys), None)
    return None if key is None else (service, key)


def _cutting(params: Params, parser: str | None, name: str, paths: list[str]) -> str | None:
    """The parser, or one more that cuts texts into words, if this one takes what stands between spaces for words."""
    if parser is None or params.parsers[parser].options.get(CUTS) != SPACES:
        return parser
    own = f"{name}_tags"
    copied = read_yaml(PARAMS)["parsers"][parser]
    insert({f"parsers.{own}": {**copied, "options": {**copied["options"], CUTS: WORDS}}})
    paths.append(f"parsers.{own}")
    return own


def _parser_of(
    params: Params, name: str, reader: str, language: Language, paths: list[str]
) -> tuple[list[str], list[str]]:
    """A parser that is trained on gold trees, with the settings of the profile's parser of such trees."""
    backend = TREEBANKS[reader]
    entries = read_yaml(PARAMS)["parsers"]
    like = next((each for each in entries.values() if each["backend"] == backend and each["treebank"] != NONE), None)
    if like is None:
        say(f"note: profile {params.profile} has no parser by {backend} whose settings could be copied")
        return paths, [_repro(params, f"filter@{name}")]
    options = {"words": "jieba"} if backend == "spacy" and language == "zh" else {}
    entry = {**like, "language": language, "model": NONE, "treebank": name, "options": options}
    insert({f"parsers.{name}": entry})
    use = f"espalier new corpus FILE --parser {name}"
    return [*paths, f"parsers.{name}"], [_repro(params, f"train_parser@{name}"), use]


def _models(
    params: Params, name: str, service: str, like: str, first: Record, paths: list[str]
) -> tuple[list[str], list[str]]:
    """A dataset, a model like this one, a model that expands its templates if it reads trees, and a run."""
    model = params.models[like]
    pieces = ["pieces_from=none"] if model.dataset in params.datasets.linearize else []
    paths += add("dataset", name, {"corpus": name, "vocab_from": NONE}, model.dataset, pieces)
    parts = {"dataset": name, "paper": PAPER, "init": NONE, "seeds": [1]}
    fresh = ["training.init_vocab=same"] if model.training.init_vocab != "same" else []
    paths += add("model", name, parts, like, fresh)
    stages = [f"train@{name}"]
    expander = expander_of(params, like)
    if expander is not None and reads_trees(model.network.view):
        paths += add("model", f"{name}{EXPANDER}", parts, expander, fresh)
        stages.append(f"train@{name}{EXPANDER}")
    rules = ["scoring.rules=sonnet"] if service == "generate" and first.language == "en" else []
    preset = next((run.preset for run in params.runs.values() if run.model == like), None)
    paths += add("run", name, {"model": name, **({"preset": preset} if preset else {})}, None, rules)
    language = f"--language {first.language} " if service == "generate" else ""
    asked = shlex.quote(_format(first) if service == "generate" else getattr(first, first.sides[0]))
    use = f"espalier {service} {language}--model {name}{profile_option(params)} {asked}"
    return paths, [_repro(params, *stages), use, _repro(params, f"score@{name}")]


def _format(poem: Record) -> str:
    """The format of a poem as `espalier generate` takes it, 5，5。/7，5。"""
    pattern = pattern_of(poem.target, poem.language)
    return re.sub("_+", lambda run: str(len(run[0])), pattern).replace("\n", "/")


@contextmanager
def _unless_it_fails() -> Iterator[None]:
    """Restore params.yaml if not all entries can be added."""
    before = PARAMS.read_bytes()
    try:
        yield
    except BaseException:  # also an interruption
        with atomic_file(PARAMS) as part:
            part.write_bytes(before)
        raise


def _repro(params: Params, *stages: str) -> str:
    return f"espalier repro {' '.join(stages)}{profile_option(params)}"


def _name_of(path: Path) -> str:
    """The name of a file as one of entries."""
    name = re.sub(r"\W+", "_", path.stem, flags=re.ASCII).strip("_-").lower()[:40]
    return name or "mine"


def _inline(value: object) -> str:
    """A value as YAML on one line."""
    text: str = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=1_000_000, sort_keys=False)
    return text.strip()


def _place(id: str) -> str:
    """The id of a row without its source: "pairs, row 7"."""
    file, _, row = (id.partition("/")[2] or id).rpartition("/")
    return f"{file}, row {row}" if file else row


def _shown(path: Path) -> str:
    """A path as people type it here."""
    near = os.path.relpath(path)
    return str(path) if near.startswith("../..") else near


def _short(text: str) -> str:
    text = " / ".join(text.split("\n")).replace("\t", " → ")
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"
