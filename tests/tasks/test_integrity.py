"""The judge of verse: which marks it is asked for, and what it must find worse than the references."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from espalier.datasets.verse.data import VerseData
from espalier.datasets.verse.encode import VerseSettings
from espalier.datasets.verse.frames import frame_of, target_of
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import BOS, SEP
from espalier.io.errors import ConfigError
from espalier.io.hashing import seed_from
from espalier.models.songnet import SongNet
from espalier.models.songnet_config import SongNetConfig
from espalier.tasks.integrity import VerseJudge, with_longer_units_cut, with_random_last_words, without_last_words
from espalier.tasks.verse_search import VerseDecoder
from espalier.text.language import tokens_of
from espalier.verse.format import format_of
from espalier.verse.text import units_of

VOC = VerseVocabulary(tuple("，。！灯山桥雨石"), units=6, length=24, language="zh")
EN = VerseVocabulary((",", ".", "lamp", "stone", "sea"), units=6, length=24, language="en")
PLAIN = SongNetConfig(
    layers=1, width=16, heads=2, inner=16, dropout=0.0, positions=64, symbols=(), global_attention=False
)
JUDGE = VerseJudge()


def judge_of(vocabulary: VerseVocabulary) -> SongNet:
    torch.manual_seed(3)
    model = SongNet(PLAIN, vocabulary).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.7)
    return model


def said(texts: list[str], vocabulary: VerseVocabulary = VOC) -> list[tuple[float, int, int]]:
    model, data = judge_of(vocabulary), JUDGE.read(texts, vocabulary)
    with torch.inference_mode():
        columns = JUDGE.measure(model, data.batch(np.arange(len(texts)), PLAIN.view))
    assert tuple(columns) == JUDGE.columns
    return list(zip(*(values.tolist() for values in columns.values()), strict=True))


def slowly(text: str, vocabulary: VerseVocabulary) -> list[float]:
    """Nats of each unit's final mark, read token by token."""
    model = judge_of(vocabulary)
    state = model.start(JUDGE.read([text], vocabulary).batch(np.array([0]), PLAIN.view))
    nats, last = [], BOS
    with torch.inference_mode():
        for unit in units_of(text):
            tokens = tokens_of(unit, vocabulary.language)
            for place, token in enumerate([*tokens, "</s>"]):
                logs, state = model.step(torch.tensor([last]), state)
                last = SEP if token == "</s>" else vocabulary.id_of(token)
                if place == len(tokens) - 1 and last in vocabulary.mark_ids:
                    nats.append(-float(logs[0, last]))
    return nats


@given(st.lists(st.text("灯山，。！鹤？", max_size=5), max_size=5).map("\n".join))
def test_the_nats_are_those_of_reading_to_each_final_mark_token_by_token(text: str) -> None:
    (nats, marks, units), _ = said([text, "灯山桥雨石灯山桥雨石，雨！"])
    slow = slowly(text, VOC)
    assert marks == len(slow) and nats == pytest.approx(sum(slow), rel=1e-4, abs=1e-4)
    assert units == len(units_of(text))


def test_only_a_known_mark_before_a_separator_is_asked_for() -> None:
    texts = ["灯，山。\n桥！", "灯，山", "灯？", "", "！\n。", "灯。！"]
    assert [row[1:] for row in said(texts)] == [(2, 2), (0, 1), (0, 1), (0, 0), (2, 2), (1, 1)]
    assert [row[1:] for row in said(["lamp , stone .\nsea", "pearl ,"], EN)] == [(1, 2), (1, 1)]


def test_a_judge_reads_no_format_and_has_a_place_for_every_token() -> None:
    dataset = VerseSettings(units=6, length=24, max_tokens=54)
    JUDGE.check(VerseDecoder(slack=8), PLAIN, dataset)
    with pytest.raises(ConfigError, match=r"lm: texts of up to 65 tokens, of a judge that has 64 positions"):
        JUDGE.check(VerseDecoder(slack=9), PLAIN, dataset)
    for change in ({"symbols": ("s",)}, {"title": True, "global_attention": True}):
        with pytest.raises(ConfigError, match=r"lm: a judge that reads the format knows where marks stand; a model"):
            JUDGE.check(VerseDecoder(), PLAIN.model_copy(update=change), dataset)


# --- Broken endings ---------------------------------------------------------------------------------------------------


def test_a_unit_loses_its_last_word_and_keeps_its_marks() -> None:
    assert without_last_words(["灯山，桥雨。\n石！", ""], "zh") == ["灯山，桥。\n石！", ""]
    assert without_last_words(["a lamp , on stone .\nthe sea"], "en") == ["a lamp , on .\nthe"]


def encoded(texts: list[str]) -> VerseData:
    frames = [frame_of(format_of(text, "zh", "." * len(units_of(text))), VOC) for text in texts]
    return VerseData.of(texts, frames, VOC, targets=[target_of(text, VOC) for text in texts])


def test_a_random_last_word_is_of_the_training_split_by_frequency() -> None:
    train = encoded(["雨雨雨，石。"])
    made = with_random_last_words(["灯山，桥。\n！"] * 400, list(range(400)), train)
    assert {text[:3] + text[4:] for text in made} == {"灯山，。\n！"}
    drawn = Counter(text[3] for text in made)
    assert set(drawn) == {"雨", "石"} and 250 < drawn["雨"] < 350
    assert made == with_random_last_words(["灯山，桥。\n！"] * 400, list(range(400)), train)


def test_a_longer_unit_of_another_text_breaks_off_where_the_unit_ended() -> None:
    texts = ["灯山。\n灯山桥雨石灯。", "桥雨石石石！", "灯山。\n灯山桥雨石灯。"]
    first, second, third = with_longer_units_cut(texts, 1, "zh")
    assert first == third == "桥雨。\n灯山桥雨石灯。"  # nothing of another text is longer than the second unit
    assert second == "灯山桥雨石！"
    assert with_longer_units_cut([], 1, "zh") == []


@given(st.lists(st.lists(st.text("灯山桥", max_size=5), min_size=1, max_size=4), max_size=8))
def test_the_longer_unit_is_drawn_among_all_longer_units_of_other_texts(poems: list[list[str]]) -> None:
    texts = ["\n".join(f"{unit}，" for unit in units) for units in poems]

    def cut(unit: str, row: int, number: int) -> str:
        others = [other for text, units in zip(texts, poems, strict=True) if text != texts[row] for other in units]
        longer = [other for other in others if len(other) > len(unit)]
        draw = np.random.default_rng(seed_from("longer", 1, row, number))
        return f"{longer[draw.integers(len(longer))][: len(unit)]}，" if longer else f"{unit}，"

    assert with_longer_units_cut(texts, 1, "zh") == [
        "\n".join(cut(unit, row, number) for number, unit in enumerate(units)) for row, units in enumerate(poems)
    ]


def test_the_controls_are_no_rows_that_a_model_should_beat() -> None:
    table = pd.DataFrame({"id": ["a"], "sample": [0], "reference": ["灯山，桥雨。"], "rhyme": ["A"]})
    rows = JUDGE.controls(table, encoded(["雨石。"]), 1)
    assert [*rows] == ["cut", "replaced", "broken_off"] and not any(row.trivial for row in rows.values())
    assert all(len(row.columns["text"]) == 1 for row in rows.values())
