"""The commands `espalier new corpus|dataset|model|run`, which add an entry to params.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from espalier.cli.command import Language
from espalier.io.errors import ConfigError
from pipeline.shell.profiles import Profile, ProfileOption, enter
from pipeline.shell.project_commands import call

app = typer.Typer(help="Add an entry to params.yaml: a corpus, a dataset, a model or a run.")

NameArgument = Annotated[str, typer.Argument(help="The name of the entry.")]
LikeOption = Annotated[
    str | None, typer.Option(help="An entry to copy; the options and --set give what differs from it.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", "-S", metavar="KEY=VALUE", help="A value in it, as in training.steps=500; repeatable."),
]
PaperOption = Annotated[str | None, typer.Option(help="The folder of its metrics; default: mine, or the model's.")]
PresetOption = Annotated[
    str | None, typer.Option(help="The preset; default: of the architecture's name, or that of the task's runs.")
]


@app.command()
def corpus(
    name: Annotated[str, typer.Argument(metavar="NAME or FILE", help="The name of the entry; or a file or folder.")],
    reader: Annotated[
        str | None, typer.Option(help="The reader of its raw files (espalier list readers); default: a guess.")
    ] = None,
    file: Annotated[
        str | None, typer.Option(help="A local file or folder that it reads, which becomes a source.")
    ] = None,
    shelf: Annotated[str | None, typer.Option(help="The shelf of the sources that it reads.")] = None,
    language: Annotated[Language | None, typer.Option(help="The language; default: the parser's.")] = None,
    parser: Annotated[str | None, typer.Option(help="The parser of its texts; default: none.")] = None,
    dev: Annotated[int | None, typer.Option(min=0, help="The records held out for dev; default: 100.")] = None,
    test: Annotated[int | None, typer.Option(min=0, help="The records held out for test; default: 200.")] = None,
    like: LikeOption = None,
    alone: Annotated[bool, typer.Option("--alone", help="With FILE: add no model of it.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With FILE: look at it, and add nothing.")] = False,
    set_: SetOption = None,
    profile: ProfileOption = None,
) -> None:
    """Add a corpus, and the source of a local file.

    With FILE, or with --file and no --reader, look at the file first: print the reader and its options, some records,
    and what would be quarantined. Then add the corpus, a dataset, a model like the profile's for such records, an
    expander if it reads trees, and a run; and print the commands that train and use the model.
    """
    values = {"reader": reader, "file": file, "shelf": shelf, "parser": parser, "dev": dev, "test": test}
    values |= {"language": language and language.value}
    path = name if file is None and _is_path(name, named=reader is not None or shelf is not None) else file
    if like is None and path is not None and (reader is None or path is name):
        place, own = Path(path).resolve(), None if path is name else name  # before the folder of the profile
        enter(profile)
        given = {key: value for key, value in values.items() if value is not None and key != "file"}
        call("new_from", place, own, given, set_ or [], alone=alone, dry_run=dry_run)
        return
    if alone or dry_run:
        raise ConfigError("no file to look at", where="--alone or --dry-run", remedy="give a FILE, and no --like")
    _new("corpus", name, values, like, set_, profile)


def _is_path(name: str, *, named: bool) -> bool:
    """Whether a name is that of a file: it cannot be that of an entry, or it exists and nothing says what to read."""
    return "/" in name or "." in name or (Path(name).exists() and not named)


@app.command()
def dataset(
    name: NameArgument,
    corpus: Annotated[str | None, typer.Option(help="The corpus; default: that of this name.")] = None,
    encoding: Annotated[str | None, typer.Option(help="The encoding; default: the only one of its records.")] = None,
    vocab_from: Annotated[str | None, typer.Option(help="The dataset whose vocabulary it uses; default: none.")] = None,
    like: LikeOption = None,
    set_: SetOption = None,
    profile: ProfileOption = None,
) -> None:
    """Add a dataset: a corpus in an encoding."""
    values = {"corpus": corpus, "encoding": encoding, "vocab_from": vocab_from}
    _new("dataset", name, values, like, set_, profile)


@app.command()
def model(
    name: NameArgument,
    arch: Annotated[str | None, typer.Option(help="The architecture.")] = None,
    dataset: Annotated[str | None, typer.Option(help="The dataset; default: that of this name.")] = None,
    preset: PresetOption = None,
    paper: PaperOption = None,
    init: Annotated[str | None, typer.Option(help="The model whose weights it starts from; default: none.")] = None,
    seeds: Annotated[list[int] | None, typer.Option(min=0, help="A seed; repeatable; default: 1.")] = None,
    like: LikeOption = None,
    set_: SetOption = None,
    profile: ProfileOption = None,
) -> None:
    """Add a model."""
    values = {"arch": arch, "dataset": dataset, "preset": preset, "paper": paper, "init": init, "seeds": seeds or None}
    _new("model", name, values, like, set_, profile)


@app.command()
def run(
    name: NameArgument,
    model: Annotated[str | None, typer.Option(help="The model; default: that of this name.")] = None,
    task: Annotated[str | None, typer.Option(help="The task; default: the only one of the model's encoding.")] = None,
    dataset: Annotated[str | None, typer.Option(help="The dataset; default: the model's.")] = None,
    split: Annotated[str | None, typer.Option(help="dev or test; default: test.")] = None,
    preset: PresetOption = None,
    paper: PaperOption = None,
    samples: Annotated[int | None, typer.Option(min=1, help="The texts for each record; default: 1.")] = None,
    like: LikeOption = None,
    set_: SetOption = None,
    profile: ProfileOption = None,
) -> None:
    """Add a run of a model, and the annotation that its task needs."""
    values = {"model": model, "task": task, "dataset": dataset, "split": split, "preset": preset, "paper": paper}
    _new("run", name, values | {"samples": samples}, like, set_, profile)


def _new(
    kind: str, name: str, values: dict[str, Any], like: str | None, changes: list[str] | None, profile: Profile | None
) -> None:
    enter(profile)
    given = {key: value for key, value in values.items() if value is not None}
    call("new", kind, name, given, like, changes or [])
