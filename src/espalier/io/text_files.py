"""Published text files: bytes, text and lines."""

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from espalier.io.errors import ArtifactError, DataError

REMEDY: Final = "run the download stage of its source"

#: What to do about a file that should be UTF-8.
_CONVERT: Final = "convert the file to UTF-8"
_BLOCK: Final = 1 << 20


def bytes_of(file: Path) -> bytes:
    """The bytes of a raw file.

    Raises:
        ArtifactError: the file does not exist or cannot be read.
    """
    with _readable(file):
        return file.read_bytes()


def text_of(file: Path, encoding: str = "utf-8", *, remedy: str = _CONVERT) -> str:
    """A raw file as text, with LF line ends and without a byte order mark.

    Raises:
        ArtifactError: the file does not exist.
        DataError: the file is not in the encoding.
    """
    data = bytes_of(file)
    try:
        text = data.decode(encoding).removeprefix("\ufeff")
    except UnicodeError as error:
        start = error.start if isinstance(error, UnicodeDecodeError) else 0
        reason = error.reason if isinstance(error, UnicodeDecodeError) else error
        what, row = f"not {encoding.upper()} ({reason})", data[:start].count(b"\n") + 1
        raise DataError(what, file=file, row=row, remedy=remedy) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def each_line(file: Path, encoding: str = "utf-8", *, remedy: str = _CONVERT) -> Iterator[str]:
    """The lines of a raw file as in `lines_of`, one at a time: the file may be larger than memory.

    Raises:
        ArtifactError, DataError: as in `text_of`, before the first line.
    """
    with _readable(file):
        decoder = codecs.getincrementaldecoder(encoding)()
        try:
            with file.open("rb") as blocks:
                while block := blocks.read(_BLOCK):
                    decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeError:
            # At once: this says in which row it is not, and reads UTF-16 without a byte order mark.
            yield from lines_of(file, encoding, remedy=remedy)
            return
        with file.open(encoding=encoding) as lines:
            if first := next(lines, "").removeprefix("\ufeff"):
                yield first.removesuffix("\n")
            for line in lines:
                yield line.removesuffix("\n")


def lines_of(file: Path, encoding: str = "utf-8", *, replace: bool = False, remedy: str = _CONVERT) -> list[str]:
    """The lines of a raw file. Lines end only at line feeds; U+2028 and similar characters are text.

    Args:
        replace: replace bytes that are not UTF-8 by U+FFFD instead of raising an error.

    Raises:
        ArtifactError, DataError: as in `text_of`.
    """
    text = bytes_of(file).decode("utf-8-sig", errors="replace") if replace else text_of(file, encoding, remedy=remedy)
    return text.removesuffix("\n").split("\n") if text else []


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise ArtifactError("no such file", where=file, remedy=REMEDY) from error
    except OSError as error:
        raise ArtifactError(f"cannot be read: {error.strerror or error}", where=file) from error
