"""Brown: the tagged Brown corpus as NLTK packs it, cut into verse-like passages for pre-training."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from espalier.corpora.readers.english import tokens_in
from espalier.corpora.readers.files import single_source
from espalier.corpora.readers.rows import quarantined
from espalier.corpora.records import Quarantined, Verse
from espalier.io.errors import ConfigError, DataError
from espalier.io.text_files import text_of
from espalier.text.language import join_tokens
from espalier.verse.text import join_units

_DOCUMENT = re.compile(r"c[a-r]\d\d")


def read(folders: Mapping[str, Path], *, sentences: int = 14) -> Iterator[Verse | Quarantined]:
    """Every document of the given folder, in runs of consecutive sentences without rhyme.

    The id is `brown/<document>/<index of the run's first sentence>`, the tune `<category>/<document>`; the last run of
    a document may be shorter. Words are tokenized as in the sonnets, so one vocabulary serves both.

    Args:
        folders: name and folder of one source, which holds `brown/ca01` and so on, and `brown/cats.txt`.
        sentences: number of sentences in a run.

    Raises:
        ConfigError: not exactly one folder, or runs of no sentences.
        DataError: a file is missing, or a word has no tag.
    """
    origin, folder = single_source(folders, "brown")
    if sentences < 1:
        raise ConfigError(f"runs of {sentences} sentences", where="reader brown", remedy="at least 1")
    folder = folder / "brown"
    files = sorted(file for file in folder.glob("c???") if _DOCUMENT.fullmatch(file.name))
    if not files:
        raise DataError("no document ca01 to cr09", file=folder, remedy="run the download stage of its source")
    categories = dict(line.split()[:2] for line in text_of(folder / "cats.txt").splitlines() if len(line.split()) >= 2)
    for file in files:
        document = _sentences(file)
        for start in range(0, len(document), sentences):
            run = document[start : start + sentences]
            id, units = f"brown/{file.name}/{start}", [join_tokens(sentence, "en") for sentence in run if sentence]
            if not units:
                yield quarantined(id, "empty", "")
                continue
            yield Verse(
                id=id,
                origin=origin,
                language="en",
                target=join_units(units),
                author="",
                tune=f"{categories.get(file.name, 'unknown')}/{file.name}",
                rhyme="." * len(units),
            )


def _sentences(file: Path) -> list[list[str]]:
    """The sentences of a document, one per line. Each word is followed by a slash and its tag."""
    sentences = []
    for row, line in enumerate(text_of(file).split("\n"), start=1):
        words = line.split()
        if not words:
            continue
        if bare := [word for word in words if "/" not in word]:
            raise DataError(f"word '{bare[0][:20]}' has no tag", file=file, row=row)
        text = " ".join(word.rsplit("/", 1)[0] for word in words).replace("``", '"').replace("''", '"')
        sentences.append([token for tokens in tokens_in(text) for token in tokens])
    return sentences
