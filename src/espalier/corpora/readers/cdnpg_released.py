"""HDF5 files of BERT word-piece ids by C-DNPG's authors."""

from __future__ import annotations

import warnings
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from espalier.io.errors import ArtifactError, DataError

#: Forks processes from one that has imported PyTables, which takes longer than reading a file.
_FORKS: Final = get_context("forkserver")


def read_pairs(file: Path, vocabulary: int, marks: tuple[int, int] | None = None) -> list[tuple[list[int], list[int]]]:
    """The pairs of an HDF5 file in the layout of C-DNPG's code; each side is the ids of `[CLS] ... [SEP]`.

    `/sentences` holds all ids in one row, `/indices` one row (pos, src_len, tgt_len) per pair.

    Args:
        file: the file. It is compressed with Blosc, which PyTables can read but not every HDF5 library.
        vocabulary: number of pieces.
        marks: the ids of [CLS] and [SEP], which every side must have; None skips this check.

    Raises:
        ArtifactError: the file does not exist.
        DataError: the file has another layout, contains ids or positions that do not exist, or has a side without these
            marks.
    """
    if not file.is_file():
        raise ArtifactError("no such file", where=file, remedy="run the download stage of its source")
    ids, rows = _arrays(file)
    if not _whole(ids):
        raise DataError("/sentences is not one row of whole numbers", file=file)
    if ids and not 0 <= min(ids) <= max(ids) < vocabulary:
        raise DataError(f"an id beyond the {vocabulary:,} pieces", file=file, remedy="give its own vocabulary")
    pairs = []
    for row, place in enumerate(rows, start=1):
        if not (_whole(place) and len(place) == 3):
            raise DataError("not three whole numbers in /indices", file=file, row=row)
        start, source, target = place
        middle, end = start + source, start + source + target
        if not 0 <= start <= middle <= end <= len(ids):
            raise DataError(f"ids {start} to {end} of {len(ids)}", file=file, row=row)
        sides = ids[start:middle], ids[middle:end]
        if marks is not None and any([side[:1], side[-1:]] != [[marks[0]], [marks[1]]] for side in sides):
            raise DataError("a side that is not [CLS] ... [SEP]", file=file, row=row, remedy="download it again")
        pairs.append(sides)
    return pairs


def _arrays(file: Path) -> tuple[list[Any], list[Any]]:
    """/sentences and /indices, read in a separate process, since a damaged file can crash the HDF5 library."""
    _FORKS.set_forkserver_preload(["__main__", "tables", __name__])  # unless the server already runs
    try:
        with ProcessPoolExecutor(1, _FORKS) as pool:
            found = pool.submit(_read_arrays, str(file)).result()
    except BrokenProcessPool:
        found = None
    if found is None:
        what, remedy = "no HDF5 file with /sentences and /indices", "run the download stage of its source again"
        raise DataError(what, file=file, remedy=remedy)
    return found


def _read_arrays(file: str) -> tuple[list[Any], list[Any]] | None:
    """/sentences and /indices; None for a file that cannot be read."""
    import tables

    warnings.simplefilter("ignore")  # the process reads nothing else
    try:
        with tables.open_file(file) as opened:
            return opened.root.sentences[:].tolist(), opened.root.indices[:].tolist()
    except Exception:  # a damaged file raises errors of many types
        return None


def _whole(values: object) -> bool:
    return isinstance(values, list | tuple) and all(isinstance(value, int) for value in values)
