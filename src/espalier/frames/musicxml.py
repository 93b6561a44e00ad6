"""Scores in MusicXML: the notes of each part, when they sound, and the lyrics below them.

The format is that of MusicXML 4.0 (https://www.w3.org/2021/06/musicxml40): partwise or timewise, as XML or compressed
(.mxl). Times are in quarter notes from the beginning of the score, as it is written: repeats are not unfolded. A file
is a stranger's: it is unpacked within limits, and a document with entities is refused.

No library serves: music21 10.5 reads neither `<end-line/>` nor `<end-paragraph/>`, and keeps what it has read as
pickles; partitura 1.9 reads no lyrics.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from espalier.io.archives import unpack
from espalier.io.errors import DataError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

#: The most bytes of a score, unpacked.
MOST_BYTES: Final = 64 << 20
REMEDY: Final = "export it as MusicXML from a notation program"
_CONTAINER: Final = "META-INF/container.xml"
_NUMBER: Final = re.compile(r"\d{1,9}(?:\.\d{1,6})?")


@dataclass(frozen=True, slots=True)
class Lyric:
    """What is written below a note.

    Attributes:
        text: the syllable; "" if the note only goes on with one.
        ends_word: whether it is the last syllable of its word.
        ends_line: whether the file says that a line or a paragraph of the text ends here.
    """

    text: str
    ends_word: bool
    ends_line: bool


@dataclass(frozen=True, slots=True)
class Note:
    """A note, or a chord.

    Attributes:
        at, end: when it sounds, in quarter notes.
        beat: the length of a beat at this note, in quarter notes.
        tied: whether it only goes on with the note before.
        lyrics: the lyrics, by the number of their verse.
    """

    at: Fraction
    end: Fraction
    beat: Fraction
    voice: str
    tied: bool
    lyrics: Mapping[str, Lyric]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a score: its id in the file, its name, and its notes in the order of the file. Rests are gaps."""

    id: str
    name: str
    notes: tuple[Note, ...]


def read_parts(file: Path) -> list[Part]:
    """The parts of a score.

    Raises:
        DataError: the file cannot be read, is damaged, or is no MusicXML.
        ArtifactError: the archive is unsafe or damaged.
    """
    root = _parsed(_score(file), file)
    if root.tag not in ("score-partwise", "score-timewise"):
        raise DataError(f"no score in MusicXML: its root is '{root.tag[:40]}'", file=file, remedy=REMEDY)
    measures: dict[str, list[Element]] = {}
    for outer in root.findall("part" if root.tag == "score-partwise" else "measure"):
        for inner in outer.findall("measure" if outer.tag == "part" else "part"):
            measures.setdefault((outer if outer.tag == "part" else inner).get("id", ""), []).append(inner)
    names = {each.get("id"): " ".join(each.findtext("part-name", "").split()) for each in root.iter("score-part")}
    parts = [Part(id_, names.get(id_) or id_, tuple(_notes(own, file))) for id_, own in measures.items()]
    if not parts:
        raise DataError("a score without parts", file=file, remedy=REMEDY)
    return parts


def _score(file: Path) -> bytes:
    """The XML of a score, which may be compressed."""
    try:
        with file.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
    except FileNotFoundError as error:
        raise DataError("no such file", file=file) from error
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", file=file) from error
    if len(data) > MOST_BYTES:
        raise DataError(f"over {MOST_BYTES:,} bytes", file=file, remedy="export the part of the voice alone")
    if not data.startswith(b"PK"):
        return data
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        unpack(file, folder, max_bytes=MOST_BYTES, max_ratio=200, max_members=1000)
        container = folder / _CONTAINER
        if not container.is_file():
            raise DataError(f"no MusicXML: an archive without {_CONTAINER}", file=file, remedy=REMEDY)
        root = _parsed(container.read_bytes(), file)
        path = next((each.get("full-path") for each in root.iter() if each.tag.endswith("rootfile")), None)
        score = (folder / (path or "")).resolve()
        if not score.is_relative_to(folder) or not score.is_file():
            raise DataError(f"is damaged: it lacks the score '{path}'", file=file, remedy=REMEDY)
        return score.read_bytes()


def _parsed(data: bytes, file: Path) -> Element:
    try:
        root: Element = fromstring(data)
    except DefusedXmlException as error:
        raise DataError("declares entities, which no score needs", file=file, remedy=REMEDY) from error
    except (ParseError, ValueError, LookupError) as error:  # such as an encoding that does not exist
        what = "is damaged" if b"<score-" in data[:2000] else "no MusicXML"
        raise DataError(f"{what} ({error})", file=file, remedy=REMEDY) from error
    return root


def _notes(measures: Iterable[Element], file: Path) -> Iterator[Note]:
    """The notes of a part."""
    divisions, beat, start, last = Fraction(1), Fraction(1), Fraction(0), None
    for number, measure in enumerate(measures, start=1):

        def length(element: Element, name: str = "duration", measure: int = number) -> Fraction:
            text = element.findtext(name, "0").strip()
            if not _NUMBER.fullmatch(text):
                raise DataError(f"is damaged: '{text[:20]}' is no {name}", file=file, row=f"measure {measure}")
            return Fraction(text)

        at = end = start
        for each in measure:
            match each.tag:
                case "attributes":
                    divisions = length(each, "divisions") or divisions
                    beat = _beat(each) or beat
                case "backup":
                    at = max(at - length(each) / divisions, start)
                case "forward":
                    at += length(each) / divisions
                case "note" if each.find("grace") is None:
                    if each.find("chord") is not None:
                        if last is not None:
                            last = replace(last, lyrics={**_lyrics(each), **last.lyrics})
                        continue
                    if last is not None:
                        yield last
                    last, at = None, at + length(each) / divisions
                    if each.find("rest") is None and each.find("cue") is None:
                        tied = any(tie.get("type") == "stop" for tie in each.findall("tie"))
                        begun = at - length(each) / divisions
                        last = Note(begun, at, beat, each.findtext("voice", "1").strip(), tied, _lyrics(each))
            end = max(end, at)
        start = end
    if last is not None:
        yield last


def _beat(attributes: Element) -> Fraction | None:
    """The beat of a time signature, in quarter notes: that of 6/8 is a dotted quarter."""
    beats, kind = attributes.findtext("time/beats", ""), attributes.findtext("time/beat-type", "").strip()
    if kind not in ("1", "2", "4", "8", "16", "32"):
        return None
    compound = int(kind) >= 8 and beats.strip() in ("6", "9", "12")
    return Fraction(4, int(kind)) * (3 if compound else 1)


def _lyrics(note: Element) -> dict[str, Lyric]:
    found = {}
    for lyric in note.findall("lyric"):
        text = " ".join(each.text or "" for each in lyric.findall("text")).strip()
        syllabic = [(each.text or "").strip() for each in lyric.findall("syllabic")]
        ends_line = lyric.find("end-line") is not None or lyric.find("end-paragraph") is not None
        sung = text if any(map(str.isalnum, text)) else ""
        found[lyric.get("number") or "1"] = Lyric(sung, syllabic[-1:] not in (["begin"], ["middle"]), ends_line)
    return found
