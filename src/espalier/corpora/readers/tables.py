"""One's own tables of pairs, sentences or poems, as CSV, TSV, JSON Lines or JSON (`framing`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Unpack

from espalier.corpora.readers.framing import Framing, lines_at, number_in, own_rows, value_at
from espalier.corpora.readers.poems import check_rhyme, poem_of
from espalier.corpora.readers.rows import pair_of, quarantined, sentence_of
from espalier.corpora.readers.songci import units_in
from espalier.corpora.records import Pair, Quarantined, Sentence, Verse
from espalier.io.errors import ConfigError
from espalier.text.language import Language
from espalier.text.normalize import simplified as as_simplified

#: What the fields of a row are, for each kind of record; the first ones, up to the given number, must be there.
PAIR: Final = ("source", "target", "group", "label")
SENTENCE: Final = ("text", "group")
VERSE: Final = ("text", "title", "author", "group")
#: A field that is not read, in a list of fields.
SKIP: Final = "skip"

#: The fields of a file: what each of them is, in their order; or for what is read, the name of its field.
Columns = Sequence[str] | Mapping[str, str]
Label = str | float | bool


class _Fields(NamedTuple):
    """The fields of a row by what they are."""

    id: str
    origin: str
    lines: Mapping[str, list[str]]
    label: Any

    def text(self, name: str) -> str:
        return " ".join(self.lines.get(name, ()))


def read_pairs(
    folders: Mapping[str, Path],
    *,
    language: Language,
    columns: Columns = ("source", "target"),
    labels: Sequence[Label] = (),
    least: float | None = None,
    **framing: Unpack[Framing],
) -> Iterator[Pair | Quarantined]:
    """Pairs from rows of CSV, TSV, JSON Lines or JSON; a label can say which of them are paraphrases.

    White space becomes single spaces. Ids are as in `own_rows`. Reasons for quarantine: "wrong number of fields", "not
    valid JSON", "no <field>", "no label", "another label", "label under <least>", "empty side", "damaged character".

    Args:
        folders: source names and their folders.
        language: language of both sides.
        columns: source, target, and perhaps group and label: names of fields of a file with a header, or of JSON
            ({source: question1, target: question2}); or what each field is, for a file without one ([source, target,
            skip]). Rows of one group stay together in a split of kind `group`.
        labels: the labels of pairs that are kept.
        least: the smallest label, a number, of pairs that are kept.
        framing: see `Framing`.

    Raises:
        ConfigError: there is no source, the columns are invalid, or a label is read and nothing says which are kept.
        DataError: as in `own_rows`.
    """
    return _pairs("pairs", folders, language, columns, labels, least, framing)


def read_tsv(
    folders: Mapping[str, Path], *, language: Language, columns: Sequence[str] = ("source", "target")
) -> Iterator[Pair | Quarantined]:
    """Pairs from every line of files of tabs without a header, as the reader `pairs` with form: tsv.

    Args:
        folders: source names and their folders.
        language: language of both sides.
        columns: what each field of a line is: source, target, group or skip.

    Raises:
        ConfigError, DataError: as in the reader `pairs`.
    """
    return _pairs("tsv", folders, language, columns, (), None, {"form": "tsv"})


def _pairs(
    reader: str,
    folders: Mapping[str, Path],
    language: Language,
    columns: Columns,
    labels: Sequence[Label],
    least: float | None,
    framing: Framing,
) -> Iterator[Pair | Quarantined]:
    known = PAIR if reader == "pairs" else PAIR[:3]
    named = _named(columns, known, 2, reader)
    if ("label" in named) != bool(labels or least is not None):
        what = "a label, and not which are kept" if "label" in named else "which labels are kept, and no label"
        raise ConfigError(
            what, where=f"reader {reader}", remedy="give columns a label, and labels or least; or neither"
        )
    kept = {_label(label) for label in labels}
    for row in _fields(reader, folders, columns, named, framing):
        if isinstance(row, Quarantined):
            yield row
        elif "label" in named and (reason := _unkept(row.label, kept, least)):
            yield quarantined(row.id, reason, f"{row.text('source')}\t{row.text('target')}")
        else:
            group = " ".join(row.text("group").split())
            sides = (row.text("source"), row.text("target"))
            yield pair_of(row.id, *sides, origin=row.origin, language=language, group=group)


def read_texts(
    folders: Mapping[str, Path], *, language: Language, columns: Columns = ("text",), **framing: Unpack[Framing]
) -> Iterator[Sentence | Quarantined]:
    """Sentences from rows of CSV, TSV, JSON Lines or JSON.

    White space, ids and reasons are as in the reader `pairs`; also "empty line".

    Args:
        folders: source names and their folders.
        language: language of the sentences.
        columns: text, and perhaps group, as in the reader `pairs`.
        framing: see `Framing`.

    Raises:
        ConfigError, DataError: as in the reader `pairs`.
    """
    named = _named(columns, SENTENCE, 1, "text_table")
    for row in _fields("text_table", folders, columns, named, framing):
        if isinstance(row, Quarantined):
            yield row
        else:
            group = " ".join(row.text("group").split())
            yield sentence_of(row.id, row.text("text"), origin=row.origin, language=language, group=group)


def read_verse(
    folders: Mapping[str, Path],
    *,
    language: Language,
    columns: Columns = ("text",),
    rhyme: str = "",
    simplified: bool = False,
    **framing: Unpack[Framing],
) -> Iterator[Verse | Quarantined]:
    """Poems from rows of CSV, TSV, JSON Lines or JSON, such as {"title": ..., "author": ..., "paragraphs": [...]}.

    The text is one string with line feeds, or a list of strings. Each line is a unit; a Chinese line with 。！？ inside
    is several. Ids are as in the reader `pairs`, reasons as in `pairs` and `poems`; also "no lines".

    Args:
        folders: source names and their folders.
        language: language of the poems.
        columns: text, and perhaps title, author and group, as in the reader `pairs`.
        rhyme: rhyme scheme, as in the reader `poems`.
        simplified: convert Traditional characters to Simplified ones (t2s).
        framing: see `Framing`.

    Raises:
        ConfigError, DataError: as in the readers `pairs` and `poems`.
    """
    check_rhyme(rhyme, "verse")
    named = _named(columns, VERSE, 1, "verse")
    for row in _fields("verse", folders, columns, named, framing):
        if isinstance(row, Quarantined):
            yield row
            continue
        lines, title, author = row.lines["text"], row.text("title"), row.text("author")
        if simplified:
            lines = as_simplified("\n".join(lines)).split("\n")
            title, author = as_simplified(title), as_simplified(author)
        if language == "zh":
            lines = [unit for line in lines for unit in units_in(line)]
        yield poem_of(row.id, lines, row.origin, language, rhyme, title=title, author=author, group=row.text("group"))


def _named(columns: Columns, known: Sequence[str], needed: int, reader: str) -> Mapping[str, str]:
    """The name of the field for each thing that is read; its place from 0, if the file has no names.

    Raises:
        ConfigError: something is not known, or is there twice, or lacks.
    """
    listed = list(columns)
    for column in listed:
        if column not in known and (isinstance(columns, Mapping) or column != SKIP):
            allowed = known if isinstance(columns, Mapping) else (*known, SKIP)
            raise ConfigError.unknown("column", column, allowed, where=f"reader {reader}")
    for place, column in enumerate(known):
        if (count := listed.count(column)) > 1 or (place < needed and not count):
            remedy = f"{' and '.join(known[:needed])} once, {' and '.join(known[needed:])} at most once"
            what = f"columns {', '.join(listed)}: {count} times {column}"
            raise ConfigError(what, where=f"reader {reader}", remedy=remedy)
    if isinstance(columns, Mapping):
        return columns
    return {column: str(place) for place, column in enumerate(listed) if column != SKIP}


def _fields(
    reader: str, folders: Mapping[str, Path], columns: Columns, named: Mapping[str, str], framing: Framing
) -> Iterator[_Fields | Quarantined]:
    """The fields of each row, or why it cannot be read."""
    for id, origin, row in own_rows(folders, reader, framing, header=isinstance(columns, Mapping)):
        value, fault = row.value, row.fault
        if not fault and isinstance(value, list):
            if isinstance(columns, Mapping):
                fault = "no names of fields"
            elif len(value) != len(columns):
                fault = "wrong number of fields"
            value = {str(place): field for place, field in enumerate(value)}
        if not fault and not isinstance(value, dict):
            fault = "no names of fields"
        lines = {name: lines_at(value, field) for name, field in named.items() if name != "label"} if not fault else {}
        lacking = next((named[name] for name in named if lines.get(name, ()) is None), None)
        if fault or lacking is not None:
            yield quarantined(id, fault or f"no {lacking}", row.text)
        else:
            read = {name: found for name, found in lines.items() if found is not None}
            yield _Fields(id, origin, read, value_at(value, named["label"]) if "label" in named else None)


def _label(value: object) -> str:
    """A label as it is compared: numbers by their value, texts without regard to case."""
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value).strip().lower()
    number = number_in(text)
    return text if number is None else repr(number)


def _unkept(value: object, kept: set[str], least: float | None) -> str:
    """The reason why a pair with this label is not kept; "" if it is."""
    if value is None or isinstance(value, dict | list) or not str(value).strip():
        return "no label"
    if kept and _label(value) not in kept:
        return "another label"
    if least is None:
        return ""
    number = number_in(str(value))
    if number is None:
        return "no label"
    return "" if number >= least else f"label under {least:g}"
