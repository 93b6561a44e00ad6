"""The lines of a melody's lyrics, as the number of their syllables.

**Syllables.** Each note with a syllable below it counts one; the other notes of a melisma have none. By notes, each
note counts one, but for those that a tie continues. Of the voices of a part, the one with the most syllables is taken.

**Lines.** If the verse marks ends of lines or paragraphs (`<end-line/>`, `<end-paragraph/>`), its lines are those. Else
a line ends at the end of a word that has one of the marks `ENDS`, or that a rest of at least a beat follows. A comma
ends no line. The beat is that of the time signature.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from espalier.frames.lines import MOST
from espalier.frames.musicxml import Lyric, Note, Part, read_parts
from espalier.io.errors import ConfigError

By = Literal["lyrics", "notes"]
#: The marks that end a line; a closing quote or bracket may follow.
ENDS: Final = ".;!?/。；！？"
_ENDED: Final = re.compile(rf"[{re.escape(ENDS)}][\"'’”」』)）]*$")
_NOTHING: Final = Lyric("", True, False)


@dataclass(frozen=True)
class Melody:
    """The lyric lines of a melody.

    Attributes:
        counts: the number of syllables of each line.
        part, verse: the part, by its name, and the verse, by its number; that is "" by notes.
        parts, verses: those that could be chosen.
    """

    counts: tuple[int, ...]
    part: str
    verse: str
    parts: tuple[str, ...]
    verses: tuple[str, ...]

    def __str__(self) -> str:
        """The counts with "/" between the lines."""
        return "/".join(map(str, self.counts))


def read_melody(file: Path, part: str | None = None, verse: int | str | None = None, by: By = "lyrics") -> Melody:
    """The lyric lines of a score in MusicXML.

    Args:
        part: the name or the id of a part; by default, the first with lyrics.
        verse: the number of a verse; by default, the first.
        by: "lyrics", or "notes" for a melody without them.

    Raises:
        ConfigError: there is no such part or verse, there are no lyrics, or the lines are too long.
        DataError, ArtifactError: the file cannot be read (`read_parts`).
    """
    if by not in get_args(By):
        raise ConfigError.unknown("way to count syllables", by, get_args(By), where="by")
    if by == "notes" and verse is not None:
        raise ConfigError("notes have no verse", where="verse", remedy="leave it out, or count by lyrics")
    parts = read_parts(file)
    able = [each for each in parts if (_verses(each) if by == "lyrics" else any(_sung(n, "") for n in each.notes))]
    if not able:
        sizes = ", ".join(f"{each.name} has {len(each.notes)} notes" for each in parts[:5])
        if by == "notes" or not any(each.notes for each in parts):
            raise ConfigError(f"no notes in {file}", where="melody", remedy="give a score with a melody")
        remedy = "count its notes (by='notes', --by notes), or give a score with lyrics"
        raise ConfigError(f"no lyrics in {file}: {sizes}", where="melody", remedy=remedy)
    chosen = able[0] if part is None else next((each for each in parts if part in (each.name, each.id)), None)
    names = tuple(dict.fromkeys(each.name for each in able))
    if chosen is None:
        raise ConfigError.unknown("part", str(part), (each.name for each in parts), where="part")
    if chosen not in able:
        what = f"no {by} in part {chosen.name}"
        raise ConfigError(what, where="part", remedy=f"parts with {by}: {', '.join(names)}")
    verses = _verses(chosen) if by == "lyrics" else ()
    number = next(iter(verses), "") if verse is None else str(verse)
    if verse is not None and number not in verses:
        raise ConfigError.unknown("verse", number, verses, where="verse")
    counts = tuple(_lines(_voice(chosen.notes, number), number))
    if len(counts) > MOST or max(counts) > MOST:
        what = f"{len(counts)} lines, the longest of {max(counts)} syllables"
        raise ConfigError(what, where="melody", remedy=f"at most {MOST} each; mark the ends of lines in the score")
    return Melody(counts, chosen.name, number, names, verses)


def _verses(part: Part) -> tuple[str, ...]:
    """The numbers of the verses of a part, in order."""
    found = {number for note in part.notes for number, lyric in note.lyrics.items() if lyric.text}
    return tuple(sorted(found, key=lambda each: (not each.isdecimal(), int(each) if each.isdecimal() else 0, each)))


def _sung(note: Note, verse: str) -> bool:
    """Whether a note has a syllable: one of a verse or, by notes, its own."""
    return bool(note.lyrics.get(verse, _NOTHING).text) if verse else not note.tied


def _voice(notes: Sequence[Note], verse: str) -> list[Note]:
    """The notes of the voice that has the most syllables, in the order of time."""
    sizes = Counter(note.voice for note in notes if _sung(note, verse))
    voice = max(sizes, key=lambda each: sizes[each])
    return sorted((note for note in notes if note.voice == voice), key=lambda note: note.at)


def _lines(notes: Sequence[Note], verse: str) -> Iterator[int]:
    """The number of syllables of each line."""
    marked = any(note.lyrics.get(verse, _NOTHING).ends_line for note in notes)
    count, within_word, before = 0, False, notes[0]
    for note in notes:
        rested = note.at - before.end >= before.beat
        if count and rested and not within_word and not marked:
            yield count
            count = 0
        lyric = note.lyrics.get(verse, _NOTHING)
        if _sung(note, verse):
            count, within_word = count + 1, not lyric.ends_word
        if count and (lyric.ends_line if marked else lyric.ends_word and _ENDED.search(lyric.text)):
            yield count
            count = 0
        before = note
    if count:
        yield count
