"""Published text files: bytes, text and lines."""

from pathlib import Path
from typing import Final

from espalier.io.errors import ArtifactError, DataError

REMEDY: Final = "run the download stage of its source"


def bytes_of(file: Path) -> bytes:
    """The bytes of a raw file.

    Raises:
        ArtifactError: the file does not exist or cannot be read.
    """
    try:
        return file.read_bytes()
    except FileNotFoundError as error:
        raise ArtifactError("no such file", where=file, remedy=REMEDY) from error
    except OSError as error:
        raise ArtifactError(f"cannot be read: {error.strerror or error}", where=file) from error


def text_of(file: Path) -> str:
    """A raw file as UTF-8 text, with LF line ends and without a byte order mark.

    Raises:
        ArtifactError: the file does not exist.
        DataError: the file is not UTF-8.
    """
    data = bytes_of(file)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = data[: error.start].count(b"\n") + 1
        raise DataError(
            f"not UTF-8 ({error.reason})", file=file, row=row, remedy="convert the file to UTF-8"
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def lines_of(file: Path, *, replace: bool = False) -> list[str]:
    """The lines of a raw file. Lines end only at line feeds; U+2028 and similar characters are text.

    Args:
        replace: replace bytes that are not UTF-8 by U+FFFD instead of raising an error.

    Raises:
        ArtifactError, DataError: as in `text_of`.
    """
    text = bytes_of(file).decode("utf-8-sig", errors="replace") if replace else text_of(file)
    return text.removesuffix("\n").split("\n") if text else []
