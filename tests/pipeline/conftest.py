"""A small copy of the project with small params.yaml files, built by `espalier repro`; and the command line in it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from filelock import FileLock

sys.path.insert(0, str(Path(__file__).parent))
from forked_commands import programs
from project_copies import Copies, environment_without_git, git
from small_params import empty, nursery, small, write

ROOT = Path(__file__).resolve().parents[2]

#: Title, and paragraphs: invented lines. One has a lost passage, one is too short, two are the same.
POEMS = [
    ("小窗", ["瓦上晴光一寸，阶前细草三分。", "谁把新茶煮沸，隔墙闻。"]),
    ("小窗", ["柳外卖花声远，桥边晾网人归。", "一盏灯摇水阁，雁初飞。"]),
    ("长街", ["巷口风来纸鸢，井边月上青苔。", "数声更鼓到楼台。"]),
    ("长街", ["旧伞收起春雨，新靴踏破霜苔。", "门前梅子为谁开？"]),
    ("长街", ["旧伞收起春雨，新靴踏破霜苔。", "门前梅子为谁开？"]),
    ("小窗", ["瓦上□□一寸，阶前细草三分。", "谁把新茶煮沸，隔墙闻。"]),
    ("长街", ["夜。"]),
    ("短笛", ["一叶舟过渡口，两行鹭下汀洲。", "渔翁不语钓清秋。"]),
]


@dataclass(frozen=True)
class Answer:
    """What a command said."""

    status: int
    out: str
    err: str


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Of a subprocess: this Python first, and nothing of the tree that the tests stand in."""
    kept = environment_without_git()
    kept.pop("PYTHONPATH", None)
    return {
        **kept,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "DVC_NO_ANALYTICS": "1",
        "DVC_SITE_CACHE_DIR": str(folder.parent / "dvc"),
        "ESPALIER_DEVICE": "cpu",
        "OMP_NUM_THREADS": "1",
        **more,
    }


def call(folder: Path, *command: str, **more: str) -> Answer:
    """A command in a folder of a project; commands of DVC and stages are forks, but for those of `espalier repro`."""
    given = environment(folder, **more)
    if command[:3] != ("python", "pipeline", "repro"):
        given["PATH"] = f"{programs()}:{given['PATH']}"
    done = subprocess.run(command, cwd=folder, env=given, capture_output=True, text=True, check=False, timeout=900)
    return Answer(done.returncode, done.stdout, done.stderr)


def copied(root: Path, target: Path) -> None:
    """The working tree as it is: what git tracks or does not ignore, links as links."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, capture_output=True, check=True
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        source, place = root / name, target / name
        if not source.is_symlink() and not source.exists():
            continue  # deleted, and not yet committed
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, place, follow_symlinks=False)


def repository(root: Path, target: Path) -> None:
    """A repository with small params, of which nothing is built."""
    copied(root, target)
    for folder, tree in (("", nursery()), ("profiles/small", small()), ("profiles/paper", empty("paper"))):
        for stale in ("metrics", "data/curves", "dvc.lock"):
            path = target / folder / stale
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        # As in the project, where git keeps the folders of metrics before anything has run.
        for group in yaml.safe_load((target / "dvc.yaml").read_text(encoding="utf-8"))["metrics"]:
            (target / folder / group).mkdir(parents=True)
            (target / folder / group / ".gitkeep").touch()
        write(target / folder, tree)
    sources = {"sources": published(target / "mirror")}
    (target / "pipeline/params/sources.yaml").write_text(yaml.safe_dump(sources, allow_unicode=True), encoding="utf-8")
    committed(target)


def committed(folder: Path) -> None:
    """Make a repository of a folder, with one commit."""
    for command in (
        ["git", "init", "-q"],
        ["git", "-c", "core.looseCompression=0", "add", "-A"],  # of models, which do not become smaller
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "small"],
    ):
        answer = call(folder, *command)
        assert answer.status == 0, answer.err


def made(root: Path, target: Path) -> None:
    """A project with small params, built."""
    repository(root, target)
    answer = call(target, "python", "pipeline", "repro", "-j", "2")
    assert answer.status == 0, answer.out + answer.err
    # A pack of all objects is copied faster than a file for each.
    git(target, "-c", "pack.compression=0", "repack", "-adq", "--window=0")
    (target / "first.log").write_text(answer.err, encoding="utf-8")  # last: it says that all is made


def published(mirror: Path) -> dict[str, Any]:
    """Put a made-up source into a mirror; its entry in sources.yaml."""
    poems = [{"author": "甲", "rhythmic": title, "paragraphs": lines} for title, lines in POEMS]
    data = json.dumps(poems, ensure_ascii=False).encode()
    mirror.mkdir()
    (mirror / "ci.json").write_bytes(data)
    file = {
        "name": "ci.song.0.json",
        "urls": ["http://127.0.0.1:9/ci.json"],
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "mirror": "ci.json",
    }
    return {"madeup": {"title": "Made up", "licence": "none needed", "citation": "none", "files": [file]}}


@pytest.fixture(scope="session")
def built(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built project, to look at, in which nothing runs that writes; made once for all processes that test."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "built"
    with FileLock(f"{folder}.lock"):
        if not (folder / "first.log").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            made(pytestconfig.rootpath, folder)
    return folder


@pytest.fixture
def clone(pytestconfig: pytest.Config, tmp_path: Path) -> Path:
    """The project itself, committed in a repository of its own, to change."""
    folder = tmp_path / "clone"
    folder.mkdir()
    copied(pytestconfig.rootpath, folder)
    committed(folder)
    return folder


@pytest.fixture
def unbuilt(pytestconfig: pytest.Config, tmp_path: Path) -> Path:
    """A project of which nothing is built, to change."""
    folder = tmp_path / "unbuilt"
    folder.mkdir()
    repository(pytestconfig.rootpath, folder)
    return folder


@pytest.fixture(scope="session")
def copies(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Copies:
    """Copies of the built project."""
    return Copies(built, tmp_path_factory.mktemp("copies"))


@pytest.fixture
def project(request: pytest.FixtureRequest, copies: Copies, tmp_path: Path) -> Iterator[Path]:
    """A copy of the built project, to change. It stays where it is if the test fails."""
    failures = request.session.testsfailed
    with copies.at(tmp_path / "project", lambda: request.session.testsfailed > failures) as folder:
        yield folder


@pytest.fixture(scope="module")
def shared(request: pytest.FixtureRequest, copies: Copies, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy for a module whose tests leave it as they found it. It stays where it is if one fails."""
    failures, folder = request.session.testsfailed, tmp_path_factory.mktemp("shared") / "project"
    with copies.at(folder, lambda: request.session.testsfailed > failures):
        yield folder


@pytest.fixture
def run() -> Callable[..., Answer]:
    """A command as a process of its own: `run(folder, "dvc", "repro")`."""
    return call


@pytest.fixture
def cli(
    request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Answer]:
    """The command line, in this process: `cli(folder, "generate", ...)`, called in that folder or in `where`."""
    from espalier.cli import app as module
    from espalier.cli.streams import QUIET
    from espalier.inference import released
    from pipeline import layout

    ours = released.RELEASED.parent == ROOT  # else the test has its own

    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    if "synthetic" not in request.keywords:  # the note that every model of a small project would have
        monkeypatch.setattr("espalier.cli.command.note_synthetic", lambda system: None)
    monkeypatch.setenv("ESPALIER_DEVICE", "cpu")
    monkeypatch.setenv(QUIET, "")  # that `-q` of one test does not silence the next

    def answer(folder: Path, *command: str, where: Path | None = None) -> Answer:
        profiles = {"nursery": folder, "small": folder / "profiles/small", "paper": folder / "profiles/paper"}
        monkeypatch.setattr(layout, "PROFILES", profiles)
        if ours:
            monkeypatch.setattr(released, "RELEASED", folder / "released")
        monkeypatch.chdir(where or folder)
        monkeypatch.setattr(sys, "argv", ["espalier", *command])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            module.main()
        said = capsys.readouterr()
        code = ended.value.code
        if isinstance(code, str):  # as Python itself does it
            return Answer(1, said.out, f"{said.err}{code}\n")
        return Answer(int(code or 0), said.out, said.err)

    return answer


@pytest.fixture
def refused(cli: Callable[..., Answer]) -> Callable[..., str]:
    """A command that must fail in one line, print nothing else and leave nothing behind; the line."""

    def line(folder: Path, *command: str) -> str:
        answer = cli(folder, *command)
        assert answer.status != 0
        assert answer.out == ""
        assert answer.err.startswith("espalier: ") and answer.err.count("\n") == 1, answer.err
        assert "Traceback" not in answer.err
        assert not list(folder.rglob("*.part"))
        return answer.err.strip()

    return line


@pytest.fixture
def edit() -> Callable[..., None]:
    """Change a value in a YAML file: `edit(path, "runs.songnet_free.decoder.top_k", 3)`."""

    def change(path: Path, key: str, value: Any) -> None:
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
        *folders, last = key.split(".")
        place = tree
        for name in folders:
            place = place[name]
        place[last] = value
        path.write_text(yaml.safe_dump(tree, allow_unicode=True, sort_keys=False), encoding="utf-8")

    return change
