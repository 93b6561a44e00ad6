"""The page on C-DNPG, where it is about its baselines: examples are run, and tables are compared with the code."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel

from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.models.dnpg_config import DNPGConfig
from espalier.models.pair_seq2seq_config import PairSeq2SeqConfig
from espalier.models.registry import architecture

sys.path.insert(0, str(Path(__file__).parent))
from markdown_page import Page

PAGE = Page("docs/cdnpg.md")


def rows_after(heading: str, number: int = 0) -> list[list[str]]:
    """The cells of a table below a heading, its head left out."""
    lines = PAGE.lines[PAGE.lines.index(heading) + 1 :]
    starts = [place for place, line in enumerate(lines) if re.fullmatch(r"\|( -+:? \|)+", line)]
    rows = []
    for line in lines[starts[number] + 1 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip().strip("`") for cell in line.strip("|").split("|")])
    return rows


@pytest.mark.parametrize(
    ("heading", "config"),
    [("### Residual LSTM and pointer-generator", PairSeq2SeqConfig), ("### DNPG", DNPGConfig)],
)
def test_the_settings_and_their_defaults_are_the_code_s(heading: str, config: type[BaseModel]) -> None:
    found = {name: default for name, _, default in rows_after(heading)}
    wanted = {name: value if isinstance(value, str) else json.dumps(value) for name, value in config().model_dump().items()}  # fmt: skip  # noqa: E501
    assert found == wanted


class Pieces(PairVocabulary):
    """14,722 ids, none of which is ever a text."""

    @property
    def text_size(self) -> int:
        return 14_722


def test_the_models_have_the_parameters_that_the_page_says() -> None:
    pointer = {"residual": 0, "bidirectional": True, "attention": True, "copying": True}
    small = {"encoder_layers": 2, "layers": 3, "width": 128}
    networks = [
        ("pair_seq2seq", {}, {**small, "word": 128, "residual": 1}),
        ("pair_seq2seq", {**pointer, "encoder_layers": 1, "layers": 1}, {**small, **pointer, "word": 128}),
        ("dnpg", {}, {**small, "heads": 4, "inner": 512}),
    ]
    rows = rows_after("## Baselines without granularity in their attention", 1)
    assert len(rows) == len(networks)
    for (_, *printed), (arch, *both) in zip(rows, networks, strict=True):
        for number, network in zip(printed, both, strict=True):
            entry = architecture(arch)
            model = entry.build(entry.config.model_validate(network), Pieces("", None, "en", True))
            assert sum(part.numel() for part in model.parameters()) == int(number.replace(",", "")), (arch, network)


def test_every_worked_example_of_the_page_gives_what_it_shows() -> None:
    count, wrong = PAGE.run_examples()
    assert count > 6
    assert not wrong
