"""Download of one file from one URL, resumed if the connection breaks."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import closing, suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

import requests
from urllib3.exceptions import HTTPError

from espalier.corpora.catalogue import SourceFile
from espalier.io.hashing import file_sha256

#: Called with (name, bytes received, bytes in total).
Report = Callable[[str, int, int], None]
_T = TypeVar("_T")

#: Bytes per second that must arrive, and the seconds over which they are averaged.
LEAST_RATE = (1024.0, 120.0)
#: Attempts at one URL that receive nothing new before it is given up.
ATTEMPTS = 3
#: Bytes per write. A broken connection loses at most one unwritten block.
_BLOCK = 1 << 14


class TransferError(Exception):
    """A URL did not deliver the file; the text gives a short reason. `retry`: whether another attempt may continue."""

    def __init__(self, reason: str, *, retry: bool = False) -> None:
        super().__init__(reason)
        self.retry = retry


@dataclass(frozen=True, slots=True)
class Transfer:
    """A file to download.

    Attributes:
        file: its name, size and hash.
        path: where the verified file is written.
        timeout: seconds to wait for a connection, and for the next bytes.
        least_rate: smallest average rate in bytes per second.
        report: called as bytes arrive.
    """

    file: SourceFile
    path: Path
    timeout: tuple[float, float]
    least_rate: tuple[float, float]
    report: Report

    @property
    def part(self) -> Path:
        """Path of the received part, which the next attempt continues."""
        return self.path.with_name(self.path.name + ".part")


class _Pace:
    """Gives up a transfer that is slower than the least rate, so that its duration is bounded by the file's size.

    Args:
        rate: bytes per second.
        slack: seconds that the transfer may be behind, also before the first byte.
    """

    def __init__(self, rate: float, slack: float) -> None:
        self.rate, self.slack = rate, slack
        self.end = time.monotonic() + slack

    def receive(self, size: int) -> None:
        """Count received bytes. A fast transfer gains at most `slack` seconds in advance."""
        self.end = min(self.end + size / self.rate, time.monotonic() + self.slack)

    def wait(self, call: Callable[[], _T]) -> _T:
        """Return the result of a call that waits for the server.

        The call runs in a thread, since a server that sends single bytes would delay it forever without a timeout.

        Raises:
            TransferError: the call does not return in time. Its thread ends with the connection or the process.
        """
        answer: Future[_T] = Future()

        def work() -> None:
            try:
                answer.set_result(call())
            except BaseException as error:
                answer.set_exception(error)

        Thread(target=work, daemon=True).start()
        if not wait([answer], timeout=max(0.0, self.end - time.monotonic())).done:
            raise TransferError(f"slower than {self.rate:,.0f} bytes per second over {self.slack:g} seconds")
        return answer.result()


def is_valid(path: Path, file: SourceFile) -> bool:
    """Whether `path` holds the verified bytes of `file`."""
    return path.is_file() and path.stat().st_size == file.bytes and file_sha256(path) == file.sha256


def receive(url: str, transfer: Transfer) -> None:
    """Download the file from one URL, continuing the part of an earlier attempt. Wrong bytes are tried once more.

    Raises:
        TransferError: the URL does not deliver the file.
    """
    idle, wrong = 0, 0
    pace = _Pace(*transfer.least_rate)
    while True:
        before = _size(transfer.part)
        try:
            _append(url, transfer, pace)
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


def _append(url: str, transfer: Transfer, pace: _Pace) -> None:
    """Append the missing bytes to the part, or start anew if the server does not support ranges."""
    size, name = transfer.file.bytes, transfer.file.name
    start = _size(transfer.part)
    if start >= size > 0:
        return
    # "identity": ranges of a compressed transfer would count other bytes than the file's.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    try:
        with closing(pace.wait(lambda: _open(url, headers, transfer.timeout))) as reply:
            if reply.status_code == 416:
                transfer.part.unlink(missing_ok=True)
            if reply.status_code not in (200, 206):
                raise TransferError(f"HTTP {reply.status_code} {(reply.reason or '')[:40]}".strip())
            resumed = reply.status_code == 206
            if resumed and not reply.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
                transfer.part.unlink(missing_ok=True)
                raise TransferError("sent another range than requested", retry=True)
            received = start if resumed else 0
            with transfer.part.open("ab" if resumed else "wb") as part:
                for block in _blocks(reply, pace):
                    received += len(block)
                    part.write(block)
                    transfer.report(name, received, size)
                    if received > size:
                        return  # too long: the hash check reports it
    # Not all that a malformed address causes is an error of requests: some of it is a plain ValueError.
    except (requests.RequestException, HTTPError, HTTPException, ValueError) as error:
        reason = _reason(error)
        raise TransferError(reason, retry=reason in ("broke off", "stalled")) from error
    if received < size:
        raise TransferError(f"ended after {received:,} bytes", retry=True)


def _open(url: str, headers: dict[str, str], timeout: tuple[float, float]) -> requests.Response:
    return requests.get(url, headers=headers, stream=True, timeout=timeout, hooks={"response": _without_page})


def _without_page(reply: requests.Response, **_: Any) -> None:
    """Close a redirect without reading its page, which requests would read to its end, whatever its length."""
    if reply.is_redirect:
        reply.close()


def _blocks(reply: requests.Response, pace: _Pace) -> Iterator[bytes]:
    blocks = reply.iter_content(_BLOCK)
    try:
        while block := pace.wait(lambda: next(blocks, b"")):
            pace.receive(len(block))
            yield block
    except TransferError:
        # Closing the reply would wait for the read that goes on in the thread; this ends it.
        with suppress(ValueError, RuntimeError):
            reply.raw.shutdown()
        raise


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _reason(error: Exception) -> str:
    """A short reason for an error of requests, whose messages have several lines."""
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
        case requests.exceptions.InvalidSchema():
            return "leads to an address that is not http"
        case ValueError():
            return "leads to a malformed address"
        case requests.ConnectionError():
            return "stalled" if "timed out" in str(error) else "no connection"
        case _:
            return type(error).__name__
