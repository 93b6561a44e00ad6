"""XDailyDialog: DailyDialog (Li et al. 2017), manually translated into Chinese (Liu et al. 2023)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from espalier.corpora.readers.files import single_source
from espalier.corpora.readers.rows import adjacent
from espalier.corpora.records import Pair, Quarantined
from espalier.io.text_files import lines_of

#: The file of the training split.
TRAIN = "dialogues_text_Zh.txt"
_FILES = {"train": TRAIN, "dev": "zh_dev_human.txt", "test": "zh_test_human.txt"}
_END = "__eou__"


def read(folders: Mapping[str, Path]) -> Iterator[Pair | Quarantined]:
    """One pair for each two neighbouring utterances of every dialogue, in the published splits.

    A line is a dialogue: its utterances, `__eou__` after or between them; text after a tab (topic, acts, emotions) is
    ignored. Ids are `xdailydialog-<split>-<dialogue>.<pair>`, from 0; the dialogue is the group. Some dialogues occur
    twice, within the training file and across splits; filters and leakage count them.

    Args:
        folders: one source's name and folder.

    Raises:
        ConfigError: not exactly one folder.
        ArtifactError: one of the three files is missing.
    """
    origin, folder = single_source(folders, "xdailydialog")
    for split, name in _FILES.items():
        for number, line in enumerate(lines_of(folder / name)):
            utterances = line.partition("\t")[0].strip().removesuffix(_END).split(_END)
            yield from adjacent(f"xdailydialog-{split}-{number:06d}", utterances, origin=origin, language="zh")
