"""PTB: the Penn treebank for language models (Mikolov et al. 2010): 10,000 words, lower case, no marks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from espalier.corpora.readers.files import single_source
from espalier.corpora.readers.rows import quarantined
from espalier.corpora.records import Quarantined, Sentence
from espalier.io.text_files import lines_of

_SPLITS = ("train", "valid", "test")


def read(folders: Mapping[str, Path]) -> Iterator[Sentence | Quarantined]:
    """Every line of `ptb.train.txt`, `ptb.valid.txt` and `ptb.test.txt`, with its words.

    `<unk>` (a rare word) and N (a number) are ordinary words. Ids are `ptb-<split>-<line>`.

    Args:
        folders: one source's name and folder.

    Raises:
        ConfigError: not exactly one folder.
        ArtifactError, DataError: a file is missing, or not UTF-8.
    """
    origin, folder = single_source(folders, "ptb")
    for split in _SPLITS:
        for number, line in enumerate(lines_of(folder / f"ptb.{split}.txt"), start=1):
            id, text = f"ptb-{split}-{number:05d}", " ".join(line.split())
            if not text:
                yield quarantined(id, "empty line", text)
                continue
            yield Sentence(id=id, origin=origin, language="en", target=text, target_words=text)
