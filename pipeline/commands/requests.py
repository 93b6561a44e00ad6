"""What commands that write for people share: where requests come from, and which model answers."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final, TypeVar

from espalier.io.errors import ConfigError, DataError
from pipeline import layout
from pipeline.params import DialogueDataset, PairDataset, Params, VerseDataset, entry

Kind = TypeVar("Kind", VerseDataset, PairDataset, DialogueDataset)

#: By what people call them.
LANGUAGES: Final = {"zh": "Chinese", "en": "English"}
_HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
#: What speaks for a language, and what for another. Beside Chinese a foreign word weighs no more than one character.
_OWN: Final = {"zh": re.compile(f"[{_HAN}]"), "en": re.compile(r"[A-Za-z]")}
_OTHER: Final = {"zh": re.compile(rf"(?:(?![{_HAN}])[^\W\d_])+"), "en": re.compile(r"(?![A-Za-z])[^\W\d_]")}


def require_text(text: str, language: str, name: str) -> None:
    """Raise a DataError unless a text has words, and is for the better part in this language, "zh" or "en".

    Args:
        name: what errors call the text.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError("not UTF-8", file=name) from error
    called = LANGUAGES[language]
    if not any(character.isalnum() for character in text):
        article = "an" if language == "en" else "a"
        raise DataError("no words", file=name, remedy=f"give {article} {called} sentence")
    if len(_OTHER[language].findall(text)) > len(_OWN[language].findall(text)):
        what = f"most of its {'words' if language == 'zh' else 'letters'} are not {called}"
        raise DataError(what, file=name, remedy=f"the models read {called} alone")


def lines_asked(file: Path | None, given: bool, *, nothing: ConfigError, remedy: str) -> list[tuple[str, str]]:
    """The lines of a file, or of standard input ("-", or where nothing else is given) that hold anything.

    Each comes after its place, which is what errors call it: "posts.txt, row 3".

    Args:
        file: None where no file is named.
        given: whether something is asked for besides, so that standard input is not waited for.
        nothing: raised where nothing is asked for at all.
        remedy: what a file without a line should hold.

    Raises:
        DataError: the file is missing, is not UTF-8, or asks for nothing.
    """
    if file is None and (given or sys.stdin.isatty()):
        if not given:
            raise nothing
        return []
    read = file is not None and str(file) != "-"
    name = str(file) if read else "standard input"
    try:
        text = Path(name).read_text(encoding="utf-8-sig") if read else sys.stdin.read()
    except FileNotFoundError as error:
        raise DataError("no such file", file=name) from error
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 ({error.reason})", file=name) from error
    lines = [(f"{name}, row {row}", line) for row, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines:
        raise DataError("no requests", file=name, remedy=remedy)
    return lines


def model_asked(
    params: Params, given: str | None, wanted: str, option: str, kind: type[Kind], what: str
) -> tuple[str, str]:
    """The model that is named, else the default for a command and language ("generate.zh"): its key, its language.

    Args:
        option: which names it.
        kind: of its dataset.
        what: what the command writes, for people.

    Raises:
        ConfigError: none is named, and there is no default; or it is of another task.
    """
    datasets = params.datasets.every
    fitting = [key for key, model in params.models.items() if isinstance(datasets[model.dataset], kind)]
    defaults = [key for key, model in params.models.items() if wanted in model.default_for]
    if given is None and not defaults:
        raise ConfigError(
            f"no model of profile {params.profile} is the default for {wanted}",
            where=option,
            remedy=f"name one: {', '.join(fitting)}" if fitting else "another --profile",
        )
    key = defaults[0] if given is None else given
    return key, params.corpora[dataset_of(params, key, kind, what, option).corpus].language


def dataset_of(params: Params, key: str, kind: type[Kind], what: str, option: str) -> Kind:
    """The dataset of a model, which is of the kind that a command writes.

    Args:
        what: what the command writes, for people.

    Raises:
        ConfigError: there is no such model, or it is of another kind.
    """
    dataset = params.datasets.every[entry("model", params.models, key).dataset]
    if not isinstance(dataset, kind):
        raise ConfigError(f"model {key} writes {dataset.form}, no {what}", where=option)
    return dataset


def require_trained(key: str) -> None:
    """Raise a ConfigError unless the model is there."""
    if not layout.model(key).is_dir():
        raise ConfigError(
            f"model {key} is not trained", where=f"models/{key}", remedy=f"dvc repro train@{key}, or another --profile"
        )


def writer_asked(params: Params, given: str | None, command: str, language: str, kind: type[Kind], what: str) -> str:
    """The key of the trained model that --model names, else of the default for a command in --language.

    Raises:
        ConfigError: there is none, it is of another task or language, or it is not trained.
    """
    key, writes = model_asked(params, given, f"{command}.{language}", "--model", kind, what)
    if writes != language:
        raise ConfigError(
            f"model {key} writes {writes}, not {language}", where="--language", remedy=f"--language {writes}"
        )
    require_trained(key)
    return key


def parser_of(params: Params, corpus: str) -> str:
    """The parser that a corpus was parsed by, else the one that learned from its trees.

    Raises:
        ConfigError: there is none, or it is not made yet.
    """
    learned = [key for key, each in params.parsers.items() if each.treebank == corpus]
    named = params.corpora[corpus].parser
    keys = learned if named == layout.NONE else [named]
    if not keys:
        raise ConfigError(
            f"no parser for the texts of corpus {corpus}",
            where="params.yaml: parsers",
            remedy=f"train one on it (treebank: {corpus}), or name one as the corpus's parser",
        )
    if not layout.parser(keys[0]).is_dir():
        raise ConfigError(
            f"parser {keys[0]} is not there",
            where=f"parsers/{keys[0]}",
            remedy=f"dvc repro train_parser@{keys[0]}, or another --profile",
        )
    return keys[0]
