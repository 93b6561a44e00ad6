"""The nursery: seeded grammars that grow the embedded corpora. The same seed grows the same rows on every machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from espalier.corpora.records import Verse
from espalier.nursery import verse_en, verse_zh

#: Grammars by name; each grows `count` rows from a `seed`.
NURSERIES: Final[dict[str, Callable[..., list[Verse]]]] = {"verse_en": verse_en.grow, "verse_zh": verse_zh.grow}
