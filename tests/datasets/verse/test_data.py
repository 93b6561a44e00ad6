"""A linearized corpus and its batches."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from espalier.datasets.verse.data import Ragged, VerseData, View
from espalier.datasets.verse.frames import frame_of, target_of
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import BOS, EOS, PAD, SEP
from espalier.io.errors import ArtifactError, ConfigError
from espalier.verse.format import format_of

VOC = VerseVocabulary(tuple("，。灯山桥雨石令"), units=4, length=12, language="zh")
VERSES = [("灯山，桥雨。\n山。", "A.", "石桥令"), ("雨。", "A", ""), ("桥，灯。\n灯桥山。", "AB", "山")]


@pytest.fixture
def data() -> VerseData:
    frames = [frame_of(format_of(text, "zh", rhyme), VOC) for text, rhyme, _ in VERSES]
    targets = [target_of(text, VOC) for text, _, _ in VERSES]
    titles = [VOC.encode(title) for _, _, title in VERSES]
    return VerseData.of(["a", "b", "c"], frames, VOC, targets=targets, titles=titles)


ALL = np.arange(3)


def test_a_batch_is_padded_on_the_right_and_shifted(data: VerseData) -> None:
    batch = data.batch(ALL, View())
    assert batch.target.shape == batch.inputs.shape == batch.c.shape == (3, 11)
    assert data.lengths.tolist() == [11, 4, 11] and len(data) == len(batch) == 3
    assert batch.target[1].tolist() == [*VOC.encode("雨。"), SEP, EOS] + [PAD] * 7
    assert batch.inputs[:, 0].tolist() == [BOS] * 3
    assert torch.equal(batch.inputs[:, 1:], batch.target[:, :-1])
    assert batch.real.sum(1).tolist() == [11, 4, 11]
    assert batch.letter[1].tolist() == [0] + [-1] * 10
    assert batch.device == torch.device("cpu")


def test_rows_do_not_depend_on_their_neighbours(data: VerseData) -> None:
    whole = data.batch(ALL, View(title=True))
    for index in range(3):
        alone = data.batch(np.array([index]), View(title=True))
        for name in ("inputs", "target", "c", "p", "s", "letter", "t", "title"):
            row = getattr(alone, name)[0]
            assert torch.equal(row, getattr(whole, name)[index][: len(row)])


def test_order_chooses_the_row_of_positions(data: VerseData) -> None:
    down, up = data.batch(ALL, View()), data.batch(ALL, View(order="ascending"))
    assert down.p[1].tolist()[:4] == [VOC.position(1), VOC.position(0), SEP, EOS]
    assert up.p[1].tolist()[:4] == [VOC.position(0), VOC.position(1), SEP, EOS]
    assert torch.equal(down.c, up.c) and torch.equal(down.s, up.s)


def test_titles_are_read_only_when_asked_for(data: VerseData) -> None:
    assert data.batch(ALL, View()).title.shape == (3, 0)
    assert data.batch(ALL, View(title=True)).title.tolist() == [
        VOC.encode("石桥令"),
        [PAD] * 3,
        [*VOC.encode("山"), 0, 0],
    ]


def test_literals_are_drawn_from_words_alone_at_their_rate(data: VerseData) -> None:
    view, many = View(literals=0.2), np.tile(ALL, 400)
    plain = data.batch(many, view)  # evaluation: no generator, no literals
    assert torch.equal(plain.c, data.batch(many, View()).c)
    drawn = data.batch(many, view, np.random.default_rng(1))
    words = (plain.c == VOC.c_word) | (plain.c == VOC.c_rhyme)
    kept = drawn.c != plain.c
    assert not (kept & ~words).any()
    assert torch.equal(drawn.c[kept], drawn.target[kept])
    assert abs(kept.sum() / words.sum() - 0.2) < 0.02
    assert (kept & (plain.c == VOC.c_rhyme)).any()
    assert torch.equal(drawn.c, data.batch(many, view, np.random.default_rng(1)).c)
    all_kept = data.batch(many, View(literals=1.0), np.random.default_rng(1))
    assert torch.equal(all_kept.c[all_kept.real], all_kept.target[all_kept.real])


def toned(signs: list[str], voc: VerseVocabulary) -> VerseData:
    pairs = zip(VERSES, signs, strict=True)
    frames = [frame_of(format_of(text, "zh", rhyme, own), voc) for (text, rhyme, _), own in pairs]
    return VerseData.of(["a", "b", "c"], frames, voc)


def test_tones_are_symbols_behind_p_and_padding_where_there_is_no_word(tmp_path: Path) -> None:
    voc = replace(VOC, tones=True)
    assert voc.t_either == VOC.size == voc.position(11) + 1 and voc.size == VOC.size + 3
    either, level, oblique = range(VOC.size, VOC.size + 3)
    data, view = toned(["平仄中仄平", "仄", ""], voc), View(tones=True)
    # 灯山，桥雨。 / 山。 with a separator after each, and the end mark.
    assert data.batch(ALL, view).t.tolist() == [
        [level, oblique, PAD, either, oblique, PAD, PAD, level, PAD, PAD, PAD],
        [oblique] + [PAD] * 10,
        [either, PAD, either, PAD, PAD, either, either, either, PAD, PAD, PAD],
    ]
    data.save(tmp_path / "dev.parquet")
    again = VerseData.load(tmp_path / "dev.parquet", voc)
    assert torch.equal(again.batch(ALL, view).t, data.batch(ALL, view).t)
    assert data.batch(ALL, View()).t.shape == (3, 0)


def test_a_vocabulary_without_tones_leaves_files_as_they_were_and_cannot_be_read_for_tones(
    data: VerseData, tmp_path: Path
) -> None:
    data.save(tmp_path / "dev.parquet")
    assert pq.read_schema(tmp_path / "dev.parquet").names == ["id", *VerseData.COLUMNS]
    VOC.save(tmp_path / "vocabulary.json")
    assert "tones" not in json.loads((tmp_path / "vocabulary.json").read_text())
    with pytest.raises(ConfigError, match="no symbols for tones; give the dataset tones: true"):
        data.longest(View(tones=True))


@pytest.mark.parametrize("tones", [False, True])
def test_a_vocabulary_with_or_without_tones_reads_back_the_same(tones: bool, tmp_path: Path) -> None:
    voc = replace(VOC, tones=tones)
    voc.save(tmp_path / "vocabulary.json")
    assert VerseVocabulary.load(tmp_path / "vocabulary.json") == voc


def test_a_vocabulary_whose_tones_are_no_truth_value_is_refused(tmp_path: Path) -> None:
    VOC.save(tmp_path / "vocabulary.json")
    value = json.loads((tmp_path / "vocabulary.json").read_text()) | {"tones": 3}
    (tmp_path / "vocabulary.json").write_text(json.dumps(value))
    with pytest.raises(ArtifactError, match="tones: 3; true or false"):
        VerseVocabulary.load(tmp_path / "vocabulary.json")


def test_frames_to_be_written_have_no_target() -> None:
    frames = [frame_of(format_of(text, "zh", rhyme), VOC) for text, rhyme, _ in VERSES]
    batch = VerseData.of(["a", "b", "c"], frames, VOC).batch(ALL, View(title=True))
    assert batch.target.shape == (3, 0) and batch.title.shape == (3, 0)
    assert batch.inputs.tolist() == [[BOS]] * 3


def test_a_saved_split_reads_back_the_same(data: VerseData, tmp_path: Path) -> None:
    data.save(tmp_path / "train.parquet")
    again = VerseData.load(tmp_path / "train.parquet", VOC)
    assert again.ids == data.ids
    for name in VerseData.COLUMNS:
        for indices in (ALL, np.array([2, 0])):
            assert np.array_equal(again.columns[name].padded(indices, -7), data.columns[name].padded(indices, -7))


def test_an_empty_split_is_saved_and_read(tmp_path: Path) -> None:
    VerseData.of([], [], VOC).save(tmp_path / "dev.parquet")
    again = VerseData.load(tmp_path / "dev.parquet", VOC)
    assert len(again) == 0 and again.lengths.tolist() == []


def test_a_table_without_its_columns_is_an_artifact_error(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="no such table"):
        VerseData.load(tmp_path / "train.parquet", VOC)


@given(st.lists(st.lists(st.integers(0, 99), max_size=6), min_size=1, max_size=6), st.data())
def test_ragged_rows_pad_to_the_longest_chosen(rows: list[list[int]], data: st.DataObject) -> None:
    ragged = Ragged.of(rows)
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=5))
    longest = max(len(rows[index]) for index in chosen)
    wanted = [rows[index] + [-1] * (longest - len(rows[index])) for index in chosen]
    assert ragged.padded(np.array(chosen), -1).tolist() == wanted
    assert ragged.lengths.tolist() == [len(row) for row in rows]


@pytest.mark.parametrize("places", [[2, 0], [1, 1, 2], []])
def test_selected_rows_make_the_same_batch(data: VerseData, places: list[int]) -> None:
    chosen, view = np.array(places, dtype=np.int64), View(title=True)
    selected = data.select(chosen)
    assert selected.ids == [data.ids[place] for place in places] and selected.vocabulary is data.vocabulary
    one, other = data.batch(chosen, view), selected.batch(np.arange(len(places)), view)
    for name in ("inputs", "target", "c", "p", "s", "letter", "t", "title"):
        assert torch.equal(getattr(one, name), getattr(other, name))
