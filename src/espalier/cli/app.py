"""The command line: the commands that write texts, and commands that other modules add."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
import warnings
from contextlib import suppress
from copy import copy
from functools import partial
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from typer.core import TyperGroup
from typer.main import get_command_name
from typer.models import CommandInfo

from espalier import __version__
from espalier.cli import streams
from espalier.cli.check import Check
from espalier.cli.command import add
from espalier.cli.commands import COMMANDS
from espalier.cli.demo.command import demo
from espalier.cli.failures import UsageError, failure
from espalier.cli.grammar import Grammar
from espalier.cli.models import models
from espalier.inference.writer import InferenceWarning
from espalier.io.errors import ConfigError
from espalier.io.terminal import printable, printable_line

#: One example of each command that writes, below the list of commands.
EXAMPLES = """\b
Examples:
  espalier generate --format '5,5。7,5。' --rhyme AA
  espalier polish '_雨___，____到。'
  espalier paraphrase 'Anna asked for a camera.' --like 'A letter was written by Martin.'
  espalier granularity 'Can you tell me who found the key?'
  espalier compose --template 'a dog was running in a room'
  espalier reply '你喜欢吃什么？' --show-tree
  espalier chat
  espalier check --format '5,5。7,5。' --rhyme AA '江上一灯明，照我过长桥。月落山空人未睡，风雪满归船。'
  espalier grammar --tune 卜算子 --group 4 > grammar.lark
  espalier demo
"""

app = typer.Typer(
    help="Train and use text generators that follow a given structure.",
    epilog=EXAMPLES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
# The order in the help, before the stages. `add_typer` would list these commands after the stages.
for _command in (*COMMANDS, Check, Grammar):
    add(app, _command)
app.command()(demo)

#: The commands that write files and print nothing that another program reads.
FILES: set[str] = set()
#: The exit status of a mistaken command line, and of any other mistake.
USAGE, FAILED = 2, 1


def _print_version(value: bool) -> None:
    if value:
        print(f"espalier {__version__}")
        raise typer.Exit


@app.callback()
def _espalier(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Train and use text generators that follow a given structure."""


def main() -> NoReturn:
    """Run the command line.

    A user's mistake is one line; the exit status is 2 if the command line is wrong, 1 otherwise. It is no mistake if
    the reader of a pipe closes it.

    Libraries compute in one thread unless `OMP_NUM_THREADS` says otherwise: the nursery's matrices are too small for
    more, and beside another busy process several threads wait for each other.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when numpy and torch are imported
    gc.set_threshold(100_000)  # imports make many objects and little garbage: a sixth of the start-up
    warnings.showwarning = partial(_show_warning, set())
    warnings.simplefilter("always", InferenceWarning)
    said, status, command = None, FAILED, ""
    try:
        _add_stages()
        arguments = sys.argv[1:] or ["--help"]
        group = _group(arguments[0])
        command = arguments[0] if arguments[0] in group.commands else ""
        streams.open_streams()
        _run(group, arguments)
    except BrokenPipeError as error:
        # `espalier generate ... | head` is done; a stage is not.
        done = command not in FILES and streams.reader_is_gone()
        said = None if done else failure(error, command, writes_files=command in FILES)
    except (Exception, KeyboardInterrupt) as error:
        if isinstance(error, KeyboardInterrupt):
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # another one would cut the line
        said = failure(error, command, writes_files=command in FILES)
        if said is None:
            raise
        status = USAGE if isinstance(error, UsageError) else FAILED
    unwritten = streams.flush()
    if unwritten is not None and not isinstance(unwritten, BrokenPipeError):
        said = f"standard output: {unwritten.strerror}"
    if said is not None:
        print(f"espalier: {printable_line(said)}", file=sys.stderr)
    sys.exit(0 if said is None else status)


def _group(name: str) -> TyperGroup:
    """The command line with the command of this name alone, or with all commands if there is none of this name.

    To prepare all takes a twentieth of a second.
    """
    one = copy(app)
    one.registered_commands = [each for each in app.registered_commands if _name(each) == name]
    one.registered_groups = [each for each in app.registered_groups if each.name == name]
    group = typer.main.get_command(one if one.registered_commands or one.registered_groups else app)
    assert isinstance(group, TyperGroup)  # as there is a callback
    return group


def _name(command: CommandInfo) -> str:
    assert command.callback is not None  # it is set by `app.command`
    return command.name or get_command_name(command.callback.__name__)


def _add_stages() -> None:
    """Add the stages if this file is part of a clone of the project."""
    root = Path(__file__).resolve().parents[3]
    if (root / "pipeline/shell/app.py").is_file():
        if str(root) not in sys.path:
            sys.path.insert(0, str(root))
        importlib.import_module("pipeline.shell.app")


def _run(group: TyperGroup, arguments: list[str]) -> None:
    """Run a command. Typer's own `app()` would exit with status 1 if the reader of a pipe closes it.

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
    if arguments[0] not in group.commands and not arguments[0].startswith("-"):
        models().plugins()
        group = _group(arguments[0])
    with suppress(typer.Exit), group.make_context("espalier", arguments) as context:
        group.invoke(context)


def _show_warning(shown: set[str], message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    """Print a warning, unless it was shown: each part of a long file may give the same."""
    kind = "note" if issubclass(category, InferenceWarning) else "warning"
    line = f"espalier: {kind}: {printable(message)}"
    if line not in shown:
        shown.add(line)
        print(line, file=sys.stderr)
