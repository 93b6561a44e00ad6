"""Quora question pairs: the republished parts of the pool, without the pairs that C-DNPG held out.

Quora's own file is no longer available. Four collections that others drew from its duplicates (pairs of questions with
the same meaning) are read as one training pool, and the valid and test pairs of C-DNPG (Gu et al. 2022) as dev and
test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from espalier.corpora.leakage import letters_of
from espalier.corpora.readers.cdnpg_released import read_pairs
from espalier.corpora.readers.files import aligned, fields_of, json_in, recognized_sources
from espalier.corpora.readers.rows import pair_of, quarantined
from espalier.corpora.records import Pair, Quarantined
from espalier.io.errors import ConfigError, DataError
from espalier.io.text_files import lines_of
from espalier.text.normalize import folded
from espalier.text.wordpieces import VOCABULARY, WordPieces

_POS50K, _BIMPM, _DIFFUSEQ = "train.src.txt", "dev.tsv", "valid.jsonl"
_CDNPG = "quora/test.h5"

_TEST = "quora-test-"

#: Which of two equal pairs is kept: the one with its case and marks, from the larger collection.
_ORDER = (_POS50K, _BIMPM, _CDNPG, _DIFFUSEQ)

#: A folder with one of these files is a part of this collection.
MARKERS = (*_ORDER, VOCABULARY)


class _Raw(NamedTuple):
    id: str
    origin: str
    source: str
    target: str
    duplicates: bool = True


def read(
    folders: Mapping[str, Path],
    *,
    unshared: Literal["pair", "question"] = "pair",
    dev_apart: bool = False,
    dev_unshared: bool = False,
) -> Iterator[Pair | Quarantined]:
    """The held-out pairs, then every pair of the pool, as a record or quarantined with a reason.

    A marker file identifies the content of a folder: `pos50k` (`train.src.txt` and so on, line by line), `bimpm`
    (`dev.tsv`, `test.tsv`: label, question, question, number; some lines are not UTF-8), `diffuseq` (`valid.jsonl`,
    `test.jsonl`), C-DNPG's own (the held-out `quora/valid.h5` and `quora/test.h5`, and `quora1/`, another draw, which
    joins the pool), and BERT's vocabulary. The last two are required; the others are optional.

    Two pairs are equal if their questions are equal, in either order. Questions are compared by their word pieces.
    Compared with held-out pairs, only letters count, as in leakage; among training pairs, texts are `folded`, so
    numbers count too. Reasons, in this order: "no paraphrase" (label 0), "damaged character", "empty side", "held out",
    "question held out" (only if `unshared` is "question"), "duplicate" (its text begins with the id of the first).

    Ids are `quora-dev-<number>`, `quora-test-<number>` and `quora-<part>-<number>`, from 0, as a split of kind
    `published` expects. Held-out pairs are kept in their order, including a few repeated ones; but with `dev_apart` a
    dev pair that is also a test pair is quarantined as "in test".

    Args:
        folders: source names and their folders.
        unshared: what training must not share with dev and test: pairs, or even single questions.
        dev_apart: whether dev must not share a pair with test.
        dev_unshared: whether dev must not share a question with training; a pair that does is quarantined as "question
            in training".

    Raises:
        ConfigError: there are two folders of one kind, no held-out pairs or no vocabulary.
        ArtifactError, DataError: a file is missing or malformed.
    """
    sources = recognized_sources(folders, MARKERS, "quora")
    kinds = {mark: (origin, folder) for origin, folder, mark in sources}
    if len(kinds) < len(sources) or _CDNPG not in kinds or VOCABULARY not in kinds:
        raise ConfigError(
            f"sources {', '.join(folders)}",
            where="reader quora",
            remedy="give C-DNPG's files, BERT's vocabulary and any parts of the pool, each once",
        )
    pieces = WordPieces(kinds[VOCABULARY][1] / VOCABULARY)
    held_out = [raw for split in ("valid", "test") for raw in _cdnpg(*kinds[_CDNPG], "quora", split, pieces)]
    pool = [raw for mark in _ORDER if mark in kinds for raw in _pool(mark, *kinds[mark], pieces)]
    bare = _bare_texts((held_out, pool), pieces)

    def letters(raw: _Raw) -> frozenset[str]:
        return frozenset(letters_of(text) or text for text in (bare[raw.source], bare[raw.target]))

    pairs = {letters(raw) for raw in held_out}
    questions = {question for pair in pairs for question in pair} if unshared == "question" else set()
    training: set[str] = set()
    first: dict[frozenset[str], str] = {}
    rows: list[Pair | Quarantined] = []
    for raw in pool:
        pair = frozenset((folded(bare[raw.source]), folded(bare[raw.target])))
        row = pair_of(raw.id, raw.source, raw.target, origin=raw.origin, language="en")
        text = f"{raw.source}\t{raw.target}"
        if not raw.duplicates:
            row = quarantined(raw.id, "no paraphrase", text)
        elif isinstance(row, Pair):
            own = letters(raw)
            if own in pairs:
                row = quarantined(raw.id, "held out", text)
            elif not questions.isdisjoint(own):
                row = quarantined(raw.id, "question held out", text)
            elif pair in first:
                row = quarantined(raw.id, "duplicate", f"of {first[pair]}: {text}")
            else:
                first[pair] = raw.id
                training |= own
        rows.append(row)
    tests = {letters(raw) for raw in held_out if raw.id.startswith(_TEST)}
    for raw in held_out:
        dev, text = not raw.id.startswith(_TEST), f"{raw.source}\t{raw.target}"
        if dev and dev_apart and letters(raw) in tests:
            yield quarantined(raw.id, "in test", text)
        elif dev and dev_unshared and not training.isdisjoint(letters(raw)):
            yield quarantined(raw.id, "question in training", text)
        else:
            yield pair_of(raw.id, raw.source, raw.target, origin=raw.origin, language="en")
    yield from rows


def _bare_texts(rows: tuple[list[_Raw], ...], pieces: WordPieces) -> dict[str, str]:
    texts = list(dict.fromkeys(text for part in rows for raw in part for text in (raw.source, raw.target)))
    return {text: pieces.bare(ids) for text, ids in zip(texts, pieces.encode(texts), strict=True)}


def _pool(mark: str, origin: str, folder: Path, pieces: WordPieces) -> Iterator[_Raw]:
    if mark == _POS50K:
        yield from _pos50k(origin, folder)
    elif mark == _BIMPM:
        yield from _bimpm(origin, folder)
    elif mark == _DIFFUSEQ:
        yield from _diffuseq(origin, folder)
    else:
        for split in ("valid", "test"):
            yield from _cdnpg(origin, folder, "quora1", split, pieces)


def _cdnpg(origin: str, folder: Path, draw: str, split: str, pieces: WordPieces) -> Iterator[_Raw]:
    part = {"valid": "dev", "test": "test"}[split] if draw == "quora" else f"cdnpg1_{split}"
    for number, (source, target) in enumerate(
        read_pairs(folder / draw / f"{split}.h5", len(pieces.pieces), pieces.marks)
    ):
        yield _Raw(f"quora-{part}-{number:06d}", origin, pieces.text(source), pieces.text(target))


def _pos50k(origin: str, folder: Path) -> Iterator[_Raw]:
    for split in ("train", "test"):
        rows = aligned(folder / f"{split}.src.txt", folder / f"{split}.tgt.txt")
        for number, (source, target) in enumerate(rows):
            yield _Raw(f"quora-pos50k_{split}-{number:06d}", origin, source, target)


def _bimpm(origin: str, folder: Path) -> Iterator[_Raw]:
    for split in ("dev", "test"):
        file = folder / f"{split}.tsv"
        for number, line in enumerate(lines_of(file, replace=True)):
            label, source, target, _ = fields_of(line, "\t", 4, file, number + 1)
            if label not in ("0", "1"):
                raise DataError(f"label '{label[:20]}'", file=file, row=number + 1, remedy="expected 0 or 1")
            yield _Raw(f"quora-bimpm_{split}-{number:06d}", origin, _unquoted(source), _unquoted(target), label == "1")


def _unquoted(field: str) -> str:
    """A field without the quotation marks that were added because the field contains quotation marks."""
    quoted = len(field) > 1 and field[0] == field[-1] == '"'
    return field[1:-1].replace('""', '"') if quoted else field


def _diffuseq(origin: str, folder: Path) -> Iterator[_Raw]:
    for split in ("valid", "test"):
        file = folder / f"{split}.jsonl"
        for number, line in enumerate(lines_of(file)):
            row = json_in(line, file, number + 1)
            try:
                source, target = row["src"], row["trg"]
            except (KeyError, TypeError) as error:
                raise DataError("not a pair with src and trg", file=file, row=number + 1) from error
            if not (isinstance(source, str) and isinstance(target, str)):
                raise DataError("src and trg must be texts", file=file, row=number + 1)
            yield _Raw(f"quora-diffuseq_{split}-{number:06d}", origin, source, target)
