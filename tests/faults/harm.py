"""A built project that is damaged and restored, and the verdict on each trial."""

from __future__ import annotations

import hashlib
import importlib.util
import random
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType

import yaml
from trial import Ended, Hurt, Typed, run


@dataclass(frozen=True)
class Stage:
    """A stage of the lock: its command without `python ./pipeline`, and the paths that it reads and writes."""

    arguments: tuple[str, ...]
    deps: tuple[str, ...]
    outs: tuple[str, ...]

    @property
    def name(self) -> str:
        return " ".join(self.arguments)


@dataclass(frozen=True)
class Verdict:
    """How a trial ended ("line", "well", "traceback", "never" or "wrong"), and what was done."""

    kind: str
    what: str


class Project:
    """A copy of a built project; `original` is as it was built."""

    def __init__(self, folder: Path, original: Path, scratch: Path) -> None:
        self.folder, self.original, self.scratch = folder, original, scratch

    @cached_property
    def stages(self) -> list[Stage]:
        lock = yaml.safe_load((self.original / "dvc.lock").read_text(encoding="utf-8"))
        return [
            Stage(
                tuple(stage["cmd"].split()[2:]),
                tuple(dep["path"] for dep in stage.get("deps", [])),
                tuple(out["path"] for out in stage["outs"]),
            )
            for stage in lock["stages"].values()
        ]

    def files(self, paths: Iterable[str], *endings: str) -> list[str]:
        """The files at and below these paths, as built, in a fixed order."""
        found = []
        for path in map(self.original.joinpath, paths):
            below = sorted(path.rglob("*")) if path.is_dir() else [path]
            found += [str(file.relative_to(self.original)) for file in below if file.is_file()]
        return [file for file in found if not endings or file.endswith(endings)]

    def run(
        self,
        *arguments: str,
        hurt: Hurt | None = None,
        stdin: bytes = b"",
        folder: str = ".",
        typed: Typed | None = None,
    ) -> Ended:
        """A command, in a folder of the project; published files come from its mirror."""
        places = {"scratch": self.scratch, "mirror": self.folder / "mirror"}
        ended = run(self.folder / folder, *arguments, hurt=hurt, stdin=stdin, typed=typed, **places)
        self.restore("metrics/measured")  # seconds and speeds, which a report shows
        return ended

    def restore(self, *paths: str) -> None:
        """Put paths back as they were built."""
        for name in paths:
            place, source = self.folder / name, self.original / name
            shutil.rmtree(place) if place.is_dir() and not place.is_symlink() else place.unlink(missing_ok=True)
            if source.is_dir():
                shutil.copytree(source, place)
            elif source.exists():
                shutil.copy2(source, place)

    def whole(self, paths: Iterable[str], *, absent: bool = False) -> bool:
        """Whether paths hold what was built; with `absent`, also if one is not there at all.

        A folder of baselines holds one artifact for each row, and a report refuses it before the last one is there.
        """

        def is_whole(path: str) -> bool:
            here, built = _hashes(self.folder / path), _hashes(self.original / path)
            some = absent and "/baselines/" in path and here.items() <= built.items()
            return here == built or some or (absent and not (self.folder / path).exists())

        return all(map(is_whole, paths))

    def strays(self) -> list[Path]:
        """What was left half-written."""
        return [path for path in self.folder.rglob(".*.part*") if ".dvc" not in path.parts]

    def judged(self, stage: Stage, ended: Ended, what: str) -> Verdict:
        """A stage over damaged input must refuse it, or write what it wrote before; it leaves nothing half-written."""
        kind = ended.kind
        if kind in ("line", "well") and (not self.whole(stage.outs) or self.strays()):
            kind = "wrong"
        return Verdict(kind, f"{stage.name}: {what}: {ended.err[-1500:]}")


def _hashes(path: Path) -> dict[str, str]:
    """The hash of each file; temporary files, which the next start of the stage deletes, are no part of a folder."""
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    return {str(file.relative_to(path)): _md5(file) for file in files if not file.name.endswith(".part")}


def _md5(file: Path) -> str:
    return hashlib.md5(file.read_bytes()).hexdigest() if file.exists() else ""


def module_of(path: str) -> ModuleType:
    """A module of tests, whose makers and damages trials use."""
    name = f"tests_{path.removesuffix('.py').replace('/', '_')}"
    if name not in sys.modules:
        sys.path.insert(0, str(Path(__file__).parents[2]))
        spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[1] / path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


class Tally:
    """Counts of verdicts as a table."""

    COLUMNS = ("line", "well", "traceback", "never", "wrong")
    TITLES = ("one clear line", "ended well", "traceback", "never ended", "wrong")

    @classmethod
    def table(cls, counts: Mapping[str, Counter[str]]) -> str:
        rows = [("trial", "tried", *cls.TITLES)]
        for name, count in counts.items():
            rows.append((name, str(count.total()), *(str(count[column]) for column in cls.COLUMNS)))
        widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


Harm = Callable[[Project, random.Random], Verdict]


def flip(data: bytes, rng: random.Random) -> bytes:
    """The bytes with one bit changed."""
    bit = rng.randrange(8 * len(data))
    damaged = bytearray(data)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


def a_flipped_bit(project: Project, rng: random.Random) -> Verdict:
    """In a table or in weights, before the stage that reads it."""
    stage, file = _input(project, rng, ".parquet", ".safetensors")
    place = project.folder / file
    _write(place, flip(place.read_bytes(), rng))
    ended = project.run(*stage.arguments)
    verdict = project.judged(stage, ended, f"a bit of {file}")
    project.restore(file, *stage.outs)
    # A stage that does not read the file's bytes, such as one that looks at another split, may end well.
    return verdict


def a_damaged_artifact(project: Project, rng: random.Random) -> Verdict:
    """Any input of a stage, emptied, cut, replaced or deleted."""
    stage, file = _input(project, rng)
    place, name = project.folder / file, rng.choice([*DAMAGES])
    if name == "deleted":
        place.unlink()
    elif name == "a folder":
        place.unlink()
        place.mkdir()
    else:
        _write(place, DAMAGES[name](place.read_bytes(), rng))
    ended = project.run(*stage.arguments)
    verdict = project.judged(stage, ended, f"{file} {name}")
    project.restore(file, *stage.outs)
    return verdict


DAMAGES: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "empty": lambda data, rng: b"",
    "cut": lambda data, rng: data[: rng.randrange(len(data))] if data else b"",
    "null": lambda data, rng: b"null",
    "{}": lambda data, rng: b"{}",
    "[]": lambda data, rng: b"[]",
    "NaN": lambda data, rng: b'{"scores": NaN}',
    "not UTF-8": lambda data, rng: b"\xff\xfe" + data,
    "noise": lambda data, rng: rng.randbytes(max(1, len(data))),
    "deep": lambda data, rng: b"[" * 100_000,
    "deleted": lambda data, rng: data,
    "a folder": lambda data, rng: data,
}


def a_kill(project: Project, rng: random.Random) -> Verdict:
    """Of any stage, at a call of the file system or some time after its start; then it is run again."""
    stage = rng.choice(project.stages)
    seconds = rng.random() < 0.3 or stage.arguments[0] == "train"
    hurt = Hurt(seconds=rng.uniform(0.3, 4)) if seconds else Hurt(call=rng.randrange(1, 60))
    fresh = rng.random() < 0.5  # as DVC starts it, without its outputs
    if fresh:
        for out in stage.outs:
            shutil.rmtree(project.folder / out) if (project.folder / out).is_dir() else (project.folder / out).unlink()
    workers = ("--workers", "2") if stage.arguments[0] in ("parse", "annotate") and rng.random() < 0.5 else ()
    first = project.run(*stage.arguments, *workers, hurt=hurt)
    left_whole = project.whole(stage.outs, absent=fresh)
    again = project.run(*stage.arguments)
    verdict = project.judged(stage, again, f"{hurt}, fresh {fresh}, {' '.join(workers)} ended {first.status}")
    project.restore(*stage.outs)
    shutil.rmtree(project.folder / ".scratch" / "train", ignore_errors=True)
    if not left_whole or again.status != 0:
        return Verdict("wrong", f"{stage.name}: {hurt}, fresh {fresh}: partial output, or no rerun: {again.err[-800:]}")
    return verdict


def a_full_disk(project: Project, rng: random.Random) -> Verdict:
    """Before any stage: no file grows beyond some bytes."""
    stage = rng.choice(project.stages)
    hurt = Hurt(bytes=int(10 ** rng.uniform(3, 5)))
    ended = project.run(*stage.arguments, hurt=hurt)
    verdict = project.judged(stage, ended, f"{hurt}")
    project.restore(*stage.outs)
    return verdict


def damaged_params(project: Project, rng: random.Random) -> Verdict:
    """A line of params.yaml, versions.yaml or sources.yaml changed, before a stage reads it."""
    file = rng.choice(["params.yaml"] * 4 + ["pipeline/params/versions.yaml", "pipeline/params/sources.yaml"])
    text = (project.original / file).read_text(encoding="utf-8")
    name = rng.choice([*LINES])
    (project.folder / file).write_text(LINES[name](text, rng), encoding="utf-8")
    stage = rng.choice([stage for stage in project.stages if stage.arguments[0] in ("filter", "linearize", "report")])
    ended = project.run(*stage.arguments)
    project.restore(file, *stage.outs)
    kind = "wrong" if project.strays() else ended.kind
    return Verdict(kind, f"{stage.name}: {file} {name}: {ended.err[-1500:]}")


def _line(change: Callable[[str, random.Random], str]) -> Callable[[str, random.Random], str]:
    """A change of one line of a text."""

    def changed(text: str, rng: random.Random) -> str:
        lines = text.splitlines(keepends=True)
        place = rng.randrange(len(lines))
        lines[place] = change(lines[place], rng)
        return "".join(lines)

    return changed


def _value(value: str) -> Callable[[str, random.Random], str]:
    return _line(lambda line, rng: f"{line.rstrip().split(': ')[0].removesuffix(':')}: {value}\n")


LINES: dict[str, Callable[[str, random.Random], str]] = {
    "without a line": _line(lambda line, rng: ""),
    "with a line twice": _line(lambda line, rng: line + line),
    "with a key renamed": _line(lambda line, rng: line.replace(":", "x:", 1)),
    "with a key that leaves": _line(lambda line, rng: f"{' ' * (len(line) - len(line.lstrip()))}../../x: 1\n"),
    "with an integer key": _line(lambda line, rng: f"{' ' * (len(line) - len(line.lstrip()))}7: 1\n"),
    "with null": _value("null"),
    "with a list": _value("[1, a]"),
    "with a mapping": _value("{a: 1}"),
    "with a negative number": _value("-3"),
    "with a huge number": _value(str(10**15)),
    "with not a number": _value(".nan"),
    "with a string": _value("odd"),
    "with an escape sequence": _value('"\\e[31mred"'),
    "with a control character": _line(lambda line, rng: f"{line}\0"),
    "cut": lambda text, rng: text[: rng.randrange(len(text))],
    "with deep nesting": lambda text, rng: text + "\nextra: " + "[" * 5000,
    "with aliases": lambda text, rng: (
        text + "\na0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))
    ),
}


def an_odd_command(project: Project, rng: random.Random) -> Verdict:
    """A command line that nobody should write."""
    command = rng.choice([*COMMANDS])
    arguments = list(COMMANDS[command])
    for _ in range(rng.randint(1, 2)):
        odd = rng.choice(ODD)
        place = rng.randrange(len(arguments) + 1)
        arguments[place:place] = [odd] if rng.random() < 0.5 else [rng.choice(OPTIONS), odd]
        if rng.random() < 0.3 and len(arguments) > 1:
            arguments.pop(rng.randrange(len(arguments)))
    ended = project.run(command, *arguments, stdin=rng.choice([b"", b"a\tb\n", b"\xff\xfe\n", b"5,5\n" * 3]))
    kind = ended.kind
    if "\x1b" in ended.err + ended.out:
        kind = "wrong"
    return Verdict(kind, f"{command} {arguments}: {ended.err[-800:]}")


COMMANDS: dict[str, tuple[str, ...]] = {
    "generate": ("--format", "5,5。"),
    "polish": ("_雨___。",),
    "paraphrase": ("the garden is old",),
    "reply": ("你好",),
    "verify": (),
    "filter": ("tiny",),
    "score": ("songnet_free",),
    "repro": ("--jobs", "1", "no_such_stage"),
}
OPTIONS = ("--n", "--seed", "--beam", "--top-k", "--temperature", "--format", "--rhyme", "--tune", "--model", "--file",
           "--profile", "--template", "--like", "--local", "--json", "--jobs", "--x")  # fmt: skip
ODD = ("", " ", "-", "--", "0", "-1", "1e309", "nan", "99999999999999999999", "\x1b[31mred", "a\nb", "..", "../../etc",
       "/dev/null", "/", "5,,5", "(((", "(S (NP", "。", "A" * 5000, "é\u202eb", "\udcff", "_", "none", "7" * 400,
       "songnet", "5,5。" * 300)  # fmt: skip


def _input(project: Project, rng: random.Random, *endings: str) -> tuple[Stage, str]:
    """A stage, and a file that it depends on."""
    while True:
        stage = rng.choice(project.stages)
        files = [
            file
            for file in project.files(stage.deps, *endings)
            if not file.startswith("report/") and "none" not in file
        ]
        if files:
            return stage, rng.choice(files)


def _write(place: Path, data: bytes) -> None:
    place.unlink()  # it may be a link into a cache
    place.write_bytes(data)
