"""What a model is made of: its sources, those of its parser, and those of the models that it begins with."""

from __future__ import annotations

import pytest

from pipeline import layout
from pipeline.commands.model_card import Origins, origins_of
from pipeline.params.read import load_params


def origins(profile: str, stage: str, key: str, monkeypatch: pytest.MonkeyPatch) -> Origins:
    monkeypatch.chdir(layout.PROFILES[profile])
    return origins_of(load_params(), [(stage, key)])


def test_a_model_has_the_sources_that_its_corpus_reads_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    found = origins("small", "train", "songnet", monkeypatch)
    assert {*found.published} == {"songci", "couyun"} and not found.local and not found.generated
    assert found.published["songci"].licence.startswith("MIT")


def test_the_treebank_of_the_parser_that_parsed_a_corpus_is_among_them(monkeypatch: pytest.MonkeyPatch) -> None:
    found = origins("small", "train", "x2tree", monkeypatch)
    treebank = origins("small", "train_parser", "gsd", monkeypatch)
    assert treebank.published and treebank.published.keys() < found.published.keys()


def test_the_nursery_generates_what_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    assert origins("nursery", "report", "guig", monkeypatch) == Origins({}, (), ("paraphrase_en",))
