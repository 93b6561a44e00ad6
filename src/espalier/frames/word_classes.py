"""The classes of words that answer each other in parallel lines (对仗), from parts of speech."""

from __future__ import annotations

from typing import Final

#: The class of each part of speech of the ICTCLAS tag set, by the beginning of its tag; the longest that fits counts.
#:
#: The classes are those of Wang Li (王力,《诗词格律》, "律诗的对仗": 名词, 形容词, 数词, 颜色词, 方位词, 动词, 副词,
#: 虚词, 代词) but one: the tag set has no words of colour, which are adjectives or nouns in it. Measure words are
#: nouns, as Wang Li has no class of them. Idioms (i, l), abbreviations (j), morphemes (g, zg) and others (x) have none.
_CLASSES: Final = {
    "n": "noun", "t": "noun", "s": "noun", "q": "noun",
    "a": "adjective", "b": "adjective", "z": "adjective",
    "m": "number",
    "f": "direction",
    "v": "verb",
    "d": "adverb",
    "p": "function word", "c": "function word", "u": "function word", "y": "function word", "e": "function word",
    "o": "function word", "h": "function word", "k": "function word",
    "r": "pronoun",
    "zg": "", "eng": "",
}  # fmt: skip


def class_of(tag: str) -> str:
    """The class of a tag in Wang Li's terms; "" if words with it have none."""
    return _CLASSES.get(tag, _CLASSES.get(tag[:1], ""))
