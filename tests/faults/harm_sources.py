"""Published files that are not what they should be: archives to unpack, and corpora and treebanks to read.

Each is put into profile small of the project as its one source, with the right hash: what is wrong is inside.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import random
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml
from harm import Project, Verdict, module_of

from espalier.io.yaml_files import load_yaml

#: Names of members, most of which must not be written.
NAMES = ("a.txt", "deep/b.txt", "../out.txt", "/out.txt", "a.txt/c", "deep", "..", ".", "", "a\0b", "\x1b[31m",
         "x" * 300, "a\\b", "é", "\ud800", "a.txt ", "con", "deep/../../out.txt")  # fmt: skip


def an_archive(project: Project, rng: random.Random) -> Verdict:
    """A zip, tar or gz with odd members, perhaps damaged, downloaded and unpacked."""
    kind = rng.choice(["zip", "tar", "tar.gz", "gz"])
    data = _archive(kind, rng)
    if rng.random() < 0.6:
        data = _readers().damaged(data, rng)
    _publish(project, {f"book.{kind}": data}, unpack=True)
    ended = project.run("download", "madeup", folder="profiles/small")
    outside = [path for path in (project.folder.parent / "out.txt", project.folder / "out.txt") if path.exists()]
    verdict = "wrong" if outside or project.strays() or Path("/out.txt").exists() else ended.kind
    _withdraw(project)
    return Verdict(verdict, f"download of a {kind}: {ended.err[-800:]}")


def a_corpus(project: Project, rng: random.Random) -> Verdict:
    """A corpus or treebank of any reader with damaged places, downloaded, read and filtered."""
    readers = _readers()
    name = rng.choice([*readers.FAMILIES])
    family = readers.FAMILIES[name]
    files = {file: family.pack(data) for file, data in family.files.items()}
    file = rng.choice([*files])
    files[file] = family.pack(readers.damaged(family.files[file], rng))
    _publish(project, files, reader=family.reader, options=family.options)
    said = ""
    for stage in (("download", "madeup"), ("parse", "ci"), ("filter", "ci")):
        ended = project.run(*stage, folder="profiles/small")
        said += ended.err
        if ended.kind != "well":
            break
    verdict = "wrong" if project.strays() else ended.kind
    _withdraw(project)
    return Verdict(verdict, f"{name}, {file}: {said[-800:]}")


def _archive(kind: str, rng: random.Random) -> bytes:
    buffer, members = io.BytesIO(), [rng.choice(NAMES) for _ in range(rng.randint(0, 4))]
    text = rng.choice([b"", b"one leaf\n", b"0" * 10**6])
    if kind == "gz":
        return gzip.compress(text, mtime=0)
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
            for member in members:
                packed.writestr(member.encode(errors="replace").decode() or "empty", text)
        return buffer.getvalue()
    with tarfile.open(fileobj=buffer, mode="w:gz" if kind == "tar.gz" else "w") as archive:
        for member in members:
            info = tarfile.TarInfo(member.replace("\0", "0").encode(errors="replace").decode())
            info.type = rng.choice([tarfile.REGTYPE] * 4 + [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
            info.linkname, info.size = rng.choice(NAMES[:6]), len(text) if info.isreg() else 0
            archive.addfile(info, io.BytesIO(text) if info.isreg() else None)
    return buffer.getvalue()


def _publish(
    project: Project,
    files: Mapping[str, bytes],
    *,
    unpack: bool = False,
    reader: str = "songci",
    options: Mapping[str, Any] | None = None,
) -> None:
    """Make these files the source `madeup` of profile small, and its corpus `ci` read them."""
    entries = []
    for number, (name, data) in enumerate(files.items()):
        (project.folder / f"mirror/{number}").write_bytes(data)
        entries.append({"name": name, "urls": [], "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data),
                        "mirror": str(number), "unpack": unpack})  # fmt: skip
    _edit(
        project.folder / "pipeline/params/sources.yaml",
        {"sources": {"madeup": {"title": "", "licence": "", "citation": "", "files": entries}}},
    )
    params = load_yaml(project.original / "profiles/small/params.yaml")
    corpus = params["corpora"]["ci"]
    corpus |= {"reader": reader, "language": "zh" if reader in ("songci", "weibo") else "en"}
    corpus |= {"options": {key: value for key, value in (options or {}).items() if key != "language"}}
    corpus |= {"filters": {"max_bad_fraction": 1.0}, "split": {"kind": "all_train"}}
    params["datasets"]["linearize"] = {}
    _edit(project.folder / "profiles/small/params.yaml", params)


def _withdraw(project: Project) -> None:
    project.restore("pipeline/params/sources.yaml", "mirror", "profiles/small")


def _edit(path: Path, tree: Any) -> None:
    path.write_text(yaml.safe_dump(tree, allow_unicode=True, sort_keys=False), encoding="utf-8")


def _readers() -> ModuleType:
    """The made files of each reader, and what damages them, of the readers' own tests."""
    return module_of("corpora/readers/test_damage.py")
