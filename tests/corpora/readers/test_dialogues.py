"""One's own dialogues: neighbouring turns are pairs, whatever form the lists of turns have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from espalier.corpora.readers import READERS
from espalier.corpora.records import Pair


def rows(folder: Path, data: Any, name: str = "talk.json", language: str = "en", **options: Any) -> list[Any]:
    folder.mkdir(exist_ok=True)
    text = "\n".join(map(json.dumps, data)) if name.endswith("jsonl") else json.dumps(data)
    (folder / name).write_text(text, encoding="utf-8")
    found: Any = READERS["dialogues"].rows({"mine": folder}, options, language=language, where="corpora.mine")
    return [(row.source, row.target, row.group) if isinstance(row, Pair) else (row.id, row.reason) for row in found]


WANTED = [("Is it lit?", "It is.", "mine/talk/1"), ("It is.", "Good.", "mine/talk/1")]
SAID = ["Is it lit?", "It is.", "Good."]


@pytest.mark.parametrize(
    ("data", "name", "options"),
    [
        ([SAID], "talk.json", {}),
        ([SAID], "talk.jsonl", {}),
        ({"d1": SAID}, "talk.json", {}),
        ({"data": [SAID]}, "talk.json", {"within": "data"}),
        ([{"dialog": SAID, "topic": 3}], "talk.jsonl", {"turns": "dialog"}),
        ([[{"utterance": said} for said in SAID]], "talk.json", {"text": "utterance"}),
        (
            [{"conversations": [{"from": str(n % 2), "value": said} for n, said in enumerate(SAID)]}],
            "talk.json",
            {"turns": "conversations", "text": "value", "speaker": "from"},
        ),
    ],
)
def test_lists_of_turns_are_pairs_of_neighbours(tmp_path: Path, data: Any, name: str, options: Any) -> None:
    assert rows(tmp_path, data, name, **options) == WANTED


def test_neighbouring_turns_of_one_speaker_are_one_and_speakers_can_be_left_out(tmp_path: Path) -> None:
    turns = [
        ("system", "Be brief."),
        ("a", "灯亮。"),
        ("a", "好看吗？"),
        ("b", "好看。"),
        ("system", "x"),
        ("b", "真的。"),
    ]
    data = [{"messages": [{"role": role, "content": text} for role, text in turns]}]
    options: dict[str, Any] = {"turns": "messages", "text": "content", "speaker": "role", "without": ["system"]}
    assert rows(tmp_path, data, language="zh", **options) == [("灯亮。好看吗？", "好看。真的。", "mine/talk/1")]


def test_what_is_no_dialogue_is_quarantined_with_its_row(tmp_path: Path) -> None:
    assert rows(tmp_path, [["a"], "b", ["a", None], ["a", " "], [], {"turns": 3}]) == [
        ("mine/talk/1", "no response"), ("mine/talk/2", "no list of turns"), ("mine/talk/3", "a turn without text"),
        ("mine/talk/4.0", "empty side"), ("mine/talk/5", "no response"), ("mine/talk/6", "no list of turns"),
    ]  # fmt: skip
