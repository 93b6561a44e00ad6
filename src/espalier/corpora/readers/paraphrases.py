"""Paraphrases of published collections: MRPC, ParaSCI, and all read as one corpus in place of ParaNMT.

The text of ParaNMT has no public address.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import fsum
from pathlib import Path

from espalier.corpora.readers import qcpg, quora
from espalier.corpora.readers.files import aligned, fields_of, recognized_sources
from espalier.corpora.readers.rows import pair_of, quarantined
from espalier.corpora.records import Pair, Quarantined
from espalier.corpora.splits import apportion
from espalier.io.errors import ConfigError, DataError
from espalier.io.hashing import seed_from
from espalier.io.text_files import lines_of
from espalier.text.normalize import ascii_punctuation, folded
from espalier.text.words import estimate_words

#: A folder with this file is of this kind.
_MRPC = "msr_paraphrase_train.txt"

_MRPC_SPLITS = ("train", "test")


def read_mrpc(folders: Mapping[str, Path]) -> Iterator[Pair | Quarantined]:
    """Every pair of quality 1 (Dolan and Brockett 2005). Pairs of quality 0 are quarantined as "no paraphrase".

    Ids are `<source's name>-<split>-<row>`, counted from 0 below the header. Quotation marks are read as text.

    Args:
        folders: source names and their folders, which hold `msr_paraphrase_train.txt` and `msr_paraphrase_test.txt`.

    Raises:
        ConfigError: no folder.
        ArtifactError: a file is missing.
        DataError: a row does not have five fields, or has an unknown quality.
    """
    for origin, folder, _ in recognized_sources(folders, (_MRPC,), "mrpc"):
        for split in _MRPC_SPLITS:
            file = folder / f"msr_paraphrase_{split}.txt"
            for number, line in enumerate(lines_of(file)[1:]):
                quality, _, _, source, target = fields_of(line, "\t", 5, file, number + 2)
                id = f"{origin}-{split}-{number:06d}"
                if quality not in ("0", "1"):
                    raise DataError(f"quality '{quality[:20]}'", file=file, row=number + 2, remedy="expected 0 or 1")
                if quality == "0":
                    yield quarantined(id, "no paraphrase", f"{source}\t{target}")
                else:
                    yield pair_of(id, source, target, origin=origin, language="en")


#: A folder with this file is of this kind.
_PARASCI = "train/train.src"

_PARASCI_SPLITS = {"train": "train", "dev": "val", "test": "test"}


def read_parasci(folders: Mapping[str, Path]) -> Iterator[Pair | Quarantined]:
    """Every pair of the published splits, as printed: from the papers of the ACL (Dong et al. 2021), tokenised. Ids are
    `<source's name>-<split>-<line>`, from 0.

    Args:
        folders: source names and their folders, which hold `train/train.src`, `train/train.tgt`, `val/val.src` ...

    Raises:
        ConfigError: no folder.
        ArtifactError: a file is missing.
        DataError: the two files of a split have different numbers of lines.
    """
    for origin, folder, _ in recognized_sources(folders, (_PARASCI,), "parasci"):
        for split, name in _PARASCI_SPLITS.items():
            files = (folder / name / f"{name}.{side}" for side in ("src", "tgt"))
            for number, (source, target) in enumerate(aligned(*files)):
                yield pair_of(f"{origin}-{split}-{number:06d}", source, target, origin=origin, language="en")


#: The stratum of all parts of the Quora pool.
QUORA = "quora"

_WHERE = "reader paraphrases"
_KINDS = {qcpg.MARKER: qcpg.read, _PARASCI: read_parasci, _MRPC: read_mrpc}


def read(
    folders: Mapping[str, Path],
    *,
    lower: bool = False,
    plain: bool = False,
    ascii_only: bool = False,
    min_words: int | None = None,
    max_words: int | None = None,
    deduplicate: bool = False,
    count: int | None = None,
    shares: Mapping[str, float] | None = None,
    seed: int = 1,
) -> Iterator[Pair | Quarantined]:
    """The rows of every folder, each read by `qcpg`, `parasci` or `mrpc`; Quora's folders are read together by `quora`.

    `origin` is the stratum: `QUORA` for all parts of Quora's pool, including held-out pairs; for other rows the name of
    the source. Rows are filtered here instead of in the corpus's filters, so that dropped rows are not parsed. Reasons
    for quarantine, after the readers' reasons and in this order, are: "not ASCII", "too few words" and "too many words"
    (either side), "duplicate" (its text begins with the id of the first), "not drawn".

    Args:
        folders: source names and their folders. Of equal pairs, the one in the first folder is kept.
        lower: lower-case both sides, as ParaNMT is in GuiG.
        plain: `ascii_punctuation` for both sides.
        ascii_only: keep only pairs in ASCII.
        min_words, max_words: limits for each side, by `estimate_words`.
        deduplicate: of pairs whose `folded` sides are equal in either order, keep the first over all strata.
        count: number of the remaining rows to sample; None for all.
        shares: fraction of `count` for each stratum; they sum to 1. An unnamed stratum gives no rows. If a stratum has
            too few rows, the others fill the gap in proportion. None keeps the proportions of all rows.
        seed: seed of the sample. Rows are taken in the order of the hashes of their ids, so one additional row
            displaces at most one row of its stratum.

    Raises:
        ConfigError: there is no folder, shares name unknown strata or do not sum to 1, or there are fewer rows than
            `count`.
        DataError: a folder is of no known kind, or a file is malformed.
    """
    sources = recognized_sources(folders, (*_KINDS, *quora.MARKERS), "paraphrases")
    strata = dict.fromkeys(origin if marker in _KINDS else QUORA for origin, _, marker in sources)
    _check(strata, min_words, max_words, count, shares)
    rows: list[Pair | Quarantined] = []
    first: dict[frozenset[str], str] = {}
    for row in _rows(sources):
        if isinstance(row, Pair):
            row = _written(row, lower=lower, plain=plain)
        if isinstance(row, Pair) and (reason := _unfit(row, ascii_only, min_words, max_words)):
            row = quarantined(row.id, reason, _text(row))
        if isinstance(row, Pair) and deduplicate:
            earlier = first.setdefault(frozenset((folded(row.source), folded(row.target))), row.id)
            if earlier != row.id:
                row = quarantined(row.id, "duplicate", f"of {earlier}: {_text(row)}")
        rows.append(row)
    sample = None if count is None else _sample([row for row in rows if isinstance(row, Pair)], count, shares, seed)
    for row in rows:
        if isinstance(row, Pair) and sample is not None and row.id not in sample:
            row = quarantined(row.id, "not drawn", _text(row))
        yield row


def _rows(sources: Sequence[tuple[str, Path, str]]) -> Iterator[Pair | Quarantined]:
    """The rows of each source in turn. The parts of Quora's pool are read together, in place of the first part."""
    pool = {origin: folder for origin, folder, marker in sources if marker in quora.MARKERS}
    for origin, folder, marker in sources:
        if marker in _KINDS:
            yield from _KINDS[marker]({origin: folder})
        elif origin == next(iter(pool)):
            for row in quora.read(pool):
                yield replace(row, origin=QUORA) if isinstance(row, Pair) else row


def _written(row: Pair, *, lower: bool, plain: bool) -> Pair | Quarantined:
    source, target = row.source, row.target
    if plain:
        source, target = ascii_punctuation(source), ascii_punctuation(target)
    if lower:
        source, target = source.lower(), target.lower()
    return pair_of(row.id, source, target, origin=row.origin, language=row.language, group=row.group)


def _unfit(row: Pair, ascii_only: bool, lower: int | None, upper: int | None) -> str | None:
    sides = (row.source, row.target)
    if ascii_only and not all(side.isascii() for side in sides):
        return "not ASCII"
    if lower is None and upper is None:
        return None
    words = [estimate_words(side) for side in sides]
    if lower is not None and min(words) < lower:
        return "too few words"
    return "too many words" if upper is not None and max(words) > upper else None


def _sample(rows: Sequence[Pair], count: int, shares: Mapping[str, float] | None, seed: int) -> set[str]:
    """The ids of the sampled rows."""
    there = Counter(row.origin for row in rows)
    room = apportion(count, there if shares is None else shares, there)
    if (reached := sum(room.values())) < count:
        raise ConfigError(f"count {count:,} is more than the {reached:,} rows", where=_WHERE, remedy="ask for fewer")
    sample: set[str] = set()
    for row in sorted(rows, key=lambda row: (seed_from(seed, row.id), row.id)):
        if room.get(row.origin, 0):
            room[row.origin] -= 1
            sample.add(row.id)
    return sample


def _check(
    strata: Collection[str],
    lower: int | None,
    upper: int | None,
    count: int | None,
    shares: Mapping[str, float] | None,
) -> None:
    for name, value in (("min_words", lower), ("max_words", upper), ("count", count)):
        if value is not None and value < 1:
            raise ConfigError(f"{name} {value}", where=_WHERE, remedy="a whole number from 1, or leave it out")
    if lower is not None and upper is not None and lower > upper:
        raise ConfigError(f"min_words {lower} is greater than max_words {upper}", where=_WHERE, remedy="correct one")
    if shares is None:
        return
    if count is None:
        raise ConfigError("shares without count", where=_WHERE, remedy="say of how many rows")
    for name, share in shares.items():
        if name not in strata:
            raise ConfigError.unknown("stratum", name, strata, where=f"{_WHERE}, shares")
        if not 0 <= share <= 1:
            raise ConfigError(f"{name}: {share}", where=f"{_WHERE}, shares", remedy="from 0 to 1")
    if abs(fsum(shares.values()) - 1) > 1e-6:
        raise ConfigError(f"they add up to {fsum(shares.values()):g}", where=f"{_WHERE}, shares", remedy="to 1")


def _text(row: Pair) -> str:
    return f"{row.source}\t{row.target}"
