"""What a stage without DVC reads is what other stages wrote: by dvc.lock, or by the records of stages."""

from __future__ import annotations

import hashlib
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from espalier.io import files
from espalier.io.errors import ArtifactError
from espalier.io.files import atomic_folder, together, write_json
from pipeline.graph.lock_file import read_lock
from pipeline.graph.written import record, require_written

DETAILS, METRICS, READY = (Path(name) for name in ("metrics/details/a/x.json", "metrics/a/x.json", "data/ready/d"))
FILES = {DETAILS: '{"score": 1.25}', METRICS: '{"score": 1}', READY / "words.json": '["a"]', READY / "n/b.txt": "2"}


def md5(text: str) -> str:
    return hashlib.md5(text.encode()).hexdigest()


def lock(*, stages: dict[str, Any] | None = None) -> str:
    """A dvc.lock as DVC writes it, of the stages that have written `FILES`; DVC's cache does not have the listing."""
    rows = [{"md5": md5(FILES[READY / name]), "relpath": name} for name in ("n/b.txt", "words.json")]
    hashes = {DETAILS: md5(FILES[DETAILS]), METRICS: md5(FILES[METRICS]),
              READY: md5(json.dumps(rows, sort_keys=True)) + ".dir"}  # fmt: skip
    outs = {name: [{"path": str(path), "hash": "md5", "md5": hashes[path]} for path in paths]
            for name, paths in {"score@x": (DETAILS, METRICS), "linearize@d": (READY,)}.items()}  # fmt: skip
    made = {name: {"cmd": "python", "deps": [{"path": "outs:", "md5": "0" * 32}], "outs": outs[name]} for name in outs}
    return yaml.safe_dump({"schema": "2.0", "stages": made | (stages or {})}, sort_keys=False)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    (tmp_path / "dvc.lock").write_text(lock(), encoding="utf-8")
    (tmp_path / "params.yaml").write_text("profile: nursery\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_dvc_has_recorded_is_read(project: Path) -> None:
    (project / READY / ".gitkeep").touch()
    (project / READY / ".n.killed.part").mkdir()
    (project / READY / ".n.killed.part/b.txt").touch()
    require_written([DETAILS.parent, METRICS, READY / "words.json", Path("data/elsewhere")])


@pytest.mark.parametrize("path", [*FILES])
@pytest.mark.parametrize("bit", [0, 3, 7])
def test_a_flipped_bit_is_named_with_a_remedy(project: Path, path: Path, bit: int) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1 << bit
    path.write_bytes(data)
    out = READY if READY in path.parents else path
    stage = "linearize@d" if out == READY else "score@x"
    with pytest.raises(ArtifactError) as caught:
        require_written([path])
    assert str(caught.value).startswith(f"{out}: not what {stage} wrote: ") and f"dvc repro {stage}" in str(
        caught.value
    )
    assert ("git restore metrics/" in str(caught.value)) == (out != READY)


def test_files_that_are_not_read_are_not_compared(project: Path) -> None:
    DETAILS.write_text("{}", encoding="utf-8")
    require_written([METRICS, READY])
    with pytest.raises(ArtifactError, match=r"metrics/details/a/x\.json: not what score@x wrote"):
        require_written([Path("metrics")])


def test_a_file_in_a_folder_is_named_where_the_cache_has_its_listing(project: Path) -> None:
    rows = [{"md5": md5(FILES[READY / name]), "relpath": name} for name in ("n/b.txt", "words.json")]
    listing = json.dumps(rows, sort_keys=True)
    place = project / "cache/files/md5" / md5(listing)[:2] / f"{md5(listing)[2:]}.dir"
    place.parent.mkdir(parents=True)
    place.write_text(listing, encoding="utf-8")
    (project / ".dvc").mkdir()
    (project / ".dvc/config").write_text("[core]\n    analytics = false\n[cache]\n    dir = nowhere\n")
    (project / ".dvc/config.local").write_text("[cache]\n    dir = ../cache\n['remote \"a\"']\n    url = /b\n")
    (READY / "words.json").write_text('["b"]', encoding="utf-8")
    require_written([READY / "n/b.txt"])
    for paths in ([READY], [READY / "words.json"]):
        with pytest.raises(ArtifactError, match=r"data/ready/d/words\.json: not what linearize@d wrote.*dvc checkout"):
            require_written(paths)
    (READY / "words.json").write_text(FILES[READY / "words.json"], encoding="utf-8")
    (READY / "more.json").touch()
    with pytest.raises(ArtifactError, match=r"data/ready/d/more\.json"):
        require_written([READY])


def test_what_a_stage_without_dvc_has_recorded_is_read_and_a_change_after_it_is_not(project: Path) -> None:
    for path in (DETAILS, METRICS, READY / "words.json"):
        path.write_text("[3]", encoding="utf-8")
    record("score@x", [DETAILS, METRICS, Path("data/absent")])
    record("linearize@d", [READY])
    require_written([Path("metrics"), READY])
    (READY / "words.json").write_text("[4]", encoding="utf-8")
    with pytest.raises(ArtifactError, match=r"data/ready/d/words\.json: not what linearize@d wrote"):
        require_written([READY])


def test_outputs_of_two_runs_of_a_stage_are_refused(project: Path) -> None:
    first = {path: path.read_text(encoding="utf-8") for path in (DETAILS, METRICS)}
    for path in first:
        path.write_text("[3]", encoding="utf-8")
    record("score@x", [*first])
    METRICS.write_text(first[METRICS], encoding="utf-8")  # as dvc.lock has it, beside details of the later run
    with pytest.raises(ArtifactError, match=r"not what score@x wrote: .*half replaced by a run that was killed"):
        require_written([Path("metrics")])
    DETAILS.write_text(first[DETAILS], encoding="utf-8")  # dvc checkout, git restore
    require_written([Path("metrics")])


#: Two files and a folder, as a stage writes them.
OUTS = (Path("data/segments/x.json"), Path("data/folder"), DETAILS, METRICS)


def write(text: str) -> None:
    with together():
        write_json(OUTS[0], text)
        with atomic_folder(OUTS[1]) as part:
            (part / "in.json").write_text(text, encoding="utf-8")
        write_json(DETAILS, text)
        write_json(METRICS, text)


@pytest.mark.parametrize("moves", range(5))
def test_a_kill_between_the_moves_of_outputs_is_seen_by_readers(project: Path, moves: int) -> None:
    write("old")
    record("score@x", OUTS)
    require_written(OUTS)
    if not (child := os.fork()):
        die_after(moves)
        write("new")
        os._exit(0)
    assert os.waitpid(child, 0)[1] != 0 or moves == len(OUTS)
    if moves == 0:
        require_written(OUTS)
    else:
        with pytest.raises(ArtifactError, match="not what score@x wrote"):
            require_written(OUTS)
    write("new")
    record("score@x", OUTS)
    require_written(OUTS)
    assert not list(project.rglob("*.part*"))


def die_after(moves: int) -> None:
    """Let this process be killed before it replaces one more file or folder."""
    left = moves

    def dying(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            nonlocal left
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            return function(*arguments)

        return call

    os.replace, files.exchange = dying(os.replace), dying(files.exchange)


def test_the_entry_of_a_stage_that_was_renamed_does_not_count(project: Path) -> None:
    old = {"cmd": "x", "outs": [{"path": str(path), "md5": "0" * 32} for path in (DETAILS, METRICS)]}
    tree = yaml.safe_load((project / "dvc.lock").read_text(encoding="utf-8"))
    tree["stages"] = {"score@old": old} | tree["stages"]
    (project / "dvc.lock").write_text(yaml.safe_dump(tree, sort_keys=False), encoding="utf-8")
    require_written([Path("metrics")])


def test_without_a_lock_and_records_nothing_is_compared(project: Path) -> None:
    (project / "dvc.lock").unlink()
    DETAILS.write_text("{}", encoding="utf-8")
    require_written([DETAILS])


def test_the_outputs_in_a_lock_are_those_that_yaml_reads(project: Path) -> None:
    odd = {"a: 'b'": {"cmd": "x", "outs": [{"path": "é: #1", "md5": "0" * 32}]}, "none": {"cmd": "y"}}
    for text in (lock(stages=odd), "# a comment\n" + lock(stages=odd)):
        (project / "dvc.lock").write_text(text, encoding="utf-8")
        found = read_lock(project / "dvc.lock")
        stages = yaml.safe_load(text)["stages"]
        assert {name: [out.path for out in outs] for name, outs in found.items() if outs} == {
            name: [out["path"] for out in stage["outs"]] for name, stage in stages.items() if "outs" in stage
        }
    assert found["a: 'b'"][0].path == "é: #1"
