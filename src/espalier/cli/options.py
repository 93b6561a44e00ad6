"""Options that several commands share."""

from __future__ import annotations

import os
import warnings
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from espalier.cli.models import absolute, models
from espalier.cli.streams import QUIET
from espalier.decoding.bounds import MAX_BEAM, MAX_TEMPERATURE, MAX_TOP_K
from espalier.inference.writer import MAX_TEXTS, InferenceWarning
from espalier.io.errors import EspalierError


class Language(StrEnum):
    """The language of the texts."""

    zh = "zh"
    en = "en"


def _be_quiet(value: bool) -> bool:
    if value:
        warnings.simplefilter("ignore", InferenceWarning)
        os.environ[QUIET] = "1"
    return value


def model_names(context: typer.Context, incomplete: str) -> list[str]:
    """Names of models that begin with `incomplete`; empty if a file cannot be read."""
    try:
        models().enter(context.params.get("profile"))
        return [name for name in models().names() if name.startswith(incomplete)]
    except (EspalierError, OSError, ValueError, KeyError, TypeError):
        return []


def tune_names(incomplete: str) -> list[str]:
    """Tunes of the catalogue whose names begin with `incomplete`."""
    from espalier.verse.tunes import tunes

    return [name for name in tunes() if name.startswith(incomplete)]


ProfileOption = Annotated[
    str | None, typer.Option(help="The profile of a clone; default: that of this folder, else nursery.")
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        help="A model of the profile, or the folder of an exported model; default: that of the profile.",
        autocompletion=model_names,
        callback=absolute,
    ),
]
SeedOption = Annotated[int, typer.Option(help="The seed of the random draws.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object for each text.")]
LanguageOption = Annotated[Language, typer.Option(help="The language of the texts.")]
FileOption = Annotated[
    Path | None, typer.Option(help=f"A file with one request a line, at most {MAX_TEXTS:,}; - is standard input.")
]
TopKOption = Annotated[int, typer.Option(help=f"Draw from the k most probable words; at most {MAX_TOP_K:,}.")]
TemperatureOption = Annotated[
    float, typer.Option(help=f"The logits are divided by it; above 0, at most {MAX_TEMPERATURE:g}.")
]
BeamOption = Annotated[int, typer.Option(help=f"The number of beams, at most {MAX_BEAM:,}; 0 samples instead.")]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", callback=_be_quiet, help="Print no notes and no progress; errors stay.")
]
