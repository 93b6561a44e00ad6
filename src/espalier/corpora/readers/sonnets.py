"""Sonnets: two overlapping collections, read alike; a sonnet in both is counted once."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from espalier.corpora.leakage import letters_of
from espalier.corpora.readers.english import tokens_in
from espalier.corpora.readers.files import json_of
from espalier.corpora.readers.rows import quarantined
from espalier.corpora.records import Quarantined, Verse
from espalier.io.errors import ConfigError, DataError
from espalier.io.text_files import text_of
from espalier.text.language import is_mark, join_tokens
from espalier.verse.text import join_units

LINES = 14
MARKS = frozenset(",.;:!?\"—-()…'")

#: A shorter line ("o love") may occur in any poem.
_LINE_LETTERS = 12

_SPLITS = ("train", "valid", "test")


class _Raw(NamedTuple):
    id: str
    origin: str
    author: str
    text: str


def read(
    folders: Mapping[str, Path], *, rhyme: str = "ABABCDCDEFEFGG", same_lines: int = 3
) -> Iterator[Verse | Quarantined]:
    """Every poem of the given folders, as a verse or quarantined with a reason.

    The content of a folder is recognized by its files: `sonnets.json` (Friedman: author -> [title, text], with case and
    marks) or `sonnet_<split>.txt` (Lau et al. 2018, "Deep-speare": one poem per line, lower-cased, tokenised, `<eos>`
    between lines). The first kind has the better text and is read first, so its version of a poem in both is kept. Two
    poems that share at least `same_lines` lines, compared by letters, count as one poem (editions differ in spelling).
    The later one is quarantined as a duplicate, and its quarantined text begins with the id of the earlier one. If the
    earlier one was itself quarantined, the later one is kept with the earlier one's author. Ids are `friedman/<number>`
    and `deepspeare/<split>/<number>`, from 0 in the file's order.

    Args:
        folders: source names and their folders.
        rhyme: the scheme written on every poem. The paper gives every sonnet Shakespeare's; Petrarch's sonnets have
            another.
        same_lines: number of shared lines that make two poems duplicates.

    Raises:
        ConfigError: there is no folder, or the scheme does not have 14 letters.
        DataError: a folder has neither kind of file, or a file is malformed.
    """
    if not folders or len(rhyme) != LINES:
        raise ConfigError(
            f"{len(folders)} sources, rhyme '{rhyme}'", where="reader sonnets", remedy="give a source, and 14 letters"
        )
    owners: dict[str, _Raw] = {}
    known: set[str] = set()
    for poem in sorted(_all(folders), key=lambda poem: poem.id.startswith("deepspeare")):
        lines = tokens_in(poem.text)
        keys = {key for line in lines if len(key := letters_of("".join(line))) >= _LINE_LETTERS}
        twin = _twin(keys, owners, same_lines)
        if reason := _fault(lines):
            yield quarantined(poem.id, reason, poem.text)
        elif twin and twin.id in known:
            yield quarantined(poem.id, "duplicate", f"of {twin.id}: {poem.text}")
        else:
            poem = poem._replace(author=poem.author or (twin.author if twin else ""))
            known.add(poem.id)
            yield Verse(
                id=poem.id,
                origin=poem.origin,
                language="en",
                target=join_units(join_tokens(line, "en") for line in lines),
                author=poem.author,
                tune="sonnet",
                rhyme=rhyme,
            )
        owners |= {key: poem for key in keys if poem.id in known or key not in owners}


def _twin(keys: set[str], owners: Mapping[str, _Raw], same_lines: int) -> _Raw | None:
    """The earlier poem that shares the most lines, if enough; ties are broken alphabetically."""
    shared = Counter(owners[key] for key in keys if key in owners)
    poem, lines = min(shared.items(), key=lambda item: (-item[1], item[0].id), default=(None, 0))
    return poem if lines >= same_lines else None


def _fault(lines: list[list[str]]) -> str | None:
    tokens = {token for line in lines for token in line}
    if not tokens:
        return "empty"
    if not tokens.isdisjoint("[]{}<>"):
        return "note in brackets"
    if any(character.isdigit() for token in tokens for character in token):
        return "digit"
    if any(token not in MARKS and not letters_of(token) for token in tokens):
        return "foreign character"
    if len(lines) != LINES:
        return "not 14 lines"
    if any(all(is_mark(token) for token in line) for line in lines):
        return "line without words"
    return None


def _all(folders: Mapping[str, Path]) -> Iterator[_Raw]:
    for origin, folder in folders.items():
        if (file := folder / "sonnets.json").is_file():
            yield from _friedman(origin, file)
        elif files := [path for name in _SPLITS if (path := folder / f"sonnet_{name}.txt").is_file()]:
            for file in files:
                yield from _deepspeare(origin, file)
        else:
            raise DataError("neither sonnets.json nor sonnet_<split>.txt", file=folder, remedy="run its download stage")


def _friedman(origin: str, file: Path) -> Iterator[_Raw]:
    authors = json_of(file)
    if not isinstance(authors, dict):
        raise DataError("not a map of authors", file=file)
    number = 0
    for author, poems in authors.items():
        for poem in poems if isinstance(poems, list) else [None]:
            if not (isinstance(poem, list) and len(poem) == 2 and all(isinstance(part, str) for part in poem)):
                raise DataError(f"a poem by '{author[:40]}' is not [title, text]", file=file, row=number + 1)
            yield _Raw(f"friedman/{number}", origin, author, _unescaped(poem[1]))
            number += 1


def _unescaped(text: str) -> str:
    try:
        return html.unescape(text)
    except ValueError:  # a reference of thousands of digits; they stay, and are a fault of the poem
        return text


def _deepspeare(origin: str, file: Path) -> Iterator[_Raw]:
    split = file.stem.removeprefix("sonnet_")
    # Rows end only at line feeds: a poem may contain other separators.
    for number, row in enumerate(text_of(file).rstrip("\n").split("\n")):
        text = "\n".join(_rejoined(line) for line in row.split("<eos>")).strip()
        yield _Raw(f"deepspeare/{split}/{number}", origin, "", text)


def _rejoined(line: str) -> str:
    """Undo the tokenisation of words: "honour ’ d", "do n't", "o ’ er", "‘ tis", "nations ’ hearts", "bless è d"."""
    line = line.strip().replace(" n't", "n't")
    line = re.sub(r"(?<=\w) ([èëïöüíóúœâêîôû]) (?=\w)", r"\1", line)
    line = re.sub(r"(?<=\w) ?['’‘] ?(s|d|ll|ve|re|m|t|st|rt|lt|n|er|en)\b", r"'\1", line)
    line = re.sub(r"\b(th|wi|o|t|an|\w+in|\w+s) ’ (?=\w)", r"\1’ ", line)
    return re.sub(r"[‘’] (?=(?:tis|twas|twere|twill|twould|twixt|mid|midst|gainst|neath|em|mong)\b)", "’", line)
