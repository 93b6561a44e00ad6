"""Runs that keep the rhymes and the tones of a book: from records to scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from espalier.corpora.records import Verse
from espalier.datasets.verse.encode import VerseEncoding, VerseSettings
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.io.errors import ConfigError
from espalier.metrics.family import family_scores
from espalier.metrics.prosody import Prosody
from espalier.models.songnet import SongNet
from espalier.models.songnet_config import SongNetConfig
from espalier.tasks.data import Inputs, Outputs, Ready, RunOptions
from espalier.tasks.verse import VerseScoring, VerseTask
from espalier.tasks.verse_search import VerseDecoder
from tests.verse.couyun import write_couyun

TASK = VerseTask()
BOOK = VerseDecoder(mode="frame", marks=True, rhyme=True, book="cilin", tone=True)
WORDS = "，。中东风空高桃孔动洞梦笑照木竹"
#: The poem, its tune, and what its variant asks for. The last fits none.
POEMS = [
    ("高洞洞，梦高风。\n高洞洞，孔高东。", "灯词", "AA", "中仄仄仄平平中平仄仄中平"),
    ("高风。\n高东。\n高洞。\n高梦。", "转韵词", "AABB", "中平中平中仄中仄"),
    ("高风。\n高洞，高东。\n高梦。", "通叶词", "AAA", "中平中平中平中仄"),
    ("高桃。\n高东。", "无名词", "AA", ""),
]


def ready(words: str = WORDS) -> Ready:
    records = [
        Verse(id=f"p{n}", origin="test", language="zh", target=text, author="甲", tune=tune, rhyme=rhyme, tones=tones)
        for n, (text, tune, rhyme, tones) in enumerate(POEMS)
    ]
    settings = VerseSettings(units=6, length=24, max_tokens=80)
    vocabulary = VerseVocabulary(tuple(words), units=6, length=24, language="zh")
    return Ready(records, VerseEncoding().encode(records, vocabulary, settings).split)


def inputs_of(given: Ready, decoder: VerseDecoder, books: Path | None) -> Inputs:
    model = type("Model", (), {"vocabulary": given.data.vocabulary})
    (inputs,) = TASK.inputs(given, model, decoder, RunOptions(samples=5, lexicon=books), seed=1)
    return inputs


@pytest.mark.parametrize("method", ["top_k", "beam"])
def test_every_poem_that_fits_a_variant_is_all_right_by_the_book(tmp_path: Path, method: str) -> None:
    books, given = write_couyun(tmp_path), ready()
    decoder = BOOK.model_copy(update={"method": method})
    torch.manual_seed(3)
    config = SongNetConfig(layers=1, width=16, heads=2, inner=16, dropout=0.0, positions=100)
    model = SongNet(config, given.data.vocabulary).eval()
    inputs = inputs_of(given, decoder, books)
    assert inputs.check is not None
    inputs.check()
    seeds = list(range(len(inputs.prompts)))
    with torch.inference_mode():
        batch = inputs.data.batch(inputs.prompts, config.view)
        found = TASK.generate(model, batch, decoder, seeds, **inputs.given)
        plain = TASK.generate(model, batch, VerseDecoder(mode="frame", marks=True, method=method), seeds)
    unknown = {"seed": 1, "nll": 0.0, "tokens": 1, "word_nll": 0.0, "words": 1}
    scores = {}
    for name, hypotheses in (("book", found), ("plain", plain)):
        rows = [
            {**row, **unknown, **TASK.columns(each[0], row, model, decoder)}
            for (row,), each in zip(inputs.rows, hypotheses, strict=True)
        ]
        (block,) = TASK.statistics(Outputs(pd.DataFrame(rows), "zh", lexicon=books), VerseScoring(rules="songci"))
        scores[name] = family_scores({Prosody(): block.families[Prosody()]}, seed=1)
        assert block.families[Prosody()][:, 0].sum() == 15  # three of the four poems fit, five texts each
        unmarked = (block.rows["variant"] != "") & (block.rows["kept"].str.strip(".") == "")
        assert unmarked.tolist() == (block.families[Prosody()][:, 9] == 1).tolist()  # format, rhyme and tones right
    asked = ("variant_fit", "rhyme_cilin", "tone_book", "tones_whole_book", "verse_whole_book")
    assert [scores["book"][name].value for name in asked] == [100.0] * 5
    assert (scores["plain"]["verse_whole_book"].value or 0.0) < 50


def test_a_frame_that_no_words_fill_names_its_record_and_place_before_decoding(tmp_path: Path) -> None:
    # 木 and 竹 are the only oblique words, and share no part with a level one: 通叶词 cannot turn.
    books = write_couyun(tmp_path)
    inputs = inputs_of(ready("，。东风空高桃木竹"), BOOK, books)
    assert inputs.check is not None
    with pytest.raises(
        ConfigError, match=r"^record p2, unit 3, word 2: no word of this model has the tone 仄 and rhym"
    ):
        inputs.check()


def test_a_book_needs_a_lexicon_and_tones_need_records_that_have_them(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the rhyme book cilin is of the source couyun, which is not given"):
        inputs_of(ready(), BOOK, None)
    assert BOOK.needs_lexicon and not BOOK.model_copy(update={"book": "mandarin"}).needs_lexicon
    given = ready()
    bare = Ready([each for each in given.records if not each.tones], given.data)
    with pytest.raises(ConfigError, match=r"^decoder\.tone: no record has tones; take a corpus that reads couyun"):
        inputs_of(bare, BOOK, write_couyun(tmp_path))


def test_kept_words_of_a_letter_that_mixes_tones_rhyme_by_their_part_of_cilin(tmp_path: Path) -> None:
    decoder = BOOK.model_copy(update={"tone": False, "literals": 0.8})
    options = RunOptions(seed=1, lexicon=write_couyun(tmp_path))
    given = ready()
    model = type("Model", (), {"vocabulary": given.data.vocabulary})
    (inputs,) = TASK.inputs(given, model, decoder, options, seed=1)
    assert inputs.rows[2][0]["template"] == "高风。\n高洞，_东。\n高梦。"
    letters = inputs.data.columns["letter"].padded(np.array([2]), -1)
    assert (letters >= 0).sum() == 3  # 风 and 东 are level, 梦 is oblique
