"""Weibo: posts and responses of the LCCC-base dialogues and of CDial-GPT's toy data (Wang et al. 2020).

Both put a space between all characters, those of a Latin word or a number too, so that only dropping all of them gives
the text back; spaces that stood between two Latin words are lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from espalier.corpora.readers.adjacent import adjacent
from espalier.corpora.readers.files import fields_of, json_of, recognized_sources
from espalier.corpora.records import Pair, Quarantined
from espalier.io.errors import ConfigError, DataError
from espalier.io.text_files import lines_of
from espalier.text.words import join_words

_LCCC = "LCCC-base_valid.json"
_CDIAL = "toy_train.txt"
_SPLITS = ("train", "valid", "test")


def read(folders: Mapping[str, Path]) -> Iterator[Pair | Quarantined]:
    """Every post and its response, in the order of the files; dialogues give one pair for each two neighbours.

    A file tells what a folder holds: `LCCC-base_<split>.json` (a list of dialogues, each a list of utterances) or
    `toy_<split>.txt` (post, tab, response). Ids are `lccc-<split>-<dialogue>.<pair>` and `cdial-<split>-<line>.0`, from
    0; the dialogue is the group. Nothing is converted: what is in Traditional characters stays so, and repeated pairs
    stay, for filters to judge.

    Args:
        folders: source names and their folders.

    Raises:
        ConfigError: no folder, or two of one kind.
        DataError: a folder with neither kind of file, or a malformed one.
    """
    for origin, id, utterances in dialogues(folders):
        yield from adjacent(id, utterances, origin=origin, language="zh")


def dialogues(folders: Mapping[str, Path]) -> Iterator[tuple[str, str, list[str]]]:
    """The source, the id and the utterances of every dialogue, as `read` describes them; errors too."""
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
    for row, line in enumerate(lines_of(file), start=1):
        yield fields_of(line, "\t", 2, file, row)
