"""The nursery: seeded grammars that generate the embedded corpora. The same seed gives the same rows on every machine.

`espalier.corpora.readers.READERS` names their functions.
"""

from __future__ import annotations

from typing import Final

#: Grammars that say of a text's words whether they allow them, as "module:function".
JUDGES: Final[dict[str, str]] = {"dialogue_zh": "espalier.nursery.dialogue_zh:is_grammatical"}
