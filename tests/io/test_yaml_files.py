"""YAML files: every mistake is one line with the file and the line, found within bounds of time and memory."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from espalier.io import yaml_files
from espalier.io.errors import ConfigError
from espalier.io.yaml_files import MAX_BYTES, MAX_DEPTH, load_yaml

LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 30)
)
DEEP = "a: " + "{a: " * MAX_DEPTH + "1" + "}" * MAX_DEPTH


def written(folder: Path, data: str | bytes) -> Path:
    path = folder / "a.yaml"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        # twice the same key
        ("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n", 5, "key 'c' stands twice, first in line 3; delete or rename one"),
        ('a: 1\n"a": 2\n', 2, "key 'a' stands twice, first in line 1"),
        ("b: &b {c: 1}\nd: {<<: *b, <<: *b}\n", 2, "key '<<' stands twice, first in line 2"),
        # keys that are no names
        ("a: 1\nno: 2\n", 2, 'key no is no name (bool); write "no", or another name'),
        ("a:\n  1: 2\n", 2, 'key 1 is no name (int); write "1", or another name'),
        ("2024-01-01: 1\n", 1, "key 2024-01-01 is no name (timestamp)"),
        ("~: 1\n", 1, "key ~ is no name (null)"),
        ("? [a]\n: 1\n", 1, "a key is a list or a mapping; write a name"),
        # bounds
        (LAUGHS, 6, "over 500,000 values, aliases expanded; write fewer"),
        ("- a\n" * 500_001, 500_001, "over 500,000 values, aliases expanded"),
        ("a: &a [*a]\n", 1, "alias *a stands in its own anchor; write the value"),
        ("a: &a\n  b: {c: *a}\n", 2, "alias *a stands in its own anchor"),
        (DEEP, 1, "over 64 levels of nesting; nest less deeply"),
        ("[" * 100_000, 1, "over 64 levels of nesting"),
        ("- " * 100_000, 1, "over 64 levels of nesting"),
        ("a: 1\nb: " + "9" * 100, 2, "a number of over 256 bits; write a smaller one"),
        ("a: 1\nb: 0x" + "f" * 9000, 2, "a number of over 256 bits"),
        # what is not YAML, or not text
        ("a: [1\nb: 2\n", 2, "not YAML (while parsing a flow sequence, did not find expected ',' or ']')"),
        ("a: b: c", 1, "not YAML (mapping values are not allowed in this context)"),
        ("a: 1\n\tb: 1", 2, "not YAML ("),
        ("a: 1\n---\nb: 1\n", 2, "not YAML (expected a single document in the stream, but found another document)"),
        ("a: *b\n", 1, "not YAML (found undefined alias 'b')"),
        ("a: 1\nb: !!python/object/apply:os.system [id]\n", 2, "not YAML (could not determine a constructor"),
        ("a: 1\nb: 2024-02-31\n", 2, "not YAML (day is out of range for month)"),
        ("a: !!int x\n", 1, "not YAML (invalid literal for int"),
        ("a: 1\nb: " + "9" * 5000, 2, "not YAML (Exceeds the limit"),
        ("a: 1\nb: \x00\n", 2, "not YAML (control characters are not allowed)"),
        ('a: 1\nb: "\\0"\n', 2, "a control character (\\x00); delete it"),
        (b"a: 1\nb: \xe9\n", 2, "not YAML (byte 0xe9 is not UTF-8)"),
        ("a: 1\n".encode("utf-16"), 1, "not YAML (byte 0xff is not UTF-8)"),
    ],
    ids=range(30),
)
def test_a_mistake_is_one_line_with_its_place(tmp_path: Path, data: str | bytes, line: int, message: str) -> None:
    path = written(tmp_path, data)
    start = time.monotonic()
    with pytest.raises(ConfigError) as caught:
        load_yaml(path)
    assert time.monotonic() - start < 20
    said = str(caught.value)
    assert said.startswith(f"{path}, line {line}: {message}") and "\n" not in said and len(said) < 400


def test_a_file_over_the_bound_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    with path.open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    with pytest.raises(ConfigError, match=r"a\.yaml: over 4,194,304 bytes; make it smaller"):
        load_yaml(path)


def test_within_the_bounds_aliases_and_merges_are_read(tmp_path: Path) -> None:
    text = "a: &a {x: 1, y: [1, 2]}\nb: {<<: *a, x: 2}\nc: [*a, *a]\nd: &d 3\ne: *d\n"
    a = {"x": 1, "y": [1, 2]}
    assert load_yaml(written(tmp_path, text)) == {"a": a, "b": {"x": 2, "y": [1, 2]}, "c": [a, a], "d": 3, "e": 3}


def test_an_alias_counts_as_all_that_it_stands_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "a: &a [1, 2]\nb: *a\n")  # the mapping, two keys, twice a list of two
    monkeypatch.setattr(yaml_files, "MAX_VALUES", 9)
    assert load_yaml(path) == {"a": [1, 2], "b": [1, 2]}
    monkeypatch.setattr(yaml_files, "MAX_VALUES", 8)
    with pytest.raises(ConfigError, match="over 8 values"):
        load_yaml(path)


def test_the_deepest_nesting_that_is_taken(tmp_path: Path) -> None:
    value = load_yaml(written(tmp_path, "[" * MAX_DEPTH + "]" * MAX_DEPTH))
    for _ in range(MAX_DEPTH - 1):
        (value,) = value
    assert value == []


def test_keys_may_be_no_names_where_that_is_said(tmp_path: Path) -> None:
    assert load_yaml(written(tmp_path, "no: 1\n2: 3\n"), names=False) == {False: 1, 2: 3}


def test_a_missing_file_is_the_caller_s_to_explain(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_yaml(tmp_path / "a.yaml")
