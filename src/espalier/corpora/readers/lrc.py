"""One's own songs as .lrc files: lines of text behind the times at which they are sung."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from espalier.corpora.readers.files import files_of
from espalier.corpora.readers.framing import UNREADABLE, Encoding
from espalier.corpora.readers.lyrics import Song, pairs_of
from espalier.corpora.readers.rows import quarantined, sentence_of
from espalier.corpora.records import Quarantined, Sentence
from espalier.io.text_files import text_of
from espalier.text.language import Language, mostly

# [01:02.34], several before a line that is sung several times; and <01:02.34> before a word.
_TIMES = re.compile(r"\s*\[(\d{1,4}):(\d{1,2})(?:[.:](\d{1,3}))?\]")
_WORD_TIME = re.compile(r"<\d{1,4}:\d{1,2}(?:[.:]\d{1,3})?>")
_FACT = re.compile(r"\[[^\W\d_#]*#?:.*\]|\[(?:ti|ar|al|au|by|re|ve|offset|length|tool|lang|la)\b.*\]", re.IGNORECASE)


def read(
    folders: Mapping[str, Path], *, language: Language, encoding: Encoding = "utf-8"
) -> Iterator[Sentence | Quarantined]:
    """The lines of each song, in the order of their times; a song is the group of its lines.

    Chinese lines are cleaned and paired as in the reader `lyrics`. An English line is a sentence. A line with several
    times occurs at each. Facts such as [ti:...] are not read. Ids are `<source>/<file>.<line>`, from 0. Reasons for
    quarantine: "no lines", "another language" (English), and those of the readers `lyrics` and `lines`.

    Args:
        folders: source names and their folders; if one has files that end in .lrc, others in it are not read.
        language: language of the songs.
        encoding: encoding of the files.

    Raises:
        ConfigError: there is no source.
        DataError: a source has no files, or a file is not in the encoding.
    """
    groups: dict[str, str] = {}
    for origin, file, name in files_of(folders, "lrc", suffix=".lrc"):
        text = text_of(file, encoding, remedy=UNREADABLE)
        song = Song(f"{origin}/{name}", origin, sung(text))
        if not song.lines:
            yield quarantined(song.id, "no lines", text)
        elif language == "zh":
            yield from pairs_of(song, groups)
        else:
            yield from _sentences(song, language)


def sung(text: str) -> list[str]:
    """The lines of a song in the order of their times. A line without a time follows the line before it."""
    found = list[tuple[int, str]]()
    time = 0  # ms
    for line in text.split("\n"):
        times, rest = list[int](), line
        while match := _TIMES.match(rest):
            minutes, seconds, fraction = match.groups()
            times.append((int(minutes) * 60 + int(seconds)) * 1000 + int((fraction or "0").ljust(3, "0")))
            rest = rest[match.end() :]
        if not times and _FACT.fullmatch(line.strip()):
            continue
        words = " ".join(_WORD_TIME.sub(" ", rest).split())
        time = times[-1] if times else time
        if words:
            found += [(each, words) for each in times or [time]]
    return [words for _, words in sorted(found, key=lambda each: each[0])]


def _sentences(song: Song, language: Language) -> Iterator[Sentence | Quarantined]:
    for number, line in enumerate(song.lines):
        id = f"{song.id}.{number}"
        if not mostly(line, language):
            yield quarantined(id, "another language", line)
            continue
        yield sentence_of(id, line, origin=song.origin, language=language, group=song.id)
