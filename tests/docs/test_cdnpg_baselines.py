"""The page on C-DNPG, where it is about its baselines: tables are compared with the code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel

from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.models.cdnpg_config import DNPGConfig, PairSeq2SeqConfig
from espalier.models.registry import ARCHITECTURES

sys.path.insert(0, str(Path(__file__).parent))
from markdown_page import Page, details, key_of

PAGE = Page("docs/cdnpg.md")
#: The ids of the models of the table of parameters.
IDS: int = details("datasets", "quora_pairs")["rows"]["pieces"]


@pytest.mark.parametrize(("arch", "config"), [("pair_seq2seq", PairSeq2SeqConfig), ("dnpg", DNPGConfig)])
def test_the_settings_and_their_defaults_are_the_code_s(arch: str, config: type[BaseModel]) -> None:
    column = f"key of `{arch}`"
    rows = {key_of(row[column]): key_of(row["default"]) for row in PAGE.table(column, "meaning", "default")}
    assert {key: yaml.safe_load(default) for key, default in rows.items()} == config().model_dump()


class Pieces(PairVocabulary):
    """As many ids as `quora_pairs` has, none of which is ever a text."""

    @property
    def text_size(self) -> int:
        return IDS


def test_the_models_have_the_parameters_that_the_page_says() -> None:
    pointer = {"residual": 0, "bidirectional": True, "attention": True, "copying": True}
    small = {"encoder_layers": 2, "layers": 3, "width": 128}
    transformer, sized = {"granularity": "none"}, {**small, "heads": 4, "inner": 512}
    networks = [
        ("cdnpg", transformer, sized | transformer),
        ("cdnpg", {**transformer, "copying": True}, sized | transformer | {"copying": True}),
        ("cdnpg", {}, sized),
        ("pair_seq2seq", {}, {**small, "word": 128, "residual": 1}),
        ("pair_seq2seq", {**pointer, "encoder_layers": 1, "layers": 1}, {**small, **pointer, "word": 128}),
        ("dnpg", {}, sized),
    ]
    assert f"with the {IDS:,} ids of `quora_pairs`" in PAGE.prose
    for row, (arch, *both) in zip(PAGE.table("", "450", "128"), networks, strict=True):
        for number, network in zip((row["450"], row["128"]), both, strict=True):
            entry = ARCHITECTURES[arch]
            model = entry.build(entry.config.model_validate(network), Pieces("", None, "en", True))
            assert sum(part.numel() for part in model.parameters()) == int(number.replace(",", "")), (arch, network)
