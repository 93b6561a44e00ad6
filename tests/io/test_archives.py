"""Archives: built here, byte by byte where need be, and never allowed to do harm."""

from __future__ import annotations

import errno
import gzip
import io
import random
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.io.archives import unpack
from espalier.io.errors import ArtifactError
from espalier.io.files import atomic_folder

TEXT = b"one leaf\nand another\n" * 5


def zip_of(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def tar_of(path: Path, members: list[tarfile.TarInfo | str], data: bytes = TEXT, *, packed: bool = True) -> Path:
    with tarfile.open(path, "w:gz" if packed else "w") as archive:
        for member in members:
            info = tarfile.TarInfo(member) if isinstance(member, str) else member
            info.size = len(data) if info.isreg() else 0
            archive.addfile(info, io.BytesIO(data) if info.isreg() else None)
    return path


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def found(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_zip_is_unpacked_with_its_folders(tmp_path: Path) -> None:
    archive = zip_of(tmp_path / "a.zip", {"top.txt": TEXT, "deep/er/leaf.txt": b"", "deep/empty/": b""})
    unpack(archive, tmp_path / "out")
    assert found(tmp_path / "out") == {"top.txt": TEXT, "deep/er/leaf.txt": b""}
    assert (tmp_path / "out/deep/empty").is_dir()


@pytest.mark.parametrize("packed", [True, False])
def test_a_tar_is_unpacked_packed_or_not_whatever_it_is_called(tmp_path: Path, packed: bool) -> None:
    archive = tar_of(tmp_path / "oddly.named", ["a/one", special("b", tarfile.DIRTYPE), "b/two"], packed=packed)
    unpack(archive, tmp_path / "out")
    assert found(tmp_path / "out") == {"a/one": TEXT, "b/two": TEXT}


@pytest.mark.parametrize("data", [TEXT, b"", b"x" * 600])
def test_a_gz_becomes_the_file_it_packs(tmp_path: Path, data: bytes) -> None:
    archive = tmp_path / "lines.txt.gz"
    archive.write_bytes(gzip.compress(data))
    unpack(archive, tmp_path / "out")
    assert found(tmp_path / "out") == {"lines.txt": data}


ESCAPES = ["../evil", "a/../../evil", "/evil", "..", ".", "a/..", "..\\evil", "C:evil", "C:\\evil"]


@pytest.mark.parametrize("name", ESCAPES)
def test_a_zip_that_escapes_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    archive = zip_of(tmp_path / "a.zip", {name: b"x"})
    with pytest.raises(ArtifactError, match="leads out of its folder"):
        unpack(archive, tmp_path / "in/out")
    assert not list(tmp_path.rglob("*evil*"))


@pytest.mark.parametrize("name", ESCAPES)
def test_a_tar_that_escapes_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    archive = tar_of(tmp_path / "a.tgz", [name])
    with pytest.raises(ArtifactError, match="leads out of its folder"):
        unpack(archive, tmp_path / "in/out")
    assert not list(tmp_path.rglob("*evil*"))


@settings(deadline=None, max_examples=60)
@given(name=st.text(alphabet="./\\ab: é", min_size=1, max_size=12))
def test_no_name_whatever_leads_out_of_the_folder(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    root = tmp_path_factory.mktemp("names")
    archive, out = zip_of(root / "a.zip", {name: b"x"}), root / "in" / "out"
    before = set(root.rglob("*"))
    try:
        unpack(archive, out)
    except ArtifactError as error:
        assert "\n" not in str(error)
    assert all(path.is_relative_to(root / "in") for path in set(root.rglob("*")) - before)


@pytest.mark.parametrize(
    "member",
    [
        special("link", tarfile.SYMTYPE, "/etc/passwd"),
        special("link", tarfile.SYMTYPE, "inside"),
        special("link", tarfile.LNKTYPE, "../other"),
        special("device", tarfile.CHRTYPE),
        special("pipe", tarfile.FIFOTYPE),
    ],
    ids=["symlink-out", "symlink-in", "hardlink", "device", "fifo"],
)
def test_a_tar_with_links_or_devices_is_refused(tmp_path: Path, member: tarfile.TarInfo) -> None:
    archive = tar_of(tmp_path / "a.tgz", [member])
    with pytest.raises(ArtifactError, match=f"'{member.name}' is a link or a device"):
        unpack(archive, tmp_path / "out")


def test_a_zip_with_a_symlink_is_refused(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(ArtifactError, match="is a link or a device"):
        unpack(tmp_path / "a.zip", tmp_path / "out")


def test_a_tar_never_sets_the_executable_bit(tmp_path: Path) -> None:
    info = tarfile.TarInfo("run.sh")
    info.mode = 0o4777
    unpack(tar_of(tmp_path / "a.tgz", [info]), tmp_path / "out")
    assert not (tmp_path / "out/run.sh").stat().st_mode & (stat.S_IXUSR | stat.S_ISUID)


def bombs(folder: Path) -> list[Path]:
    zeros = bytes(1_000_000)
    (folder / "z.gz").write_bytes(gzip.compress(zeros))
    return [zip_of(folder / "z.zip", {"z": zeros}), tar_of(folder / "z.tgz", ["z"], zeros), folder / "z.gz"]


def test_bombs_stop_at_the_size_cap(tmp_path: Path) -> None:
    for bomb in bombs(tmp_path):
        with pytest.raises(ArtifactError, match="more than 100,000 bytes"):
            unpack(bomb, tmp_path / f"{bomb.name}.out", max_bytes=100_000, max_ratio=1e9)
        assert sum(len(data) for data in found(tmp_path / f"{bomb.name}.out").values()) <= 100_000


def test_bombs_stop_at_the_ratio_cap(tmp_path: Path) -> None:
    for bomb in bombs(tmp_path):
        with pytest.raises(ArtifactError, match="more than 50 times its size"):
            unpack(bomb, tmp_path / f"{bomb.name}.out", max_ratio=50)


def test_a_zip_that_understates_a_size_is_stopped_all_the_same(tmp_path: Path) -> None:
    archive = zip_of(tmp_path / "a.zip", {"z": bytes(1_000_000)})
    honest = (1_000_000).to_bytes(4, "little")
    archive.write_bytes(archive.read_bytes().replace(honest, (10).to_bytes(4, "little")))
    with pytest.raises(ArtifactError):
        unpack(archive, tmp_path / "out", max_bytes=100_000)
    assert sum(map(len, found(tmp_path / "out").values())) <= 100_000


@pytest.mark.parametrize("size", [0, 1, 9_000, 200_000])
def test_a_small_archive_is_no_bomb_however_well_it_packs(tmp_path: Path, size: int) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(bytes(size), mtime=0))
    tar_of(tmp_path / "a.tgz", ["a"], bytes(size))
    zip_of(tmp_path / "a.zip", {"a": bytes(size)})
    for archive in tmp_path.glob("a.*"):
        unpack(archive, tmp_path / "out" / archive.suffix[1:])
    assert found(tmp_path / "out") == {"gz/a": bytes(size), "tgz/a": bytes(size), "zip/a": bytes(size)}


def test_a_small_bomb_stops_at_what_any_archive_may_hold(tmp_path: Path) -> None:
    for bomb in bombs(tmp_path):
        with pytest.raises(ArtifactError, match="more than 100 times its size"):
            unpack(bomb, tmp_path / f"{bomb.name}.out", min_limit=300_000)
        assert sum(map(len, found(tmp_path / f"{bomb.name}.out").values())) <= 300_000


def test_a_nul_in_a_name_is_refused_by_that_name(tmp_path: Path) -> None:
    zip_of(tmp_path / "a.zip", {"a_b": b"x"})
    (tmp_path / "a.zip").write_bytes((tmp_path / "a.zip").read_bytes().replace(b"a_b", b"a\0b"))
    info = tarfile.TarInfo("c")
    info.pax_headers = {"path": "a\0b"}
    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(info)
    for file in (tmp_path / "a.zip", tmp_path / "a.tar"):
        with pytest.raises(ArtifactError, match=r"member 'a\\x00b' has a NUL in its name"):
            unpack(file, tmp_path / "out")
    assert found(tmp_path / "out") == {}


def test_a_name_of_another_character_set_is_kept_in_some_spelling_and_its_bytes_whole(tmp_path: Path) -> None:
    archive = tmp_path / "songs.zip"
    with zipfile.ZipFile(archive, "w") as members:
        members.writestr("XXXX.txt", "灯\n山外\n")
    archive.write_bytes(archive.read_bytes().replace(b"XXXX", "灯山".encode("gbk")))
    unpack(archive, tmp_path / "songs")
    [song] = (tmp_path / "songs").iterdir()
    assert song.suffix == ".txt" and song.read_text("utf-8") == "灯\n山外\n"


def test_a_name_that_cannot_be_decoded_is_one_line(tmp_path: Path) -> None:
    said_utf8, tar = tmp_path / "songs.zip", tmp_path / "songs.tar"
    with zipfile.ZipFile(said_utf8, "w") as members:
        members.writestr("灯.txt", "灯")
    said_utf8.write_bytes(said_utf8.read_bytes().replace("灯.".encode(), b"\xff\xfe\xfd."))
    with pytest.raises(ArtifactError, match=r"songs\.zip: cannot be read \('utf-8' codec can't decode byte 0xff"):
        unpack(said_utf8, tmp_path / "zip")
    with tarfile.open(tar, "w", format=tarfile.GNU_FORMAT) as members:
        members.addfile(tarfile.TarInfo("\udcff\udcfe.txt"), io.BytesIO())
    with pytest.raises(ArtifactError, match=r"songs\.tar: member '\\udcff\\udcfe\.txt' has a name that is not UTF-8"):
        unpack(tar, tmp_path / "tar")


def test_a_gz_is_named_as_the_caller_says_and_not_as_its_header(tmp_path: Path) -> None:
    with (tmp_path / "5cdd14").open("wb") as raw, gzip.GzipFile("../evil", "wb", fileobj=raw) as file:
        file.write(TEXT)
    unpack(tmp_path / "5cdd14", tmp_path / "out", name="deep/lines.txt")
    assert found(tmp_path / "out") == {"deep/lines.txt": TEXT}
    with pytest.raises(ArtifactError, match="leads out of its folder"):
        unpack(tmp_path / "5cdd14", tmp_path / "in" / "out", name="../evil")


def test_a_header_of_megabytes_is_not_read(tmp_path: Path) -> None:
    info = tarfile.TarInfo("a")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 1 << 31
    (tmp_path / "a.tar").write_bytes(info.tobuf() + bytes(10_240))
    with pytest.raises(ArtifactError, match=r"is damaged \(a header of 2,147,483,648 bytes\)"):
        unpack(tmp_path / "a.tar", tmp_path / "out")


def test_a_negative_size_does_not_read_the_same_header_again_and_again(tmp_path: Path) -> None:
    header = bytearray(tarfile.TarInfo("a").tobuf())
    header[124:136] = b"\xff" * 10 + b"\xfe\x00"  # -512 in base 256
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    (tmp_path / "a.tar").write_bytes(bytes(header) + bytes(10_240))
    with pytest.raises(ArtifactError, match=r"is damaged \(a size of -512 bytes\)|cannot be read"):
        unpack(tmp_path / "a.tar", tmp_path / "out")


@pytest.mark.parametrize("kind", ["tar", "tgz", "gz", "stored", "deflated", "bzip2", "lzma"])
def test_a_damaged_archive_is_one_line(tmp_path: Path, kind: str) -> None:
    whole, rng = tmp_path / "a", random.Random(kind)
    if kind in ("tar", "tgz"):
        tar_of(whole, ["a/one", "b" * 120, "é"], packed=kind == "tgz")
    elif kind == "gz":
        whole.write_bytes(gzip.compress(TEXT))
    else:
        with zipfile.ZipFile(whole, "w", getattr(zipfile, f"ZIP_{kind.upper()}")) as archive:
            archive.writestr("a/one", TEXT)
            archive.writestr("é", TEXT)
    data = whole.read_bytes()
    for number in range(120):
        changed = bytearray(data)
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(min(len(changed), 3000))
            changed[place : place + rng.choice((0, 1, 1, 9))] = rng.randbytes(rng.choice((0, 1, 1, 9)))
        whole.write_bytes(changed)
        try:
            unpack(whole, tmp_path / f"out{number}", max_bytes=1 << 20)
        except ArtifactError as error:
            assert "\n" not in str(error)


def test_too_many_members_are_refused(tmp_path: Path) -> None:
    names = [f"n{index}" for index in range(11)]
    for archive in (zip_of(tmp_path / "a.zip", dict.fromkeys(names, b"")), tar_of(tmp_path / "a.tgz", [*names], b"")):
        with pytest.raises(ArtifactError, match="more than 10 members"):
            unpack(archive, tmp_path / f"{archive.name}.out", max_members=10)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_stands_there_twice_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("same", "1")
        archive.writestr("same", "2")
    for twice in (tmp_path / "a.zip", tar_of(tmp_path / "a.tgz", ["same", "same"])):
        with pytest.raises(ArtifactError, match="holds 'same' twice"):
            unpack(twice, tmp_path / f"{twice.name}.out")


def test_an_encrypted_zip_is_refused(tmp_path: Path) -> None:
    archive = zip_of(tmp_path / "a.zip", {"secret": TEXT})
    data = bytearray(archive.read_bytes())
    data[6] |= 1  # the local header's flags
    data[data.index(b"PK\x01\x02") + 8] |= 1  # the directory's
    archive.write_bytes(data)
    with pytest.raises(ArtifactError, match="'secret' is encrypted"):
        unpack(archive, tmp_path / "out")


@pytest.mark.parametrize("kind", ["zip", "tgz", "gz"])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.97])
def test_a_truncated_archive_is_refused(tmp_path: Path, kind: str, share: float) -> None:
    noise = bytes((index * index * 31 + index // 7) % 251 for index in range(5000))
    whole = tmp_path / f"a.{kind}"
    if kind == "zip":
        zip_of(whole, {"a": noise, "b": noise[::-1]})
    elif kind == "tgz":
        tar_of(whole, ["a", "b"], noise)
    else:
        whole.write_bytes(gzip.compress(noise))
    whole.write_bytes(whole.read_bytes()[: int(whole.stat().st_size * share)])
    with pytest.raises(ArtifactError, match="is damaged"):
        unpack(whole, tmp_path / "out")


def test_a_tar_with_a_damaged_second_header_does_not_lose_its_members_in_silence(tmp_path: Path) -> None:
    archive = tar_of(tmp_path / "a.tar", ["a", "b"], packed=False)
    data = bytearray(archive.read_bytes())
    data[1024 + 150] ^= 0xFF  # in the checksum of the second header
    archive.write_bytes(data)
    with pytest.raises(ArtifactError, match="is damaged"):
        unpack(archive, tmp_path / "out")


def test_a_flipped_byte_in_a_tgz_is_found_by_its_checksum(tmp_path: Path) -> None:
    archive = tar_of(tmp_path / "a.tgz", ["a"])
    data = bytearray(archive.read_bytes())
    data[-6] ^= 0xFF  # in the CRC of the gz
    archive.write_bytes(data)
    with pytest.raises(ArtifactError, match="is damaged"):
        unpack(archive, tmp_path / "out")


@pytest.mark.parametrize("data", [b"", b"just text", b"PK", b"\x1f\x8b\x08\x00"])
def test_what_is_no_archive_is_named_as_such(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(ArtifactError) as caught:
        unpack(tmp_path / "a.zip", tmp_path / "out")
    assert "a.zip" in str(caught.value) and "\n" not in str(caught.value)


def test_a_full_disk_is_one_line_and_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = zip_of(tmp_path / "a.zip", {"a": TEXT})
    opened = Path.open

    def full(self: Path, mode: str = "r", *args: object, **options: object) -> object:
        if mode == "xb":
            raise OSError(errno.ENOSPC, "No space left on device")
        return opened(self, mode, *args, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(ArtifactError, match="No space left on device"), atomic_folder(tmp_path / "out") as part:
        unpack(archive, part)
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]
