"""jieba: Chinese words, with its own part-of-speech tags, and the keywords of a text by TF-IDF. It needs no model."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

from espalier.syntax.parse import Parse
from espalier.syntax.parsers.parser import Refused, Sentence


class JiebaParser:
    """Words and tags of jieba's posseg, whose words are not always those of plain `jieba.cut`.

    Words that are given are tagged one by one: with the tag of jieba's dictionary, or x.
    """

    def __init__(self) -> None:
        self.signature = f"jieba {version('jieba')}, posseg"
        self._tagger = _posseg()

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse | Refused]:
        """Words and tags of each sentence. White space parts words and is none."""
        return [self._parsed(sentence) for sentence in sentences]

    def _parsed(self, sentence: Sentence) -> Parse | Refused:
        if not isinstance(sentence, str):
            known = self._tagger.word_tag_tab
            return Parse(tuple(sentence), tuple(known.get(word, "x") for word in sentence)) if sentence else _EMPTY
        pairs = [(word, tag) for word, tag in self._tagger.lcut(sentence) if word.strip()]
        if not pairs:
            return _EMPTY
        words, tags = zip(*pairs, strict=True)
        if "".join(words) != "".join(sentence.split()):
            return Refused("tokens do not round-trip")
        return Parse(words, tags)


_EMPTY = Refused("empty")


def load() -> JiebaParser:
    """The parser, with jieba's own dictionary."""
    return JiebaParser()


def keywords(text: str, n: int) -> list[str]:
    """The `n` words of a text that tell most about it, by jieba's TF-IDF, the best first."""
    import jieba.analyse

    _posseg()
    return list(jieba.analyse.extract_tags(text, topK=n))


@cache
def _posseg() -> Any:
    import jieba.posseg

    jieba.setLogLevel(logging.WARNING)  # it tells of its dictionary on standard error
    jieba.initialize()
    return jieba.posseg.POSTokenizer(jieba.dt)
