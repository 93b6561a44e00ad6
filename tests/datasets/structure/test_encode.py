"""From tagged texts to ids: what fits, and what each token's symbols are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from espalier.corpora.records import Sentence
from espalier.datasets.registry import ENCODINGS
from espalier.datasets.structure.data import StructureData, StructureView
from espalier.datasets.structure.encode import StructureSettings, prompt_length
from espalier.datasets.structure.vocabulary import SPECIAL, TOPIC, UNKNOWN, StructureVocabulary
from espalier.datasets.vocabulary import BOS, EOS, PAD, UNK
from espalier.io.errors import ArtifactError, ConfigError
from espalier.text.language import Language

ENCODING = ENCODINGS["structure"]


def line(id: str, words: str, tags: str, language: Language = "zh") -> Sentence:
    text = words if language == "en" else words.replace(" ", "")
    return Sentence(id=id, origin="made", language=language, target=text, target_words=words, target_tags=tags)


ROWS = [line("a", "我 喜欢 雨", "r v n"), line("b", "雨 在 天边", "n p s"), line("c", "雨", "n")]


def settings(**changes: Any) -> StructureSettings:
    return StructureSettings(**{"structures": ("pc", "pos"), "max_length": 9, **changes})


def vocabulary(**changes: Any) -> StructureVocabulary:
    made = ENCODING.build_vocabulary(ROWS, settings(**changes), "zh")
    assert isinstance(made, StructureVocabulary)
    return made


def test_the_symbol_at_a_place_is_that_of_the_token_that_the_place_predicts() -> None:
    voc = vocabulary()
    data = ENCODING.encode(ROWS, voc, settings()).split
    batch = data.batch(np.array([0, 2]), StructureView(("pc", "pos")), grain=4)
    assert [voc.token(id) for id in batch.target[0].tolist()[:5]] == [*"我喜欢雨", "<eos>"]
    assert batch.target[0, 5:].tolist() == [PAD] * 3
    assert batch.inputs[0].tolist()[:5] == [BOS, *batch.target[0].tolist()[:4]]
    assert [voc.symbol("pc", id) for id in batch.structures["pc"][0].tolist()] == list("SBES") + ["P"] * 4
    assert [voc.symbol("pos", id) for id in batch.structures["pos"][0].tolist()] == [*"rvvn", *["P"] * 4]
    assert batch.target[1].tolist()[:2] == [voc.id_of("雨"), EOS]
    assert (batch.structures["pc"][1, 1:] == SPECIAL).all()
    assert batch.topic.shape == (2, 0) and batch.real.sum() == 5 + 2
    assert {*data.batch(np.array([0]), StructureView()).structures} == set()
    assert {*batch.to("cpu").structures} == {"pc", "pos"}


def test_words_of_english_are_tokens_and_unknown_tokens_keep_their_symbols() -> None:
    rows = [line("a", "a <unk> fell N", "DT NN VBD CD", "en"), line("b", "a dog fell", "DT NN VBD", "en")]
    chosen = settings(structures=("pos",))
    voc = ENCODING.build_vocabulary(rows[:1], chosen, "en")
    encoded = ENCODING.encode(rows, voc, chosen)
    # The word <unk> is in the vocabulary like others; what it does not have is the special UNK.
    assert UNK not in encoded.split.columns["target"].flat[:4]
    assert encoded.split.columns["target"].flat[5] == UNK
    assert [voc.symbol("pos", id) for id in encoded.split.columns["pos"].flat[4:]] == ["DT", "NN", "VBD"]
    assert encoded.facts == {"unknown_symbols": 0}


def test_a_symbol_that_training_has_not_is_unknown_and_counted() -> None:
    encoded = ENCODING.encode([line("d", "雨雨 雨", "nz n")], vocabulary(), settings())
    assert encoded.split.columns["pos"].flat[:2].tolist() == [UNKNOWN] * 2
    assert encoded.facts["unknown_symbols"] == 2


def test_rows_without_tags_and_long_rows_are_quarantined_with_the_reason() -> None:
    rows = [*ROWS, line("d", "雨 雨", "n"), line("e", "", ""), line("f", "雨" * 10, "n")]
    encoded = ENCODING.encode(rows, vocabulary(), settings())
    assert list(encoded.places) == [0, 1, 2]
    assert [(row.id, row.reason) for row in encoded.quarantined] == [
        ("d", "no tag for each word"), ("e", "no tag for each word"), ("f", "over 9 tokens"),
    ]  # fmt: skip


def test_topics_stand_before_their_end_and_count_for_models_that_read_them() -> None:
    voc = vocabulary(topics=1)
    data = ENCODING.encode(ROWS, voc, settings(topics=1)).split
    rows = data.batch(np.array([0, 1]), StructureView(topic=True)).topic
    for row, text in zip(rows.tolist(), ("我喜欢雨", "雨在天边"), strict=True):
        words, end = row[: row.index(TOPIC)], row[row.index(TOPIC) :]
        assert "".join(voc.token(id) for id in words) in text and words
        assert end[1:] == [PAD] * (len(end) - 1)
    longest = int(data.columns["topic"].lengths.max())
    assert data.longest(StructureView()) == 5 and data.longest(StructureView(topic=True)) == 5 + longest
    assert data.sizes(StructureView(topic=True)).tolist() == data.sizes(StructureView()).tolist() == [5, 5, 2]


def test_prompts_are_uniform_from_nothing_to_half_and_belong_to_the_id() -> None:
    lengths = [prompt_length(f"lyric-{number}", 9) for number in range(5000)]
    counts = np.bincount(lengths, minlength=5)
    assert len(counts) == 5 and (abs(counts - 1000) < 120).all()
    assert prompt_length("lyric-1", 1) == 0
    split = ENCODING.encode(ROWS, vocabulary(), settings()).split
    prompts = split.batch(np.arange(3), StructureView()).prompt.tolist()
    assert prompts == [prompt_length(row.id, length) for row, length in zip(ROWS, (4, 4, 1), strict=True)]


def test_a_split_and_its_vocabulary_are_read_as_they_were_written(tmp_path: Path) -> None:
    voc = vocabulary()
    split = ENCODING.encode(ROWS, voc, settings(topics=1)).split
    voc.save(tmp_path / "vocabulary.json")
    split.save(tmp_path / "train.parquet")
    again = StructureVocabulary.load(tmp_path / "vocabulary.json")
    assert again == voc
    data = StructureData.load(tmp_path / "train.parquet", again)
    assert data.ids == ["a", "b", "c"]
    for name, column in split.columns.items():
        assert data.columns[name].flat.tolist() == column.flat.tolist()
        assert data.columns[name].offsets.tolist() == column.offsets.tolist()
    (tmp_path / "vocabulary.json").write_text('{"words": [], "language": "zh"}')
    with pytest.raises(ArtifactError, match="not a vocabulary"):
        StructureVocabulary.load(tmp_path / "vocabulary.json")


def test_rare_tokens_are_unknown_and_symbols_never_are() -> None:
    voc = vocabulary(min_count=2)
    assert voc.words == ("雨",)
    assert voc.symbols == {"pc": ("S", "B", "E"), "pos": ("n", "s", "v", "p", "r")}
    assert ENCODING.numbers(voc) == {"words": 1, "pc": 3, "pos": 5}
    assert voc.symbol_count("pc") == 5


def test_what_a_language_or_a_vocabulary_does_not_have_is_told_in_one_line() -> None:
    with pytest.raises(ConfigError, match="tone is not defined for en"):
        ENCODING.build_vocabulary(ROWS, settings(structures=("tone",)), "en")
    with pytest.raises(ConfigError, match="topic words are found in Chinese alone"):
        ENCODING.build_vocabulary(ROWS, settings(topics=1), "en")
    with pytest.raises(ConfigError, match="the vocabulary has no structure tone; choose of pc, pos"):
        ENCODING.encode(ROWS, vocabulary(), settings()).split.longest(StructureView(("tone",)))
    with pytest.raises(ValidationError, match="rhythm"):
        settings(structures=("rhythm",))
    with pytest.raises(ValidationError, match="a structure stands twice"):
        settings(structures=("pc", "pc"))
