"""Safe unpacking of archives: members stay inside the folder, sizes are limited, and a fault is one line."""

import gzip
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, cast

from espalier.io.errors import ArtifactError

_BLOCK = 1 << 16
#: Bytes of a header in a tar that holds a long name or attributes; tarfile reads it at once.
_MAX_HEADER = 1 << 20
_DAMAGE = (
    tarfile.TarError,
    zipfile.BadZipFile,
    gzip.BadGzipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    OverflowError,
    EOFError,
)
_Bytes = IO[bytes] | gzip.GzipFile


@dataclass(slots=True)
class _Budget:
    """Limits on what is written. Bytes are counted while writing, since a header may state a false size."""

    archive: Path
    max_bytes: int
    max_ratio: float
    min_limit: int
    max_members: int
    packed: int
    written: int = 0
    members: int = 0

    def member(self) -> None:
        self.members += 1
        if self.members > self.max_members:
            raise _unsafe(self.archive, f"holds more than {self.max_members:,} members")

    def spend(self, size: int) -> None:
        self.written += size
        if self.written > self.max_bytes:
            raise _unsafe(self.archive, f"unpacks to more than {self.max_bytes:,} bytes")
        if self.written > max(self.min_limit, self.max_ratio * self.packed):
            raise _unsafe(self.archive, f"unpacks to more than {self.max_ratio:g} times its size")


def unpack(
    archive: Path,
    folder: Path,
    *,
    name: str | None = None,
    max_bytes: int = 4 << 30,
    max_ratio: float = 100,
    min_limit: int = 1 << 19,
    max_members: int = 100_000,
) -> None:
    """Unpack a zip, tar, tar.gz or gz into `folder`. The format is detected from the first bytes.

    A gz that holds no tar becomes one file. Only files and folders are written, with default permissions. After an
    error the files already written remain: unpack inside `espalier.io.files.atomic_folder`.

    Args:
        folder: the target, created if missing.
        name: path in `folder` for the single file of a gz; by default the archive's name without ".gz". A name stored
            in the gz is ignored.
        max_bytes: limit of the total size.
        max_ratio: limit of bytes written per byte of the archive.
        min_limit: bytes that are allowed whatever `max_ratio` says, since small archives compress best: a tar is padded
            with zeros to 10,240 bytes.
        max_members: limit of members, folders included.

    Raises:
        ArtifactError: a member's path leads out of the folder, is not UTF-8, or occurs twice; a member is a link or a
            device; a limit is exceeded; the archive is encrypted, damaged or of an unknown format; the disk is full.
    """
    with _one_line(archive):
        folder.mkdir(parents=True, exist_ok=True)
        budget = _Budget(archive, max_bytes, max_ratio, min_limit, max_members, packed=archive.stat().st_size)
        with archive.open("rb") as file:
            magic = file.read(4)
            file.seek(0)
            if magic[:2] == b"PK":
                _unzip(file, folder, budget)
            elif magic[:2] == b"\x1f\x8b":
                with gzip.open(file) as stream:
                    if _is_tar(stream):
                        _untar(stream, folder, budget)
                    else:
                        budget.member()
                        _write(stream, _place(folder, name or archive.name.removesuffix(".gz"), archive), budget)
            elif _is_tar(file):
                _untar(file, folder, budget)
            else:
                raise _unsafe(archive, "is no zip, tar, tar.gz or gz archive")


def _unzip(file: IO[bytes], folder: Path, budget: _Budget) -> None:
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            budget.member()
            place = _place(folder, info.orig_filename, budget.archive)
            kind = stat.S_IFMT(info.external_attr >> 16)
            if info.flag_bits & 0x1:
                raise _unsafe(budget.archive, f"member {_quoted(info.filename)} is encrypted")
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _unsafe(budget.archive, f"member {_quoted(info.filename)} is a link or a device")
            if info.is_dir():
                place.mkdir(parents=True, exist_ok=True)
            else:
                with archive.open(info) as stream:
                    _write(stream, place, budget)


class _Header(tarfile.TarInfo):
    """A header whose size is not negative. It is set by several methods, which differ between releases of Python."""

    @property
    def size(self) -> int:
        return self._size

    @size.setter
    def size(self, size: int) -> None:
        if size < 0:
            raise tarfile.ReadError(f"a size of {size:,} bytes")
        self._size = size


class _Blocks:
    """A file of which tarfile can read a block, but no header of megabytes.

    Attributes:
        file: a file that can seek.
    """

    def __init__(self, file: _Bytes) -> None:
        self.file, self.seek, self.tell = file, file.seek, file.tell

    def read(self, size: int) -> bytes:
        """Read at most `size` bytes.

        Raises:
            ReadError: `size` is more than a long header may have.
        """
        if size > _MAX_HEADER:
            raise tarfile.ReadError(f"a header of {size:,} bytes")
        return self.file.read(size)


def _untar(file: _Bytes, folder: Path, budget: _Budget) -> None:
    with tarfile.open(fileobj=cast("IO[bytes]", _Blocks(file)), mode="r:", tarinfo=_Header) as archive:
        for member in archive:
            budget.member()
            place = _place(folder, member.name, budget.archive)
            if not (member.isreg() or member.isdir()):
                raise _unsafe(budget.archive, f"member {_quoted(member.name)} is a link or a device")
            # Nothing is extracted by tarfile: names are checked, links refused and bytes written here, so that the
            # early releases of Python 3.11, which have no extraction filters, are as safe.
            if member.isdir():
                place.mkdir(parents=True, exist_ok=True)
            else:
                stream = archive.extractfile(member)
                if stream is None:
                    raise _unsafe(budget.archive, f"member {_quoted(member.name)} cannot be read")
                with stream:
                    _write(stream, place, budget)
        end = archive.offset
    # tarfile takes a damaged header for the end and does not read the checksum of a gz: the rest must be zeros.
    file.seek(end)
    while block := file.read(_BLOCK):
        budget.spend(len(block))
        if block.strip(b"\0"):
            raise _unsafe(budget.archive, "is damaged: a member's header cannot be read")


def _is_tar(file: _Bytes) -> bool:
    """Whether a tar begins at the start of the stream. The stream is then rewound."""
    head = file.read(512)
    file.seek(0)
    if len(head) < 512:
        return False
    try:
        tarfile.TarInfo.frombuf(head, tarfile.ENCODING, "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


def _place(folder: Path, name: str, archive: Path) -> Path:
    """The path of a member below `folder`."""
    if "\0" in name:
        raise _unsafe(archive, f"member {_quoted(name)} has a NUL in its name")
    if name.encode("utf-8", "replace").decode() != name:
        raise _unsafe(archive, f"member {_quoted(name)} has a name that is not UTF-8")
    path = PurePosixPath(name)
    odd = not name.strip("/.") or "\\" in name or PureWindowsPath(name).drive
    if odd or path.is_absolute() or ".." in path.parts:
        raise _unsafe(archive, f"member {_quoted(name)} leads out of its folder")
    return folder.joinpath(*path.parts)


def _write(stream: _Bytes, place: Path, budget: _Budget) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    # "x": a second member of one name is an error, and no existing file is overwritten.
    with place.open("xb") as file:
        while block := stream.read(_BLOCK):
            budget.spend(len(block))
            file.write(block)


@contextmanager
def _one_line(archive: Path) -> Iterator[None]:
    try:
        yield
    except ArtifactError:
        raise
    except FileExistsError as error:
        raise _unsafe(archive, f"holds {_quoted(Path(str(error.filename)).name)} twice") from error
    except _DAMAGE as error:
        raise _unsafe(archive, f"is damaged ({error})") from error
    except (NotImplementedError, RuntimeError, ValueError, MemoryError) as error:
        raise _unsafe(archive, f"cannot be read ({error})") from error
    except OSError as error:
        raise ArtifactError(f"cannot be unpacked: {error.strerror or error}", where=archive) from error


def _quoted(name: str) -> str:
    """A member's name for messages: shortened, with terminal control characters escaped."""
    return repr(name if len(name) <= 80 else f"{name[:77]}...")


def _unsafe(archive: Path, what: str) -> ArtifactError:
    return ArtifactError(what, where=archive, remedy="nothing of it was kept; get it again from a source you trust")
