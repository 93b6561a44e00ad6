"""Outputs parsed again: as words where they are words, else as text."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from espalier.syntax.parsers.registry import save_parser
from espalier.tasks.registry import TASKS
from espalier.text.language import Language
from pipeline.graph.shards import annotated


def parsed(texts: list[str], folder: Path, *, words: bool) -> pd.DataFrame:
    table = pd.DataFrame({"id": [f"t{n}" for n in range(len(texts))], "seed": 1, "sample": 0, "text": texts})
    save_parser(folder / "jieba", "jieba", None, {})
    return annotated(table, folder / "jieba", folder / "scratch", words=words)


@pytest.mark.parametrize(
    ("text", "as_words", "as_text"),
    [
        ("我们喝 茶", "我们喝 茶", "我们 喝 茶"),
        ("she ca n't", "she ca n't", "she ca n ' t"),
        ("she can't", "she can't", "she can ' t"),
    ],
)
def test_a_text_of_words_keeps_them(tmp_path: Path, text: str, as_words: str, as_text: str) -> None:
    assert parsed([text], tmp_path, words=True)["target_words"].tolist() == [as_words]
    assert parsed([text], tmp_path, words=False)["target_words"].tolist() == [as_text]


def test_a_text_without_words_has_a_reason_and_its_place(tmp_path: Path) -> None:
    found = parsed(["灯", "", "灯"], tmp_path, words=True)
    assert found["id"].tolist() == ["t0", "t1", "t2"]
    assert found["reason"].tolist() == ["", "empty", ""]
    assert found["target_words"].tolist() == ["灯", "", "灯"]


def test_which_tasks_write_words() -> None:
    languages: tuple[Language, ...] = ("zh", "en")
    found = {name: [TASKS[name].writes_words(language) for language in languages] for name in TASKS}
    assert {name: found[name] for name in ("verse", "paraphrase", "dialogue", "compose")} == {
        "verse": [False, False], "paraphrase": [True, True], "dialogue": [True, True], "compose": [False, True]
    }  # fmt: skip
