"""What verse must satisfy at each of its places: the compiled form of a frame.

The check, the automaton, and with it processors and grammars, are made of it, and so are the constraints of our own
models (`espalier.decoding.constraints.places`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from espalier.frames.readings import SIGNS, Readings, readings_of
from espalier.io.errors import ConfigError
from espalier.text.language import is_mark
from espalier.verse.format import Format
from espalier.verse.slots import BLANKS
from espalier.verse.sounds import Sounds

#: The marks that may end a clause where the frame leaves its marks free.
PAUSES, STOPS = "，、；：", "。！？"


class Place(NamedTuple):
    """One character of a text, in English one word, mark or line feed.

    Attributes:
        given: what stands here: a word, a mark or a line feed; where marks are free, all that may; "" if any word may.
        word: whether a word stands here, not a mark or a line feed.
        tone: the tone that the word, and its reading that rhymes, must have: 平 or 仄; "" for any.
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
    asked = format_.asked
    for number, unit in enumerate(format_.units):
        if number:
            places.append(Place("\n", word=False))
        for token in unit:
            if is_mark(token):
                if exact or (token in PAUSES + STOPS and places and places[-1].word):
                    marks[len(places)] = token
                    places.append(Place(token if exact else PAUSES + STOPS, word=False))
                continue
            tone, letter = asked[len(of_word)]
            of_word.append(len(places))
            places.append(Place("" if token in BLANKS else token, True, tone.replace("中", ""), letter))
    for copy, source in format_.copies:
        _repeat(places, of_word[copy], of_word[source])
    count = Counter(place.letter for place in places)
    for index, place in enumerate(places):
        if count[place.letter] == 1:  # a word that is alone rhymes with itself
            places[index] = place._replace(letter="")
    return Plan(*lettered(places, sounds), sounds, words, exact, marks, distinct)


def lettered(places: Sequence[Place], sounds: Sounds) -> tuple[tuple[Place, ...], dict[str, Letter]]:
    """Places, without the tones that do not count, and their rhyme letters."""
    own: dict[str, list[int]] = {}
    for index, place in enumerate(places):
        if place.letter:
            own.setdefault(place.letter, []).append(index)
    mixed = {name for name, indices in own.items() if {places[index].tone for index in indices} >= {*SIGNS}}
    if not sounds.tone:
        counting = mixed if sounds.by_part(True) else ()  # level and oblique words share a part, each at its places
        places = [place._replace(tone="") if place.tone and place.letter not in counting else place for place in places]
    readings, by_name = readings_of(sounds), sorted(own.items())
    return tuple(places), {
        name: _letter([(index, places[index]) for index in indices], name in mixed, readings)
        for name, indices in by_name
    }


def _repeat(places: list[Place], copy: int, source: int) -> None:
    """Let a place repeat the word of an earlier place, which has what both ask for (`Format.asked`)."""
    one, other = places[source], places[copy]
    for what, own, another in (("tone", one.tone, other.tone), ("rhyme letter", one.letter, other.letter)):
        if own and another and own != another:
            what = f"a word that is repeated has the {what} {own}, and {another} where it is repeated"
            raise ConfigError(what, where="format", remedy="give both the same")
    if one.given and other.given and one.given != other.given:
        what = f"'{other.given}' where the tune repeats '{one.given}'"
        raise ConfigError(what, where="format", remedy="give both places the same word, or one of them none")
    places[source] = one._replace(given=one.given or other.given)
    places[copy] = Place(source=source)


def _letter(own: Sequence[tuple[int, Place]], mixed: bool, readings: Readings) -> Letter:
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
