"""The catalogue: what it takes, what it refuses, and the entries that are committed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from espalier.corpora.catalogue import Source

FILE = {"name": "a.txt", "urls": ["https://example.org/a"], "sha256": "0" * 64, "bytes": 3, "mirror": "x/a.txt"}


def source(**changed: Any) -> dict[str, Any]:
    return {"title": "T", "licence": "L", "citation": "C", "files": [FILE | changed]}


def test_an_entry_without_a_url_is_allowed() -> None:
    assert Source.model_validate(source(urls=[])).files[0].urls == ()


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "../a"},
        {"name": "/a"},
        {"name": ""},
        {"name": "a\\b"},
        {"name": "a//b"},
        {"mirror": "x/../../a"},
        {"sha256": "0" * 63},
        {"sha256": "G" * 64},
        {"bytes": -1},
        {"urls": ["ftp://example.org/a"]},
        {"urls": ["file:///etc/passwd"]},
        {"surprise": 1},
    ],
)
def test_an_entry_that_cannot_be_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=next(iter(changed))):
        Source.model_validate(source(**changed))


def test_two_files_of_one_name_are_refused() -> None:
    with pytest.raises(ValidationError, match=r"two files named a\.txt"):
        Source.model_validate({**source(), "files": [FILE, FILE]})


def test_a_source_without_files_is_refused() -> None:
    with pytest.raises(ValidationError, match="files"):
        Source.model_validate({**source(), "files": []})


GIT = {
    "url": "https://example.org/forms", "commit": "0" * 40, "paths": ["forms"], "sha256": "0" * 64, "files": 2,
    "bytes": 9, "mirror": "forms",
}  # fmt: skip


def git_source(**changed: Any) -> dict[str, Any]:
    return {"title": "T", "licence": "L", "citation": "C", "git": GIT | changed}


@pytest.mark.parametrize(
    "changed",
    [
        {"url": "ext::sh -c true"},
        {"url": "--upload-pack=true"},
        {"commit": "main"},
        {"paths": []},
        {"paths": ["../forms"]},
        {"sha256": "0" * 40},
        {"files": 0},
        {"mirror": "/forms"},
        {"branch": "main"},
    ],
)
def test_a_git_entry_that_cannot_be_is_refused(changed: dict[str, Any]) -> None:
    assert Source.model_validate(git_source()).git is not None
    with pytest.raises(ValidationError, match=next(iter(changed))):
        Source.model_validate(git_source(**changed))


def test_a_source_has_either_files_or_a_repository() -> None:
    with pytest.raises(ValidationError, match="both files and git"):
        Source.model_validate({**source(), **git_source()})


def test_the_committed_entries_are_valid_and_pinned() -> None:
    root = Path(__file__).parents[2]
    entries = yaml.safe_load((root / "pipeline/params/sources.yaml").read_text(encoding="utf-8"))["sources"]
    sources = {name: Source.model_validate(entry) for name, entry in entries.items()}
    assert {"songci", "sonnets_friedman", "sonnets_deepspeare", "brown", "wordnet"} <= set(sources)
    assert len(sources["songci"].files) == 23
    forms = sources["couyun"].git
    assert forms is not None and (forms.files, forms.commit[:8]) == (983, "1744e87f")
    for one in sources.values():
        for file in one.files:
            # A URL without a commit would give other bytes one day; a file without a URL says where it comes from.
            assert file.urls or file.note
            assert all(len(url.split("/")[5]) == 40 for url in file.urls if "raw.githubusercontent.com" in url)
