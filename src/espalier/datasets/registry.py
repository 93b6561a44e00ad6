"""The registry of encodings. Add your own in a module listed under `plugins` in params.yaml:

`ENCODINGS["mine"] = Mine()`.
"""

from __future__ import annotations

from typing import Final

from espalier.datasets.dialogue.encode import DialogueEncoding
from espalier.datasets.encoding import Encoding
from espalier.datasets.pairs.encode import PairEncoding
from espalier.datasets.structure.encode import StructureEncoding
from espalier.datasets.verse.encode import VerseEncoding
from espalier.io.registry import entry

ENCODINGS: Final[dict[str, Encoding]] = {
    "verse": VerseEncoding(),
    "pairs": PairEncoding(),
    "dialogue": DialogueEncoding(),
    "structure": StructureEncoding(),
}


def encoding(name: str, *, where: str | None = None) -> Encoding:
    """The encoding registered under `name`.

    Raises:
        ConfigError: the name is not registered; `where` is the key of params.yaml that has it.
    """
    return entry("encoding", ENCODINGS, name, where=where)
