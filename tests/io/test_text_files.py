"""Lines one at a time are the lines of the whole text, in every encoding; damage is told before the first."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from espalier.io import text_files
from espalier.io.errors import ArtifactError, DataError
from espalier.io.text_files import each_line, lines_of

PIECES = ("a", "山", "\n", "\r", "\r\n", "\u2028", "\x0b", "\x1c", "\x85", "\ufeff", " ")


@given(st.lists(st.sampled_from(PIECES), max_size=30), st.sampled_from(["utf-8", "utf-16", "utf-16-le", "gb18030"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_lines_are_the_same_one_at_a_time(tmp_path: Path, pieces: list[str], encoding: str) -> None:
    file = tmp_path / "lines.txt"
    file.write_bytes("".join(pieces).encode(encoding))
    own = encoding.removesuffix("-le")  # UTF-16 without a byte order mark
    assert [*each_line(file, own)] == lines_of(file, own)


def test_a_line_longer_than_a_block_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "_BLOCK", 2)
    file = tmp_path / "lines.txt"
    file.write_text("山山山\n山", encoding="utf-8")
    assert [*each_line(file)] == ["山山山", "山"]


@pytest.mark.parametrize("damage", [b"\xff\n", b"\xe5\xb1"])
def test_bytes_of_another_encoding_are_told_with_their_row_before_the_first_line(tmp_path: Path, damage: bytes) -> None:
    file = tmp_path / "lines.txt"
    file.write_bytes(b"one\ntwo\n" + damage)
    with pytest.raises(DataError, match=r"lines\.txt, row 3: not UTF-8"):
        next(each_line(file))
    with pytest.raises(ArtifactError, match="no such file"):
        next(each_line(tmp_path / "none.txt"))
