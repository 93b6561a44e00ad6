"""The automaton of Chinese verse: every text has as many characters as the plan has places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial

from espalier.frames.automaton import Characters, one
from espalier.frames.place_room import PlaceRoom, Put
from espalier.frames.plan import Letter, Place, Plan, clauses_of
from espalier.frames.sharing import Sound, fillable, rhyming
from espalier.frames.words import Wanted, progress
from espalier.io.errors import ConfigError

HAN = Characters(open="han")


@dataclass(frozen=True, slots=True)
class Prefix:
    """A state.

    Attributes:
        place: the number of characters so far.
        sounds: the rhyme letters that have begun and go on.
        kept: the words that will be repeated, by their places.
        wanted: what is left of the words that must occur.
    """

    place: int
    sounds: tuple[tuple[str, Sound], ...]
    kept: tuple[tuple[int, str], ...]
    wanted: Wanted


class PlaceAutomaton:
    """The automaton of a plan.

    Raises:
        ConfigError: no text keeps the plan.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._last = {place.source: index for index, place in enumerate(plan.places) if place.source >= 0}
        self.allowed = lru_cache(maxsize=65536)(self._allowed)
        self._fixed = [*map(cache(self._of_place), plan.places)]
        self.start = Prefix(0, (), (), Wanted(frozenset(plan.words), ""))
        for index, place in enumerate(plan.places):
            if place.tone and place.word and not place.letter and not (place.given or self._toned(place.tone)):
                raise ConfigError(f"no word has the tone {place.tone}", where=f"character {index + 1}")
        for name, letter in plan.letters.items():
            signs = self._signs(letter, 0)
            if not any(self._fillable(letter, key, letter.given, signs) for key in self._keys(letter)):
                what = f"no {len(letter.places) + len(letter.given)} different words"
                raise ConfigError(f"{what} rhyme at the places of letter {name}", where="rhyme and tones")
        self._room = PlaceRoom(plan)
        if not self._lives(self.start):
            raise self._without_room()

    def _without_room(self) -> ConfigError:
        """The error for words that must occur and cannot: one that does not fit alone, else all of them."""
        for word in self.plan.words:
            if not self._lives(replace(self.start, wanted=Wanted(frozenset([word]), ""))):
                room = max(len(words) for words, _ in clauses_of(self.plan))
                what = f"it has {len(word)} words, and no clause has more than {room}"
                if len(word) <= room:
                    what = "no place has room for it with its tones, its rhymes and the words that are given"
                return ConfigError(f"rules contradict each other: '{word}' must occur, but {what}", where="words")
        what = f"rules contradict each other: {' '.join(self.plan.words)} fit nowhere together"
        return ConfigError(what, where="words", remedy="leave some out")

    # --- The interface ---

    def step(self, state: Prefix, character: str) -> Prefix | None:
        """The state after one more character; None if it may not follow."""
        return self._after(state, character) if character in self.allowed(state) else None

    def common(self, state: Prefix) -> Prefix | None:
        """The state after any of the allowed characters, if their place neither rhymes nor is repeated."""
        if self.accepts(state) or state.wanted.words or state.place in self._last:
            return None
        place = self.plan.places[state.place]
        if place.letter and not place.given:
            return None
        return self._after(state, next(iter(self.allowed(state).some), "一"))

    def ahead(self, state: Prefix) -> Characters:
        """The characters that the place after the next one may have."""
        if state.place + 1 >= len(self.plan.places):
            return Characters()
        return self._fixed[state.place + 1] or HAN

    def alike(self, state: Prefix, characters: Iterable[str]) -> Iterator[set[str]]:
        """Characters in sets: those that neither rhyme, nor are repeated, nor belong to a word to come are together."""
        place = None if self.accepts(state) else self.plan.places[state.place]
        if place is None or (place.letter and not place.given) or state.place in self._last:
            yield from ({character} for character in characters)
            return
        special = {character for word in state.wanted.words for character in word}
        yield from ({character} for character in special.intersection(characters))
        if others := {*characters} - special:
            yield others

    def accepts(self, state: Prefix) -> bool:
        """Whether the text is complete."""
        return state.place == len(self.plan.places)

    def remaining(self, state: Prefix) -> int:
        """The number of characters that are missing."""
        return len(self.plan.places) - state.place

    def _allowed(self, state: Prefix) -> Characters:
        if self.accepts(state):
            return Characters()
        every = self._by_place(state)
        if not state.wanted.words:
            return every
        special = {character for word in state.wanted.words for character in word if character in every}
        living, dead = set[str](), set[str]()
        for alike in self._alike(state, every, special):
            (living if self._lives(self._after(state, next(iter(alike)))) else dead).update(alike)
        if not every.open:
            return Characters(frozenset(living))
        rest = next(chr(code) for code in range(0x4E00, 0x9FFF) if chr(code) not in special)
        if self._lives(self._after(state, rest)):
            return Characters(open=every.open, without=frozenset(dead))
        return Characters(frozenset(living))

    def _alike(self, state: Prefix, every: Characters, special: set[str]) -> Iterator[set[str]]:
        """The characters that may follow, in sets after which the same may follow but for their own repetition.

        Characters of the words that must occur are alone. Other words of a rhyme are alike if they have the same sounds
        at all places to come.
        """
        yield from ({character} for character in special)
        place = self.plan.places[state.place]
        if not place.letter or place.given:
            if others := every.some - special:
                yield set(others)
            return
        letter = self.plan.letters[place.letter]
        later = [self._words(letter, each) for each in letter.places if each >= state.place]
        alike: dict[tuple[frozenset[str], ...], set[str]] = {}
        for character in every.some - special:
            keys = self.plan.readings.keys(character, letter.mixed, place.tone)
            sounds = (frozenset(key for key in keys if character in words.get(key, ())) for words in later)
            alike.setdefault(tuple(sounds), set()).add(character)
        yield from alike.values()

    # --- What the place asks for, without the words that must occur ---

    def _by_place(self, state: Prefix) -> Characters:
        if (fixed := self._fixed[state.place]) is not None:
            return fixed
        place = self.plan.places[state.place]
        if place.source >= 0:
            return Characters(frozenset(dict(state.kept)[place.source]))
        letter = self.plan.letters[place.letter]
        signs, sound = self._signs(letter, state.place), self._sound(state, place.letter)
        return rhyming(self.plan.readings, letter.mixed, signs, sound, self.plan.distinct)

    def _of_place(self, place: Place) -> Characters | None:
        """What may stand at a place, if it neither rhymes nor repeats a word."""
        if place.source >= 0 or (place.letter and not place.given):
            return None
        if place.given:
            return one(Characters(frozenset(place.given)))
        return one(Characters(self._toned(place.tone))) if place.tone else HAN

    def _toned(self, tone: str) -> frozenset[str]:
        return self.plan.readings.toned[tone]

    def _sound(self, state: Prefix, name: str) -> Sound:
        letter = self.plan.letters[name]
        return dict(state.sounds).get(name) or Sound(self._keys(letter), letter.given)

    def _keys(self, letter: Letter) -> frozenset[str]:
        """What the words of a letter can share before any is written."""
        return frozenset(self.plan.readings.words(letter.mixed, "")) if letter.keys is None else letter.keys

    def _words(self, letter: Letter, place: int) -> Mapping[str, frozenset[str]]:
        return self.plan.readings.words(letter.mixed, self.plan.sign(place))

    def _signs(self, letter: Letter, start: int, fixed: frozenset[int] = frozenset()) -> tuple[str, ...]:
        """The tones of the places of a letter from one on, those of `fixed` left out."""
        return tuple(self.plan.sign(place) for place in letter.places if place >= start and place not in fixed)

    def _fillable(self, letter: Letter, key: str, used: frozenset[str], signs: tuple[str, ...]) -> bool:
        """Whether a sound has words for places of a letter."""
        return fillable(self.plan.readings, letter.mixed, signs, key, used if self.plan.distinct else None)

    # --- Steps ---

    def _after(self, state: Prefix, character: str) -> Prefix:
        """The state after a character that the place admits."""
        index, place = state.place, self.plan.places[state.place]
        sounds, kept = dict(state.sounds), dict(state.kept)
        if place.letter and not place.given:
            letter, before = self.plan.letters[place.letter], self._sound(state, place.letter)
            keys = before.keys & self.plan.readings.keys(character, letter.mixed, place.tone)
            sounds[place.letter] = Sound(keys, before.used | {character})
        if index in self._last:
            kept[index] = character
        for name, sound in list(sounds.items()):
            letter = self.plan.letters[name]
            if letter.places[-1] <= index:
                del sounds[name]
            elif name == place.letter and not place.given:
                sounds[name] = self._left(letter, sound, index + 1)
        wanted = progress(state.wanted, character, word=place.word)
        return Prefix(
            index + 1,
            tuple(sorted(sounds.items(), key=lambda pair: pair[0])),
            tuple((source, word) for source, word in sorted(kept.items()) if self._last[source] > index),
            wanted,
        )

    def _left(self, letter: Letter, sound: Sound, start: int) -> Sound:
        """What of a sound matters from a place on, so that prefixes with one future have one state."""
        signs = self._signs(letter, start)
        keys = frozenset(key for key in sound.keys if self._fillable(letter, key, sound.used, signs))
        later = [self._words(letter, place) for place in letter.places if place >= start]
        words = {word for words in later for key in keys for word in sound.used & words.get(key, frozenset())}
        return Sound(keys, frozenset(words) if self.plan.distinct else frozenset())

    # --- Words that must occur ---

    def _lives(self, state: Prefix) -> bool:
        """Whether the words that must still occur fit into the places that are left, with all other rules."""
        return self._room.fits(state.place, state.wanted, dict(state.kept), partial(self._agrees, state))

    def _agrees(self, state: Prefix, placed: Put) -> bool:
        """Whether words put at rhyme places rhyme, and leave words for the others."""
        put, readings = dict(placed), self.plan.readings
        for name, letter in self.plan.letters.items():
            here = {index: put[index] for index in letter.places if index in put}
            if not here:
                continue
            sound = self._sound(state, name)
            if self.plan.distinct and (len({*here.values()}) < len(here) or {*here.values()} & sound.used):
                return False
            keys = sound.keys
            for index, word in here.items():
                keys &= readings.keys(word, letter.mixed, self.plan.sign(index))
            used, signs = sound.used | {*here.values()}, self._signs(letter, state.place, frozenset(here))
            if not any(self._fillable(letter, key, used, signs) for key in keys):
                return False
        return True
