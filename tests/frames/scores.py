"""Small scores in MusicXML, written by hand as notation programs write them."""

from __future__ import annotations

import zipfile
from pathlib import Path

_HEAD = (
    '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<!DOCTYPE score-partwise PUBLIC '
    '"-//Recordare//DTD MusicXML 4.0 Partwise//EN" "http://www.musicxml.org/dtds/partwise.dtd">\n'
)
_STEP = "<pitch><step>C</step><octave>5</octave></pitch>"
_CONTAINER = '<container><rootfiles><rootfile full-path="{}"/></rootfiles></container>'


def syllable(text: str, number: str = "1", more: str = "") -> str:
    """A lyric element. "bri-" begins a word, "-dge" ends one, "-i-" is inside one."""
    kinds = {(False, False): "single", (False, True): "begin", (True, True): "middle", (True, False): "end"}
    kind = kinds[text.startswith("-") and len(text) > 1, text.endswith("-") and len(text) > 1]
    return f'<lyric number="{number}"><syllabic>{kind}</syllabic><text>{text.strip("-")}</text>{more}</lyric>'


def note(lyrics: str = "", duration: int = 2, more: str = "", voice: int = 1) -> str:
    """A note, of a quarter unless said otherwise: durations are in eighths."""
    return f"<note>{more}{_STEP}<duration>{duration}</duration><voice>{voice}</voice>{lyrics}</note>"


def rest(duration: int = 2, voice: int = 1) -> str:
    """A rest."""
    return f"<note><rest/><duration>{duration}</duration><voice>{voice}</voice></note>"


def sung(words: str, number: str = "1") -> str:
    """A note for each syllable of some words; "_" is a note of a melisma, "r" a rest of a quarter, "e" of an eighth."""
    others = {"_": note(), "r": rest(), "e": rest(1)}
    return "".join(others.get(each) or note(syllable(each, number)) for each in words.split())


def score(*measures: str, parts: dict[str, str] | None = None, time: str = "4/4") -> str:
    """A score: a part "Voice" of these measures, and others of one measure each, by their names."""
    beats, kind = time.split("/")
    signature = f"<time><beats>{beats}</beats><beat-type>{kind}</beat-type></time>"
    begin = f"<attributes><divisions>2</divisions>{signature}</attributes>"
    every = {"Voice": [*measures], **{name: [music] for name, music in (parts or {}).items()}}
    names = "".join(
        f'<score-part id="P{index}"><part-name>{name}</part-name></score-part>' for index, name in enumerate(every, 1)
    )
    written = "".join(
        f'<part id="P{index}">'
        + "".join(f'<measure number="{n}">{"" if n > 1 else begin}{music}</measure>' for n, music in enumerate(own, 1))
        + "</part>"
        for index, own in enumerate(every.values(), 1)
        if own
    )
    return f'{_HEAD}<score-partwise version="4.0"><part-list>{names}</part-list>{written}</score-partwise>'


def write_score(folder: Path, text: str, name: str = "song.musicxml") -> Path:
    """A score as a file."""
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def write_mxl(folder: Path, text: str, name: str = "song.mxl", full_path: str = "score.xml") -> Path:
    """A compressed score, whose container names the path of its score."""
    file = folder / name
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.recordare.musicxml")
        archive.writestr("META-INF/container.xml", _CONTAINER.format(full_path))
        archive.writestr("score.xml", text)
    return file
