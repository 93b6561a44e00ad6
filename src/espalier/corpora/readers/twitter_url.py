"""Pairs of tweets with the same URL (Lan et al. 2017): C-DNPG's valid and test pairs, and manually annotated pairs.

The automatic pairs, on which C-DNPG was trained, are not republished. The annotated pairs are few and serve to
fine-tune a model of another corpus.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from espalier.corpora.leakage import letters_of
from espalier.corpora.linked import linked
from espalier.corpora.readers.cdnpg_released import read_pairs
from espalier.corpora.readers.files import recognized_sources
from espalier.corpora.readers.rows import pair_of, quarantined
from espalier.corpora.records import Pair, Quarantined
from espalier.io.errors import ConfigError
from espalier.io.text_files import lines_of
from espalier.text.wordpieces import VOCABULARY, WordPieces

_ANNOTATED, _CDNPG = "Twitter_URL_Corpus_test.txt", "twitterurl/test.h5"
_ANNOTATORS = 6
_VOTES = re.compile(rf"\((\d+),{_ANNOTATORS}\)")

#: A folder with one of these files is a part of this collection.
MARKERS = (_ANNOTATED, _CDNPG, VOCABULARY)


def read(folders: Mapping[str, Path], *, votes: int = 4, annotated_dev: int = 0) -> Iterator[Pair | Quarantined]:
    """The valid and the test pairs, then the annotated ones, as a record or quarantined with a reason.

    A marker file identifies the content of a folder: the annotated pairs, C-DNPG's own (`twitterurl/valid.h5` and
    `test.h5`), and BERT's vocabulary. All three are required; other folders are ignored.

    Two pairs are equal if the letters of their word pieces are equal, in either order of the sides. Reasons, in this
    order: "valid" (with `annotated_dev`); "malformed line", "under <votes> votes", "empty side", "held out" (a valid or
    test pair), "duplicate". Otherwise valid and test pairs are kept in their order, including repeated ones.

    Most valid pairs share a tweet with a test pair, so nothing should be chosen by them. With `annotated_dev`, the last
    annotated pairs are the dev pairs instead, together with all pairs linked to them by chains of shared tweets.

    Ids are `twitter-dev-<number>`, `twitter-test-<number>` and `twitter-annotated-<number>`, from 0; annotated dev
    pairs also have `twitter-dev-<number>`.

    Args:
        folders: source names and their folders.
        votes: how many of six annotators must have called a pair a paraphrase.
        annotated_dev: the smallest number of annotated pairs to use as dev pairs; 0 uses the valid pairs.

    Raises:
        ConfigError: `votes` is impossible, or a part is missing or given twice.
        ArtifactError, DataError: a file is missing or malformed.
    """
    if not 0 <= votes <= _ANNOTATORS:
        raise ConfigError(f"{votes} votes", where="reader twitter_url", remedy=f"0 to {_ANNOTATORS}")
    if annotated_dev < 0:
        raise ConfigError(f"annotated_dev {annotated_dev}", where="reader twitter_url", remedy="0 or more")
    own = {name: folder for name, folder in folders.items() if any((folder / mark).is_file() for mark in MARKERS)}
    sources = recognized_sources(own, MARKERS, "twitter_url")
    kinds = {mark: (origin, folder) for origin, folder, mark in sources}
    if len(kinds) < len(sources) or len(kinds) < len(MARKERS):
        raise ConfigError(
            f"sources {', '.join(folders)}",
            where="reader twitter_url",
            remedy="give the annotated pairs, C-DNPG's files and BERT's vocabulary, each once",
        )
    pieces = WordPieces(kinds[VOCABULARY][1] / VOCABULARY)

    def letters(*sides: str) -> tuple[str, ...]:
        bare = (pieces.bare(ids) for ids in pieces.encode(sides))
        return tuple(letters_of(text) or text for text in bare)

    known = set[frozenset[str]]()
    origin, folder = kinds[_CDNPG]
    for part, file in (("dev", "valid.h5"), ("test", "test.h5")):
        pairs = read_pairs(folder / "twitterurl" / file, len(pieces.pieces), pieces.marks)
        for number, ids in enumerate(pairs):
            id_, (source, target) = f"twitter-{part}-{number:06d}", (pieces.text(side) for side in ids)
            known.add(frozenset(letters(source, target)))
            if part == "dev" and annotated_dev:
                yield quarantined(f"twitter-valid-{number:06d}", "valid", f"{source}\t{target}")
            else:
                yield pair_of(id_, source, target, origin=origin, language="en")
    origin, kept = kinds[_ANNOTATED][0], dict[frozenset[str], Pair]()
    for number, line in enumerate(lines_of(kinds[_ANNOTATED][1] / _ANNOTATED)):
        id_, fields = f"twitter-annotated-{number:06d}", line.split("\t")
        vote = _VOTES.fullmatch(fields[2]) if len(fields) == 4 else None
        if vote is None:
            yield quarantined(id_, "malformed line", line)
            continue
        row, key = pair_of(id_, *fields[:2], origin=origin, language="en"), frozenset(letters(*fields[:2]))
        if int(vote[1]) < votes:
            yield quarantined(id_, f"under {votes} votes", line)
        elif isinstance(row, Quarantined):
            yield row
        elif key in known or key in kept:
            yield quarantined(id_, "held out" if key in known else "duplicate", line)
        else:
            kept[key] = row
    rows = list(kept.values())
    dev = _last_groups([letters(row.source, row.target) for row in rows], annotated_dev)
    for place, row in enumerate(rows):
        yield replace(row, id=row.id.replace("annotated", "dev")) if place in dev else row


def _last_groups(sides: list[tuple[str, ...]], least: int) -> set[int]:
    """The indices of the last rows, at least `least` of them, in whole groups of rows that share a side."""
    groups = linked(len(sides), [[row[side] for row in sides] for side in (0, 1)])
    members: dict[int, list[int]] = {}
    for place, group in enumerate(groups):
        members.setdefault(group, []).append(place)
    chosen = set[int]()
    for place in reversed(range(len(sides))):
        if len(chosen) >= least:
            break
        chosen.update(members[groups[place]])
    return chosen
