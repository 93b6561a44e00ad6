"""YAML files, read within limits. A mistake is reported in one line with its place."""

import re
from pathlib import Path
from typing import Any, Final, cast

import yaml
from yaml.composer import Composer
from yaml.constructor import ConstructorError
from yaml.reader import ReaderError

from espalier.io.errors import ConfigError
from espalier.io.terminal import printable

#: Limits of a file: bytes, levels of nesting, values (an alias counts all its values), bits of an integer.
MAX_BYTES: Final = 4 * 2**20
MAX_DEPTH: Final = 64
MAX_VALUES: Final = 500_000
MAX_BITS: Final = 256
#: The tags of a key that is a name: a string, or `<<`, which merges.
_NAMES: Final = {"tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"}


def load_yaml(path: Path, *, names: bool = True) -> Any:
    """Read a YAML file with one document.

    Args:
        names: whether every key must be a string. Unquoted, `no` is a boolean and `1` a number.

    Raises:
        ConfigError: the file is not YAML in UTF-8, exceeds one of the limits above, or has a mapping with a repeated
            key or a key that is not a string. The message says where.
        FileNotFoundError: the file does not exist.
    """
    with path.open("rb") as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ConfigError(f"over {MAX_BYTES:,} bytes", where=path, remedy="make it smaller")
    try:
        return _Loader(data.decode(), names=names).get_single_data()
    except UnicodeDecodeError as error:
        raise _not_yaml(path, f"byte {data[error.start]:#04x} is not UTF-8", _line(data, error.start)) from error
    except ReaderError as error:
        raise _not_yaml(path, str(error.reason), _line(data, error.position)) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        if isinstance(error, _Refused):
            raise ConfigError(str(error.problem), where=f"{path}, line {line}", remedy=error.note) from error
        why = ", ".join(part for part in (error.context, error.problem) if part)
        raise _not_yaml(path, why, line) from error


def _not_yaml(path: Path, why: str, line: int) -> ConfigError:
    return ConfigError(f"not YAML ({why})", where=f"{path}, line {line}")


def _line(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1


class _Refused(yaml.MarkedYAMLError):
    """Refused YAML. `note` is the remedy."""

    def __init__(self, what: str, mark: Any, remedy: str) -> None:
        super().__init__(problem=what, problem_mark=mark, note=remedy)


class _Loader(Composer, yaml.CSafeLoader):
    """Parses in C and composes in Python, where limits and keys are checked.

    Numbers are read as in YAML 1.2, like DVC does: DVC writes 0.00001 as 1e-05, which is a string in YAML 1.1.
    """

    def __init__(self, text: str, *, names: bool) -> None:
        yaml.CSafeLoader.__init__(self, text)
        Composer.__init__(self)
        self._names = names
        self._depth = self._values = 0
        #: The number of values below each node with an anchor.
        self._sizes: dict[yaml.Node, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Compose a node, counting levels and values."""
        event: Any = self.peek_event()  # has a mark and an anchor, if any
        before = self._values
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _Refused(f"over {MAX_DEPTH} levels of nesting", event.start_mark, "nest less deeply")
        node = cast(yaml.Node, super().compose_node(parent, index))
        self._depth -= 1
        if isinstance(event, yaml.AliasEvent) and node not in self._sizes:
            raise _Refused(f"alias *{event.anchor} stands in its own anchor", event.start_mark, "write the value")
        self._values += self._sizes.get(node, 1)
        if self._values > MAX_VALUES:
            raise _Refused(f"over {MAX_VALUES:,} values, aliases expanded", event.start_mark, "write fewer")
        if event.anchor is not None:
            self._sizes[node] = self._values - before
        return node

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """Compose a mapping after checking its keys, before merge keys are applied."""
        node = super().compose_mapping_node(anchor)
        lines: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            mark = key.start_mark
            if not isinstance(key, yaml.ScalarNode):
                raise _Refused("a key is a list or a mapping", mark, "write a name")
            shown = key.value[:80]
            if self._names and key.tag not in _NAMES:
                kind = key.tag.rpartition(":")[2]
                raise _Refused(f"key {shown} is no name ({kind})", mark, f'write "{shown}", or another name')
            if first := lines.get((key.tag, key.value)):
                raise _Refused(f"key '{shown}' stands twice, first in line {first}", mark, "delete or rename one")
            lines[key.tag, key.value] = mark.line + 1
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> object:
        """Construct a value. Values that Python cannot represent, such as 31 February, are refused."""
        try:
            value = super().construct_object(node, deep)
        except ValueError as error:
            raise ConstructorError(None, None, str(error), node.start_mark) from error
        if isinstance(value, int) and value.bit_length() > MAX_BITS:
            raise _Refused(f"a number of over {MAX_BITS} bits", node.start_mark, "write a smaller one")
        if isinstance(value, str) and printable(value) != value:  # values become paths, and are printed
            raise _Refused(f"a control character ({printable(value)[:80]})", node.start_mark, "delete it")
        return value


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"), list("-+0123456789")
)
