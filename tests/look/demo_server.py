"""The page of `espalier demo`, served by a process of its own."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[2]
#: Seconds in which a busy machine imports gradio.
PATIENCE = 120


@contextmanager
def served() -> Iterator[str]:
    """The address of a page that is served meanwhile."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    words = [sys.executable, str(ROOT / "pipeline"), "demo", "--port", str(port)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            for _ in range(PATIENCE):
                if process.poll() is not None:
                    raise RuntimeError(process.stdout.read() if process.stdout else "")
                try:
                    with urlopen(address, timeout=5):
                        break
                except (URLError, OSError):
                    time.sleep(1)
            yield address
        finally:
            process.terminate()
