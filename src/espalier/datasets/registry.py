"""The encodings, each imported when it is used.

Add your own in a module listed under `plugins` in params.yaml: `ENCODINGS["mine"] = Mine()`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from espalier.datasets.encoding import Encoding
from espalier.io.registry import Registry

if TYPE_CHECKING:
    from espalier.datasets.dialogue.encode import DialogueEncoding
    from espalier.datasets.pairs.encode import PairEncoding
    from espalier.datasets.structure.encode import StructureEncoding
    from espalier.datasets.verse.encode import VerseEncoding

    # Names are imported when they are used, so only here does the type checker see that they follow the protocol.
    _TYPED: tuple[Encoding[Any, Any, Any, Any], ...] = (
        VerseEncoding(), PairEncoding(), DialogueEncoding(), StructureEncoding(),
    )  # fmt: skip

ENCODINGS: Final = Registry[Encoding[Any, Any, Any, Any]](
    "ENCODINGS",
    "encoding",
    Encoding,
    {
        "verse": "espalier.datasets.verse.encode:VerseEncoding",
        "pairs": "espalier.datasets.pairs.encode:PairEncoding",
        "dialogue": "espalier.datasets.dialogue.encode:DialogueEncoding",
        "structure": "espalier.datasets.structure.encode:StructureEncoding",
    },
)
