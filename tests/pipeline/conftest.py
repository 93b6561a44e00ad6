"""A small copy of the project with small params.yaml files, which `dvc repro` has built; and the command line in it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from filelock import FileLock

#: A corpus's nine places for sources, all empty.
NONE = ".none: &none\n" + "".join(f"  source_{slot}: none\n" for slot in range(1, 10))

#: Without root, profile and what else stands at the head of a params.yaml: that is taken from the project's own.
NURSERY = (
    NONE
    + """
parsers:
  words: {language: zh, backend: jieba, model: none, treebank: none, seed: 1, options: {}, training: {}}
corpora:
  tiny:
    task: verse
    language: zh
    reader: verse_zh
    options: {count: 60, seed: 1}
    <<: *none
    parser: none
    filters: {min_units: 2, deduplicate: true, max_bad_fraction: 0.5}
    split: {kind: random, seed: 1, dev: 8, test: 10}
  said:
    task: pairs
    language: en
    reader: paraphrase_en
    options: {count: 60, seed: 1}
    <<: *none
    parser: none
    filters: {without_identical: true}
    split: {kind: group, seed: 1, dev: 6, test: 6, sides: false}
  talk:
    task: pairs
    language: zh
    reader: dialogue_zh
    options: {count: 60, seed: 1}
    <<: *none
    parser: none
    filters: {without_identical: true}
    split: {kind: group, seed: 1, dev: 6, test: 8, sides: false}
datasets:
  linearize:
    said: {form: paraphrase, corpus: said, vocab_from: none, pieces: 200, depth: 8}
    tiny: {form: verse, corpus: tiny, vocab_from: none, min_count: 1, units: 32, length: 32, max_tokens: 200}
  canonicalize:
    talk: {form: dialogue, corpus: talk, vocab_from: none, words: 250, coverage: 1.0, least: 1, most: 24}
models:
  songnet: &model
    title: SongNet
    paper: songnet
    arch: songnet
    dataset: tiny
    init: none
    seeds: [1]
    default_for: [generate.zh, polish.zh]
    network: &network {layers: 1, width: 32, heads: 2, inner: 64, dropout: 0.1, positions: 250}
    training: {steps: 20, batch_tokens: 1024, schedule: linear, rate: 0.01, warmup: 5, evaluate_every: 8}
  songnet_no_s:
    <<: *model
    title: Without S
    default_for: []
    network: {<<: *network, symbols: [c, p]}
  expander: &guig
    <<: *model
    title: Expander
    paper: guig
    arch: guig
    dataset: said
    default_for: [expand.en]
    network: &tree
      writes: tree
      layers: 1
      width: 16
      heads: 2
      inner: 16
      head_width: 8
      positions: 128
      encoders: [{reads: [source_tree], layers: 1, cross_heads: 1}, {reads: [template], layers: 1, cross_heads: 1}]
  writer:
    <<: *guig
    title: Writer
    default_for: [paraphrase.en]
    network:
      <<: *tree
      writes: text
      encoders: [{reads: [source], layers: 1}, {reads: [target_tree], layers: 1, cross_heads: 2, attention: path}]
  grower:
    <<: *model
    title: Grower
    paper: x2tree
    arch: x2tree
    dataset: talk
    default_for: [reply.zh]
    network: {width: 12, word: 8, readout: 8, scale: 0.1, positions: 32}
    training:
      {steps: 20, batch_tokens: 512, schedule: linear, rate: 0.01, warmup: 5, evaluate_every: 8, precision: fp32}
runs:
  songnet_free: &run
    paper: songnet
    model: songnet
    corpus: tiny
    split: test
    guidance: none
    annotation: none
    lm: none
    decoder: {mode: free, top_k: 8}
    samples: 1
    seed: 1
    form: verse
    lexicon: none
    rules: songci
  songnet_no_s: {<<: *run, model: songnet_no_s, decoder: {mode: frame, marks: true, top_k: 8}, samples: 2}
  expanded: &expanded
    <<: *run
    paper: guig
    form: paraphrase
    rules: none
    corpus: said
    model: expander
    decoder: {beam: 2, constraint: template}
  written: {<<: *expanded, model: writer, guidance: guig/expanded, annotation: reread, decoder: {beam: 2, guide: run}}
  grown:
    <<: *expanded
    paper: x2tree
    form: dialogue
    corpus: talk
    model: grower
    decoder: {beam: 3, local: 3, words: 12}
    samples: 2
annotations:
  again: {paper: songnet, run: songnet_free, parser: words}
  # No parser of English is trained here: its trees are none, and count as unparsed.
  reread: {paper: guig, run: written, parser: words}
reports: [songnet, guig]
"""
)

#: The small profile stops short of models: what follows is the same code as in the nursery.
SMALL = (
    NONE
    + """
parsers: {}
corpora:
  ci:
    task: verse
    language: zh
    reader: songci
    options: {plain_commas: true}
    <<: *none
    source_1: madeup
    parser: none
    filters: {min_units: 2, deduplicate: true, max_bad_fraction: 0.9}
    split: {kind: random, seed: 1, dev: 1, test: 1}
datasets:
  linearize:
    ci: {form: verse, corpus: ci, vocab_from: none, min_count: 1, units: 8, length: 16, max_tokens: 60}
  canonicalize: {}
models: {}
runs: {}
annotations: {}
reports: []
"""
)

EMPTY = """
parsers: {}
corpora: {}
datasets: {linearize: {}, canonicalize: {}}
models: {}
runs: {}
annotations: {}
reports: []
"""

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
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH" and not name.startswith("GIT_")}
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
    """A command in a folder of a project."""
    done = subprocess.run(
        command, cwd=folder, env=environment(folder, **more), capture_output=True, text=True, check=False, timeout=300
    )
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


def headed(folder: Path, text: str) -> str:
    """A small params.yaml under the head of the real one."""
    real = yaml.safe_load((folder / "params.yaml").read_text(encoding="utf-8"))
    return yaml.safe_dump({key: value for key, value in real.items() if isinstance(value, str)}) + text


def made(root: Path, target: Path) -> None:
    """A project with small params, built."""
    copied(root, target)
    for stale in ("metrics", "curves", "dvc.lock", "profiles/small/metrics", "profiles/small/dvc.lock"):
        path = target / stale
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    (target / "params.yaml").write_text(headed(root, NURSERY), encoding="utf-8")
    source = published(target / "mirror")
    for profile, params, sources in (("small", SMALL, source), ("paper", EMPTY, {})):
        folder = target / "profiles" / profile
        (folder / "params.yaml").write_text(headed(root / "profiles" / profile, params), encoding="utf-8")
        (folder / "sources.yaml").unlink(missing_ok=True)
        (folder / "sources.yaml").write_text(yaml.safe_dump({"sources": sources}, allow_unicode=True), encoding="utf-8")
    for command in (
        ["git", "init", "-q"],
        ["git", "add", "-A"],
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "small"],
    ):
        answer = call(target, *command)
        assert answer.status == 0, answer.err
    answer = call(target, "dvc", "repro")
    assert answer.status == 0, answer.out + answer.err
    (target / "first.log").write_text(answer.out, encoding="utf-8")


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
    """A built project, to look at; made once, also where several processes test."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "built"
    with FileLock(f"{folder}.lock"):
        if not (folder / "first.log").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            made(pytestconfig.rootpath, folder)
    return folder


@pytest.fixture
def project(built: Path, tmp_path: Path) -> Path:
    """A copy of the built project, to change."""
    folder = tmp_path / "project"
    shutil.copytree(built, folder, symlinks=True)
    return folder


@pytest.fixture(scope="module")
def shared(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy for a module whose tests leave it as they found it."""
    folder = tmp_path_factory.mktemp("shared") / "project"
    shutil.copytree(built, folder, symlinks=True)
    return folder


@pytest.fixture
def run() -> Callable[..., Answer]:
    """A command as a process of its own: `run(folder, "dvc", "repro")`."""
    return call


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Answer]:
    """The command line, in this process: `cli(folder, "generate", ...)`, called in that folder or in `where`."""
    from pipeline import cli as module
    from pipeline import layout

    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setenv("ESPALIER_DEVICE", "cpu")

    def answer(folder: Path, *command: str, where: Path | None = None) -> Answer:
        profiles = {"nursery": folder, "small": folder / "profiles/small", "paper": folder / "profiles/paper"}
        monkeypatch.setattr(layout, "PROFILES", profiles)
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
        tree = json.loads(json.dumps(yaml.safe_load(path.read_text(encoding="utf-8"))))  # no two keys share a value
        *folders, last = key.split(".")
        place = tree
        for name in folders:
            place = place[name]
        place[last] = value
        path.write_text(yaml.safe_dump(tree, allow_unicode=True, sort_keys=False), encoding="utf-8")

    return change


@pytest.fixture(scope="session")
def nursery_text(pytestconfig: pytest.Config) -> str:
    """The small params.yaml, to spoil."""
    return headed(pytestconfig.rootpath, NURSERY)
