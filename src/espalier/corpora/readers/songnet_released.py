"""The 962 test poems of SongNet's authors, with the texts of their pre-trained model in the same formats.

The files `out1.txt` to `out5.txt` are five draws over the same poems. A line is

    author<s1>tune<s2>unit</s>unit</s>...<tab><bos>unit</s>unit</s>...

with the poem before the tab and the model's text after it. The authors end units only at 。 and write ， for 、.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from espalier.corpora.readers.files import lines_of_test
from espalier.corpora.readers.rows import quarantined
from espalier.corpora.records import Quarantined, Verse
from espalier.io.errors import DataError
from espalier.verse.text import join_units

FILE = "out1.txt"


def read(folders: Mapping[str, Path]) -> Iterator[Verse | Quarantined]:
    """The poem of every line. Every unit may rhyme, as in the released code: `rhyme` is all "A".

    Ids are those of `lines_of_test`.

    Args:
        folders: one source's name and folder.

    Raises:
        ConfigError: not exactly one source.
        ArtifactError, DataError: the file is missing or is not UTF-8.
    """
    for id_, origin, line in lines_of_test(folders, "songnet_released", FILE):
        author, _, rest = line.partition("\t")[0].partition("<s1>")
        tune, _, poem = rest.partition("<s2>")
        units = _units(poem)
        if not (tune and units):
            yield quarantined(id_, "not author, tune and poem", line)
        else:
            yield Verse(
                id=id_, origin=origin, language="zh", target=join_units(units), author=author, tune=tune,
                rhyme="A" * len(units),
            )  # fmt: skip


def written(line: str) -> str:
    """The model's text in a line, in the form of `espalier.verse.text`.

    In `out*.txt` it follows the test poem after a tab. In `res4end*.txt`, which the authors cut for Integrity, it
    stands in place of the poem.

    Raises:
        DataError: the line has no such text.
    """
    before, _, text = line.partition("\t<bos>")
    if not text:
        _, _, text = before.partition("<s2>")
    if not text or "\t" in text:
        raise DataError(
            "a line without <bos> behind a tab, and without <s2>",
            file="out1.txt to out5.txt, res4end1.txt to res4end5.txt",
            remedy="name one of them",
        )
    return join_units(_units(text))


def _units(text: str) -> list[str]:
    return [unit for unit in text.split("</s>") if unit.strip()]
