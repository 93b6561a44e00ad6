"""A check that the code of a stage does not change while it runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from espalier.io.errors import EspalierError
from espalier.io.hashing import file_sha256
from pipeline.layout import ROOT

#: Data files of the library: tables, and the templates and scripts of pages.
DATA = ("*.yaml", "*.jinja", "*.js")


@contextmanager
def unchanged_code() -> Iterator[None]:
    """Fail if a module used by the stage, or a data file beside it, is edited while the stage runs.

    DVC computes hashes at the end of a command, so the lock would otherwise record code that did not make the artifact.

    Raises:
        EspalierError: a file changed; the message names the first one.
    """
    before = {path: file_sha256(path) for path in _code()}
    yield
    used = {Path(file) for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))}
    folders = {path.parent for path in used}
    for path, sha256 in before.items():
        concerned = path in used or (path.suffix != ".py" and bool(folders & {path.parent, path.parent.parent}))
        if concerned and not (path.exists() and file_sha256(path) == sha256):
            raise EspalierError(
                "this stage's code changed while it ran",
                where=path.relative_to(ROOT),
                remedy="its artifact is not to be trusted: run it again, long runs from a second git worktree",
            )


def _code() -> list[Path]:
    """Our modules, and the data files of the library."""
    library, pipeline = ROOT / "src" / "espalier", ROOT / "pipeline"
    return sorted([*pipeline.rglob("*.py"), *(path for kind in ("*.py", *DATA) for path in library.rglob(kind))])
