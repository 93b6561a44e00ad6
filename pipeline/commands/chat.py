"""chat: a post a line, answered at once, until there are no more."""

from __future__ import annotations

import io
import sys
from contextlib import suppress

from espalier.io.errors import EspalierError
from pipeline.commands.reply import Options, model_for, opened, show
from pipeline.commands.requests import require_text
from pipeline.progress import say


def chat(options: Options) -> None:
    """Answer the lines of standard input, or of a person at a terminal; a line that cannot be read ends nothing."""
    model = opened(*model_for(options), options)
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")  # what is not UTF-8 is told of that line alone
    prompt = "> " if sys.stdin.isatty() and sys.stdout.isatty() else ""
    if prompt:
        with suppress(ImportError):
            import readline  # noqa: F401  # lines can be edited and come back
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            post = input(prompt).strip()
            if not post:
                continue
            try:
                require_text(post, options.language, "post")
                show([("post", post)], model, options)
            except EspalierError as error:
                say(f"espalier: {error}")
    if prompt:
        print()
