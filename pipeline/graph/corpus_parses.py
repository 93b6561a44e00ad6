"""The parses of a corpus that may be larger than memory, joined with its records chunk by chunk.

Equal sentences are parsed once; they are told by their keys. In memory are at most 60 bytes for each side of a record,
the sentences or the parses of a window, and a chunk with its parses.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import feather

from espalier.corpora.keys import key_array, key_of
from espalier.corpora.record_tables import set_aside
from espalier.corpora.records import Record
from espalier.corpora.stored import in_chunks
from espalier.io.chunks import read_chunks
from espalier.syntax.parse import COLUMNS
from pipeline.graph import shards
from pipeline.graph.shards import REASON

#: Shards of a window, in which sentences are sorted by length.
WINDOW: Final = 512
_SIDE: Final = "side"


class CorpusParses:
    """Parses the sides of all records of a table.

    Args:
        table: records of at least one row, with columns for their parses.
        rows: the rows of a chunk.
        parser: folder of a parser.
        scratch: folder for finished shards, as in `parse_shards`, and for parses that wait for their records.

    Attributes:
        speed: as in `Parsed`.
        kept: (records,) whether all sides of a record are parsed.

    Raises:
        ConfigError, ArtifactError: as in `parse_shards`.
    """

    def __init__(self, table: Path, record_type: type[Record], rows: int, parser: Path, scratch: Path) -> None:
        self._table, self._type, self._rows = table, record_type, rows
        self._waiting = scratch / "waiting"
        #: The number of sides in each chunk and those before it.
        self._ends = list[int]()
        sides = len(record_type.sides)
        keys = np.concatenate([self._keys(chunk) for chunk in self._chunks()])
        _, self._first, numbers = np.unique(keys, return_index=True, return_inverse=True)
        del keys
        self._places = np.zeros(len(self._first), dtype=np.int32)
        files, self.speed = shards.parse_shards(self._shards, parser, scratch)
        places = self._places[numbers]
        del numbers, self._first, self._places
        parsed = self._distribute(files, places)
        self.kept: npt.NDArray[np.bool_] = np.logical_and.reduce(parsed[places].reshape(-1, sides), axis=1)

    def chunks(self) -> Iterator[tuple[pa.Table, pa.Table]]:
        """For each chunk, the records with their parses, and those that a side without a parse quarantines."""
        start, sides = 0, self._type.sides
        for number, chunk in enumerate(read_chunks(self._table, self._rows)):
            parses = pa.concat_tables(feather.read_table(file) for file in (self._waiting / str(number)).iterdir())
            parses = parses.sort_by(_SIDE)
            kept = self.kept[start : start + chunk.num_rows]
            start += chunk.num_rows
            columns = {name: chunk[name] for name in chunk.column_names}
            reasons = np.full(chunk.num_rows, "", dtype=object)
            texts = np.full(chunk.num_rows, "", dtype=object)
            for place, side in reversed([*enumerate(sides)]):
                own = parses.take(np.arange(place, parses.num_rows, len(sides)))
                columns |= {f"{side}_{name}": own[name] for name in COLUMNS}
                refused = own[REASON].to_numpy() != ""
                reasons[refused] = own[REASON].to_numpy()[refused]
                texts[refused] = chunk[side].to_numpy()[refused]
            quarantined = set_aside(chunk.filter(~kept), "parse", reasons[~kept], texts[~kept])
            yield pa.table(columns).filter(kept), quarantined

    def _chunks(self) -> Iterator[pa.Table]:
        return read_chunks(self._table, self._rows, self._type.sides)

    def _keys(self, chunk: pa.Table) -> npt.NDArray[np.uint64]:
        """The keys of all sides of the first record, of the second and so on."""
        self._ends.append(chunk.num_rows * len(self._type.sides) + (self._ends[-1] if self._ends else 0))
        return key_array(key_of(text) for text in self._texts(chunk))

    def _texts(self, chunk: pa.Table) -> Iterator[str]:
        return chain.from_iterable(zip(*(chunk[side].to_pylist() for side in self._type.sides), strict=True))

    def _shards(self) -> Iterator[Sequence[str]]:
        """The distinct sentences. It notes the place of each among all parses."""
        order = np.argsort(self._first)
        found = enumerate(chain.from_iterable(self._texts(chunk) for chunk in self._chunks()))
        size = WINDOW * shards.SHARD_SIZE
        for start in range(0, len(order), size):
            window = order[start : start + size]
            wanted = self._first[window].tolist()
            sentences = [next(text for number, text in found if number == side) for side in wanted]
            ranks = sorted(range(len(sentences)), key=lambda number: shards.by_length(sentences[number]))
            self._places[window[ranks]] = np.arange(start, start + len(ranks))
            yield from in_chunks((sentences[number] for number in ranks), shards.SHARD_SIZE)

    def _distribute(self, files: Sequence[Path], places: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """Write the parses of each window to files of the chunks that need them, and tell which sentences have any."""
        shutil.rmtree(self._waiting, ignore_errors=True)
        order = np.argsort(places, kind="stable")
        ordered, parsed = places[order], np.zeros(len(places), dtype=bool)
        start = 0
        for first in range(0, len(files), WINDOW):
            own = files[first : first + WINDOW]
            parses = pa.concat_tables(chain.from_iterable(read_chunks(file, shards.SHARD_SIZE) for file in own))
            parsed[start : start + len(parses)] = parses[REASON].to_numpy() == ""
            low, high = np.searchsorted(ordered, [start, start + len(parses)])
            sides = np.sort(order[low:high])
            ends = np.searchsorted(sides, self._ends)
            for chunk, (begin, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
                if begin < end:
                    table = parses.take(places[sides[begin:end]] - start).append_column(
                        _SIDE, pa.array(sides[begin:end])
                    )
                    file = self._waiting / str(chunk) / str(first)
                    file.parent.mkdir(parents=True, exist_ok=True)
                    feather.write_feather(table, file, compression="lz4")
            start += len(parses)
        return parsed
