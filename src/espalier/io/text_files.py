"""Published text files: bytes, text and lines."""

from pathlib import Path
from typing import Final

from espalier.io.errors import ArtifactError, DataError

REMEDY: Final = "run the download stage of its source"

#: What to do about a file that should be UTF-8.
_CONVERT: Final = "convert the file to UTF-8"


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


def lines_of(file: Path, encoding: str = "utf-8", *, replace: bool = False, remedy: str = _CONVERT) -> list[str]:
    """The lines of a raw file. Lines end only at line feeds; U+2028 and similar characters are text.

    Args:
        replace: replace bytes that are not UTF-8 by U+FFFD instead of raising an error.

    Raises:
        ArtifactError, DataError: as in `text_of`.
    """
    text = bytes_of(file).decode("utf-8-sig", errors="replace") if replace else text_of(file, encoding, remedy=remedy)
    return text.removesuffix("\n").split("\n") if text else []
