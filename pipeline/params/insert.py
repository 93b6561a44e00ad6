"""Adding entries to params.yaml, in the format in which DVC writes it. All other lines stay as they are."""

from collections.abc import Mapping
from typing import Any, Final

import yaml
from dvc.utils.serialize import dumps_yaml

from espalier.io.errors import ConfigError
from espalier.io.files import atomic_file
from espalier.io.locks import exclusive
from pipeline.layout import PARAMS, scratch
from pipeline.params.read import load_params

#: Stands inside an entry, since DVC loses a comment that follows a list.
COMMENT: Final = "# docs/extend.md explains the keys."


def insert(entries: Mapping[str, Mapping[str, Any]]) -> None:
    """Add entries to params.yaml of the present folder, if all of the file is valid with them.

    Args:
        entries: entries by their paths: "models.songnet".

    Raises:
        ConfigError: a path exists, or an entry is invalid. The file is then unchanged.
    """
    with exclusive(scratch("locks", "params.lock")):  # else entries that others add at the same time are lost
        text = PARAMS.read_text(encoding="utf-8")
        for path, entry in entries.items():
            text = with_entry(text, path.split("."), entry)
        with atomic_file(PARAMS) as part:
            part.write_text(text, encoding="utf-8")
            try:
                load_params(part)
            except ConfigError as error:
                where = str(error.where).replace(part.name, PARAMS.name)
                raise ConfigError(error.what, where=where, remedy=error.remedy) from error


def with_entry(text: str, path: list[str], entry: Mapping[str, Any]) -> str:
    """The text of a params.yaml with one entry more, the last of its section.

    Raises:
        ConfigError: the section has an entry of this name, or stands in braces.
    """
    *sections, name = path
    depth = len(sections)
    where = f"{PARAMS}: {'.'.join(sections)}"
    section: Any = yaml.compose(text, Loader=yaml.CSafeLoader)
    tree: dict[str, Any] = {name: dict(entry)}
    for key in sections:
        section = next(value for own, value in section.value if own.value == key)
    for key in reversed(sections):
        tree = {key: tree}
    if any(own.value == name for own, _ in section.value):
        raise ConfigError(f"there is an entry {name}", where=where, remedy="choose another name")
    lines, column = (text.removesuffix("\n") + "\n").splitlines(True), 2 * depth
    if not section.value:
        start, end = section.start_mark, section.end_mark
        lines[start.line] = lines[start.line][: start.column].rstrip() + lines[start.line][end.column :]
        place = start.line + 1
    elif section.flow_style:
        raise ConfigError("stands in braces", where=where, remedy="write one entry a line, without braces")
    else:
        column, place = section.value[0][0].start_mark.column, _end(section)
    head, *keys = (" " * column + line[2 * depth :] for line in dumps_yaml(tree).splitlines(True)[depth:])
    lines[place:place] = [head, f"{' ' * (column + 2)}{COMMENT}\n", *keys]
    return "".join(lines)


def _end(node: yaml.Node) -> int:
    """The line after the last value of a node; the mark of a block is behind the comments that follow it."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return int(node.end_mark.line) + (node.end_mark.column > 0)
