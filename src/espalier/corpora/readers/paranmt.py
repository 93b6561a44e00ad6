"""ParaNMT as GuiG reads it: both sides parsed and linearized, six fields per line; or the texts only.

The corpus (Wieting and Gimpel 2018) and GuiG's parses of it have no stable address, so the catalogue has no entry and
the corpus is read from a local file. The fields of a line are separated by two tabs: text, labels and levels of the
source, then of the target; labels and levels are separated by spaces. A line of two fields and one tab, as in ParaNMT
itself, has the texts only; the corpus then needs a parser. The 800 test pairs of
GuiG's authors, parsed by AllenNLP, are in the file test_syn_src.txt in the same form (`guig_released`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from espalier.corpora.readers.files import files_of, lines_of_test, single_source
from espalier.corpora.readers.rows import pair_of, quarantined
from espalier.corpora.records import Pair, Quarantined
from espalier.io.errors import ConfigError
from espalier.io.text_files import each_line
from espalier.syntax.constituency import TreeError, tree_of, write_tree

# From 1, and of few digits: Python reads no number of thousands.
_LEVEL = re.compile(r"0*[1-9][0-9]{0,8}")
_SEPARATOR, _TAB = "\t\t", "\t"


def read(folders: Mapping[str, Path]) -> Iterator[Pair | Quarantined]:
    """Every line as a pair, with trees without words, as in (S (NP (PRP)) (VP (VBD))), if it has six fields.

    Ids are `paranmt-<line>`, from 0. A line is quarantined if it has neither six nor two fields ("not six fields"), a
    level that is 0 or not a number ("no level", as in GuiG's own reader), or nodes that do not form a tree ("no tree").

    Args:
        folders: one source's name and folder, with one file.

    Raises:
        ConfigError: not exactly one source, or not exactly one file.
        DataError: the file is not UTF-8.
    """
    origin, folder = single_source(folders, "paranmt")
    files = files_of({origin: folder}, "paranmt")
    if len(files) > 1:
        raise ConfigError(f"{len(files)} files", where=folder, remedy="the reader paranmt reads exactly one")
    for number, line in enumerate(each_line(files[0][1])):
        yield _row(f"paranmt-{number:06d}", origin, line)


def _row(id: str, origin: str, line: str) -> Pair | Quarantined:
    if line.count(_TAB) == 1:
        source, target = line.split(_TAB)
        return pair_of(id, source, target, origin=origin, language="en")
    return parsed_pair(id, origin, line)


def parsed_pair(id: str, origin: str, line: str, labels: Mapping[str, str] | None = None) -> Pair | Quarantined:
    """A line of six fields as a pair, or a quarantined row as described in `read`.

    Args:
        labels: {label: replacement} for the trees.
    """
    fields = line.split(_SEPARATOR)
    if len(fields) != 6:
        return quarantined(id, "not six fields", line)
    trees = []
    others = labels or {}
    for names, levels in (fields[1:3], fields[4:6]):
        if not all(_LEVEL.fullmatch(level) for level in levels.split()):
            return quarantined(id, "no level", line)
        try:
            nodes = [others.get(name, name) for name in names.split()]
            trees.append(write_tree(tree_of(nodes, [int(level) for level in levels.split()])))
        except TreeError:
            return quarantined(id, "no tree", line)
    row = pair_of(id, fields[0], fields[3], origin=origin, language="en")
    return row if isinstance(row, Quarantined) else replace(row, source_tree=trees[0], target_tree=trees[1])


FILE = "test_syn_src.txt"


def read_released(
    folders: Mapping[str, Path], *, labels: Mapping[str, str] | None = None
) -> Iterator[Pair | Quarantined]:
    """Every line as a pair with trees without words.

    Ids are those of `lines_of_test`. Lines are quarantined as in `parsed_pair`.

    Args:
        folders: one source's name and folder.
        labels: {label: replacement} for the trees. It lets a model read trees with labels that it was not trained on,
            such as OntoNotes' HYPH.

    Raises:
        ConfigError: not exactly one source.
        ArtifactError, DataError: the file is missing or is not UTF-8.
    """
    for id_, origin, line in lines_of_test(folders, "guig_released", FILE):
        yield parsed_pair(id_, origin, line, labels)
