"""Penn: the part of the Penn treebank (Marcus et al. 1993, Wall Street Journal) that NLTK packs, with gold trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from espalier.corpora.readers.files import single_source
from espalier.corpora.readers.rows import quarantined
from espalier.corpora.records import Quarantined, Sentence
from espalier.io.errors import DataError
from espalier.syntax.constituency import TreeError, clean, read_trees, tags, words, write_tree
from espalier.syntax.parse import Parse, columns_of


def read(folders: Mapping[str, Path]) -> Iterator[Sentence | Quarantined]:
    """Every sentence with its words, its parts of speech, and its tree without functional tags and traces (`clean`).

    The text is the treebank's words joined by spaces, with brackets in place of -LRB- and -RRB-. Ids
    are `penn-<document>-<number>`, from 0 in the document. A tree with only traces is quarantined as "no words".

    Args:
        folders: one source's name and folder, which holds `treebank/combined/wsj_0001.mrg` and so on.

    Raises:
        ConfigError: not exactly one folder.
        DataError: a file is missing, or a tree cannot be read; the message gives file and line.
    """
    origin, folder = single_source(folders, "penn")
    files = sorted((folder / "treebank" / "combined").glob("wsj_*.mrg"))
    if not files:
        raise DataError("no document wsj_<number>.mrg", file=folder, remedy="run the download stage of its source")
    for file in files:
        for number, gold in enumerate(read_trees(file)):
            id = f"penn-{file.stem}-{number:04d}"
            try:
                tree = clean(gold)
            except TreeError:
                yield quarantined(id, "no words", " ".join(words(gold)))
                continue
            parse = Parse(words(tree), tags(tree), write_tree(tree))
            text = " ".join(parse.words)
            yield Sentence(id=id, origin=origin, language="en", target=text, **columns_of(parse, "target"))
