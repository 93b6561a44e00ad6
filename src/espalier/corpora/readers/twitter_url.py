"""Pairs of tweets with one address (Lan et al. 2017): C-DNPG's valid and test pairs, and those that people annotated.

Of the corpus's automatic pairs, on which C-DNPG trained, none is republished. The annotated pairs are few, and serve to
fine-tune a model of another corpus.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from espalier.corpora.leakage import letters_of
from espalier.corpora.readers.files import lines_of, recognized_sources
from espalier.corpora.readers.rows import pair_of, quarantined
from espalier.corpora.readers.wordpieces import VOCABULARY, WordPieces, read_pairs
from espalier.corpora.records import Pair, Quarantined
from espalier.io.errors import ConfigError

_ANNOTATED, _CDNPG = "Twitter_URL_Corpus_test.txt", "twitterurl/test.h5"
_ANNOTATORS = 6
_VOTES = re.compile(rf"\((\d+),{_ANNOTATORS}\)")

#: A folder with one of these files is a part of this collection.
MARKERS = (_ANNOTATED, _CDNPG, VOCABULARY)


def read(folders: Mapping[str, Path], *, votes: int = 4, dev_apart: bool = False) -> Iterator[Pair | Quarantined]:
    """The valid and the test pairs, then the annotated ones, as a record or quarantined with a reason.

    A marker file tells what a folder holds: the annotated pairs, C-DNPG's own (`twitterurl/valid.h5` and `test.h5`),
    and BERT's vocabulary. All three must be there; folders of others, on whose shelf one may lie, are left alone.

    Two pairs are equal if their sides are in their word pieces' letters, in either order. Reasons, in this order: "in
    test" (a dev pair, if `dev_apart`); "malformed line", "under <votes> votes", "empty side", "held out" (a dev or test
    pair), "duplicate". Valid and test otherwise stay whole and in their order, though pairs are there twice.

    Ids are `twitter-dev-<number>`, `twitter-test-<number>` and `twitter-annotated-<number>`, from 0.

    Args:
        folders: source names and their folders.
        votes: how many of six people must have called an annotated pair a paraphrase.
        dev_apart: whether dev may not share a pair with test.

    Raises:
        ConfigError: votes that cannot be, a part that is missing or given twice.
        ArtifactError, DataError: a file that is missing or malformed.
    """
    if not 0 <= votes <= _ANNOTATORS:
        raise ConfigError(f"{votes} votes", where="reader twitter_url", remedy=f"0 to {_ANNOTATORS}")
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

    def letters(*sides: str) -> frozenset[str]:
        bare = (pieces.bare(ids) for ids in pieces.encode(sides))
        return frozenset(letters_of(text) or text for text in bare)

    held: dict[str, list[frozenset[str]]] = {}
    rows: dict[str, list[tuple[str, str]]] = {}
    origin, folder = kinds[_CDNPG]
    for part, file in (("dev", "valid.h5"), ("test", "test.h5")):
        pairs = read_pairs(folder / "twitterurl" / file, len(pieces.pieces))
        rows[part] = [(pieces.text(source), pieces.text(target)) for source, target in pairs]
        held[part] = [letters(*row) for row in rows[part]]
    tests = set(held["test"]) if dev_apart else set()
    for part in held:
        for number, ((source, target), key) in enumerate(zip(rows[part], held[part], strict=True)):
            id_ = f"twitter-{part}-{number:06d}"
            if part == "dev" and key in tests:
                yield quarantined(id_, "in test", f"{source}\t{target}")
            else:
                yield pair_of(id_, source, target, origin=origin, language="en")
    known, origin = {key for part in held.values() for key in part}, kinds[_ANNOTATED][0]
    first = set[frozenset[str]]()
    for number, line in enumerate(lines_of(kinds[_ANNOTATED][1] / _ANNOTATED)):
        id_, fields = f"twitter-annotated-{number:06d}", line.split("\t")
        vote = _VOTES.fullmatch(fields[2]) if len(fields) == 4 else None
        if vote is None:
            yield quarantined(id_, "malformed line", line)
            continue
        row, key = pair_of(id_, *fields[:2], origin=origin, language="en"), letters(*fields[:2])
        if int(vote[1]) < votes:
            yield quarantined(id_, f"under {votes} votes", line)
        elif isinstance(row, Quarantined) or not (key in known or key in first):
            yield row
            first.add(key)
        else:
            yield quarantined(id_, "held out" if key in known else "duplicate", line)
