"""The command line: `espalier STAGE KEY` for every stage, and the commands that other modules declare."""

from __future__ import annotations

import gc
import importlib
import os
import sys
import warnings
from contextlib import suppress
from typing import Annotated, NoReturn

import typer
from typer.core import TyperGroup

from espalier.inference.writer import InferenceWarning
from espalier.io.errors import ConfigError
from espalier.io.terminal import printable, printable_line
from pipeline import completion, project_commands, streams, text_commands, verse_commands
from pipeline.failures import failure
from pipeline.options import ProfileOption
from pipeline.profiles import Profile, enter

app = typer.Typer(
    help="Train and use text generators that follow a given structure. Stages run in the current folder's profile.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

#: The stages of dvc.yaml that have keys; the module of this name in `pipeline.stages` has a `run(key)`.
STAGES = {
    "download": "Download the files of a source and check their hashes.",
    "copy": "Copy a local file to its shelf.",
    "train_parser": "Train a parser on a treebank.",
    "parse": "Read or generate a corpus, and parse its texts.",
    "filter": "Filter and split the records of a corpus.",
    "linearize": "Encode a corpus for sequence models.",
    "canonicalize": "Encode a corpus for tree models.",
    "train": "Train a model. A training that was killed resumes.",
    "decode": "Decode the texts of a run.",
    "annotate": "Parse the texts of a run.",
    "score": "Score the texts of a run.",
    "baselines": "Write and score the trivial baselines of a dataset.",
    "report": "Write the report of a paper: its runs beside the printed numbers.",
}
#: Other commands that write files and print nothing for another program.
WRITERS = ("adopt", "export", "pages", "rehearse", "repro", "site")
#: Stages that parse in shards, on this machine's cores or on a cluster.
SHARDED = ("parse", "annotate")
#: The most processes of a sharded stage.
MAX_WORKERS = 1024

KeyArgument = Annotated[
    str, typer.Argument(help="The key of the entry in params.yaml.", autocompletion=completion.keys)
]
SchedulerOption = Annotated[
    str | None, typer.Option(help="The scheduler of a Dask cluster, tcp://HOST:PORT; default: this machine.")
]
WorkersOption = Annotated[
    int | None,
    typer.Option(min=1, max=MAX_WORKERS, help="The number of processes on this machine; default: depends on the rows."),
]


def _print_version(value: bool) -> None:
    if value:
        from espalier import __version__

        print(f"espalier {__version__}")
        raise typer.Exit


@app.callback()
def _espalier(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Train and use text generators that follow a given structure. Stages run in the current folder's profile."""


def _stage(name: str, text: str) -> None:
    def command(key: KeyArgument, profile: ProfileOption = None) -> None:
        run(key, profile)

    def sharded(
        key: KeyArgument,
        profile: ProfileOption = None,
        scheduler: SchedulerOption = None,
        workers: WorkersOption = None,
    ) -> None:
        for variable, value in (("ESPALIER_SCHEDULER", scheduler), ("ESPALIER_WORKERS", workers)):
            if value is not None:
                os.environ[variable] = str(value)
        run(key, profile)

    def run(key: str, profile: Profile | None) -> None:
        enter(profile)
        from pipeline.code_guard import unchanged_code
        from pipeline.stage_run import alone, fix_threads, inputs_named

        fix_threads(name)
        module = importlib.import_module(f"pipeline.stages.{name}")
        with unchanged_code(), alone(name, key), inputs_named(name, key):
            module.run(key)

    chosen = sharded if name in SHARDED else command
    chosen.__doc__ = text
    app.command(name)(chosen)


for _name, _text in STAGES.items():
    _stage(_name, _text)


@app.command()
def site(profile: ProfileOption = None) -> None:
    """Write the page over all papers, from the reports that were made."""
    enter(profile)
    from pipeline.code_guard import unchanged_code
    from pipeline.stage_run import alone
    from pipeline.stages import site as stage

    with unchanged_code(), alone("site", "index"):
        stage.run()


for _group in (verse_commands, text_commands, project_commands):
    app.add_typer(_group.app)


def _run(group: TyperGroup, arguments: list[str]) -> None:
    """Run a command. Typer's own `app()` would end with status 1 where the reader of a pipe goes away.

    Raises:
        ConfigError: an argument is not UTF-8.
    """
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError as error:
            raise ConfigError("not UTF-8", where=f"argument {argument}") from error
    if "_ESPALIER_COMPLETE" in os.environ:  # a shell asks for completions
        group.main(prog_name="espalier")
    with suppress(typer.Exit), group.make_context("espalier", arguments) as context:
        group.invoke(context)


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    kind = "note" if issubclass(category, InferenceWarning) else "warning"
    print(f"espalier: {kind}: {printable(message)}", file=sys.stderr)


def main() -> NoReturn:
    """Run the command line. A user's mistake is one line and exit status 1; a reader that goes away is no mistake.

    Libraries compute in one thread unless `OMP_NUM_THREADS` says otherwise: the nursery's matrices are too small for
    more, and beside another busy process several threads wait for each other.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when numpy and torch are imported
    gc.set_threshold(100_000)  # imports make many objects and little garbage: a sixth of the start-up
    warnings.showwarning = _show_warning
    warnings.simplefilter("always", InferenceWarning)
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)  # as there are several commands
    command = next((word for word in sys.argv[1:2] if word in group.commands), "")
    said, is_stage = None, command in STAGES
    writes_files = is_stage or command in WRITERS
    try:
        streams.open_streams()
        _run(group, sys.argv[1:] or ["--help"])
    except BrokenPipeError as error:
        # `espalier generate ... | head` is done; a stage is not.
        done = not is_stage and streams.reader_is_gone()
        said = None if done else failure(error, command, writes_files=writes_files)
    except (Exception, KeyboardInterrupt) as error:
        said = failure(error, command, writes_files=writes_files)
        if said is None:
            raise
    unwritten = streams.flush()
    if unwritten is not None and not isinstance(unwritten, BrokenPipeError):
        said = f"standard output: {unwritten.strerror}"
    sys.exit(0 if said is None else f"espalier: {printable_line(said)}")
