"""The nursery: seeded grammars that grow the embedded corpora. The same seed grows the same rows on every machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from espalier.corpora.records import Record
from espalier.nursery import dialogue_zh, lyrics_zh, news_en, paraphrase_en, verse_en, verse_zh

#: Grammars by name; each grows `count` rows from a `seed`.
NURSERIES: Final[dict[str, Callable[..., Sequence[Record]]]] = {
    "dialogue_zh": dialogue_zh.grow,
    "lyrics_zh": lyrics_zh.grow,
    "news_en": news_en.grow,
    "paraphrase_en": paraphrase_en.grow,
    "verse_en": verse_en.grow,
    "verse_zh": verse_zh.grow,
}

#: Grammars that say of a text's words whether they allow them, as "module:function".
JUDGES: Final[dict[str, str]] = {"dialogue_zh": "espalier.nursery.dialogue_zh:is_grammatical"}
