"""Samples of small protocols, and files of raters."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from espalier.judging.draw import draw
from espalier.judging.protocol import Protocol
from espalier.judging.sample import Sample

sys.path.insert(0, str(Path(__file__).parent))
from toy_judging import SCALE, Rows, rows_of


@pytest.fixture
def make_sample() -> Callable[..., Sample]:
    def made(design: Mapping[str, Any] = SCALE, rows: Rows | None = None, **changes: Any) -> Sample:
        protocol = Protocol.model_validate(dict(design) | changes)
        rows = rows or {run: rows_of(run) for run in protocol.runs}
        return draw("toy", protocol, rows, "en", profile="nursery", outputs={run: f"sha of {run}" for run in rows})

    return made


@pytest.fixture
def fill() -> Callable[..., str]:
    """A rater's file with answers that a function of (item, question) gives; None leaves one out."""

    def filled(sample: Sample, rater: str, answer: Callable[[Any, str], str | None], **head: Any) -> str:
        answers = [
            {"item": number, "question": question, "answer": given}
            for number, question in sample.asked(rater)
            if (given := answer(sample.item(number), question)) is not None
        ]
        return json.dumps({"sample": sample.hash, "rater": rater, "answers": answers} | head)

    return filled
