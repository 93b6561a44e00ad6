"""What Chinese verse must satisfy at each of its characters: the compiled form of a frame, for automaton and check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

from espalier.frames.readings import Readings, readings_of
from espalier.io.errors import ConfigError
from espalier.text.language import is_mark
from espalier.verse.format import Format
from espalier.verse.slots import BLANKS
from espalier.verse.sounds import Sounds

#: The marks that may end a clause where the frame leaves its marks free.
PAUSES, STOPS = "，、；：", "。！？"


@dataclass(frozen=True, slots=True)
class Place:
    """One character of a text.

    Attributes:
        given: the characters that may stand here; "" if any word may: a given word, a mark, or free marks.
        word: whether a word stands here, not a mark or a line feed.
        tone: the tone that the word wants, 平 or 仄; "" for any.
        letter: the rhyme letter; "" for none.
        source: the place whose word is repeated here; -1 for none.
    """

    given: str = ""
    word: bool = True
    tone: str = ""
    letter: str = ""
    source: int = -1


@dataclass(frozen=True, slots=True)
class Letter:
    """The places of a rhyme letter.

    Attributes:
        places: the places of its words that are neither given nor repeated, in the order of the text.
        mixed: whether its words need only share a part of the book, not a group (`Sounds.by_part`).
        given: the given words at its places. No other word of the letter equals them.
        keys: what its words can share, by the given words (`Readings`); None if no word is given.
    """

    places: tuple[int, ...]
    mixed: bool
    given: frozenset[str]
    keys: frozenset[str] | None


@dataclass(frozen=True)
class Plan:
    """The places of a text, its rhyme letters, and the words that must occur in it.

    Attributes:
        exact: whether the marks are those of the frame; else any mark of `PAUSES` and `STOPS` may end a clause.
        marks: for each place of a mark, the mark of the frame, also where it is free.
        distinct: whether the rhyme words of a letter must differ.
    """

    places: tuple[Place, ...]
    letters: dict[str, Letter]
    sounds: Sounds
    words: tuple[str, ...] = ()
    exact: bool = True
    marks: dict[int, str] = field(default_factory=dict)
    distinct: bool = True

    @property
    def readings(self) -> Readings:
        """The index of the rhyme book."""
        return readings_of(self.sounds)

    @property
    def by_line(self) -> bool:
        """Whether a line ends without a mark, so that line ends are more than layout."""
        return any(one.word and other.given == "\n" for one, other in pairwise(self.places))

    def sign(self, place: int) -> str:
        """The tone that a word's reading must have to rhyme at a place; "" for any."""
        return self.places[place].tone


def plan_of(
    format_: Format, sounds: Sounds, words: tuple[str, ...] = (), *, exact: bool = True, distinct: bool = True
) -> Plan:
    """The plan of a format.

    Args:
        words: words that must occur, wherever they fit.
        exact: whether the marks are those of the format; else each clause ends with any one mark.

    Raises:
        ConfigError: a place repeats another one, and both have different words, tones or letters.
    """
    places, marks = [], {}
    of_word: list[int] = []
    rhyming = format_.rhyme_places
    mixed = format_.mixed_letters if sounds.tone else frozenset()
    for number, (unit, tones, letter) in enumerate(zip(format_.units, format_.place_tones, format_.rhyme, strict=True)):
        if number:
            places.append(Place("\n", word=False))
        for slot, (token, tone) in enumerate(zip(unit, tones, strict=True)):
            if is_mark(token):
                if exact or (token in PAUSES + STOPS and places and places[-1].word):
                    marks[len(places)] = token
                    places.append(Place(token if exact else PAUSES + STOPS, word=False))
                continue
            of_word.append(len(places))
            signed = tone if sounds.tone and tone != "中" else ""
            rhymes = letter if slot in rhyming[number] else ""
            places.append(Place("" if token in BLANKS else token, True, signed, rhymes))
    for copy, source in format_.copies:
        _repeat(places, of_word[copy], of_word[source])
    names = [place.letter for place in places if place.source < 0]
    for index, place in enumerate(places):
        if place.letter and names.count(place.letter) < 2:  # a word that is alone rhymes with itself
            places[index] = replace(place, letter="")
    readings = readings_of(sounds)
    letters = {name: _letter(name, places, name in mixed, readings) for name in sorted(filter(None, set(names)))}
    letters = {name: letter for name, letter in letters.items() if names.count(name) > 1}
    return Plan(tuple(places), letters, sounds, words, exact, marks, distinct)


def _repeat(places: list[Place], copy: int, source: int) -> None:
    """Let a place repeat the word of an earlier place, which then satisfies what both ask for."""
    one, other = places[source], places[copy]
    for what, own, another in (("tone", one.tone, other.tone), ("rhyme letter", one.letter, other.letter)):
        if own and another and own != another:
            what = f"a word that is repeated has the {what} {own}, and {another} where it is repeated"
            raise ConfigError(what, where="format", remedy="give both the same")
    if one.given and other.given and one.given != other.given:
        what = f"'{other.given}' where the tune repeats '{one.given}'"
        raise ConfigError(what, where="format", remedy="give both places the same word, or one of them none")
    tone, letter = one.tone or other.tone, one.letter or other.letter
    places[source] = replace(one, given=one.given or other.given, tone=tone, letter=letter)
    places[copy] = Place(source=source)


def _letter(name: str, places: list[Place], mixed: bool, readings: Readings) -> Letter:
    own = [(index, place) for index, place in enumerate(places) if place.letter == name]
    free = tuple(index for index, place in own if not place.given)
    given = [place for _, place in own if place.given]
    for every in (False, True):  # rarer readings of given words count only if no other word rhymes with them
        keys = [readings.keys(place.given, mixed, place.tone, every=every) for place in given]
        shared = frozenset.intersection(*keys) if keys else None
        if shared or shared is None:
            break
    return Letter(free, mixed, frozenset(place.given for place in given), shared)


def clauses_of(plan: Plan) -> Iterator[tuple[list[int], list[int]]]:
    """The places of the words of each clause, and of the marks after it; the first has no words if a mark is first."""
    words: list[int] = []
    marks: list[int] = []
    for index, place in enumerate(plan.places):
        if (place.word and marks) or (place.given == "\n" and words and not marks):
            yield words, marks
            words, marks = [], []
        if place.word:
            words.append(index)
        elif place.given != "\n":
            marks.append(index)
    yield words, marks
