"""The command `demo`."""

from __future__ import annotations

import socket
from typing import Annotated, Final

import typer

from espalier.cli.models import find_in, models
from espalier.io.errors import ConfigError

#: The only address that the page is served at: this machine.
HOST: Final = "127.0.0.1"


def demo(
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port of the page.")] = 7860,
    profile: Annotated[
        str | None, typer.Option(help="The profile whose models are shown; default: released models first.")
    ] = None,
) -> None:
    """Show the models on a page at 127.0.0.1, for a browser on this machine; nothing is fetched from a network.

    Each control names its option, and below an answer stands the command that gives it. Ctrl-C ends the page.
    """
    from espalier.cli.demo.asking import KeptModels

    models().enter(profile)
    require_free(port)
    from espalier.cli.demo.page import THEME, build
    from espalier.cli.demo.pictures import style

    find_in(KeptModels(models()))
    print(f"http://{HOST}:{port}", flush=True)
    build(profile).queue(default_concurrency_limit=1).launch(
        server_name=HOST, server_port=port, share=False, quiet=True, ssr_mode=False, footer_links=[], theme=THEME,
        css=style(), enable_monitoring=False, mcp_server=False, pwa=False,
    )  # fmt: skip


def require_free(port: int) -> None:
    """Raise a ConfigError if the port is in use."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((HOST, port))
        except OSError as error:
            remedy = f"end the other program, or give another: --port {port + 1 if port < 65535 else port - 1}"
            raise ConfigError(
                f"port {port}: {(error.strerror or 'in use').lower()}", where="--port", remedy=remedy
            ) from error
