"""QCPG: the ParaBank 2 and MSCOCO pairs published by Bandel et al. 2022. Each pair occurs there in both directions."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from espalier.corpora.readers.files import recognized_sources
from espalier.corpora.readers.rows import pair_of, quarantined
from espalier.corpora.records import Pair, Quarantined
from espalier.io.errors import DataError
from espalier.io.text_files import bytes_of

#: A folder with this file is of this kind.
MARKER = "validation.csv.gz"

_SPLITS = ("validation", "test")
_HEADER = ["source", "target"]
#: A gigabyte in all.
_BLOCK, _MAX_BLOCKS = 1 << 20, 1 << 10


def read(folders: Mapping[str, Path]) -> Iterator[Pair | Quarantined]:
    """Every pair, in the direction that comes first in its file.

    The other direction is quarantined as "other direction".

    Ids are `<source's name>-<split>-<number>`, from 0 in the file's order. An exact repetition of an earlier pair of
    the source is quarantined as "duplicate".

    Args:
        folders: source names and their folders, which hold `validation.csv.gz` and `test.csv.gz`.

    Raises:
        ConfigError: no folder.
        ArtifactError: a file is missing.
        DataError: a file is not a gzipped CSV with the columns `source` and `target`.
    """
    for origin, folder, _ in recognized_sources(folders, (MARKER,), "qcpg"):
        earlier: set[tuple[str, str]] = set()
        for split in _SPLITS:
            for number, (source, target) in enumerate(_rows(folder / f"{split}.csv.gz")):
                id = f"{origin}-{split}-{number:06d}"
                if (source, target) in earlier:
                    yield quarantined(id, "duplicate", f"{source}\t{target}")
                elif (target, source) in earlier:
                    yield quarantined(id, "other direction", f"{source}\t{target}")
                else:
                    earlier.add((source, target))
                    yield pair_of(id, source, target, origin=origin, language="en")


def _rows(file: Path) -> Iterator[tuple[str, str]]:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(bytes_of(file))) as stream:
            blocks = iter(lambda: stream.read(_BLOCK), b"")
            data = b"".join(islice(blocks, _MAX_BLOCKS))
            if next(blocks, b""):
                raise DataError(f"unpacks to more than {len(data):,} bytes", file=file)
        text = data.decode("utf-8-sig")
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError("not a whole gzip file", file=file, remedy="run the download stage of its source") from error
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 ({error.reason})", file=file) from error
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for index, row in enumerate(rows):
            if index == 0 and row != _HEADER:
                raise DataError(f"columns {', '.join(row)[:80]}", file=file, row=1, remedy="expected source, target")
            if len(row) != 2:
                raise DataError(f"{len(row)} columns", file=file, row=rows.line_num, remedy="expected 2")
            if index:
                yield row[0], row[1]
    except csv.Error as error:
        raise DataError(f"not valid CSV ({error})", file=file, row=rows.line_num) from error
