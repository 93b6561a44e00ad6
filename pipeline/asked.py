"""What commands that write for people share: where requests come from, and which model answers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TypeVar

from espalier.io.errors import ConfigError, DataError
from pipeline import layout
from pipeline.params import DialogueDataset, PairDataset, Params, VerseDataset, entry

Kind = TypeVar("Kind", VerseDataset, PairDataset, DialogueDataset)


def lines_asked(file: Path | None, given: bool, *, nothing: ConfigError, remedy: str) -> list[str]:
    """The lines of a file, or of standard input ("-", or where nothing else is given) that hold anything.

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
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        raise DataError("no requests", file=name, remedy=remedy)
    return lines


def model_asked(params: Params, given: str | None, wanted: str, option: str, fitting: list[str]) -> str:
    """The key of the model that is named, else of the default for a command and language ("generate.zh").

    Args:
        fitting: the models that could be named.

    Raises:
        ConfigError: none is named, and there is no default.
    """
    defaults = [key for key, model in params.models.items() if wanted in model.default_for]
    if given is None and not defaults:
        raise ConfigError(
            f"no model of profile {params.profile} is the default for {wanted}",
            where=option,
            remedy=f"name one: {', '.join(fitting)}" if fitting else "another --profile",
        )
    return defaults[0] if given is None else given


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
