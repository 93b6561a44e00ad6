"""The automaton of English verse, over the spellings of a pronouncing dictionary.

Words are written with small letters, or with a capital first; one space is between two words, and after each word at
most one of the marks `MARKS`. Lines are separated by a line feed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np

from espalier.frames.automaton import Characters
from espalier.frames.lexicon import FAR, LETTERS, Lexicon, Shapes, lexicon
from espalier.frames.line_ends import LineEnds
from espalier.frames.lines import Lines
from espalier.frames.meters import after
from espalier.frames.room import Room, Sounds
from espalier.frames.word_sets import Coming, WordSet, every
from espalier.io.errors import ConfigError

MARKS: Final = ",;:.!?"
#: The most words that must occur, without rhymes and beside them: room is sought for each set of them.
MOST_WORDS: Final = (8, 4)
_SMALL: Final = re.compile(f"[{LETTERS}]+")
#: Places in the patterns of a line: the index of the pattern, and the syllables so far.
Places = frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Verse:
    """A state.

    Attributes:
        line: the index of the line.
        places: the places before the word that is being written, or after the last one.
        word: what is written of a word; "" between words.
        after: what stands before: "" at the beginning of a line, " " or a mark.
        whole: after a mark, whether the line may end there.
        sounds: the rhyme letters that have begun and go on.
        next: after a mark at the end of a line, those of the next.
        wanted: the words that must still occur, without those that are whole.
    """

    line: int
    places: Places
    word: str
    after: str
    whole: bool
    sounds: Sounds
    next: Sounds = ()
    wanted: frozenset[str] = frozenset()

    @property
    def marked(self) -> bool:
        """Whether a mark was written last."""
        return self.after != "" and self.after in MARKS and not self.word


class LineAutomaton:
    """The automaton of lines.

    Args:
        words: the words that texts have; by default, those of the dictionary.

    Raises:
        ConfigError: no words of the dictionary keep the lines.
    """

    def __init__(self, lines: Lines, words: Lexicon | None = None) -> None:
        self.lines, self.lexicon = lines, words or lexicon()
        self.ends = LineEnds(lines, self.lexicon)
        self.room = Room(self.ends)
        self.allowed = lru_cache(maxsize=65536)(self._allowed)
        self._words = lru_cache(maxsize=4096)(self._ending_words)
        self._latest = lru_cache(maxsize=4096)(self._latest_of)
        self._whole = lru_cache(maxsize=4096)(self._whole_word)
        self._coming = lru_cache(maxsize=4096)(self._coming_words)
        self.letters, self._none = self.ends.letters, np.zeros(len(self.lexicon.bits), np.uint64)
        self.lexicon_words = every(self.lexicon)
        for letter in {*lines.initials} - {""}:
            if self.lexicon.least(letter)[self.lexicon.lengths == 1].min() >= FAR:
                raise ConfigError(f"no word of one syllable begins with {letter}", where="acrostic")
        self.start = self._line(0, (), frozenset(lines.words))
        for line, letter in enumerate(self.letters):
            if (some := self.starting_words(line)) is not None and not some:
                raise ConfigError(f"no words rhyme in all lines of letter {letter}", where="rhyme")
        if lines.words:
            self._require_room()

    def accepts(self, state: Verse) -> bool:
        """Whether the text is complete."""
        return state.line == len(self.letters) - 1 and self._may_end(state)

    def step(self, state: Verse, character: str) -> Verse | None:
        """The state after one more character; None if it may not follow."""
        if character in " \n" or character in MARKS:
            return self._after_word(state, character)
        return self.write(state, character)

    def write(self, state: Verse, letters: str) -> Verse | None:
        """The state after more letters of a word, of which the first may be a capital at its beginning."""
        small = letters if state.word else letters[:1].lower() + letters[1:]
        if state.marked or not _SMALL.fullmatch(small) or not self.has_words(state, small):
            return None
        return Verse(
            state.line, state.places, state.word + small, state.after, False, state.sounds, wanted=state.wanted
        )

    def has_words(self, state: Verse, letters: str) -> bool:
        """Whether words go on with these small letters."""
        return self.coming(state).has(*self.lexicon.span(state.word + letters))

    def coming(self, state: Verse) -> Coming:
        """The words that may be written here, or be finished.

        Of words that begin otherwise than what is written, nothing is said.
        """
        initial = self._initial(state.line) if not state.after else ""
        return self._coming(state.line, state.places, self._sounds(state), initial, state.wanted)

    def _allowed(self, state: Verse) -> Characters:
        every = {*LETTERS, *(() if state.word else LETTERS.upper()), " ", "\n", *MARKS}
        return Characters(frozenset(each for each in every if self.step(state, each) is not None))

    def remaining(self, state: Verse) -> int:
        """The least number of characters that are needed, as if any words rhymed."""
        if self.accepts(state):
            return 0
        rest = sum(min(map(self.lexicon.fill, patterns)) for patterns in self.lines.patterns[state.line + 1 :])
        if self._may_end(state):
            return rest
        patterns = self.lines.patterns[state.line]
        left = [patterns[index][at:] for index, at in state.places]
        if state.marked:  # a space comes next
            return max(1, rest + min(map(self.lexicon.fill, left)))
        return max(1, rest + min(self._finish(state.word, each) for each in left))

    def _finish(self, begun: str, pattern: str) -> int:
        """The least number of characters that fill a pattern, of which a part of a word is written."""
        needs, shapes = self.lexicon.least(begun), self.lexicon.shapes
        fitting = np.flatnonzero(self.lexicon.fitting(pattern) & (needs < FAR)).tolist()
        return min(
            (int(needs[each]) + self.lexicon.fill(pattern[len(shapes[each]) :]) for each in fitting), default=FAR
        )

    # --- Words ---

    def _initial(self, line: int) -> str:
        return self.lines.initials[line] if self.lines.initials else ""

    def _line(self, line: int, sounds: Sounds, wanted: frozenset[str]) -> Verse:
        places = frozenset((index, 0) for index in range(len(self.lines.patterns[line])))
        return Verse(line, places, "", "", False, sounds, wanted=wanted)

    def _require_room(self) -> None:
        """Raise a ConfigError if words that must occur are unknown or have no room."""
        words, rhyme = self.lines.words, any(self.letters)
        if len(words) > (most := MOST_WORDS[rhyme]):
            what = f"{len(words)} words{' beside a rhyme' * rhyme} are not kept in English lines that are written"
            raise ConfigError(what, where="words", remedy=f"at most {most}; check tells whether a text has them")
        if unknown := next((word for word in words if self.lexicon.number(word) is None), None):
            raise ConfigError(f"'{unknown}' is not in the dictionary", where="words", remedy="give another word")
        if not self.room.after(0, (), frozenset(words)):
            what = f"rules contradict each other: {' '.join(words)} fit nowhere together"
            raise ConfigError(what, where="words", remedy="leave some out")

    def _after_word(self, state: Verse, character: str) -> Verse | None:
        """The state after a space, a line feed or a mark."""
        if not state.word and not state.marked:
            return None
        going, ending, sounds = (state.places, state.whole, state.next) if state.marked else self._whole(state)
        wanted = state.wanted - {state.word}
        match character:
            case " ":
                return Verse(state.line, going, "", " ", False, state.sounds, wanted=wanted) if going else None
            case "\n":
                last = state.line == len(self.letters) - 1
                return self._line(state.line + 1, sounds, wanted) if ending and not last else None
        if state.marked or not (going or ending):
            return None
        return Verse(state.line, going, "", character, ending, state.sounds, sounds if ending else (), wanted)

    def _whole_word(self, state: Verse) -> tuple[Places, bool, Sounds]:
        """After a whole word: the places from which the line goes on, whether it may end, and the sounds if it does."""
        ending = self._may_end(state)
        return self._going(state), ending, self._sounds_after(state) if ending else ()

    def _reached(self, state: Verse) -> Places:
        return after(state.places, self.lexicon.shapes_of(state.word), self.lines.patterns[state.line])

    def _going(self, state: Verse) -> Places:
        """The places after the word, from which the line can be finished with at least one more.

        Words of one syllable fill any gap.
        """
        line, sounds, wanted = state.line, self._sounds(state), state.wanted - {state.word}
        return frozenset(
            (index, at) for index, at in self._reached(state) if at <= self._latest(line, index, sounds, wanted)
        )

    def _may_end(self, state: Verse) -> bool:
        """Whether the line may end here."""
        if not state.word:
            return state.whole
        patterns = self.lines.patterns[state.line]
        if not any(at == len(patterns[index]) for index, at in self._reached(state)):
            return False
        sounds, wanted = self._sounds(state), state.wanted - {state.word}
        if self.letters[state.line]:
            return self._number(state.word) in self._words(state.line, sounds, wanted)
        return self.room.after(state.line + 1, sounds, wanted)

    def _number(self, word: str) -> int:
        number = self.lexicon.number(word)
        assert number is not None
        return number

    def _coming_words(self, line: int, places: Places, sounds: Sounds, initial: str, wanted: frozenset[str]) -> Coming:
        coming = Coming(self._fitting_words(line, places, sounds, wanted), *self.lexicon.span(initial))
        more = list[int]()
        for word in wanted:
            number = self._number(word)
            if not coming.has(number, number + 1):  # but fewer words are left after it
                own = self._fitting_words(line, places, sounds, wanted - {word})
                if Coming(own, number, number + 1).has(number, number + 1):
                    more.append(number)
        if more:
            some = WordSet(self.lexicon, np.array(sorted(more))), self._none | ~self._none
            return replace(coming, sets=(*coming.sets, some))
        return coming

    def _fitting_words(
        self, line: int, places: Places, sounds: Sounds, wanted: frozenset[str]
    ) -> tuple[tuple[WordSet, Shapes], ...]:
        """The words that may come next, if they are none of those that must occur: sets of words, and their shapes."""
        going, ending = self._none.copy(), self._none.copy()
        patterns, letter = self.lines.patterns[line], self.letters[line]
        whole = bool(letter) or self.room.after(line + 1, sounds, wanted)
        for index, at in places:
            rest = patterns[index][at:]
            going |= self.lexicon.within(rest, 1, self._latest(line, index, sounds, wanted) - at)
            if whole:
                ending |= self._whole_rest(rest)
        if not letter:
            return ((self.lexicon_words, going | ending),)
        ending &= ~going
        every = (self.lexicon_words, going)
        return (every, (self._words(line, sounds, wanted), ending)) if ending.any() else (every,)

    # --- Rhymes ---

    def starting_words(self, line: int) -> WordSet | None:
        """The words that may end a line with which a rhyme letter begins; None for other lines."""
        letter = self.letters[line]
        return self.ends.words(line, None) if letter and self.letters.index(letter) == line else None

    def _sounds(self, state: Verse) -> Sounds:
        """The letters that count in a line: its own, and the others if words must occur after it."""
        letter = self.letters[state.line]
        return state.sounds if state.wanted else tuple(pair for pair in state.sounds if pair[0] == letter)

    def _sounds_after(self, state: Verse) -> Sounds:
        """The rhyme letters after the line that ends with the word of a state."""
        letter, sounds = self.letters[state.line], dict(state.sounds)
        if not letter:
            return state.sounds
        if sound := self.ends.after(state.line, sounds.pop(letter, None), self._number(state.word)):
            sounds[letter] = sound
        return tuple(sorted(sounds.items(), key=lambda pair: pair[0]))

    def _ending_words(self, line: int, sounds: Sounds, wanted: frozenset[str]) -> WordSet:
        """The words that may end a line of a rhyme letter, in order, if they are none of those that must occur."""
        sound = dict(sounds).get(self.letters[line])
        return self.ends.words(line, sound, self.room.later(line, sounds, wanted) if wanted else None)

    def _latest_of(self, line: int, index: int, sounds: Sounds, wanted: frozenset[str]) -> int:
        """The last place in a pattern of a line from which one more word can finish it; -1 if there is none.

        Words of one syllable fill any gap, so that the line can be finished from all places before.
        """
        if wanted:
            return self.room.latest(line, index, sounds, wanted)
        pattern = self.lines.patterns[line][index]
        if not self.letters[line]:
            return len(pattern) - 1
        ending = self._words(line, sounds, wanted).shapes
        return next((at for at in reversed(range(len(pattern))) if (self._whole_rest(pattern[at:]) & ending).any()), -1)

    def _whole_rest(self, rest: str) -> Shapes:
        """The shapes that fill a pattern."""
        return self.lexicon.within(rest, len(rest), len(rest))
