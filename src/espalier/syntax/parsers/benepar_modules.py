"""What is used of benepar, imported without the package's `__init__`.

The `__init__` imports benepar's spaCy component, which is slow and not needed here. Its modules are imported with an
empty package instead; later imports get the full package.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec

from espalier.io.imports import nltk_module

__all__ = [
    "ChartParser",
    "HParams",
    "RetokenizerForCharLSTM",
    "guess_language",
    "guess_space_after",
    "locate_model",
    "ptb_unescape",
]


@contextmanager
def _without_beginning() -> Iterator[None]:
    """In this context, `benepar` is an empty package with its modules."""
    if "benepar" in sys.modules or (spec := find_spec("benepar")) is None:
        yield
        return
    nltk_module()  # which its modules import
    sys.modules["benepar"] = bare = module_from_spec(spec)  # not executed
    try:
        yield
    finally:
        if sys.modules.get("benepar") is bare:  # or another thread has had it away
            del sys.modules["benepar"]


with _without_beginning():
    from benepar.char_lstm import RetokenizerForCharLSTM
    from benepar.integrations.downloader import locate_model
    from benepar.integrations.nltk_plugin import guess_language
    from benepar.nkutil import HParams
    from benepar.parse_chart import ChartParser
    from benepar.ptb_unescape import guess_space_after, ptb_unescape
