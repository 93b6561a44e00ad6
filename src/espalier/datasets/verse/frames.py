"""Frames: a format as the symbol rows that SongNet reads (equations 3-5), and the target row of a verse.

All rows are aligned to the target: place t describes the word y_t. A model reads y_{t-1} with the symbols of t.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import EOS, SEP, UNK
from espalier.io.errors import ConfigError
from espalier.text.language import tokens_of
from espalier.verse.format import BLANK, RHYME, Format
from espalier.verse.sounds import Sounds
from espalier.verse.text import units_of

IntArray = npt.NDArray[np.int32]

#: What `Frame.tone` says of a place.
NO_TONE, EITHER, LEVEL, OBLIQUE = -1, 0, 1, 2
#: How formats and records write them.
TONE_OF = {"": NO_TONE, "中": EITHER, "平": LEVEL, "仄": OBLIQUE}


@dataclass(frozen=True, slots=True)
class Frame:
    """Symbol rows, each (length,), over all units, their separators, and the end mark.

    Attributes:
        c: c0 and c2 at blanks, the token's own id at marks and literals (equation 3; section 3.3 for literals). An
            unknown literal is `UNK`, or, if a blank rhymes with it, the first word of the vocabulary that rhymes with
            it.
        p: counts down to p0 within each unit (equation 4).
        inverse: counts up from p0 within each unit.
        s: index of the unit (equation 5).
        letter: index of the rhyme letter at rhyme places, -1 elsewhere.
        tone: tone of each place: `EITHER`, `LEVEL` or `OBLIQUE`; `NO_TONE` at marks, separators and the end.
        copy: the place whose word is repeated at each place, -1 elsewhere.
    """

    c: IntArray
    p: IntArray
    inverse: IntArray
    s: IntArray
    letter: IntArray
    tone: IntArray
    copy: IntArray

    def __len__(self) -> int:
        return len(self.c)


def frame_of(format_: Format, vocabulary: VerseVocabulary, sounds: Sounds | None = None) -> Frame:
    """The symbol rows of a format.

    Args:
        sounds: the rhyme book for literals; Mandarin by default.

    Raises:
        ConfigError: the format has more units, or a longer unit, than the vocabulary has symbols for; or no word of the
            vocabulary rhymes with a literal that a blank must rhyme with.
    """
    sounds = sounds or Sounds(vocabulary.language)
    mixed = format_.mixed_letters
    special = {BLANK: vocabulary.c_word, RHYME: vocabulary.c_rhyme}
    numbers: dict[str, int] = {}
    c: list[int] = []
    p: list[int] = []
    inverse: list[int] = []
    s: list[int] = []
    words: list[int] = []
    for index, (unit, rhyme, tones) in enumerate(zip(format_.units, format_.rhyme, format_.place_tones, strict=True)):
        places = [vocabulary.position(place) for place in range(len(unit))]
        if rhyme != ".":
            numbers.setdefault(rhyme, len(numbers))
        ids = [special.get(slot) or vocabulary.id_of(slot) for slot in unit]
        for place in format_.rhyme_places[index]:
            if ids[place] == UNK and _has_blanks(format_, rhyme):
                ids[place] = _sounds_like(
                    unit[place], tones[place] if sounds.tone or rhyme in mixed else "", vocabulary, sounds
                )
        words += [len(c) + place for place, sign in enumerate(tones) if sign]
        c += ids
        p += places[::-1]
        inverse += places
        s += [vocabulary.segment(index)] * len(unit)
        for row in (c, p, inverse, s):
            row.append(SEP)
    for row in (c, p, inverse, s):
        row.append(EOS)
    letter, tone, copy = [-1] * len(c), [NO_TONE] * len(c), [-1] * len(c)
    for place, (sign, rhyme) in zip(words, format_.asked, strict=True):
        letter[place], tone[place] = numbers.get(rhyme, -1), TONE_OF[sign]
    for copied, source in format_.copies:
        copy[words[copied]] = words[source]
    return Frame(*(np.array(row, dtype=np.int32) for row in (c, p, inverse, s, letter, tone, copy)))


def target_of(text: str, vocabulary: VerseVocabulary) -> IntArray:
    """The target row of a verse: its tokens, a separator after each unit, and the end mark."""
    row: list[int] = []
    for unit in units_of(text):
        row += vocabulary.encode(tokens_of(unit, vocabulary.language))
        row.append(SEP)
    return np.array([*row, EOS], dtype=np.int32)


def _has_blanks(format_: Format, letter: str) -> bool:
    """Whether the format has a blank that rhymes on `letter`."""
    return any(rhyme == letter and RHYME in unit for unit, rhyme in zip(format_.units, format_.rhyme, strict=True))


def _sounds_like(literal: str, tone: str, vocabulary: VerseVocabulary, sounds: Sounds) -> int:
    """The id of the first word of the vocabulary that rhymes like an unknown literal.

    The word has all rhyme groups of the literal, or, if no word does, some of them.
    """
    wanted = sounds.groups(literal, tone)
    narrower = 0
    for identity, word in enumerate(vocabulary.words, start=vocabulary.id_of(vocabulary.words[0])):
        groups = sounds.groups(word, tone)
        if groups and groups == wanted:
            return identity
        if groups and groups < wanted:
            narrower = narrower or identity
    if narrower:
        return narrower
    raise ConfigError(
        f"this model knows no word that rhymes with '{literal}'",
        where="rhyme",
        remedy="write . for the letter of its unit, or another word",
    )
