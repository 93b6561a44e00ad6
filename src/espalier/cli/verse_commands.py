"""The commands that write verse: generate and polish."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from espalier.cli.models import models
from espalier.cli.options import (
    BeamOption,
    FileOption,
    JsonOption,
    Language,
    LanguageOption,
    ModelOption,
    ProfileOption,
    QuietOption,
    SeedOption,
    TemperatureOption,
    TopKOption,
    tune_names,
)
from espalier.inference.writer import MAX_TEXTS

app = typer.Typer()

CountOption = Annotated[int, typer.Option(help=f"The number of texts for each format; at most {MAX_TEXTS:,} in all.")]
BookOption = Annotated[str, typer.Option(help="The rhyme book: mandarin, cilin or pingshui.")]
TonesOption = Annotated[
    str | None,
    typer.Option(help="One sign for each word: 平 level, 仄 oblique, 中 either. By Mandarin's tones, or the --book's."),
]
AcrosticOption = Annotated[
    str | None,
    typer.Option(help="Words that begin the sentences, or, if there are more of them, the clauses."),
]


@app.command()
def generate(
    format_: Annotated[
        str | None, typer.Option("--format", help="Counts (5,5。7,5。) or a template (_雨___。).")
    ] = None,
    rhyme: Annotated[str | None, typer.Option(help="One letter for each unit, . for none: .A.A")] = None,
    tune: Annotated[
        str | None,
        typer.Option(
            help="A tune. It gives the format, and a model with `title: true` reads its name.",
            autocompletion=tune_names,
        ),
    ] = None,
    variant: Annotated[int | None, typer.Option(help="The variant of the tune, counted from 1.")] = None,
    tones: TonesOption = None,
    acrostic: AcrosticOption = None,
    book: BookOption = "mandarin",
    tone: Annotated[bool, typer.Option("--tone", help="Keep the tones of the tune, or those of --tones.")] = False,
    model: ModelOption = None,
    profile: ProfileOption = None,
    language: LanguageOption = Language.zh,
    n: CountOption = 1,
    seed: SeedOption = 1,
    file: FileOption = None,
    json: JsonOption = False,
    free: Annotated[bool, typer.Option("--free", help="Let the model predict separators and marks too.")] = False,
    top_k: TopKOption = 32,
    temperature: TemperatureOption = 1.0,
    beam: BeamOption = 0,
    quiet: QuietOption = False,
) -> None:
    """Write verse in a given format.

    A line of --file is a format. Its rhyme letters, tune, variant, tones and acrostic may follow, separated by tabs.
    If one line has tones, each needs tones or a tune. Random draws depend on --seed, on the number of the line and on
    that of the text, so that equal lines get different texts.

    With --variant, --tone or a --book other than mandarin, the format of a tune is that of the Qinding cipu. So is that
    of a tune that `espalier list tunes` does not show.
    """
    any_given = any(value is not None for value in (format_, rhyme, tune, variant, tones, acrostic))
    given = (format_, rhyme, tune, "", variant, tones, acrostic) if any_given else None
    options = {
        "n": n, "seed": seed, "top_k": top_k, "temperature": temperature, "beam": beam, "free": free, "book": book,
        "tone": tone,
    }  # fmt: skip
    _write_verse("generate", given, file, profile, model, language, json, options)


@app.command()
def polish(
    template: Annotated[
        str | None, typer.Argument(help="Words are kept, each _ is filled, and each # is filled with a rhyme.")
    ] = None,
    rhyme: Annotated[str | None, typer.Option(help="One letter for each unit, . for none.")] = None,
    tune: Annotated[
        str | None,
        typer.Option(help="The name of a tune, which a model with titles reads.", autocompletion=tune_names),
    ] = None,
    tones: TonesOption = None,
    acrostic: AcrosticOption = None,
    book: BookOption = "mandarin",
    model: ModelOption = None,
    profile: ProfileOption = None,
    language: LanguageOption = Language.zh,
    n: CountOption = 1,
    seed: SeedOption = 1,
    file: FileOption = None,
    json: JsonOption = False,
    top_k: TopKOption = 32,
    temperature: TemperatureOption = 1.0,
    beam: BeamOption = 0,
    quiet: QuietOption = False,
) -> None:
    """Fill the blanks of a template (SongNet, table 6). A line of --file is a template."""
    given = None if template is None else (template, rhyme, tune, "", None, tones, acrostic)
    options = {
        "n": n, "seed": seed, "top_k": top_k, "temperature": temperature, "beam": beam, "book": book, "tone": False,
    }  # fmt: skip
    _write_verse("polish", given, file, profile, model, language, json, options)


def _write_verse(
    method: str,
    given: tuple[Any, ...] | None,
    file: Path | None,
    profile: str | None,
    model: str | None,
    language: Language,
    json: bool,
    options: dict[str, Any],
) -> None:
    """Write texts for the given fields of a `VerseRequest` and for each line of a file."""
    from espalier.cli.generate import requests_of, write
    from espalier.inference.requests import VerseRequest

    requests = requests_of(file, [] if given is None else [VerseRequest(*given)])  # --file is a path in this folder
    models().enter(profile)
    write(method, requests, model, language.value, json=json, **options)
