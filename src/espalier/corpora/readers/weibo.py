"""Weibo: posts and responses of the LCCC-base dialogues and of CDial-GPT's toy data (Wang et al. 2020).

Both put a space between all characters, even within Latin words and numbers. Removing all spaces restores the text,
except that spaces between two Latin words are lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from espalier.corpora.readers.files import fields_of, json_of, recognized_sources
from espalier.corpora.readers.rows import adjacent
from espalier.corpora.records import Pair, Quarantined
from espalier.io.errors import ConfigError, DataError
from espalier.io.text_files import each_line
from espalier.text.words import join_words

_LCCC = "LCCC-base_valid.json"
_CDIAL = "toy_train.txt"
_SPLITS = ("train", "valid", "test")


def read(folders: Mapping[str, Path]) -> Iterator[Pair | Quarantined]:
    """Every post and its response, in the order of the files. A dialogue gives one pair for each two neighbours.

    The content of a folder is recognized by its files: `LCCC-base_<split>.json` (a list of dialogues, each a list of
    utterances) or `toy_<split>.txt` (post, tab, response). Ids are `lccc-<split>-<dialogue>.<pair>` and
    `cdial-<split>-<line>.0`, from 0; the dialogue is the group. Nothing is converted: Traditional characters and
    repeated pairs are left to filters.

    Args:
        folders: source names and their folders.

    Raises:
        ConfigError: there is no folder, or there are two of one kind.
        DataError: a folder has neither kind of file, or a file is malformed.
    """
    for origin, id, utterances in dialogues(folders):
        yield from adjacent(id, utterances, origin=origin, language="zh")


def dialogues(folders: Mapping[str, Path]) -> Iterator[tuple[str, str, list[str]]]:
    """The source, id and utterances of every dialogue; order and errors as in `read`."""
    kinds = recognized_sources(folders, (_LCCC, _CDIAL), "weibo")
    if len({mark for *_, mark in kinds}) < len(kinds):
        raise ConfigError("two sources of one kind", where="reader weibo", remedy="each once")
    for origin, folder, mark in kinds:
        for split in _SPLITS:
            file = folder / (f"LCCC-base_{split}.json" if mark == _LCCC else f"toy_{split}.txt")
            if file.is_file():
                found = _lccc(file) if mark == _LCCC else _cdial(file)
                corpus = "lccc" if mark == _LCCC else "cdial"
                for number, dialogue in enumerate(found):
                    utterances = [join_words(utterance.split(), "zh") for utterance in dialogue]
                    yield origin, f"{corpus}-{split}-{number:06d}", utterances


def _lccc(file: Path) -> Iterator[list[str]]:
    dialogues: Any = json_of(file)
    if not isinstance(dialogues, list):
        raise DataError("not a list of dialogues", file=file)
    for number, dialogue in enumerate(dialogues, start=1):
        if not (isinstance(dialogue, list) and all(isinstance(utterance, str) for utterance in dialogue)):
            raise DataError(f"dialogue {number} is not a list of texts", file=file)
        yield dialogue


def _cdial(file: Path) -> Iterator[list[str]]:
    for row, line in enumerate(each_line(file), start=1):
        yield fields_of(line, "\t", 2, file, row)
