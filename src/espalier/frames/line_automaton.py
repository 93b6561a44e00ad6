"""The automaton of English verse, over the spellings of a pronouncing dictionary.

Words are written with small letters, or with a capital first; one space is between two words, and after each word at
most one of the marks `MARKS`. Lines are separated by a line feed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from espalier.frames.automaton import Characters
from espalier.frames.lexicon import Lexicon, Spellings, lexicon
from espalier.frames.lines import Lines
from espalier.frames.meters import after, fits
from espalier.io.errors import ConfigError
from espalier.verse.rhyme import rhyme_parts

MARKS: Final = ",;:.!?"
Part = tuple[str, ...]
#: Places in the patterns of a line: the index of the pattern, and the syllables so far.
Places = frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Sound:
    """A rhyme letter that has begun: what its words can still share, and the words."""

    parts: frozenset[Part]
    used: frozenset[str]


@dataclass(frozen=True, slots=True)
class Verse:
    """A state.

    Attributes:
        line: the index of the line.
        places: the places before the word that is being written, or after the last one.
        word: what is written of a word; "" between words.
        after: what stands before: "" at the beginning of a line, " " or a mark.
        whole: after a mark, whether the line may end there.
        sounds: the rhyme letters that have begun and go on; after a mark at the end of a line, those of the next.
    """

    line: int
    places: Places
    word: str
    after: str
    whole: bool
    sounds: tuple[tuple[str, Sound], ...]
    next: tuple[tuple[str, Sound], ...] = ()


class LineAutomaton:
    """The automaton of lines.

    Args:
        words: the words that texts have; by default, those of the dictionary.

    Raises:
        ConfigError: no words of the dictionary keep the lines.
    """

    def __init__(self, lines: Lines, words: Lexicon | None = None) -> None:
        self.lines, self.lexicon = lines, words or lexicon()
        self.allowed = lru_cache(maxsize=65536)(self._allowed)
        self._ends = lru_cache(maxsize=4096)(self._ends_of)
        self._able = lru_cache(maxsize=65536)(self._able_of)
        self._latest = lru_cache(maxsize=4096)(self._latest_of)
        self._fill = lru_cache(maxsize=4096)(self._fill_of)
        letters = {letter for letter in lines.rhyme if letter != "." and lines.rhyme.count(letter) > 1}
        self.letters = [letter if letter in letters else "" for letter in lines.rhyme]
        for letter in {*lines.initials} - {""}:
            if not any(len(shape) == 1 for shape in self.lexicon.spellings.node(letter).within):
                raise ConfigError(f"no word of one syllable begins with {letter}", where="acrostic")
        self.start = self._line(0, ())
        for line, letter in enumerate(self.letters):
            if letter and self.letters.index(letter) == line and not self._ends(line, None).words:
                raise ConfigError(f"no words rhyme in all lines of letter {letter}", where="rhyme")

    def accepts(self, state: Verse) -> bool:
        """Whether the text is complete."""
        return state.line == len(self.letters) - 1 and self._may_end(state)

    def step(self, state: Verse, character: str) -> Verse | None:
        """The state after one more character; None if it may not follow."""
        if character in " \n" or character in MARKS:
            return self._after_word(state, character)
        if state.after and state.after in MARKS:
            return None
        letter = character if state.word else character.lower()
        if state.word and character != character.lower():
            return None
        if not state.word and not state.after and letter != (self._initial(state.line) or letter):
            return None
        begun = state.word + letter
        if not self._lives(state, begun):
            return None
        return Verse(state.line, state.places, begun, state.after, False, state.sounds)

    def _allowed(self, state: Verse) -> Characters:
        marked = state.after != "" and state.after in MARKS
        letters = frozenset[str]() if marked else self.lexicon.spellings.node(state.word).follows
        every = {*letters, *(letter.upper() for letter in letters if not state.word), " ", "\n", *MARKS}
        return Characters(frozenset(each for each in every if self.step(state, each) is not None))

    def remaining(self, state: Verse) -> int:
        """The least number of characters that are needed, as if any words rhymed."""
        if self.accepts(state):
            return 0
        later = range(state.line + 1, len(self.letters))
        rest = sum(min(self._fill(line, index, 0) for index in range(len(self.lines.patterns[line]))) for line in later)
        if self._may_end(state):
            return rest
        patterns = self.lines.patterns[state.line]
        if not state.word and state.after and state.after in MARKS:  # a space comes next
            return max(1, rest + min(self._fill(state.line, *place) for place in state.places))
        within = self.lexicon.spellings.node(state.word).within.items()
        ways = (
            needs + self._fill(state.line, index, at)
            for shape, needs in within
            for index, at in after(state.places, [shape], patterns)
        )
        return max(1, rest + min(ways))

    def _fill_of(self, line: int, index: int, at: int) -> int:
        """The least number of characters from a place to the end of a line, each word with a space before it."""
        pattern = self.lines.patterns[line][index]
        if at == len(pattern):
            return 0
        within = self.lexicon.spellings.node("").within.items()
        return min(1 + needs + self._fill(line, index, at + len(s)) for s, needs in within if fits(s, pattern, at))

    # --- Words ---

    def _initial(self, line: int) -> str:
        return self.lines.initials[line] if self.lines.initials else ""

    def _line(self, line: int, sounds: tuple[tuple[str, Sound], ...]) -> Verse:
        places = frozenset((index, 0) for index in range(len(self.lines.patterns[line])))
        return Verse(line, places, "", "", False, sounds)

    def _after_word(self, state: Verse, character: str) -> Verse | None:
        """The state after a space, a line feed or a mark."""
        marked = state.after != "" and state.after in MARKS
        if not state.word and not marked:
            return None
        if marked:
            going, ending, sounds = state.places, state.whole, state.next
        else:
            going, ending = self._going(state), self._may_end(state)
            sounds = self._sounds_after(state) if ending and character != " " else ()
        match character:
            case " ":
                return Verse(state.line, going, "", " ", False, state.sounds) if going else None
            case "\n":
                last = state.line == len(self.letters) - 1
                return self._line(state.line + 1, sounds) if ending and not last else None
        if marked or not (going or ending):
            return None
        return Verse(state.line, going, "", character, ending, state.sounds, sounds if ending else ())

    def _reached(self, state: Verse) -> Places:
        shapes = self.lexicon.spellings.node(state.word).whole
        return after(state.places, shapes, self.lines.patterns[state.line])

    def _going(self, state: Verse) -> Places:
        """The places after the word, from which the line can still be finished."""
        return frozenset(each for each in self._reached(state) if self._goes_on(state, each))

    def _goes_on(self, state: Verse, place: tuple[int, int]) -> bool:
        """Whether a line can be finished from a place, with at least one word. Words of one syllable fill any gap."""
        index, at = place
        return at <= self._latest(state.line, self._sound(state))[index]

    def _may_end(self, state: Verse) -> bool:
        """Whether the line may end here."""
        if not state.word:
            return state.whole
        patterns = self.lines.patterns[state.line]
        if not any(at == len(patterns[index]) for index, at in self._reached(state)):
            return False
        return not self.letters[state.line] or state.word in self._ends(state.line, self._sound(state))

    def _lives(self, state: Verse, begun: str) -> bool:
        """Whether some word begins so, and the line can be finished with it."""
        patterns, latest = self.lines.patterns[state.line], self._latest(state.line, self._sound(state))
        rhymes = self._ends(state.line, self._sound(state)) if self.letters[state.line] else self.lexicon.spellings
        inside = self.lexicon.spellings.node(begun).within
        if any(at <= latest[index] for index, at in after(state.places, inside, patterns)):
            return True
        last = rhymes.node(begun).within
        return any(at == len(patterns[index]) for index, at in after(state.places, last, patterns))

    # --- Rhymes ---

    def _sound(self, state: Verse) -> Sound | None:
        return dict(state.sounds).get(self.letters[state.line])

    def _sounds_after(self, state: Verse) -> tuple[tuple[str, Sound], ...]:
        """The rhyme letters after the line that ends with the word of a state."""
        letter, sounds = self.letters[state.line], dict(state.sounds)
        if not letter:
            return state.sounds
        before, own = sounds.pop(letter, None), rhyme_parts(state.word)
        if letter in self.letters[state.line + 1 :]:
            used = (before.used if before else frozenset()) | {state.word}
            shared = own & before.parts if before else own
            parts = frozenset(part for part in shared if self._able(part, state.line + 1, letter, used))
            rhyming = self.lexicon.rhyming
            sounds[letter] = Sound(
                parts, frozenset(word for word in used if any(word in rhyming[part] for part in parts))
            )
        return tuple(sorted(sounds.items()))

    def _able_of(self, part: Part, line: int, letter: str, used: frozenset[str]) -> bool:
        """Whether a rhyme has different words for the ends of all lines of a letter from a line on."""
        return different(self._choices(part, line, letter, used))

    def _choices(self, part: Part, line: int, letter: str, used: frozenset[str]) -> list[frozenset[str]]:
        """The unused words of a rhyme that may end each line of a letter, from a line on."""
        words = self.lexicon.rhyming.get(part, frozenset()) - used
        later = [number for number in range(line, len(self.letters)) if self.letters[number] == letter]
        return [frozenset(word for word in words if self._closes(word, number)) for number in later]

    def _closes(self, word: str, line: int) -> bool:
        """Whether a word may end a line. Words of one syllable fill what is before it, unless it begins the line."""
        shapes, begins = self.lexicon.spellings.node(word).whole, word.startswith(self._initial(line))
        return any(
            fits(s, p, len(p) - len(s))
            for s in shapes
            for p in self.lines.patterns[line]
            if len(s) < len(p) or (len(s) == len(p) and begins)
        )

    def _ends_of(self, line: int, sound: Sound | None) -> Spellings:
        """The words that may end a line."""
        letter, rhyming = self.letters[line], self.lexicon.rhyming
        found = set[str]()
        if sound is None:
            for part, words in rhyming.items():
                choices = self._choices(part, line + 1, letter, frozenset()) if len(words) > 1 else [frozenset[str]()]
                if not all(choices):
                    continue
                # Where each later line has a word to spare, any word may end this one.
                roomy = min(map(len, choices)) > len(choices)
                found.update(
                    word
                    for word in words
                    if self._closes(word, line) and (roomy or self._able(part, line + 1, letter, frozenset([word])))
                )
            return Spellings(found)
        for part in sound.parts:
            for word in rhyming[part] - sound.used:
                if self._closes(word, line) and self._able(part, line + 1, letter, sound.used | {word}):
                    found.add(word)
        return Spellings(found)

    def _latest_of(self, line: int, sound: Sound | None) -> tuple[int, ...]:
        """For each pattern of a line, the last place at which a word that ends it may begin; -1 if there is none."""
        patterns = self.lines.patterns[line]
        if not self.letters[line]:
            return tuple(len(pattern) - 1 for pattern in patterns)
        shapes = self._ends(line, sound).node("").within
        return tuple(
            max((len(p) - len(s) for s in shapes if len(s) <= len(p) and fits(s, p, len(p) - len(s))), default=-1)
            for p in patterns
        )


def different(choices: list[frozenset[str]]) -> bool:
    """Whether one word can be taken of each choice so that all differ."""
    taken: dict[str, int] = {}

    def place(number: int, seen: set[str]) -> bool:
        for word in choices[number] - seen:
            seen.add(word)
            if word not in taken or place(taken[word], seen):
                taken[word] = number
                return True
        return False

    scarce = [number for number, words in enumerate(choices) if len(words) < len(choices)]
    return all(place(number, set()) for number in scarce)
