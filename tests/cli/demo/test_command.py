from __future__ import annotations

import socket
import sys

import pytest
from typer.testing import CliRunner

from espalier.cli.app import app
from espalier.cli.demo.command import HOST, demo, require_free
from espalier.io.errors import ConfigError


def test_a_port_in_use_is_one_line_with_another() -> None:
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"^--port: port {port}: address already in use; .*--port {port + 1}$"):
            require_free(port)
    require_free(port)


def test_without_gradio_the_remedy_is_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gradio", None)
    monkeypatch.delitem(sys.modules, "espalier.cli.demo.page", raising=False)
    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    with pytest.raises(ConfigError, match=r"^the package gradio is not installed; install espalier\[demo\]$"):
        demo(port)


def test_a_port_that_is_none_is_refused() -> None:
    assert CliRunner().invoke(app, ["demo", "--port", "70000"]).exit_code == 2
