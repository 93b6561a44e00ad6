"""A digit that was changed in a file without a hash of its own is named, before another number comes of it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from espalier.io.errors import ArtifactError
from pipeline import layout
from pipeline.graph.lock_file import file_md5
from pipeline.shell.models import ProfileModels

Refused = Callable[..., str]


def change_a_digit(file: Path, seed: int = 1) -> None:
    """Replace one digit of a file by another, or one letter if it has none."""
    text, rng = file.read_text(encoding="utf-8"), random.Random(seed)
    place = rng.choice([found.start() for found in re.finditer(r"\d" if re.search(r"\d", text) else "[a-z]", text)])
    other = rng.choice([each for each in ("0123456789" if text[place].isdigit() else "xyz") if each != text[place]])
    file.unlink()  # it may be a link into DVC's cache
    file.write_text(text[:place] + other + text[place + 1 :], encoding="utf-8")


@pytest.mark.parametrize(
    ("command", "file", "remedy"),
    [
        ("report songnet", "metrics/details/songnet/songnet_free.json", "git restore metrics/details/songnet/"),
        ("report songnet", "metrics/songnet/songnet_no_s.json", "dvc repro score@songnet_no_s"),
        ("report songnet", "data/curves/songnet/songnet.csv", "dvc checkout data/curves/songnet/songnet.csv, or"),
        ("site", "reports/summaries/guig.json", "dvc checkout reports/summaries/guig.json, or dvc repro report@guig"),
        ("score songnet_free", "data/ready/tiny/vocabulary.json", "dvc checkout data/ready/tiny/vocabulary.json, or"),
        ("linearize tiny", "metrics/details/corpora/tiny.json", "dvc repro filter@tiny"),
        ("generate --format 5,5。", "data/models/songnet/system.json", "dvc repro train@songnet"),
    ],
)
def test_a_changed_digit_is_named_with_what_restores_it(
    project: Path, refused: Refused, command: str, file: str, remedy: str
) -> None:
    change_a_digit(project / file)
    line = refused(project, *command.split())
    assert line.startswith(f"espalier: {file}: not what ") and remedy in line


def test_a_deleted_curve_of_a_model_that_is_here_is_named(project: Path, refused: Refused) -> None:
    (project / "data/curves/songnet/songnet.csv").unlink()
    line = refused(project, "report", "songnet")
    assert line.startswith("espalier: data/curves/songnet/songnet.csv: no such file")


@pytest.mark.parametrize("seed", range(4))
def test_a_changed_digit_of_a_rhyme_book_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    books = layout.raw("forms/couyun")
    file = tmp_path / "profiles/small" / books / "hanzi/hanzi_class.py"
    file.parent.mkdir(parents=True)
    file.write_text("a = ['东同', 1, 1, 1, 1]\n", encoding="utf-8")
    listing = f'[{{"md5": "{file_md5(file)}", "relpath": "hanzi/hanzi_class.py"}}]'
    (tmp_path / "listing").write_text(listing, encoding="utf-8")
    out = {"path": books.as_posix(), "md5": file_md5(tmp_path / "listing") + ".dir"}
    lock = {"schema": "2.0", "stages": {"download@couyun": {"cmd": "x", "outs": [out]}}}
    (tmp_path / "profiles/small/dvc.lock").write_text(yaml.safe_dump(lock, sort_keys=False), encoding="utf-8")
    (tmp_path / "profiles/small/params.yaml").write_text("profile: small\n", encoding="utf-8")
    monkeypatch.setattr(layout, "PROFILES", {"small": tmp_path / "profiles/small"})
    monkeypatch.chdir(tmp_path)
    assert ProfileModels().books() == tmp_path / "profiles/small" / books
    change_a_digit(file, seed)
    with pytest.raises(
        ArtifactError, match=r"not what download@couyun wrote.*dvc --cd profiles/small checkout data/raw"
    ):
        ProfileModels().books()
