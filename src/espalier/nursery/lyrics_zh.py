"""Lyric lines in Chinese with gold dependency trees, generated from a seed.

Single lines on typical topics of songs (night and rain, roads and trains, love, parting, home, youth), for models whose
templates are the tags of a line (SAT, paper 001). Neighbouring lines are unrelated.
"""

import random
from functools import cache

from espalier.corpora.records import Sentence
from espalier.nursery.grammar_zh import Grammar, grow_phrase
from espalier.nursery.patterns_zh import read_grammar
from espalier.nursery.sampling import exhausted, seeded
from espalier.syntax.parse import Parse, columns_of

#: The bounds of a line's characters, its comma included.
SHORTEST, LONGEST = 5, 20
#: Attempts to make a new line before `grow` raises an error.
_TRIES = 1000
#: Words of these tags occur at most once in a line.
_SAID_ONCE = {"NOUN", "VERB", "ADJ"}


def grow(count: int = 4000, seed: int = 1) -> list[Sentence]:
    """Generate `count` distinct lines.

    Args:
        seed: the same seed gives the same lines on every machine; a larger count only adds lines.

    Returns:
        Records of origin "nursery", ids "lyric-000001" and so on, 5 to 20 characters each, with words, tags, heads and
        labels (Universal Dependencies). A line has a comma between its halves and no mark at its end.

    Raises:
        ConfigError: the count is negative, or more than the grammar generates.
    """
    rng = seeded(seed, count, "lines", "lyrics_zh")
    known: set[str] = set()
    return [_record(number, _line(rng, known, count)) for number in range(1, count + 1)]


def _line(rng: random.Random, known: set[str], count: int) -> Parse:
    for _ in range(_TRIES):
        line = grow_phrase(rng, _grammar(), "Line", {})
        text = "".join(line.words)
        if text not in known and _fits(line, text):
            known.add(text)
            return line
    raise exhausted(len(known), count, "lines", "lyrics_zh")


@cache
def _grammar() -> Grammar:
    grammar, _ = read_grammar("lexicon_zh_song.yaml", "patterns_zh_song.yaml")
    return grammar


def _fits(line: Parse, text: str) -> bool:
    telling = [word for word, tag in zip(line.words, line.tags, strict=True) if tag in _SAID_ONCE]
    neighbours = zip(line.words, line.words[1:], strict=False)
    return (
        SHORTEST <= len(text) <= LONGEST
        and len(set(telling)) == len(telling)
        and all(one != other for one, other in neighbours)
    )


def _record(number: int, line: Parse) -> Sentence:
    return Sentence(
        id=f"lyric-{number:06d}",
        origin="nursery",
        language="zh",
        target="".join(line.words),
        **columns_of(line, "target"),
    )
