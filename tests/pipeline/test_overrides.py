"""`dvc exp run -S` on the committed params.yaml files: one line changes, and no value but the one that is named."""

from __future__ import annotations

import difflib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dvc.exceptions import InvalidArgumentError
from dvc.utils.hydra import apply_overrides
from dvc.utils.serialize import modify_yaml

from pipeline.params.read import read_yaml

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "nursery": ROOT / "params.yaml",
    "small": ROOT / "profiles/small/params.yaml",
    "paper": ROOT / "profiles/paper/params.yaml",
}

#: Numbers of presets and of entries; in block maps and in flow maps; integers, fractions, words, lists.
OVERRIDES = [
    ("nursery", "presets.songnet.training.steps", "20", 20),
    ("nursery", "presets.guig.decoder.beam", "8", 8),
    ("nursery", "presets.songnet.network.literals", "0.35", 0.35),
    ("nursery", "runs.songnet_free.decoder.top_k", "5", 5),
    ("nursery", "corpora.verse_zh.options.count", "300", 300),
    ("small", "presets.x2tree.training.rate", "0.00001", 0.00001),
    ("small", "presets.songnet.network.dropout", "0.3", 0.3),
    ("small", "models.sonnet_pretrained.training.steps", "900", 900),
    ("small", "runs.guig_se.decoder.constraint", "tree", "tree"),
    ("small", "runs.x2tree.samples", "3", 3),
    ("paper", "presets.guig.training.epsilon", "1e-07", 1e-07),
    ("paper", "parsers.gsd.training.epochs", "50", 50),
]


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, value) of all that is no mapping."""
    if isinstance(tree, dict) and tree:
        for key, value in tree.items():
            yield from leaves(value, f"{path}.{key}".lstrip("."))
    else:
        yield path, tree


def changed_lines(before: Path, after: Path) -> list[str]:
    texts = [path.read_text(encoding="utf-8").splitlines() for path in (before, after)]
    diff = [
        line for line in difflib.unified_diff(*texts, lineterm="", n=0) if not line.startswith(("---", "+++", "@@"))
    ]
    return diff


@pytest.fixture(params=FILES)
def copied(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    """A committed file, and a copy to change."""
    file = FILES[request.param]
    return file, Path(shutil.copy(file, tmp_path / "params.yaml"))


def test_every_file_is_formatted_as_dvc_writes_it(copied: tuple[Path, Path]) -> None:
    """Else the first override would change lines that it does not mean."""
    file, copy = copied
    with modify_yaml(copy):
        pass
    assert changed_lines(file, copy) == []
    # An override writes every list anew, and with it would lose a comment that follows one.
    apply_overrides(copy, [f"profile={read_yaml(copy)['profile']}"])
    assert changed_lines(file, copy) == []


@pytest.mark.parametrize("profile", FILES)
def test_overrides_change_one_line_and_one_value_each(tmp_path: Path, profile: str) -> None:
    named = {key: (text, value) for file, key, text, value in OVERRIDES if file == profile}
    copy = Path(shutil.copy(FILES[profile], tmp_path / "params.yaml"))
    apply_overrides(copy, [f"{key}={text}" for key, (text, _) in named.items()])
    before, after = (dict(leaves(read_yaml(path))) for path in (FILES[profile], copy))
    changed = {path: after[path] for path in after if before.get(path) != after[path]}
    assert changed == {key: value for key, (_, value) in named.items()}
    assert before.keys() == after.keys()
    assert len(changed_lines(FILES[profile], copy)) == 2 * len(named) > 0  # each line before and after


@pytest.mark.parametrize(
    ("profile", "override"),
    [
        ("nursery", "presets.songnet.training.step=20"),
        ("nursery", "models.songnet.network.layers=5"),  # it stands in the preset alone: +models... lays it over
        ("small", "presets.songnett.training.steps=20"),
        ("small", "runs.songnet_free.rules=sonnet"),
    ],
)
def test_a_key_that_is_not_there_is_an_error_and_changes_nothing(tmp_path: Path, profile: str, override: str) -> None:
    copy = Path(shutil.copy(FILES[profile], tmp_path / "params.yaml"))
    with pytest.raises(InvalidArgumentError) as caught:
        apply_overrides(copy, [override])
    key = override.partition("=")[0]
    assert f"append to your config use +{key}" in " ".join(str(caught.value.__cause__).split())
    assert copy.read_bytes() == FILES[profile].read_bytes()


def test_a_plus_lays_a_value_over_the_preset_of_one_entry(tmp_path: Path) -> None:
    copy = Path(shutil.copy(FILES["nursery"], tmp_path / "params.yaml"))
    apply_overrides(copy, ["+models.songnet.network.layers=5"])
    assert read_yaml(copy)["models"]["songnet"]["network"] == {"layers": 5}
    before, after = (dict(leaves(read_yaml(path))) for path in (FILES["nursery"], copy))
    assert {path for path in after if before.get(path) != after[path]} == {"models.songnet.network.layers"}
    assert before.keys() - after.keys() == {"models.songnet.network"}  # it was {}
