"""The commands `reply` and `chat`: replies to posts, the best first."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from espalier.cli.models import models
from espalier.cli.requests import answer, answer_all, as_options, read_requests, require_count
from espalier.inference.requests import Post
from espalier.inference.results import Reply
from espalier.io.errors import ConfigError, DataError
from espalier.text.language import Language

if TYPE_CHECKING:
    from espalier.inference.dialogue import ReplyWriter

#: The longest line of a chat, in characters; few are short enough for a post.
MAX_LINE = 1_000_000


@dataclass(frozen=True)
class Options:
    """Which model replies, how it searches, and how replies are shown."""

    model: str | None
    language: Language
    n: int
    beam: int | None
    local: int | None
    min_words: int
    length_power: float
    show_tree: bool


def requests_of(file: Path | None, given: Sequence[Post]) -> list[Post]:
    """Requests, one post per line."""
    return read_requests(file, given, lambda fields, name: Post(" ".join(fields), name), "one post a line")


def write(posts: Sequence[Post], options: Options, *, json: bool) -> None:
    """Print the best replies to each post."""
    require_count(options.n * len(posts))
    with as_options():
        writer = _writer(options)
        answer_all(writer, posts, _show(options), as_json=json)


def chat(options: Options) -> None:
    """Reply to each line of standard input. A line that cannot be read is reported and skipped."""
    with as_options():
        writer = _writer(options)
    if sys.stdin is None:  # closed
        return
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")  # a line that is not UTF-8 is an error of that line alone
    asks = sys.stdin.isatty() and sys.stdout.isatty()
    if asks:
        with suppress(ImportError):
            import readline  # noqa: F401  # lines can be edited and come back
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            if post := (input("> ") if asks else _line()).strip():
                answer(writer, [Post(post)], _show(options), as_json=False)
    if asks:
        print()


def _line() -> str:
    """The next line of standard input.

    Raises:
        EOFError: the input has ended.
        DataError: the line is too long.
    """
    line = sys.stdin.readline(MAX_LINE + 1)
    if not line:
        raise EOFError
    if len(line) > MAX_LINE:
        raise DataError(f"a line of over {MAX_LINE:,} characters", file="standard input", remedy="shorten it")
    return line


def _writer(options: Options) -> ReplyWriter:
    system = models().open("reply", options.language, model=options.model)
    writer: ReplyWriter = system.writer(  # type: ignore[assignment]
        "reply",
        n=options.n,
        beam=options.beam,
        local=options.local,
        min_words=options.min_words,
        length_power=options.length_power,
    )
    if options.show_tree and not writer.shows_trees:
        what = f"model {system.name} writes chains, which have no tree"
        raise ConfigError(what, where="--show-tree", remedy="leave it out, or name a model of trees")
    return writer


def _show(options: Options) -> Callable[[Post, Reply], str]:
    """A function that shows each reply. If posts have several replies, an empty line separates the posts."""
    last: Post | None = None

    def show(post: Post, reply: Reply) -> str:
        nonlocal last
        parted = options.n > 1 and last is not None and last is not post
        last = post
        return "\n".join([*[""] * parted, reply.text, *[f"  {reply.tree}"] * options.show_tree])

    return show
