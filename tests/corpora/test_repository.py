"""Files of git repositories: exactly those of the commit, verified, from the mirror or by git, or one line."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from espalier.corpora.catalogue import Source
from espalier.corpora.download import fetch
from espalier.io.errors import SourceError

#: CRLF and a filter attribute: what is written must be the committed bytes all the same.
FILES = {
    "LICENSE": b"Anyone may use this.\n",
    "forms/one.json": b'["\xe4\xb8\x80"]\r\n',
    "forms/deep/two.json": b"[2]\n",
    "code/run.py": b"raise SystemExit\n",
    ".gitattributes": b"*.json text eol=lf export-ignore\n",
}
PATHS = ["LICENSE", "forms"]


def git(folder: Path, *command: str) -> str:
    identity = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
                for what, value in (("NAME", "t"), ("EMAIL", "t@example.org"))}  # fmt: skip
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(["git", *command], cwd=folder, env=kept | identity, capture_output=True, check=True)
    return done.stdout.decode().strip()


def written(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def expected() -> dict[str, bytes]:
    return {name: data for name, data in FILES.items() if name.split("/")[0] in PATHS}


def digest_of(files: dict[str, bytes]) -> str:
    lines = (f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits; the later one has changed a file."""
    folder = written(tmp_path / "repository", {name: data for name, data in FILES.items() if name[0] != "."})
    git(folder, "init", "-q")
    git(folder, "-c", "core.autocrlf=false", "add", "-A")
    written(folder, {".gitattributes": FILES[".gitattributes"]})
    git(folder, "add", ".gitattributes")
    git(folder, "commit", "-qm", "forms")
    git(folder, "tag", "first")
    written(folder, {"forms/deep/two.json": b"[3]\n"})
    git(folder, "add", "forms/deep/two.json")
    git(folder, "commit", "-qm", "another two")
    return folder


def source_of(repository: Path, **changed: Any) -> Source:
    files = expected()
    entry = {
        "url": f"file://{repository}", "commit": git(repository, "rev-parse", "first"), "paths": PATHS,
        "sha256": digest_of(files), "files": len(files), "bytes": sum(map(len, files.values())), "mirror": "m/forms",
    }  # fmt: skip
    return Source.model_validate({"title": "T", "licence": "L", "citation": "C", "git": entry | changed})


def content(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def refused(source: Source, root: Path, mirror: Path | None = None) -> str:
    with pytest.raises(SourceError) as caught:
        fetch(source, root / "raw", mirror=mirror, scratch=root / "scratch")
    assert "\n" not in str(caught.value) and not (root / "raw").exists()
    return str(caught.value)


def test_the_named_paths_of_the_commit_are_written_byte_for_byte(repository: Path, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    fetch(source_of(repository), tmp_path / "raw", mirror=None, scratch=tmp_path / "scratch",
          report=lambda *told: seen.append(told))  # fmt: skip
    assert content(tmp_path / "raw") == expected()
    assert seen == [("m/forms", 34, 34)]
    assert [path.suffix for path in (tmp_path / "scratch").iterdir()] == [".lock"]


def test_a_complete_folder_is_left_alone_and_a_changed_one_replaced(repository: Path, tmp_path: Path) -> None:
    source = source_of(repository)
    fetch(source, tmp_path / "raw", mirror=None, scratch=tmp_path / "scratch")
    (tmp_path / "raw/forms/stray").write_text("of another commit")
    fetch(source, tmp_path / "raw", mirror=None, scratch=tmp_path / "scratch")
    assert content(tmp_path / "raw") == expected()
    repository.rename(tmp_path / "gone")
    fetch(source, tmp_path / "raw", mirror=None, scratch=tmp_path / "scratch")
    assert content(tmp_path / "raw") == expected()


def test_the_mirror_comes_first_and_may_hold_more(repository: Path, tmp_path: Path) -> None:
    written(tmp_path / "mirror/m/forms", FILES)
    source = source_of(repository, url="file:///nowhere")
    fetch(source, tmp_path / "raw", mirror=tmp_path / "mirror", scratch=tmp_path / "scratch")
    assert content(tmp_path / "raw") == expected()


def test_a_mirror_without_the_folder_leads_to_git(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "mirror").mkdir()
    fetch(source_of(repository), tmp_path / "raw", mirror=tmp_path / "mirror", scratch=tmp_path / "scratch")
    assert content(tmp_path / "raw") == expected()


def test_a_mirror_that_lacks_or_changes_a_file_is_named(repository: Path, tmp_path: Path) -> None:
    mirror, source = tmp_path / "mirror", source_of(repository)
    folder = written(mirror / "m/forms", FILES)
    (folder / "forms/deep/two.json").write_bytes(b"[3]\n")
    changed = digest_of(expected() | {"forms/deep/two.json": b"[3]\n"})
    text = refused(source, tmp_path, mirror)
    assert str(folder) in text and f"3 files, 34 bytes, digest {changed}" in text
    assert f"expected 3 files, 34 bytes, digest {digest_of(expected())}" in text
    (folder / "forms/deep/two.json").unlink()
    assert "2 files, 30 bytes" in refused(source, tmp_path, mirror)
    (folder / "LICENSE").unlink()
    assert f"{folder / 'LICENSE'}: no such file" in refused(source, tmp_path, mirror)


def test_another_commit_than_the_digest_names_is_refused(repository: Path, tmp_path: Path) -> None:
    later = git(repository, "rev-parse", "HEAD")
    text = refused(source_of(repository, commit=later), tmp_path)
    actual = digest_of(expected() | {"forms/deep/two.json": b"[3]\n"})
    assert later in text and actual in text and digest_of(expected()) in text


def test_a_commit_that_is_gone_is_one_line(repository: Path, tmp_path: Path) -> None:
    text = refused(source_of(repository, commit="1234567890" * 4), tmp_path)
    assert f"commit {'1234567890' * 4} is not in the repository" in text and "$ESPALIER_MIRROR/m/forms" in text


def test_a_repository_that_is_gone_is_one_line(repository: Path, tmp_path: Path) -> None:
    text = refused(source_of(repository, url=f"file://{tmp_path}/nowhere"), tmp_path)
    assert f"file://{tmp_path}/nowhere" in text and "does not appear to be a git repository" in text


def test_a_path_that_the_commit_lacks_is_named(repository: Path, tmp_path: Path) -> None:
    assert "has no 'tunes'" in refused(source_of(repository, paths=["LICENSE", "tunes"]), tmp_path)


def test_a_link_in_the_repository_is_refused(repository: Path, tmp_path: Path) -> None:
    (repository / "forms/passwd").symlink_to("/etc/passwd")
    git(repository, "add", "forms/passwd")
    git(repository, "commit", "-qm", "link")
    text = refused(source_of(repository, commit=git(repository, "rev-parse", "HEAD")), tmp_path)
    assert "'forms/passwd' is no plain file" in text


def test_a_machine_without_git_is_told_so(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = source_of(repository)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "the command git is not installed" in refused(source, tmp_path)
