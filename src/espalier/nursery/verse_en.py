"""Pastiche sonnets: fourteen iambic lines, rhymed ABAB CDCD EFEF GG by CMU phonemes, generated from a seed.

A model has to learn: ten syllables per line; rhymes at the right distance; agreement of verbs with subjects, also with
the subject of the line before; a single theme; and the course of a sonnet, with a turn ("yet", "but") at the ninth line
and a vow in the couplet.
"""

import random
from functools import cache

from espalier.corpora.records import Verse
from espalier.nursery.lexicon_en import KINDS, NUMBERS, THEMES, lexicon, third_person
from espalier.nursery.lines_en import LineEnd, Subject, line, suits
from espalier.nursery.sampling import exhausted, pick, seeded
from espalier.text.language import join_tokens
from espalier.verse.rhyme import pronunciations, rhyme_parts
from espalier.verse.text import join_units

RHYME = "ABABCDCDEFEFGG"

#: The phonemes from the last stressed vowel on, without stress.
Part = tuple[str, ...]

#: The roles of a quatrain's lines (keys of `TEMPLATES`), each with the mark after it.
_QUATRAINS = (
    "when , main , and , verb .",
    "main , verb ; and , verb .",
    "when , main ; place , main .",
    "place , main ; when , main .",
    "ask ? ask ? main , and .",
    "main ; and ; when , main .",
    "self , verb ; when , main .",
    "place , self ; and , verb .",
    "main : self , verb , place .",
    "when , when , main , verb .",
    "call ! self , verb ; main .",
    "call , self ; and , verb .",
)
_TURNS = (
    "yet , verb ; when , main .",
    "yet , place , and , verb .",
    "yet : self , verb ; and .",
    "yet ; when , self , verb .",
    "yet , and ; when , main .",
)
_COUPLETS = ("vow , seal .", "vow , seal !", "main ; seal !", "self , seal .")
#: Attempts to make a line before the sonnet is given up.
_ATTEMPTS = 100
#: Attempts to make a sonnet before `grow` raises an error.
_BEGINNINGS = 1000


def grow(count: int, seed: int) -> list[Verse]:
    """Generate `count` distinct sonnets. No line occurs twice.

    Args:
        seed: the same seed gives the same sonnets on every machine; a larger count only adds sonnets.

    Returns:
        Records of origin "nursery", ids "verse_en/00001" and so on; lines of lower-case tokens, each ending with a
        mark.

    Raises:
        ConfigError: the count is negative, or more than the grammar generates.
    """
    rng = seeded(seed, count, "sonnets", "verse_en")
    written: set[tuple[str, ...]] = set()
    sonnets: list[Verse] = []
    while len(sonnets) < count:
        for _ in range(_BEGINNINGS):
            lines = _sonnet(rng, pick(rng, THEMES), written)
            if lines is not None:
                break
        else:
            raise exhausted(len(sonnets), count, "sonnets", "verse_en")
        sonnets.append(
            Verse(
                id=f"verse_en/{len(sonnets) + 1:05d}",
                origin="nursery",
                language="en",
                target=join_units(lines),
                author="nursery",
                tune="sonnet",
                rhyme=RHYME,
            )
        )
    return sonnets


def _sonnet(rng: random.Random, theme: str, written: set[tuple[str, ...]]) -> list[str] | None:
    """The lines of one sonnet, which are added to `written`; None if no words are left for a rhyme."""
    course = " ".join((pick(rng, _QUATRAINS), pick(rng, _QUATRAINS), pick(rng, _TURNS), pick(rng, _COUPLETS))).split()
    words, ends = lexicon(theme), _line_ends(theme)
    roles = course[::2]
    said: set[str] = set()
    fresh: set[tuple[str, ...]] = set()
    parts: dict[str, Part] = {}
    subject: Subject | None = None
    lines = []
    for index, (letter, role, mark) in enumerate(zip(RHYME, roles, course[1::2], strict=True)):
        if letter not in parts:
            partner = roles[RHYME.index(letter, index + 1)]
            parts[letter] = pick(rng, [part for part in _parts(theme, role, partner) if part not in parts.values()])
        line_ends = [end for end in ends[parts[letter]] if end.word not in said and suits(end, role, subject)]
        for _ in range(_ATTEMPTS if line_ends else 0):
            drawn = line(rng, words, role, pick(rng, line_ends), subject, said)
            if drawn is not None and drawn.words not in written:
                break
        else:
            return None
        subject = drawn.subject
        said.update(drawn.content)
        fresh.add(drawn.words)
        lines.append(join_tokens((*drawn.words, mark), "en"))
    written |= fresh
    return lines


@cache
def _parts(theme: str, first: str, second: str) -> tuple[Part, ...]:
    """The rhyme parts with a word that can end a line of the first role, and another word for the second role."""
    parts = []
    for part, ends in _line_ends(theme).items():
        openers = {end.word for end in ends if suits(end, first, None)}
        closers = {end.word for end in ends if suits(end, second, None)}
        if openers and closers and len(openers | closers) > 1:
            parts.append(part)
    return tuple(parts)


@cache
def _line_ends(theme: str) -> dict[Part, tuple[LineEnd, ...]]:
    """Words that can end a line, by rhyme part.

    Only words with a single rhyme part and stress on the last syllable are used, which rhyme by any rule. Of words that
    sound the same (sea, see), only the first is used.
    """
    words = lexicon(theme)
    ends = [
        LineEnd(word, "N", kind, number) for kind in KINDS for number in NUMBERS for word in words.nouns[kind, number]
    ]
    for kind in KINDS:
        for verb in words.intransitive[kind]:
            ends += [LineEnd(verb, "I", kind, "many"), LineEnd(third_person(verb), "I", kind, "one")]
        ends += [LineEnd(word, "Z", kind, "one") for word in words.states[kind]]
    groups: dict[Part, list[LineEnd]] = {}
    spellings: dict[tuple[str, ...], str] = {}
    for end in ends:
        sounds = pronunciations(end.word)[0]
        beats = [sound[-1] for sound in sounds if sound[-1].isdigit()]
        parts = sorted(rhyme_parts(end.word))
        if len(parts) == 1 and beats[-1] == "1" and spellings.setdefault(sounds, end.word) == end.word:
            groups.setdefault(parts[0], []).append(end)
    return {part: tuple(group) for part, group in groups.items() if len({end.word for end in group}) > 1}
