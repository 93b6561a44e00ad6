"""Chinese lyrics and prose in verse-like passages for pre-training: songs, Weibo dialogues, treebanks.

They replace the Wikipedia and news texts on which SongNet was pre-trained (section 4.2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from espalier.corpora.readers import conllu, weibo
from espalier.corpora.readers.lyrics import SONGS, listed_songs
from espalier.corpora.readers.rows import quarantined
from espalier.corpora.readers.songci import FAULTS, MARKS, units_in
from espalier.corpora.records import Quarantined, Sentence, Verse
from espalier.io.errors import ConfigError
from espalier.text.language import has_words
from espalier.text.normalize import is_traditional
from espalier.verse.text import join_units

_WIDE = str.maketrans(",.!?;:", "，。！？；：")
_SPACES = re.compile("[^\\S\n]")
_MARKS = re.compile(f"([{MARKS}])[{MARKS}]+")


class _Unit(NamedTuple):
    """A line, or text that ends at 。！？. Its `whole` is a song, a dialogue or a file of a treebank."""

    id: str
    origin: str
    whole: str
    text: str


def read(folders: Mapping[str, Path], *, units: int = 8, v1: Sequence[str] = ()) -> Iterator[Verse | Quarantined]:
    """Every song, dialogue and treebank of the given folders, in unrhymed passages of at most `units` units.

    The content of a folder is recognized by its files: `songs.json` (a list of songs with lines as `lyric`), the files
    of the reader `weibo`, or else a Chinese treebank for the reader `conllu`, in Simplified characters. A unit is a
    line of a song, or text that ends at 。！？ in an utterance or a sentence. Spaces are removed, ASCII marks become
    full-width, and of several marks in a row only the first is kept. A unit is quarantined, and ends its passage, if a
    ci could not have it (`songci.FAULTS`), if it has Traditional characters, or if it has no words.

    The id is that of the first unit: `songs-<song>.<line>`, `<dialogue>.<unit>` or `<sentence>.<unit>`; the tune is
    empty.

    Args:
        folders: source names and their folders.
        units: the largest number of units in a passage.
        v1: names of treebanks in version 1, as in `conllu`.

    Raises:
        ConfigError: there is no folder, or `units` is below 1.
        DataError: a folder has none of these files, or a file is malformed.
    """
    if not folders or units < 1:
        raise ConfigError(
            f"{len(folders)} sources, passages of {units} units",
            where="reader prose_zh",
            remedy="give it a source, and units: 1 or more",
        )
    run: list[_Unit] = []
    for unit in _all(folders, v1):
        reason = _fault(unit.text)
        if run and (reason or len(run) == units or (unit.origin, unit.whole) != (run[0].origin, run[0].whole)):
            yield _passage(run)
            run = []
        if reason:
            yield quarantined(unit.id, reason, unit.text)
        else:
            run.append(unit)
    if run:
        yield _passage(run)


def _passage(run: Sequence[_Unit]) -> Verse:
    return Verse(
        id=run[0].id,
        origin=run[0].origin,
        language="zh",
        target=join_units(unit.text for unit in run),
        author="",
        tune="",
        rhyme="." * len(run),
    )


def _fault(text: str) -> str | None:
    if reason := next((reason for reason, pattern in FAULTS if pattern.search(text)), None):
        return reason
    if not has_words(text):
        return "no words"
    return "Traditional characters" if is_traditional(text) else None


def _all(folders: Mapping[str, Path], v1: Sequence[str]) -> Iterator[_Unit]:
    for origin, folder in folders.items():
        if (file := folder / SONGS).is_file():
            texts = _songs(file)
        elif any(folder.glob("*.conllu")):
            own = [name for name in v1 if name == origin]
            texts = _sentences(conllu.read({origin: folder}, language="zh", v1=own, simplified=True))
        else:
            texts = ((id, id, "\n".join(utterances)) for _, id, utterances in weibo.dialogues({origin: folder}))
        for id, whole, text in texts:
            lines = _MARKS.sub(r"\1", _SPACES.sub("", text.translate(_WIDE))).split("\n")
            for number, unit in enumerate(unit for line in lines for unit in units_in(line)):
                yield _Unit(f"{id}.{number}", origin, whole, unit)


def _songs(file: Path) -> Iterator[tuple[str, str, str]]:
    for number, lines in enumerate(listed_songs(file)):
        id = f"songs-{number:04d}"
        yield id, id, "\n".join(lines)


def _sentences(rows: Iterable[Sentence | Quarantined]) -> Iterator[tuple[str, str, str]]:
    """The sentences, including quarantined ones: their reason is an unknown tag, which does not matter here."""
    for row in rows:
        yield row.id, row.id.rpartition("-")[0], row.target if isinstance(row, Sentence) else row.text
