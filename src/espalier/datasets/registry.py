"""The encodings, each imported when it is used.

Add your own in a module listed under `plugins` in params.yaml: `ENCODINGS["mine"] = Mine()`.
"""

from typing import Any, Final

from espalier.datasets.encoding import Encoding
from espalier.io.registry import Registry

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
