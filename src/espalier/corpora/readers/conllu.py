"""CoNLL-U: the treebanks of Universal Dependencies with gold trees, in their published splits; and one's own files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from espalier.corpora.readers.rows import quarantined
from espalier.corpora.records import Quarantined, Sentence
from espalier.io.errors import ConfigError, DataError
from espalier.syntax.conllu import UPOS, Tags, read_conllu, simplify
from espalier.syntax.parse import Parse, columns_of
from espalier.syntax.ud_v1 import to_v2
from espalier.text.words import join_words

_FILE = re.compile(r".+-ud-(train|dev|test)\.conllu")


def read(
    folders: Mapping[str, Path],
    *,
    language: Literal["zh", "en"],
    tags: Tags = "upos",
    v1: Sequence[str] = (),
    simplified: bool = False,
) -> Iterator[Sentence | Quarantined]:
    """Every sentence of every file `<treebank>-ud-<split>.conllu`, with its words, tags, heads and labels.

    Without a file of such a name, the files are one's own: the name of each, without .conllu, is its split.

    The text is the treebank's own if it has one and nothing was converted, else the joined words. Ids are `<source's
    name>-<split>-<number>`, from 0 in each file, as a split of kind `published` expects. A sentence with a tag that is
    not universal is quarantined as "unknown tag".

    Args:
        folders: source names and their folders.
        language: language of the rows; for "zh", words are joined without spaces.
        tags: whether to use universal tags or the treebank's own.
        v1: names of the sources annotated by version 1 of the guidelines; they are converted to version 2 (`to_v2`).
        simplified: convert Traditional characters to Simplified ones (`simplify`).

    Raises:
        ConfigError: there is no folder, or a name in `v1` is not a source.
        DataError: a file is missing or malformed.
    """
    if not folders or not set(v1) <= set(folders):
        raise ConfigError(
            f"sources {', '.join(folders) or 'none'}, of them in version 1: {', '.join(v1) or 'none'}",
            where="reader conllu",
            remedy="give it at least one source, and in v1 names of its sources alone",
        )
    for origin, folder in folders.items():
        files = {match[1]: file for file in sorted(folder.glob("*.conllu")) if (match := _FILE.fullmatch(file.name))}
        files = files or {file.stem: file for file in sorted(folder.glob("*.conllu"))}
        if not files:
            raise DataError(
                "no <treebank>-ud-<split>.conllu",
                file=folder,
                remedy="run the download stage of its source",
            )
        for split, file in files.items():
            for number, sentence in enumerate(read_conllu(file, tags=tags)):
                tree = to_v2(sentence.dependencies) if origin in v1 else sentence.dependencies
                id = f"{origin}-{split}-{number:06d}"
                if tags == "upos" and not UPOS.issuperset(tree.tags):
                    yield quarantined(id, "unknown tag", join_words(tree.words, language))
                    continue
                tree = simplify(tree) if simplified else tree
                text = "" if simplified or origin in v1 else " ".join(sentence.text.split())
                yield Sentence(
                    id=id,
                    origin=origin,
                    language=language,
                    target=text or join_words(tree.words, language),
                    **columns_of(Parse(tree.words, tree.tags, "", tree.heads, tree.labels), "target"),
                )
