"""jieba: Chinese word segmentation with its own part-of-speech tags, and keywords by TF-IDF. It needs no model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import IO, Any, NamedTuple

from espalier.io.imports import of_extra
from espalier.io.installed import verify_installed
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.parser import EMPTY, NO_ROUND_TRIP, Refused, Sentence, are_words


def load() -> JiebaParser:
    """The parser with jieba's own dictionary."""
    return JiebaParser()


class JiebaParser:
    """Words and tags of jieba's posseg. Its words can differ from those of `cut_words`.

    Given words are tagged one by one by posseg; a word that posseg would split gets x.
    """

    def __init__(self) -> None:
        self.signature = f"jieba {version('jieba')}, posseg"
        self._tagger = _tagger()

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse | Refused]:
        """Words and tags of each sentence. White space separates words."""
        return [self._parsed(sentence) for sentence in sentences]

    def _parsed(self, sentence: Sentence) -> Parse | Refused:
        if not isinstance(sentence, str):
            if not are_words(sentence):
                return NO_ROUND_TRIP
            return Parse(tuple(sentence), tuple(map(self._tag, sentence))) if sentence else EMPTY
        pairs = [(word, tag) for word, tag in self._tagger.lcut(sentence) if word.strip()]
        if not pairs:
            return EMPTY
        words, tags = zip(*pairs, strict=True)
        return Parse(words, tags) if "".join(words) == "".join(sentence.split()) else NO_ROUND_TRIP

    def _tag(self, word: str) -> str:
        if tag := self._tagger.word_tag_tab.get(word):
            return str(tag)
        pairs = self._tagger.lcut(word)
        return str(pairs[0].flag) if len(pairs) == 1 else "x"


def cut_words(text: str) -> list[str]:
    """The words of `jieba.cut`, by its dictionary and, for unknown words, its Markov model; without white space."""
    return [word for word in _tokenizer().cut(text) if word.strip()]


def tags_alone(character: str) -> frozenset[str]:
    """The tags that a character can have as a word of its own.

    They are all those of posseg's Markov model; if it has none, the one of the dictionary; empty if that has none.
    """
    tagger = _tagger()
    from jieba.posseg import char_state_tab_P

    seen = {tag for place, tag in char_state_tab_P.get(character, ()) if place == "S"}
    return frozenset(seen or filter(None, [tagger.word_tag_tab.get(character)]))


def keywords(text: str, n: int) -> list[str]:
    """The `n` most informative words of a text by jieba's TF-IDF, the best first."""
    return list(_extractor().extract_tags(text, topK=None)[: max(n, 0)])


class _Dictionary(NamedTuple):
    """A dictionary of jieba.

    Attributes:
        counts: by word; 0 for what a word begins with, if it is no word itself.
        total: the sum of the counts.
        tags: by word.
    """

    counts: dict[str, int]
    total: int
    tags: dict[str, str]


@cache
def _dictionary() -> _Dictionary:
    """The dictionary of the installed version, read in half the time of jieba's own functions."""
    with of_extra("parse"):
        import jieba

    verify_installed("jieba", ["jieba/dict.txt"])
    with jieba.Tokenizer().get_dict_file() as file:
        fields = file.read().decode().split()
    words, counts, tags = fields[::3], [*map(int, fields[1::3])], fields[2::3]
    beginnings, longer = set[str](), words
    # All beginnings of one length at a time, of the words that are longer.
    for length in range(1, max(map(len, words))):
        longer = [word for word in longer if len(word) > length]
        beginnings.update([word[:length] for word in longer])
    return _Dictionary(
        dict.fromkeys(beginnings, 0) | dict(zip(words, counts, strict=True)),
        sum(counts),
        dict(zip(words, tags, strict=True)),
    )


@cache
def _tokenizer() -> Any:
    """A tokenizer with the dictionary of the installed version.

    jieba itself reads a cache in the machine's temporary folder, even one from another version or program, and reports
    it on standard error. This tokenizer uses no cache, so processes cannot interfere.
    """
    dictionary = _dictionary()  # first, as it says if jieba is not installed
    import jieba

    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total, tokenizer.initialized = dictionary.counts, dictionary.total, True
    return tokenizer


def use_no_cache() -> None:
    """Let jieba's own tokenizer, which other libraries call, have the dictionary too, and so read no cache."""
    own = _tokenizer()
    import jieba

    if not jieba.dt.initialized:
        jieba.dt.FREQ, jieba.dt.total, jieba.dt.initialized = dict(own.FREQ), own.total, True


@cache
def _tagger() -> Any:
    tokenizer, tags = _tokenizer(), _dictionary().tags  # first, as in `_tokenizer`
    from jieba.posseg import POSTokenizer

    class Tagger(POSTokenizer):  # type: ignore[misc]
        """With the tags that were read with the words."""

        def load_word_tag(self, file: IO[bytes]) -> None:
            file.close()
            self.word_tag_tab = tags

    return Tagger(tokenizer)


@cache
def _extractor() -> Any:
    tokenizer = _tokenizer()  # first, as in it
    from jieba.analyse import TFIDF

    verify_installed("jieba", ["jieba/analyse/idf.txt"])
    extractor = TFIDF()
    extractor.tokenizer = tokenizer
    return extractor
