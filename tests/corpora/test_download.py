"""Download, against a server of this machine that misbehaves on demand."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import subprocess
import sys
import threading
import time
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from espalier.corpora.catalogue import Source
from espalier.corpora.download import fetch
from espalier.io.errors import ArtifactError, SourceError

DATA = bytes((index * 7 + index // 256) % 256 for index in range(200_000))
WRONG = DATA[:-1] + b"?"


class Server:
    """Serves DATA under any path, as the path's list of manners says; the last manner stays.

    Manners: ok, wrong, long, short (all of it, but less), cut:<n> (breaks off after n bytes), stall:<n>, norange,
    badrange, redirect:<path>, <status>; and without an end: drip:<n> (single bytes after the first n), endless (many
    more than DATA), page (that of a redirect to /a), header (one), headers (short ones), continue (that a reply will
    come).
    """

    def __init__(self) -> None:
        self.manners: dict[str, list[str]] = defaultdict(lambda: ["ok"])
        self.asked: list[tuple[str, str | None]] = []
        self.closed = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # the name that the standard library looks for
                outer.asked.append((self.path, self.headers["Range"]))
                manners = outer.manners[self.path]
                outer.answer(self, manners.pop(0) if len(manners) > 1 else manners[0])

            def log_message(self, *_: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.http.server_port}{path}"

    def answer(self, to: BaseHTTPRequestHandler, manner: str) -> None:
        manner, _, value = manner.partition(":")
        begin = f"HTTP/1.0 200 OK\r\nContent-Length: {len(DATA)}\r\n\r\n".encode()
        if manner == "drip":
            self.repeat(to, begin + DATA[: int(value)], DATA[:1], pause=0.01)
        elif manner == "header":
            self.repeat(to, b"HTTP/1.0 200 OK\r\nX: ", b"x", pause=0.01)
        elif manner == "headers":
            self.repeat(to, b"HTTP/1.0 200 OK\r\n", b"X: y\r\n")
        elif manner == "continue":
            self.repeat(to, b"", b"HTTP/1.1 100 Continue\r\n\r\n", pause=0.01)
        elif manner == "endless":
            self.repeat(to, b"HTTP/1.0 200 OK\r\n\r\n", DATA)
        elif manner == "page":
            self.repeat(to, b"HTTP/1.0 302 Found\r\nLocation: /a\r\n\r\n", DATA)
        else:
            self.answer_once(to, manner, value)

    def repeat(self, to: BaseHTTPRequestHandler, first: bytes, then: bytes, pause: float = 0) -> None:
        """Send `then` until the other side, or the test, has had enough."""
        with suppress(OSError):
            to.wfile.write(first)
            while not self.closed.wait(pause):
                to.wfile.write(then)

    @staticmethod
    def answer_once(to: BaseHTTPRequestHandler, manner: str, value: str) -> None:
        if manner == "redirect":
            to.send_response(302)
            to.send_header("Location", value)
            to.end_headers()
            return
        if manner.isdigit():
            to.send_error(int(manner))
            return
        body = {"wrong": WRONG, "long": DATA + b"more", "short": DATA[:-9]}.get(manner, DATA)
        asked = to.headers["Range"]
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and manner != "norange" else 0
        to.send_response(206 if start else 200)
        if start:
            first = start + 1 if manner == "badrange" else start
            to.send_header("Content-Range", f"bytes {first}-{len(body) - 1}/{len(body)}")
        to.send_header("Content-Length", str(len(body) - start))
        to.end_headers()
        to.wfile.write(body[start : start + int(value)] if value else body[start:])
        if manner == "stall":
            to.wfile.flush()
            time.sleep(0.8)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "*")
    one = Server()
    yield one
    one.closed.set()
    one.http.shutdown()
    one.http.server_close()


def source_of(*urls: str, data: bytes = DATA, **changed: Any) -> Source:
    file = {"name": "deep/a.bin", "urls": urls, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    return Source.model_validate(
        {"title": "T", "licence": "L", "citation": "C", "files": [{**file, "mirror": "m/a.bin", **changed}]}
    )


class Place:
    """Where one test's files lie."""

    def __init__(self, root: Path) -> None:
        self.folder, self.scratch, self.mirror = root / "raw" / "leaves", root / "scratch", root / "mirror"

    def fetch(self, source: Source, **options: Any) -> None:
        options = {"mirror": None, "scratch": self.scratch, "timeout": (2, 0.3)} | options
        fetch(source, self.folder, **options)

    def content(self) -> dict[str, bytes]:
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in files}

    def parts(self) -> list[Path]:
        return [path for path in self.scratch.rglob("*") if path.is_file() and path.suffix != ".lock"]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def refused(place: Place, source: Source, **options: Any) -> str:
    with pytest.raises(SourceError) as caught:
        place.fetch(source, **options)
    assert "\n" not in str(caught.value)
    assert not place.folder.exists()
    return str(caught.value)


def test_a_file_comes_with_its_progress_and_leaves_nothing_behind(server: Server, place: Place) -> None:
    seen: list[tuple[str, int, int]] = []
    place.fetch(source_of(server.url("/a")), report=lambda *told: seen.append(told))
    assert place.content() == {"deep/a.bin": DATA}
    assert seen[-1] == ("deep/a.bin", len(DATA), len(DATA))
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)
    assert place.parts() == []


def test_a_truncated_download_is_gone_on_with_not_begun_again(server: Server, place: Place) -> None:
    server.manners["/a"] = ["cut:65536", "cut:65536", "ok"]
    place.fetch(source_of(server.url("/a")))
    assert place.content() == {"deep/a.bin": DATA}
    assert [asked for _, asked in server.asked] == [None, "bytes=65536-", "bytes=131072-"]


def test_the_next_run_goes_on_where_the_last_one_broke_off(server: Server, place: Place) -> None:
    server.manners["/a"] = ["cut:49152", "503"]
    assert "HTTP 503" in refused(place, source_of(server.url("/a")))
    assert [path.stat().st_size for path in place.parts()] == [49152]
    server.manners["/a"] = ["ok"]
    place.fetch(source_of(server.url("/a")))
    assert server.asked[-1] == ("/a", "bytes=49152-")
    assert place.content() == {"deep/a.bin": DATA}


def test_a_server_that_only_ever_breaks_off_at_once_is_given_up(server: Server, place: Place) -> None:
    server.manners["/a"] = ["cut:0000"]
    assert "/a: broke off" in refused(place, source_of(server.url("/a")))
    assert len(server.asked) == 3


def test_a_server_without_ranges_is_read_from_the_start_again(server: Server, place: Place) -> None:
    server.manners["/a"] = ["cut:65536", "norange"]
    place.fetch(source_of(server.url("/a")))
    assert place.content() == {"deep/a.bin": DATA}


def test_a_range_that_was_not_asked_for_is_not_taken(server: Server, place: Place) -> None:
    server.manners["/a"] = ["cut:65536", "badrange", "ok"]
    place.fetch(source_of(server.url("/a")))
    assert place.content() == {"deep/a.bin": DATA}


def test_a_stalled_server_is_not_waited_for(server: Server, place: Place) -> None:
    server.manners["/slow"] = ["stall:1000"]
    began = time.monotonic()
    place.fetch(source_of(server.url("/slow"), server.url("/a")), timeout=(2, 0.1))
    assert place.content() == {"deep/a.bin": DATA}
    assert time.monotonic() - began < 5


def test_a_redirect_is_followed(server: Server, place: Place) -> None:
    server.manners["/old"] = ["redirect:/new"]
    place.fetch(source_of(server.url("/old")))
    assert place.content() == {"deep/a.bin": DATA}


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("http://[::1", "malformed address"),
        ("http://127.0.0.1:port_not_a_number/", "malformed address"),
        ("http://127.0.0.1:99999999/", "malformed address"),
        ("http://\0/", "malformed address"),
        ("http://", "too many redirects"),
        ("//[", "malformed address"),
        ("http://%", "malformed address"),
        (f"http://{'a' * 70}.invalid/", "malformed address"),
        ("http://\xff\xfe/", "malformed address"),
        (":::", "HTTP 404"),
        ("file:///etc/passwd", "not http"),
        ("ftp://127.0.0.1/a", "not http"),
        ("javascript:1", "not http"),
        ("/loop", "too many redirects"),
    ],
)
def test_a_redirect_that_leads_nowhere_is_a_failure_of_its_url_alone(
    server: Server, place: Place, location: str, reason: str
) -> None:
    server.manners["/loop"] = [f"redirect:{location}"]
    server.manners["/:::"] = ["404"]
    assert reason in refused(place, source_of(server.url("/loop")))
    place.fetch(source_of(server.url("/loop"), server.url("/b")))
    assert place.content() == {"deep/a.bin": DATA}


def test_a_malformed_url_of_the_catalogue_is_a_failure_of_that_url_alone(server: Server, place: Place) -> None:
    assert "http://[::1: leads to a malformed address" in refused(place, source_of("http://[::1"))
    place.fetch(source_of("http://[::1", server.url("/b")))
    assert place.content() == {"deep/a.bin": DATA}


@pytest.mark.parametrize("manner", ["drip:0", "drip:40000", "header", "continue"])
def test_a_server_that_sends_single_bytes_is_given_up(server: Server, place: Place, manner: str) -> None:
    server.manners["/slow"] = [manner]
    text = refused(place, source_of(server.url("/slow")), timeout=(5, 5), least_rate=(1e6, 0.2))
    assert "/slow: slower than 1,000,000 bytes per second over 0.2 seconds" in text


def test_a_server_that_sends_single_bytes_is_left_for_the_next_url(server: Server, place: Place) -> None:
    server.manners["/slow"] = ["drip:40000"]
    place.fetch(source_of(server.url("/slow"), server.url("/b")), timeout=(9, 9), least_rate=(1e6, 3))
    assert place.content() == {"deep/a.bin": DATA}
    assert [path for path, _ in server.asked] == ["/slow", "/b"]


def test_a_slow_server_is_waited_for_while_it_keeps_the_least_rate(server: Server, place: Place) -> None:
    server.manners["/a"] = ["cut:65536", "stall:65536", "ok"]
    place.fetch(source_of(server.url("/a")), least_rate=(1e5, 4))
    assert place.content() == {"deep/a.bin": DATA}


def test_a_server_that_sends_more_than_the_file_is_stopped_there(server: Server, place: Place) -> None:
    server.manners["/a"] = ["endless"]
    place.fetch(source_of(server.url("/a"), server.url("/b")))
    assert place.content() == {"deep/a.bin": DATA}
    assert [path for path, _ in server.asked] == ["/a", "/a", "/b"]


def test_the_page_of_a_redirect_is_not_read(server: Server, place: Place) -> None:
    server.manners["/old"] = ["page"]
    place.fetch(source_of(server.url("/old")))
    assert place.content() == {"deep/a.bin": DATA}


def test_a_reply_of_too_many_headers_leads_to_the_next_url(server: Server, place: Place) -> None:
    server.manners["/a"] = ["headers"]
    place.fetch(source_of(server.url("/a"), server.url("/b")))
    assert place.content() == {"deep/a.bin": DATA}


def test_a_server_error_leads_to_the_next_url(server: Server, place: Place) -> None:
    server.manners["/a"] = ["500"]
    place.fetch(source_of(server.url("/a"), server.url("/b")))
    assert place.content() == {"deep/a.bin": DATA}
    assert [path for path, _ in server.asked] == ["/a", "/b"]


def test_a_refused_range_without_a_part_leads_to_the_next_url(server: Server, place: Place) -> None:
    server.manners["/a"] = ["416"]
    place.fetch(source_of(server.url("/a"), server.url("/b")))
    assert place.content() == {"deep/a.bin": DATA}
    assert [path for path, _ in server.asked] == ["/a", "/b"]


@pytest.mark.parametrize("manner", ["wrong", "long"])
def test_wrong_bytes_are_fetched_anew_once_and_then_elsewhere(server: Server, place: Place, manner: str) -> None:
    server.manners["/a"] = [manner]
    place.fetch(source_of(server.url("/a"), server.url("/b")))
    assert place.content() == {"deep/a.bin": DATA}
    assert [path for path, _ in server.asked] == ["/a", "/a", "/b"]


def test_a_part_of_wrong_bytes_does_not_spoil_the_right_url(server: Server, place: Place) -> None:
    server.manners["/a"] = ["cut:9", "404"]
    source = source_of(server.url("/a"), server.url("/b"))
    place.scratch.mkdir()
    refused(place, source_of(server.url("/a")))
    (part,) = place.parts()
    part.write_bytes(b"nonsense!")
    place.fetch(source)
    assert place.content() == {"deep/a.bin": DATA}


def test_bytes_that_are_wrong_everywhere_never_get_the_final_name(server: Server, place: Place) -> None:
    server.manners["/a"] = ["wrong"]
    text = refused(place, source_of(server.url("/a")))
    assert hashlib.sha256(WRONG).hexdigest() in text and hashlib.sha256(DATA).hexdigest() in text
    assert place.parts() == []


def test_what_cannot_be_reached_is_said_with_file_url_hash_size_and_place(server: Server, place: Place) -> None:
    server.manners["/gone"] = ["404"]
    server.http.server_close()
    server.http.shutdown()
    urls = (server.url("/a"), server.url("/gone"))
    text = refused(place, source_of(*urls, note="ask the author"))
    for piece in (
        "leaves/deep/a.bin",
        *urls,
        "no connection",
        hashlib.sha256(DATA).hexdigest(),
        "200,000 bytes",
        "$ESPALIER_MIRROR/m/a.bin",
        "ask the author",
    ):
        assert piece in text


def test_a_file_without_a_url_says_so(place: Place) -> None:
    text = refused(place, source_of(note="by hand"), mirror=place.mirror)
    assert f"{place.mirror}/m/a.bin is not there" in text and "by hand" in text
    assert "no public URL" in refused(place, source_of(note="by hand"))


def mirrored(place: Place, data: bytes) -> None:
    (place.mirror / "m").mkdir(parents=True)
    (place.mirror / "m/a.bin").write_bytes(data)


def test_the_mirror_comes_first_and_the_web_is_left_alone(server: Server, place: Place) -> None:
    mirrored(place, DATA)
    place.fetch(source_of(server.url("/a")), mirror=place.mirror)
    assert place.content() == {"deep/a.bin": DATA} and server.asked == []


def test_a_file_that_the_mirror_lacks_comes_from_the_web(server: Server, place: Place) -> None:
    place.fetch(source_of(server.url("/a")), mirror=place.mirror)
    assert place.content() == {"deep/a.bin": DATA}


def test_a_wrong_file_in_the_mirror_is_an_error_that_names_it(server: Server, place: Place) -> None:
    mirrored(place, WRONG)
    text = refused(place, source_of(server.url("/a")), mirror=place.mirror)
    assert str(place.mirror / "m/a.bin") in text
    assert hashlib.sha256(WRONG).hexdigest() in text and hashlib.sha256(DATA).hexdigest() in text
    assert server.asked == []


def zipped(tmp_path: Path, members: dict[str, bytes]) -> bytes:
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return (tmp_path / "z.zip").read_bytes()


def test_an_archive_is_unpacked_and_not_kept(place: Place, tmp_path: Path) -> None:
    data = zipped(tmp_path, {"in/one": b"1", "two": b"2"})
    mirrored(place, data)
    for _ in range(2):
        place.fetch(source_of(data=data, unpack=True, name="a.zip"), mirror=place.mirror)
        assert place.content() == {"in/one": b"1", "two": b"2"}


def test_a_packed_file_is_named_as_published_not_by_its_hash_nor_by_what_the_gz_says(place: Place) -> None:
    packed = io.BytesIO()
    with gzip.GzipFile("other.txt", "wb", fileobj=packed, mtime=0) as file:
        file.write(b"lamp\n")
    mirrored(place, packed.getvalue())
    source = source_of(data=packed.getvalue(), unpack=True, name="deep/lines.txt.gz")
    place.fetch(source, mirror=place.mirror)
    assert place.content() == {"deep/lines.txt": b"lamp\n"}


def test_an_archive_that_escapes_leaves_no_folder(place: Place, tmp_path: Path) -> None:
    data = zipped(tmp_path, {"fine": b"1", "../evil": b"2"})
    mirrored(place, data)
    with pytest.raises(ArtifactError, match="leads out of its folder"):
        place.fetch(source_of(data=data, unpack=True), mirror=place.mirror)
    assert not place.folder.exists() and not list(tmp_path.rglob("*evil*"))


def test_a_folder_that_is_right_is_left_alone_and_one_that_is_not_is_replaced(server: Server, place: Place) -> None:
    source = source_of(server.url("/a"))
    place.fetch(source)
    place.fetch(source)
    assert len(server.asked) == 1
    (place.folder / "stray").write_text("of an older catalogue")
    place.fetch(source)
    assert place.content() == {"deep/a.bin": DATA}
    (place.folder / "deep/a.bin").write_bytes(WRONG)
    place.fetch(source)
    assert place.content() == {"deep/a.bin": DATA}


def test_a_full_disk_is_one_line(server: Server, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Path.open

    def full(self: Path, mode: str = "r", *args: Any, **options: Any) -> Any:
        if mode == "wb":
            raise OSError(errno.ENOSPC, "No space left on device")
        return opened(self, mode, *args, **options)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(ArtifactError, match="No space left on device") as caught:
        place.fetch(source_of(server.url("/a")))
    assert "\n" not in str(caught.value) and not place.folder.exists()


def test_two_processes_fetch_one_source_once(server: Server, place: Place) -> None:
    source = source_of(server.url("/a"))
    program = (
        "import sys; from pathlib import Path; from espalier.corpora.catalogue import Source;"
        "from espalier.corpora.download import fetch;"
        "fetch(Source.model_validate_json(sys.argv[1]), Path(sys.argv[2]), mirror=None, scratch=Path(sys.argv[3]))"
    )
    arguments = [sys.executable, "-c", program, source.model_dump_json(), str(place.folder), str(place.scratch)]
    both = [subprocess.Popen(arguments, stderr=subprocess.PIPE) for _ in range(2)]
    assert [(process.communicate(timeout=60)[1], process.returncode) for process in both] == [(b"", 0)] * 2
    assert place.content() == {"deep/a.bin": DATA}
    assert len(server.asked) == 1
