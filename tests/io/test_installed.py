"""Data files of installed packages are compared with what their installer wrote down."""

from __future__ import annotations

import base64
import hashlib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from espalier.io.errors import ArtifactError
from espalier.io.installed import verify_installed


def row(path: Path, folder: Path) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).rstrip(b"=").decode()
    return f"{path.relative_to(folder).as_posix()},sha256={digest},{path.stat().st_size}\n"


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for packages with one, whose file `free.txt` has no hash."""
    for name in ("words.txt", "free.txt"):
        (tmp_path / "leaves").mkdir(exist_ok=True)
        (tmp_path / "leaves" / name).write_text("oak\n", encoding="utf-8")
    about = tmp_path / "leaves-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: leaves\nVersion: 1.0\n", encoding="utf-8")
    record = row(tmp_path / "leaves/words.txt", tmp_path) + "leaves/free.txt,,\nleaves-1.0.dist-info/RECORD,,\n"
    (about / "RECORD").write_text(record, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_files_as_installed_are_verified_and_those_without_a_hash_are_left_out(shelf: Path) -> None:
    (shelf / "leaves/free.txt").write_text("elm\n", encoding="utf-8")
    verify_installed("leaves")
    verify_installed("leaves", ["leaves/words.txt"])


@pytest.mark.parametrize("bit", range(0, 32, 5))
def test_a_flipped_bit_is_named_with_how_to_install_again(shelf: Path, bit: int) -> None:
    file = shelf / "leaves/words.txt"
    data = bytearray(file.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    file.write_bytes(data)
    wanted = (
        r"words\.txt: not the file that was installed, of the package leaves; .* --force-reinstall --no-deps leaves"
    )
    for names in ([], ["leaves/words.txt"]):
        with pytest.raises(ArtifactError, match=wanted):
            verify_installed("leaves", names)
    verify_installed("leaves", ["leaves/free.txt"])


def test_a_file_that_is_gone_is_named(shelf: Path) -> None:
    (shelf / "leaves/words.txt").unlink()
    with pytest.raises(ArtifactError, match=r"words\.txt: No such file or directory, of the package leaves"):
        verify_installed("leaves")


def test_a_package_without_a_record_is_not_compared_and_one_that_is_absent_is_an_error(shelf: Path) -> None:
    (shelf / "leaves-1.0.dist-info/RECORD").unlink()
    verify_installed("leaves")
    with pytest.raises(PackageNotFoundError):
        verify_installed("no such package")
