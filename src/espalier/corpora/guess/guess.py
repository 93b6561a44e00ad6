"""Which reader reads a file or a folder, with which options, in which language."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, Final

from espalier.corpora.guess.encoding import LOOKED_AT, encoding_of
from espalier.corpora.guess.fields import Fields, fields_of, is_above, is_named
from espalier.corpora.guess.lists import guess_rows, place_of
from espalier.corpora.readers.files import json_in, own_files
from espalier.corpora.readers.framing import FORMS, Encoding, Framing, lines_at, listed, rows_of, value_at
from espalier.corpora.readers.lrc import sung
from espalier.corpora.readers.tables import SKIP
from espalier.io.errors import DataError
from espalier.io.text_files import bytes_of, text_of
from espalier.syntax.conllu import UPOS, read_conllu
from espalier.syntax.constituency import read_trees, words
from espalier.text.language import Language, has_words, language_of
from espalier.text.normalize import is_traditional

#: So many rows of a file are looked at, and lines of the beginning for what separates fields.
ROWS: Final = 1_000
_LINES: Final = 50
#: What separates the fields of a .csv.
_SEPARATORS: Final = (",", ";", "\t", "|")
#: Names of files that are splits, of which the others train.
SPLITS: Final[Mapping[str, tuple[str, ...]]] = {"dev": ("dev", "valid", "validation", "val"), "test": ("test",)}
#: The endings of files that are of one kind, each for a reader of its name.
_KINDS: Final = (".mrg", ".conllu", ".lrc")


@dataclass(frozen=True)
class Guess:
    """A reader and its options.

    Attributes:
        language: the language of the texts.
        splits: the names of files that are held out, for "dev" and "test"; empty if files are no splits.
        notes: what may be guessed wrongly.
    """

    reader: str
    language: Language
    options: Mapping[str, Any]
    splits: Mapping[str, Sequence[str]]
    notes: Sequence[str] = ()


def guess(path: Path, language: Language | None = None) -> Guess:
    """Look at a file, or at the first file of a folder.

    Raises:
        DataError: it has no file of a known ending, or it cannot be told what its rows are; the message says what to
            give instead. Or a file is damaged; the message has its row.
        ArtifactError: a file cannot be read.
    """
    files = _files(path)
    found, texts = _looked_at(files)
    said = language or language_of(" ".join(texts)[:100_000])
    if not any(map(has_words, texts)):
        raise DataError("no words", file=files[0], remedy="give a file with texts")
    if said is None:
        raise DataError("neither Chinese nor English", file=files[0], remedy="give --language")
    options = {**({"columns": found.columns} if found.columns else {}), **found.options}
    if found.reader == "verse" and said == "zh" and 4 * sum(map(is_traditional, texts[:ROWS])) > len(texts[:ROWS]):
        options["simplified"] = True
    stems = {file.stem for file in files}
    splits = {part: tuple(name for name in names if name in stems) for part, names in SPLITS.items()}
    parted = len(files) > 1 and any(splits.values())
    return Guess(found.reader, said, options, splits if parted else {}, tuple(found.notes))


def _files(path: Path) -> list[Path]:
    """The file, or the files of a folder with the most frequent known ending."""
    if not path.is_dir():
        return [path]
    files = own_files(path)
    known = [each for each in files if each.suffix.lower() in {*FORMS, *_KINDS}]
    if not known:
        endings = ", ".join(sorted({*FORMS, *_KINDS}))
        raise DataError("no file of a known ending", file=path, remedy=f"one of {endings}")
    most = Counter(each.suffix.lower() for each in known).most_common(1)[0][0]
    chosen = [each for each in known if each.suffix.lower() == most]
    if most not in _KINDS and len(chosen) < len(files):
        other = next(each for each in files if each not in chosen)
        raise DataError(f"{other.name} beside files of {most}", file=path, remedy="leave files of one ending there")
    return chosen


def _looked_at(files: Sequence[Path]) -> tuple[Fields, list[str]]:
    """The reader of the first file, and some of its texts."""
    file = files[0]
    ending = file.suffix.lower()
    if ending == ".mrg":
        return Fields("mrg", {}), [" ".join(words(tree)) for tree in islice(read_trees(file), ROWS)]
    if ending == ".conllu":
        return _treebank(file)
    data = bytes_of(file)
    encoding = encoding_of(data)
    if encoding != "utf-16" and b"\0" in data[:LOOKED_AT]:
        raise DataError("not a text file", file=file, remedy="unpack it, or save it as CSV, TSV or JSON in UTF-8")
    named: Framing = {} if encoding == "utf-8" else {"encoding": encoding}
    if ending == ".lrc":
        return Fields("lrc", {}, dict(named)), _sung(files, encoding)
    match FORMS.get(ending):
        case "json":
            found, texts = _json(file, named, encoding)
        case "jsonl":
            found, texts = _objects([row.value for row in islice(rows_of(file, named), ROWS) if not row.fault])
        case _:
            found, texts = _text(file, named, encoding)
    return Fields(found.reader, found.columns, {**found.options, **named}, found.notes), texts


def _sung(files: Sequence[Path], encoding: Encoding) -> list[str]:
    """The lines of the first song that has some."""
    for file in files:
        if lines := sung(text_of(file, encoding)):
            return lines[:ROWS]
    raise DataError("no lines", file=files[0], remedy="give songs with lines, as in [00:12.00]la la")


def _treebank(file: Path) -> tuple[Fields, list[str]]:
    trees = [each.dependencies for each in islice(read_conllu(file), ROWS)]
    tags = {tag for tree in trees for tag in tree.tags}
    options = {} if UPOS >= tags != {"_"} else {"tags": "xpos"}
    return Fields("conllu", {}, options), [" ".join(tree.words) for tree in trees]


def _json(file: Path, named: Framing, encoding: Encoding) -> tuple[Fields, list[str]]:
    value = json_in(text_of(file, encoding), file)
    place = place_of(value)
    if place is None:
        raise DataError("no list of rows", file=file, remedy="give a list of objects or of dialogues")
    within: Framing = {**named, "within": ".".join(place)} if place else named
    found, texts = _objects([row.value for row in islice(listed(value, within.get("within", ""), file), ROWS)])
    return Fields(found.reader, found.columns, {**found.options, **within}, found.notes), texts


def _objects(rows: Sequence[Any]) -> tuple[Fields, list[str]]:
    found = guess_rows(rows)
    return found, [line for row in rows for line in _strings(row, found)]


def _strings(row: object, found: Fields) -> list[str]:
    """The texts of a row of JSON."""
    if found.reader != "dialogues":
        return [line for name in found.texts for line in lines_at(row, name) or ()]
    turns = value_at(row, found.options["turns"]) if "turns" in found.options else row
    if not isinstance(turns, list):
        return []
    said = [value_at(turn, found.options["text"]) if "text" in found.options else turn for turn in turns]
    return [each for each in said if isinstance(each, str)]


def _text(file: Path, named: Framing, encoding: Encoding) -> tuple[Fields, list[str]]:
    """A table, else poems or sentences, a line each."""
    if not (text := text_of(file, encoding)).strip():
        raise DataError("no rows", file=file, remedy="give a file with rows")
    lines = text[:LOOKED_AT].split("\n")
    form = FORMS.get(file.suffix.lower())
    filled = [line for line in lines if line.strip()]
    if form is None or (file.suffix.lower() == ".txt" and 2 * sum("\t" in line for line in filled) < len(filled)):
        return Fields("poems" if _has_stanzas(lines) else "lines", {}), filled[:ROWS]
    framing: Framing = {**named}
    if form == "csv" and (separator := _separator(filled[:_LINES])) != ",":
        framing["separator"] = separator
    if form == "tsv" and _is_quoted(filled[:ROWS]):
        framing["quotes"] = True
    rows = [row.value for row in islice(rows_of(file, framing), ROWS)]
    found, texts = _table(rows)
    return Fields(found.reader, found.columns, {**found.options, **framing}, found.notes), texts


def _table(rows: Sequence[Sequence[str]]) -> tuple[Fields, list[str]]:
    """What the fields of a table are. A list of columns says it for one without a header."""
    width = Counter(map(len, rows)).most_common(1)[0][0]
    header = is_named(rows[0]) or is_above(rows[0], rows[1:])
    names = list(rows[0]) if header else [*map(str, range(width))]
    whole = [row for row in rows[header:] if len(row) == len(names)]
    if not whole:
        if not (below := rows[1:]):
            raise DataError("no rows below the names of fields", file="new corpus", remedy="give rows")
        what, remedy = f"{len(names)} names of fields in row 1, {len(below[0])} in row 2", "give each row as many"
        raise DataError(what, file="new corpus", remedy=remedy)
    names = [name.strip() for name in names]
    values = {name: [row[place] for row in whole] for place, name in enumerate(names)}
    found = fields_of(values)
    texts = [text for name in found.texts for text in values[name]]
    kinds = {name: key for key, name in found.columns.items()}
    listed: Any = [kinds.get(name, SKIP) for name in names]
    if not header:
        return Fields(found.reader, listed, found.options, found.notes), texts
    if not is_named(rows[0]):
        remedy = f"if it has none, list what the fields are: -S 'options.columns=[{', '.join(listed)}]'"
        found.notes.append(f"the first row is taken for the names of fields; {remedy}")
    return found, texts


def _separator(lines: Sequence[str]) -> str:
    """What parts most lines of the beginning into equally many fields, at least two."""

    def fit(separator: str) -> tuple[int, int]:
        try:
            counts = Counter(len(row) for row in csv.reader(lines, delimiter=separator))
        except csv.Error:  # a field of more than 131,072 characters, as after a mark that is not closed
            return 0, 0
        count, times = max(((c, n) for c, n in counts.items() if c > 1), key=lambda each: each[1], default=(0, 0))
        return times, count

    return max(_SEPARATORS, key=fit)


def _is_quoted(lines: Sequence[str]) -> bool:
    """Whether fields between tabs stand in quotation marks: half of the lines have one, or one doubles marks inside."""
    marked = [
        [field for field in line.split("\t") if len(field) > 1 and field[0] == field[-1] == '"'] for line in lines
    ]
    doubled = any('""' in field[1:-1] for fields in marked for field in fields)
    return doubled or 2 * sum(map(bool, marked)) >= len(lines)


def _has_stanzas(lines: Sequence[str]) -> bool:
    """Whether short lines stand in blocks with empty lines between them."""
    blocks = [block.split("\n") for block in "\n".join(map(str.strip, lines)).split("\n\n") if block.strip()]
    sizes = [len([line for line in block if line]) for block in blocks]
    lengths = [len(line) for block in blocks for line in block if line]
    return len(blocks) > 1 and median(sizes) > 1 and median(lengths) <= 60
