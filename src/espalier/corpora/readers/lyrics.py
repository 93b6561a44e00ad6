"""Lyrics: neighbouring lines of Chinese songs as pairs joined by a comma; each line occurs once (SAT, 4.2)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from espalier.corpora.readers.files import json_of, own_files, require_sources
from espalier.corpora.readers.rows import fault_of, quarantined
from espalier.corpora.records import Quarantined, Sentence
from espalier.io.errors import DataError
from espalier.io.text_files import lines_of, text_of
from espalier.text.language import HAN, LINE_JOINT
from espalier.text.normalize import simplified

#: The file of a list of songs.
SONGS: Final = "songs.json"
#: The bounds of a line's characters.
SHORTEST, LONGEST = 2, 20
#: A line with a colon within this number of characters is a credit or a singer's name.
_CREDIT: Final = 16
_TIME = re.compile(r"\[[^\]\d]*+\d[^\]]*+\]")
_BRACKETS = re.compile(r"[(（\[【][^)）\]】]*[)）\]】]")
# Letters of other scripts, digits, and the sign for a sung vowel that goes on.
_OTHER_SCRIPT = re.compile("[A-Za-z0-9０-９Ａ-Ｚａ-ｚ\u3040-\u30ff~]")
_NOT_HAN = re.compile(f"[^{HAN}]")


class Song(NamedTuple):
    """A song, or a chain of verses, with all its non-blank lines.

    Attributes:
        titled: whether the first line is its title.
    """

    id: str
    origin: str
    lines: Sequence[str]
    titled: bool = False


def read(folders: Mapping[str, Path]) -> Iterator[Sentence | Quarantined]:
    """Pairs of neighbouring lines of a song, joined by a comma; no line is in two pairs.

    The content of a folder is recognized by its files: `songs.json` (a list of songs with their lines as `lyric`),
    `lyrics_zh.txt` (pairs of lines, segmented into words, in Traditional characters of Taiwan; a new song or verse
    begins if a pair does not begin with the end of the last one), or else one text file per song at any depth, with the
    title first. Files that systems add (`own_files`) are ignored.

    Characters are converted to Simplified (tw2s). Time tags, bracketed text, spaces and marks are removed. A line is
    quarantined if it is a title, credit or singer's name (a colon within 16 characters), has Latin letters, kana,
    digits or "~", has under 2 or over 20 characters, occurred before in any song, or has no neighbour.

    The id is that of the first line: `<source>-<song>.<line>`. The group is the song, or an earlier one that holds at
    least half of its lines.

    Args:
        folders: source names and their folders. Of equal lines, the first in the order of folders is kept.

    Raises:
        ConfigError: no folder.
        DataError: a folder has none of these files, or a file is malformed.
    """
    require_sources(folders, "lyrics")
    groups: dict[str, str] = {}  # of each line
    for origin, folder in folders.items():
        for song in _songs(origin, folder):
            yield from pairs_of(song, groups)


def pairs_of(song: Song, groups: dict[str, str]) -> Iterator[Sentence | Quarantined]:
    """The pairs of a song, and its lines that are in no pair. Its lines are added to `groups`."""
    if song.titled and len(song.lines) == 1:
        yield quarantined(f"{song.id}.0", "title alone", song.lines[0])
        return
    cleaned = [clean(line) for line in simplified("\n".join(song.lines), "tw2s").split("\n")]
    if song.titled:
        cleaned[0] = "", "title"
    group = _group(song, [text for text, _ in cleaned if text], groups)
    before: tuple[str, str] | None = None  # id and text of a line that has no neighbour yet
    for number, (text, reason) in enumerate(cleaned):
        id = f"{song.id}.{number}"
        if text and text in groups:
            reason = "duplicate"
        if reason:
            if before:
                yield quarantined(before[0], "no neighbour", before[1])
                before = None
            yield quarantined(id, reason, song.lines[number])
            continue
        groups[text] = group
        if not before:
            before = id, text
            continue
        yield Sentence(
            id=before[0], origin=song.origin, language="zh", target=f"{before[1]}{LINE_JOINT}{text}", group=group
        )
        before = None
    if before:
        yield quarantined(before[0], "no neighbour", before[1])


def _group(song: Song, texts: Sequence[str], groups: Mapping[str, str]) -> str:
    """The group that holds at least half of the lines of a song; else a new group."""
    shared = Counter(groups[text] for text in texts if text in groups).most_common(1)
    return shared[0][0] if shared and 2 * shared[0][1] >= len(texts) else song.id


def clean(line: str) -> tuple[str, str]:
    """The Han characters of a line and no reason, or an empty text and the reason why it is not a song line."""
    if reason := fault_of(line):
        return "", reason
    line = _TIME.sub("", line)
    if re.search("[:：]", line[:_CREDIT]):
        return "", "credit or name"
    line = _BRACKETS.sub("", line)
    if _OTHER_SCRIPT.search(line):
        return "", "Latin letters, kana or digits"
    text = _NOT_HAN.sub("", line)
    if SHORTEST <= len(text) <= LONGEST:
        return text, ""
    return "", f"under {SHORTEST} characters" if len(text) < SHORTEST else f"over {LONGEST} characters"


def _songs(origin: str, folder: Path) -> Iterator[Song]:
    if (file := folder / SONGS).is_file():
        yield from _listed(origin, file)
    elif (file := folder / "lyrics_zh.txt").is_file():
        yield from _chains(origin, file)
    else:
        files = [path for path in own_files(folder) if path.name.endswith(".txt")]
        if not files:
            raise DataError("no songs", file=folder, remedy="run the download stage of its source")
        for number, path in enumerate(files):
            lines = _written(text_of(path).split("\n"))
            if lines:
                yield Song(f"{origin}-{number:05d}", origin, lines, titled=True)


def listed_songs(file: Path) -> Iterator[list[str]]:
    """The lines of each song of `songs.json`.

    Raises:
        DataError: the file is not a list of songs, or a song lacks `lyric`.
    """
    songs = json_of(file)
    if not isinstance(songs, list):
        raise DataError("not a list of songs", file=file)
    for row, song in enumerate(songs, start=1):
        lines = song.get("lyric") if isinstance(song, dict) else None
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise DataError("not a song with its lines as lyric", file=file, row=row)
        yield lines


def _listed(origin: str, file: Path) -> Iterator[Song]:
    for number, lines in enumerate(listed_songs(file)):
        if written := _written([part for line in lines for part in line.split("\n")]):
            yield Song(f"{origin}-{number:05d}", origin, written)


def _chains(origin: str, file: Path) -> Iterator[Song]:
    lines = lines_of(file)
    if len(lines) % 2:
        raise DataError(f"{len(lines):,} lines are not pairs", file=file)
    chain, number = list[str](), 0
    for first, second in zip(lines[::2], lines[1::2], strict=True):
        if chain and chain[-1] != first:
            yield Song(f"{origin}-{number:05d}", origin, chain)
            chain, number = [], number + 1
        chain = [*chain, second] if chain else [first, second]
    if chain:
        yield Song(f"{origin}-{number:05d}", origin, chain)


def _written(lines: Sequence[str]) -> list[str]:
    """The non-blank lines."""
    return [line.strip() for line in lines if line.strip()]
