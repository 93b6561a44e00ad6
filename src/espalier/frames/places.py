"""The automaton of Chinese verse: every text has as many characters as the plan has places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from espalier.frames.automaton import OPEN, Characters
from espalier.frames.plan import Letter, Plan
from espalier.frames.words import Wanted, placed, progress
from espalier.io.errors import ConfigError

HAN = Characters(open="han")


@dataclass(frozen=True, slots=True)
class Sound:
    """A rhyme letter of which some words are written and others are not: what all can still share, and the former."""

    keys: frozenset[str]
    used: frozenset[str]


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
        self.start = Prefix(0, (), (), Wanted(frozenset(plan.words), ""))
        for index, place in enumerate(plan.places):
            if place.tone and place.word and not place.letter and not (place.given or self._toned(place.tone)):
                raise ConfigError(f"no word has the tone {place.tone}", where=f"character {index + 1}")
        for name, letter in plan.letters.items():
            if not any(self._fillable(letter, key, letter.given, 0) for key in self._keys(letter)):
                what = f"no {len(letter.places) + len(letter.given)} different words"
                raise ConfigError(f"{what} rhyme at the places of letter {name}", where="rhyme and tones")
        if not self._lives(self.start):
            raise ConfigError(f"{' '.join(plan.words)} fit nowhere together", where="words", remedy="leave some out")

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
        place = self.plan.places[state.place + 1]
        if place.given:
            return Characters(frozenset(place.given))
        return Characters(self._toned(place.tone)) if place.tone and not place.letter else HAN

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
        place = self.plan.places[state.place]
        if place.source >= 0:
            return Characters(frozenset(dict(state.kept)[place.source]))
        if place.given:
            return Characters(frozenset(place.given))
        if place.letter:
            return Characters(self._rhyming(state, self.plan.letters[place.letter]))
        return Characters(self._toned(place.tone)) if place.tone else HAN

    def _toned(self, tone: str) -> frozenset[str]:
        return self.plan.readings.toned[tone]

    def _sound(self, state: Prefix, name: str) -> Sound:
        letter = self.plan.letters[name]
        return dict(state.sounds).get(name) or Sound(self._keys(letter), letter.given)

    def _keys(self, letter: Letter) -> frozenset[str]:
        """What the words of a letter can share before any is written."""
        return frozenset(self.plan.readings.words(letter.mixed, "")) if letter.keys is None else letter.keys

    def _rhyming(self, state: Prefix, letter: Letter) -> frozenset[str]:
        """The words that may stand at a rhyme place: after them some sound still has words for all places."""
        sound, words = self._sound(state, self.plan.places[state.place].letter), self._words(letter, state.place)
        found = set[str]()
        for key in sound.keys:
            own = words.get(key, frozenset()) - (sound.used if self.plan.distinct else frozenset())
            # Where each kind of place has a word to spare, any word may be taken.
            if own and self._fillable(letter, key, sound.used, state.place + 1, spare=1):
                found |= own
            else:
                found.update(w for w in own - found if self._fillable(letter, key, sound.used | {w}, state.place + 1))
        return frozenset(found)

    def _words(self, letter: Letter, place: int) -> Mapping[str, frozenset[str]]:
        return self.plan.readings.words(letter.mixed, self.plan.sign(place))

    def _fillable(
        self,
        letter: Letter,
        key: str,
        used: frozenset[str],
        start: int,
        *,
        spare: int = 0,
        fixed: frozenset[int] = frozenset(),
    ) -> bool:
        """Whether a sound has different words for all places of a letter from `start` on, those of `fixed` left out.

        By Hall's theorem it has if it has enough level words, enough oblique ones, and enough of both together.
        """
        signs = [self.plan.sign(place) for place in letter.places if place >= start and place not in fixed]
        if not signs:
            return True
        readings = self.plan.readings
        by_sign = {sign: readings.words(letter.mixed, sign).get(key, frozenset()) for sign in {*signs}}
        if not self.plan.distinct:
            return all(by_sign.values())
        left = {sign: words - used for sign, words in by_sign.items()}
        if any(len(words) < signs.count(sign) + spare for sign, words in left.items()):
            return False
        return len(frozenset().union(*left.values())) >= len(signs) + spare

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
        keys = frozenset(key for key in sound.keys if self._fillable(letter, key, sound.used, start))
        later = [self._words(letter, place) for place in letter.places if place >= start]
        words = {word for words in later for key in keys for word in sound.used & words.get(key, frozenset())}
        return Sound(keys, frozenset(words) if self.plan.distinct else frozenset())

    # --- Words that must occur ---

    def _lives(self, state: Prefix) -> bool:
        """Whether the words that must still occur fit into the places that are left, with all other rules."""
        return any(self._agrees(state, put) for put in placed(self.plan, state.place, state.wanted, dict(state.kept)))

    def _agrees(self, state: Prefix, put: dict[int, str]) -> bool:
        """Whether words put at places have their tones and rhymes, and leave words for the other rhyme places."""
        readings = self.plan.readings
        for index, word in put.items():
            place = self.plan.places[index]
            if place.tone and word not in self._toned(place.tone):
                return False
            if not OPEN["han"].fullmatch(word):
                return False
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
            used, fixed = sound.used | {*here.values()}, frozenset(here)
            if not any(self._fillable(letter, key, used, state.place, fixed=fixed) for key in keys):
                return False
        return True
