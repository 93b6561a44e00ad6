"""One file from one URL, resumed when the connection breaks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import requests

from espalier.corpora.catalogue import SourceFile
from espalier.io.hashing import file_sha256

#: Called with (name, bytes received, bytes in total).
Report = Callable[[str, int, int], None]

#: Attempts at one URL that receive nothing new before it is given up.
ATTEMPTS = 3
#: Bytes per write. A broken connection loses at most one unwritten block.
_BLOCK = 1 << 14


class TransferError(Exception):
    """A URL did not deliver the file; the text says why in a few words. `retry`: a new attempt may continue."""

    def __init__(self, reason: str, *, retry: bool = False) -> None:
        super().__init__(reason)
        self.retry = retry


@dataclass(frozen=True, slots=True)
class Transfer:
    """A file to receive.

    Attributes:
        file: its name, size and hash.
        path: where the verified file is written.
        timeout: seconds to wait for a connection, and for the next bytes.
        report: called as bytes arrive.
    """

    file: SourceFile
    path: Path
    timeout: tuple[float, float]
    report: Report

    @property
    def part(self) -> Path:
        """The beginning of the file, kept for the next attempt."""
        return self.path.with_name(self.path.name + ".part")


def is_valid(path: Path, file: SourceFile) -> bool:
    """Whether `path` holds the bytes of `file`."""
    return path.is_file() and path.stat().st_size == file.bytes and file_sha256(path) == file.sha256


def receive(url: str, transfer: Transfer) -> None:
    """Write the file from one URL, continuing the part that an earlier attempt left. Wrong bytes are tried once more.

    Raises:
        TransferError: the URL does not deliver the file.
    """
    idle, wrong = 0, 0
    while True:
        before = _size(transfer.part)
        try:
            _append(url, transfer)
        except TransferError as error:
            idle += _size(transfer.part) <= before
            if idle == ATTEMPTS or not error.retry:
                raise
            continue
        if is_valid(transfer.part, transfer.file):
            transfer.part.replace(transfer.path)
            return
        failure = TransferError(f"sent {_size(transfer.part):,} bytes with sha256 {file_sha256(transfer.part)}")
        transfer.part.unlink()
        wrong += 1
        if wrong == 2:
            raise failure


def _append(url: str, transfer: Transfer) -> None:
    """Append the missing bytes to the part; write it anew where the server does not support ranges."""
    size, name = transfer.file.bytes, transfer.file.name
    start = _size(transfer.part)
    if start >= size > 0:
        return
    # "identity": ranges of a compressed transfer would count other bytes than the file's.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    try:
        with requests.get(url, headers=headers, stream=True, timeout=transfer.timeout) as reply:
            if reply.status_code == 416:
                transfer.part.unlink()
            if reply.status_code not in (200, 206):
                raise TransferError(f"HTTP {reply.status_code} {reply.reason or ''}".strip())
            resumed = reply.status_code == 206
            if resumed and not reply.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
                transfer.part.unlink(missing_ok=True)
                raise TransferError("sent another range than requested", retry=True)
            received = start if resumed else 0
            with transfer.part.open("ab" if resumed else "wb") as part:
                for block in reply.iter_content(_BLOCK):
                    received += len(block)
                    part.write(block)
                    transfer.report(name, received, size)
                    if received > size:
                        return  # too long: the hash check reports it
    except requests.RequestException as error:
        reason = _reason(error)
        raise TransferError(reason, retry=reason in ("broke off", "stalled")) from error
    if received < size:
        raise TransferError(f"ended after {received:,} bytes", retry=True)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _reason(error: requests.RequestException) -> str:
    """A few words for a message of requests, which has several lines."""
    match error:
        case requests.ConnectTimeout():
            return "no answer in time"
        case requests.ReadTimeout():
            return "stalled"
        case requests.exceptions.SSLError():
            return "no secure connection"
        case requests.exceptions.ProxyError():
            return "the proxy refuses"
        case requests.TooManyRedirects():
            return "too many redirects"
        case requests.exceptions.ChunkedEncodingError():
            return "broke off"
        case requests.ConnectionError():
            return "stalled" if "timed out" in str(error) else "no connection"
        case _:
            return type(error).__name__
