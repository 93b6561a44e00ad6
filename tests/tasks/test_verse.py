"""Writing verse: formats met with certainty, rhymes kept, literals left alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from torch import Tensor

from espalier.corpora.records import Verse
from espalier.datasets.verse.data import VerseBatch, VerseData
from espalier.datasets.verse.encode import VerseEncoding, VerseSettings
from espalier.datasets.verse.frames import frame_of
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import BOS, EOS, PAD, SEP, UNK
from espalier.decoding.constraints.constraint import masked
from espalier.decoding.constraints.frame import FrameConstraint
from espalier.decoding.constraints.rhyme import RhymeConstraint
from espalier.io.errors import ConfigError
from espalier.metrics.family import Part
from espalier.metrics.literals import literal_statistics
from espalier.metrics.perplexity import Perplexity
from espalier.metrics.prosody import Prosody
from espalier.metrics.verse_format import FormatAccuracy, unit_is_correct
from espalier.models.songnet import SongNet
from espalier.models.songnet_config import SongNetConfig
from espalier.tasks.data import Outputs, Ready, RunOptions
from espalier.tasks.registry import TASKS
from espalier.tasks.verse import VerseScoring, VerseTask
from espalier.tasks.verse_search import VerseDecoder, clusters_of, text_of, verse_constraint
from espalier.text.language import Language, is_mark, tokens_of
from espalier.verse.format import BLANK, RHYME, Format
from espalier.verse.grammar import parse_format
from espalier.verse.rhyme import group_name, rhyme_group
from espalier.verse.text import rhyme_place, units_of
from tests.verse.couyun import write_couyun

WORDS = ["lamp", "damp", "stone", "alone", "sea", "tree", "light", "night"]
ZH = VerseVocabulary(tuple("，。！、灯山桥雨石令舟天年风明主故高遥楼"), units=6, length=24, language="zh")
EN = VerseVocabulary((",", ".", *WORDS), units=6, length=24, language="en")
FRAME = VerseDecoder(mode="frame", marks=True)
RHYMED = VerseDecoder(mode="frame", marks=True, rhyme=True)


def model_of(vocabulary: VerseVocabulary) -> SongNet:
    """Random weights, large enough that texts differ and unwanted tokens are likely."""
    torch.manual_seed(5)
    config = SongNetConfig(layers=1, width=16, heads=2, inner=16, dropout=0.0, positions=200)
    model = SongNet(config, vocabulary).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.5)
    return model


MODELS = {"zh": model_of(ZH), "en": model_of(EN)}


def batch_of(formats: list[Format], vocabulary: VerseVocabulary) -> VerseBatch:
    frames = [frame_of(format_, vocabulary) for format_ in formats]
    data = VerseData.of([str(i) for i in range(len(formats))], frames, vocabulary)
    return data.batch(np.arange(len(formats)), MODELS[vocabulary.language].config.view)


def ids_of(formats: list[Format], decoder: VerseDecoder, seeds: list[int]) -> list[list[int]]:
    model = MODELS[formats[0].language]
    batch = batch_of(formats, model.vocabulary)
    return [row[0].tokens if row else [] for row in TASKS["verse"].generate(model, batch, decoder, seeds)]


def texts_of(formats: list[Format], decoder: VerseDecoder, seeds: list[int]) -> list[str]:
    voc = MODELS[formats[0].language].vocabulary
    found = zip(ids_of(formats, decoder, seeds), formats, strict=True)
    return [text_of(ids, voc, format_ if decoder.mode == "frame" else None) for ids, format_ in found]


def check(text: str, format_: Format) -> None:
    """Every unit has its words, its marks and its literals where the format has them."""
    units = [tokens_of(unit, format_.language) for unit in units_of(text)]
    assert len(units) == len(format_.units)
    for found, slots in zip(units, format_.units, strict=True):
        assert unit_is_correct(slots, found, "songci")
        for token, slot in zip(found, slots, strict=True):
            if slot in (BLANK, RHYME):
                assert not is_mark(token) and token not in ("<unk>", "<pad>", "<bos>")
            else:
                assert token == slot


@st.composite
def formats(draw: st.DrawFn, language: Language) -> list[Format]:
    """A few formats, some with literals and marks that the vocabulary does not know."""
    words, marks, ends = ("灯山鹤", "，；", "。？") if language == "zh" else (["lamp", "heron"], ",;", ".")
    found = []
    for _ in range(draw(st.integers(1, 3))):
        units = []
        for _ in range(draw(st.integers(1, 4))):
            slots = draw(st.lists(st.sampled_from([*"____#", *words]), min_size=1, max_size=6))
            slots = [*slots, draw(st.sampled_from(marks)), BLANK] if draw(st.booleans()) else [*slots, BLANK]
            units.append(("" if language == "zh" else " ").join([*slots, draw(st.sampled_from(ends))]))
        found.append(parse_format("/".join(units), language))
    return found


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("method", ["top_k", "beam"])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_a_frame_with_its_marks_is_met_with_certainty(language: Language, method: str, data: st.DataObject) -> None:
    wanted = data.draw(formats(language))
    decoder = VerseDecoder(mode="frame", marks=True, rhyme=data.draw(st.booleans()), method=method, beam=2)
    for text, format_ in zip(texts_of(wanted, decoder, list(range(len(wanted)))), wanted, strict=True):
        check(text, format_)


def sounds(text: str, format_: Format) -> dict[str, set[str | None]]:
    """The rhyme groups at each letter's places: at each `#`, else at the last word."""
    found: dict[str, set[str | None]] = {}
    for unit, slots, letter in zip(units_of(text), format_.units, format_.rhyme, strict=True):
        tokens = tokens_of(unit, format_.language)
        ends = [token for token, slot in zip(tokens, slots, strict=True) if slot == RHYME]
        if letter != ".":
            found.setdefault(letter, set()).update(group_name(token, format_.language) for token in ends)
    assert not any(None in groups for groups in found.values())
    return found


@pytest.mark.parametrize(
    ("text", "language", "rhyme"),
    [
        ("3。3。3。3。", "zh", "AAAA"),
        ("4，2。3！2。5。", "zh", "AB.B"),
        ("_#，_#_。_#。", "zh", None),
        ("4/4/4/4", "en", "ABAB"),
    ],
)
@pytest.mark.parametrize("method", ["top_k", "beam"])
def test_the_words_of_a_letter_share_a_group(text: str, language: Language, rhyme: str | None, method: str) -> None:
    format_ = parse_format(text, language, rhyme)
    decoder = RHYMED.model_copy(update={"method": method, "beam": 3})
    unruled = 0
    for one in texts_of([format_] * 20, decoder, list(range(20))):
        check(one, format_)
        assert all(len(groups) == 1 for groups in sounds(one, format_).values())
    for one in texts_of([format_] * 20, FRAME, list(range(20))):
        unruled += any(len(groups) > 1 for groups in sounds(one, format_).values())
    assert unruled > 10


@pytest.mark.parametrize("text", ["2灯。3。3。", "3。2灯。3。", "3。3。2灯。"])
def test_a_literal_at_a_rhyme_place_chooses_the_group_of_its_letter(text: str) -> None:
    format_ = parse_format(text, "zh", "AAA")
    for one in texts_of([format_] * 8, RHYMED, list(range(8))):
        assert {rhyme_group(unit[rhyme_place(unit)]) for unit in units_of(one)} == {"eng"}  # type: ignore[index]


@pytest.mark.parametrize("text", ["2。2。2。", "2。1灯。2。", "1灯。2。2。"])
@pytest.mark.parametrize("method", ["top_k", "beam"])
def test_no_word_rhymes_with_itself_while_its_group_has_others(text: str, method: str) -> None:
    decoder = RHYMED.model_copy(update={"method": method, "beam": 3})
    sizes = Counter(rhyme_group(word) for word in ZH.words)
    for one in texts_of([parse_format(text, "zh", "AAA")] * 20, decoder, list(range(20))):
        ends = [unit[rhyme_place(unit)] for unit in units_of(one)]  # type: ignore[index]
        assert len(set(ends)) == min(3, sizes[rhyme_group(ends[0])])


@pytest.mark.parametrize(
    ("text", "language", "rhyme"),
    [
        ("_____，___鹏。_____。_____。", "zh", "AAA"),  # the vocabulary has no 鹏
        ("_____。_____，___鹏。", "zh", "AA"),
        ("_____，___鹏。_____。__山。_____。", "zh", "ABBA"),
        ("#____。____灯。__鹏。____#。", "zh", "AAAA"),
        ("5/2 cramp/5", "en", "AAA"),  # nor "cramp"
        ("2 fight/2 atone/5/5", "en", "ABAB"),
    ],
)
@pytest.mark.parametrize("method", ["top_k", "beam"])
def test_what_is_written_rhymes_with_the_literal(text: str, language: Language, rhyme: str, method: str) -> None:
    format_ = parse_format(text, language, rhyme)
    decoder = RHYMED.model_copy(update={"method": method, "beam": 3})
    for one in texts_of([format_] * 8, decoder, list(range(8))):
        check(one, format_)
        units = [tokens_of(unit, language) for unit in units_of(one)]
        groups: dict[str, set[str | None]] = {}
        for tokens, places, letter in zip(units, format_.rhyme_places, format_.rhyme, strict=True):
            groups.setdefault(letter, set()).update(group_name(tokens[place], language) for place in places)
        assert all(len(group) == 1 and None not in group for group in groups.values())


def test_without_letters_a_literal_that_does_not_rhyme_leaves_the_rhyme_to_the_others() -> None:
    format_ = parse_format("2灯。2山。3。", "zh")
    assert format_.rhyme == "A.A"
    for one in texts_of([format_] * 4, RHYMED, list(range(4))):
        check(one, format_)
        assert rhyme_group(units_of(one)[2][2]) == "eng"


def test_where_no_word_rhymes_the_format_still_holds() -> None:
    format_ = parse_format("2石。3。", "zh", "AA")  # 石 alone has its group
    for one in texts_of([format_] * 4, RHYMED, list(range(4))):
        check(one, format_)
        assert units_of(one)[1][2] == "石"


def test_literals_unknown_to_the_vocabulary_stay() -> None:
    format_ = parse_format("_鹤_；_鸥。", "zh")
    (one,) = texts_of([format_], FRAME, [1])
    assert (one[1], one[3], one[5:]) == ("鹤", "；", "鸥。")


def test_in_frame_without_marks_lengths_hold_and_marks_may_stand_anywhere() -> None:
    format_ = parse_format("4，3。5。", "zh")
    found = texts_of([format_] * 30, VerseDecoder(mode="frame"), list(range(30)))
    assert {tuple(map(len, units_of(text))) for text in found} == {(9, 6)}
    assert any(is_mark(text[0]) for text in found) and any(not is_mark(text[4]) for text in found)


@pytest.mark.parametrize("decoder", [VerseDecoder(), VerseDecoder(mode="frame"), FRAME, RHYMED])
@pytest.mark.parametrize("method", ["top_k", "beam"])
def test_neighbours_and_batch_size_never_change_a_text(decoder: VerseDecoder, method: str) -> None:
    decoder = decoder.model_copy(update={"method": method, "beam": 3, "slack": 3})
    wanted = [
        parse_format(text, "zh") for text in ("2。", "5，5。7，5。", "3。3。3。", "1。", "9，9。", "2！2！", "4灯，4。")
    ]
    seeds = [11, 12, 13, 14, 15, 16, 17]
    together = ids_of(wanted, decoder, seeds)
    assert together == [ids_of([each], decoder, [seed])[0] for each, seed in zip(wanted, seeds, strict=True)]
    assert together[::-1] == ids_of(wanted[::-1], decoder, seeds[::-1])


@pytest.mark.parametrize("slack", [0, 3])
def test_free_texts_end_at_the_latest_a_slack_after_their_own_frame(slack: int) -> None:
    wanted = [parse_format(text, "zh") for text in ("2。", "5，5。7，5。")]
    found = ids_of([*wanted] * 20, VerseDecoder(slack=slack), list(range(40)))
    lengths = [len(frame_of(format_, ZH)) - 1 + slack for format_ in wanted] * 20
    assert all(len(ids) <= most for ids, most in zip(found, lengths, strict=True))
    assert any(len(ids) == most for ids, most in zip(found, lengths, strict=True))
    assert any(len(ids) < most for ids, most in zip(found, lengths, strict=True))


def test_symbols_and_specials_are_never_written() -> None:
    for decoder in (VerseDecoder(top_k=100), VerseDecoder(mode="frame", top_k=100), VerseDecoder(method="beam")):
        for ids in ids_of([parse_format("5，5。7，5。", "zh")] * 20, decoder, list(range(20))):
            assert all(0 <= i < ZH.text_size and i not in (PAD, UNK, BOS, EOS) for i in ids)


def test_the_same_seed_writes_the_same_text() -> None:
    format_ = parse_format("5，5。", "zh")
    first, again, other = texts_of([format_] * 3, FRAME, [3, 3, 4])
    assert first == again != other


def allowed(mask: Tensor) -> Tensor:
    """Where a mask, which may be added to log-probabilities, leaves a token."""
    return torch.isfinite(masked(torch.zeros(mask.shape), mask))


def test_masks_are_as_wide_as_what_is_written_and_leave_something() -> None:
    batch = batch_of([parse_format("2，1。", "zh"), parse_format("1", "zh")], ZH)
    for decoder in (VerseDecoder(), FRAME, RHYMED):
        rule = verse_constraint(decoder, ZH)
        state = rule.start(batch)
        for _ in range(batch.c.shape[1] + 3):
            mask = allowed(rule.mask(state))
            assert mask.shape == (2, ZH.text_size) and mask.any(1).all()
            state = rule.advance(mask.float().argmax(1), state)


def test_a_shorter_frame_has_ended_while_its_neighbour_goes_on() -> None:
    batch = batch_of([parse_format("2，1。", "zh"), parse_format("1", "zh")], ZH)
    rule = FrameConstraint(ZH, marks=True)
    state = rule.start(batch)
    seen = []
    for _ in range(5):
        seen.append(allowed(rule.mask(state))[1].nonzero().flatten().tolist())
        state = rule.advance(torch.zeros(2, dtype=torch.long), state)
    words = [i for i in range(SEP + 1, ZH.text_size) if i not in ZH.mark_ids]
    assert seen == [words, [SEP], [EOS], [EOS], [EOS]]


def test_a_chosen_rhyme_follows_its_row_when_rows_are_reordered() -> None:
    batch = batch_of([parse_format("1。1。", "zh", "AA")] * 2, ZH)
    rule = RhymeConstraint(FrameConstraint(ZH, marks=True))
    state = rule.advance(torch.tensor(ZH.encode("灯山")), rule.start(batch))
    for _ in range(2):  # the mark and the separator
        state = rule.advance(torch.tensor([6, 6]), state)
    state = state.select(torch.tensor([1, 0, 1]))
    words = [{ZH.token(i) for i in row.nonzero().flatten().tolist()} for row in allowed(rule.mask(state))]
    assert words == [set("天年"), set("令风明"), set("天年")]


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        ([], ""),
        (ZH.encode("灯。"), "灯。"),
        ([*ZH.encode("灯。"), SEP], "灯。"),
        ([*ZH.encode("灯。"), SEP, SEP, *ZH.encode("山"), SEP], "灯。\n\n山"),
        ([SEP, SEP], "\n"),
        ([*ZH.encode("灯。"), SEP, *ZH.encode("山")], "灯。\n山"),
    ],
)
def test_free_ids_of_any_shape_become_text(ids: list[int], text: str) -> None:
    assert text_of(ids, ZH) == text


@given(st.lists(st.integers(0, ZH.text_size - 1), max_size=20))
def test_no_ids_make_text_of_crash(ids: list[int]) -> None:
    format_ = parse_format("2，1。3灯。", "zh")
    assert isinstance(text_of(ids, ZH), str) and isinstance(text_of(ids, ZH, format_), str)


def test_english_tokens_are_joined_by_spaces() -> None:
    assert text_of([*EN.encode(["lamp", ","]), SEP, *EN.encode(["stone"]), SEP], EN) == "lamp ,\nstone"


@pytest.mark.parametrize(
    "change", [{"mode": "loose"}, {"top_k": 0}, {"temperature": 0}, {"beam": 0}, {"slack": -1}, {"x": 1}]
)
def test_a_decoder_that_cannot_be_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        VerseDecoder(**change)


# --- The task: from records to a table, and from a table to statistics ------------------------------------------------

TASK = VerseTask()
ENCODING = VerseEncoding()
POEMS = [("灯山，桥雨。\n山石！", "A."), ("雨。", "A"), ("“桥”、灯！！\n石。", "AB")]


def ready() -> Ready:
    records = [
        Verse(id=f"p{n}", origin="test", language="zh", target=text, author="甲", tune="石桥令", rhyme=rhyme)
        for n, (text, rhyme) in enumerate(POEMS)
    ]
    encoded = ENCODING.encode(records, ZH, VerseSettings(units=6, length=24, max_tokens=80))
    assert list(encoded.places) == [0, 1, 2]
    return Ready(records, encoded.split)


def test_each_format_is_a_prompt_for_each_sample() -> None:
    (inputs,) = TASK.inputs(ready(), MODELS["zh"], FRAME, RunOptions(samples=2, seed=7), seed=1)
    assert inputs.prompts.tolist() == [0, 0, 1, 1, 2, 2] and inputs.kept == 1
    rows = [row for (row,) in inputs.rows]
    assert [(row["id"], row["sample"]) for row in rows] == [(f"p{n}", k) for n in range(3) for k in range(2)]
    # One tune for all, and three formats.
    assert all(row["cluster"] == row["id"] and row["tune"] == "石桥令" for row in rows)
    assert rows[0]["format"] == "2，2。2！" and rows[0]["reference"] == POEMS[0][0] and rows[0]["rhyme"] == "A."


def test_a_column_keeps_marks_that_the_model_does_not_know() -> None:
    (inputs,) = TASK.inputs(ready(), MODELS["zh"], FRAME, RunOptions(), seed=1)
    batch = inputs.data.batch(inputs.prompts, MODELS["zh"].config.view)
    for (row,), hypotheses in zip(inputs.rows, TASK.generate(MODELS["zh"], batch, FRAME, [1, 2, 3]), strict=True):
        text = TASK.columns(hypotheses[0], row, MODELS["zh"], FRAME)["text"]
        assert [is_mark(sign) and sign for sign in text] == [is_mark(sign) and sign for sign in row["reference"]]
    assert TASK.columns(None, row, MODELS["zh"], FRAME) == TASK.columns(None, row, MODELS["zh"], VerseDecoder())
    assert TASK.columns(None, row, MODELS["zh"], FRAME) == {"text": ""}


@pytest.mark.parametrize("decoder", [FRAME, RHYMED, VerseDecoder()])
def test_polished_texts_have_the_kept_words_wherever_the_frame_is_copied(decoder: VerseDecoder) -> None:
    decoder = decoder.model_copy(update={"literals": 0.4})
    (inputs,) = TASK.inputs(ready(), MODELS["zh"], decoder, RunOptions(samples=2, seed=2), seed=1)
    batch = inputs.data.batch(inputs.prompts, MODELS["zh"].config.view)
    rows = [row for (row,) in inputs.rows]
    # The words of a poem are drawn once for all of its samples, and stand in C as themselves.
    assert rows[0]["template"] == rows[1]["template"] == "__，_雨。\n山石！" and rows[0]["format"] == "2，2。2！"
    assert batch.c[0, 3:5].tolist() == [ZH.c_word, ZH.id_of("雨")]
    found = TASK.generate(MODELS["zh"], batch, decoder, [1, 2, 3, 4, 5, 6])
    texts = [TASK.columns(each[0], row, MODELS["zh"], decoder)["text"] for each, row in zip(found, rows, strict=True)]
    values = literal_statistics([row["template"] for row in rows], texts, "zh")
    assert values[0, 1] == 3 and (decoder.mode == "free" or (values[:, 0] == values[:, 1]).all())
    if decoder.mode == "free":
        assert texts == [text_of(each[0].tokens, ZH) for each in found]
    else:
        marks = [["".join(filter(is_mark, unit)) for unit in units_of(text)] for text in texts]
        assert marks[:2] == [["，。", "！"]] * 2 and marks[4:] == [["“”、！！", "。"]] * 2


def test_words_that_the_vocabulary_lacks_are_not_kept_and_kept_words_that_do_not_rhyme_leave_their_letter() -> None:
    poem = Verse(
        id="p", origin="o", language="zh", target="灯缺。\n桥山。\n雨石。\n风明。", author="", tune="", rhyme="AAAA"
    )
    encoded = ENCODING.encode([poem], ZH, VerseSettings(units=6, length=24, max_tokens=80))
    decoder = RHYMED.model_copy(update={"literals": 0.99})
    (inputs,) = TASK.inputs(Ready([poem], encoded.split), MODELS["zh"], decoder, RunOptions(seed=1), seed=1)
    assert inputs.rows[0][0]["template"] == "灯#。\n桥山。\n雨石。\n风#。"
    # 缺 is unknown, and where all are drawn the last one stays blank. 石 does not rhyme with 山.
    letters = inputs.data.columns["letter"].flat[:-1].reshape(4, 4)
    assert letters[:, 1].tolist() == [0, 0, -1, 0] and (np.delete(letters, 1, axis=1) == -1).all()


@pytest.mark.parametrize(
    ("decoder", "symbols", "told"),
    [
        ({"mode": "frame", "tone": True}, ("c", "p", "s"), "kept words have their own tones"),
        ({}, ("p", "s"), "the model reads no C symbols, and so no kept words"),
    ],
)
def test_words_are_not_kept_where_tones_are_or_where_the_model_cannot_read_them(
    decoder: dict[str, Any], symbols: tuple[Any, ...], told: str
) -> None:
    network = SongNetConfig(symbols=symbols, positions=200)
    with pytest.raises(ConfigError, match=told):
        VerseDecoder(literals=0.2, **decoder).check(network, VerseSettings(units=6, length=24, max_tokens=80), 1)


def test_a_search_keeps_its_beams_and_a_draw_is_one_prefix() -> None:
    assert VerseDecoder(method="beam", beam=7).prefixes == 7 and VerseDecoder(beam=7).prefixes == 1


def test_likelihoods_are_those_of_reading_each_reference_step_by_step() -> None:
    model, data = MODELS["zh"], ready().data
    batch = data.batch(np.arange(3), model.config.view)
    with torch.inference_mode():
        columns = {name: values.tolist() for name, values in TASK.likelihood(model, batch).items()}
        assert tuple(columns) == TASK.likelihood_columns
        for row in range(3):
            alone = data.batch(np.array([row]), model.config.view)
            state, nats = model.start(alone), []
            for token, target in zip(alone.inputs[0], alone.target[0], strict=True):
                logs, state = model.step(token[None], state)
                nats.append(-float(logs[0, target]))
            words = [not (i in (SEP, EOS) or i in ZH.mark_ids) for i in alone.target[0].tolist()]
            assert columns["nll"][row] == pytest.approx(sum(nats), rel=1e-5)
            assert columns["word_nll"][row] == pytest.approx(sum(np.array(nats)[words]), rel=1e-5)
            assert (columns["tokens"][row], columns["words"][row]) == (len(nats), sum(words))


def outputs() -> Outputs:
    rows: list[dict[str, Any]] = [
        {"id": f"p{n}", "cluster": f"p{n}", "seed": seed, "sample": sample, "rhyme": POEMS[n][1],
         "reference": POEMS[n][0], "text": POEMS[n][0] if sample else "", "nll": 2.0 * n + seed, "tokens": 4,
         "word_nll": 1.0, "words": 2}
        for seed in (1, 2) for n in range(2) for sample in range(2)
    ]  # fmt: skip
    dev = pd.DataFrame([{**row, "id": "d", "cluster": "d", "sample": 0, "nll": 8.0} for row in rows[:1]])
    return Outputs(pd.DataFrame(rows), "zh", seed=3, dev=dev)


def test_statistics_have_a_row_for_each_text_and_a_block_for_the_dev_split() -> None:
    made = outputs()
    test, dev = TASK.statistics(made, VerseScoring(rules="songci"))
    assert all(len(values) == len(test.rows) == 8 for values in test.families.values())
    assert test.rows.equals(made.table[["id", "cluster", "seed", "sample"]])
    assert test.families[Perplexity()][:, 0].tolist() == made.table["nll"].tolist()
    format_ = test.families[FormatAccuracy("songci")]
    assert all((format_[row] == format_[row % 4]).all() for row in range(8)) and (format_[0] != format_[1]).any()
    assert list(dev.families) == [Perplexity("dev")] and dev.rows["id"].tolist() == ["d"]
    assert dev.families[Perplexity("dev")][:, :2].tolist() == [[8.0, 4.0]]
    assert len(TASK.statistics(replace(made, dev=None), VerseScoring(rules="songci"))) == 1


def test_poems_of_one_tune_and_poems_of_one_format_are_one_cluster() -> None:
    def poem(id: str, tune: str, text: str, family: str = "") -> Verse:
        return Verse(id=id, origin="o", language="zh", target=text, author="", tune=tune, family=family, rhyme="A")

    records = [
        poem("a", "甲调", "灯山。"),
        poem("b", "乙调", "灯，山。"),
        poem("c", "甲调", "灯山桥。"),
        poem("d", "丙调", "石令。"),  # the format of a
        poem("e", "丁调", "灯！", family="乙调"),  # another name of b's tune
    ]
    a, b, c, d, e = clusters_of(records)
    assert a == c == d and b == e and a != b and {a, b} <= {"a", "b", "c", "d", "e"}
    # All sonnets are of one tune.
    first, second, third = clusters_of(
        [poem("a", "sonnet", "灯山。"), poem("b", "sonnet", "灯。"), poem("c", "sonnet", "石令。")]
    )
    assert first == third != second


def test_formats_that_train_are_told_from_new_ones() -> None:
    train = ready().data
    assert train.has_formats(["石舟，天年。\n风明！", "石，舟年。\n风明！", "雨雨。", "鹤。", "鹤。\n鹤。", ""]) == [
        True, False, False, True, False, False
    ]  # fmt: skip
    made = replace(outputs(), train=lambda: train)
    parts = TASK.statistics(made, VerseScoring(rules="songci"))[0].families
    songci = FormatAccuracy("songci")
    assert (parts[Part(songci, "seen")] == parts[songci]).all() and not parts[Part(songci, "new")].any()
    strange = made.table.assign(reference=["石。\n石。" if id_ == "p1" else POEMS[0][0] for id_ in made.table["id"]])
    strange["rhyme"] = ["AA" if id_ == "p1" else "A." for id_ in strange["id"]]
    parts = TASK.statistics(replace(made, table=strange), VerseScoring(rules="songci"))[0].families
    new = (strange["id"] == "p1").to_numpy()
    for part, inside in (("new", new), ("seen", ~new)):
        assert (parts[Part(Perplexity(), part)].any(axis=1) == inside).all()
    # A dataset without rows for training says nothing of formats.
    empty = ENCODING.encode([], ZH, VerseSettings(units=6, length=24, max_tokens=80)).split
    assert not any(
        isinstance(family, Part)
        for family in TASK.statistics(replace(made, train=lambda: empty), VerseScoring(rules="songci"))[0].families
    )


def test_the_headline_names_metrics_of_the_statistics() -> None:
    made = outputs()
    blocks = TASK.statistics(made, VerseScoring(rules="songci"))
    names = {metric.name for block in blocks for family in block.families for metric in family.metrics}
    assert {*TASK.headline(made).values()} <= names
    assert TASK.counts(made, None) == {"distinct": 3, "clusters": 2}


def test_a_lexicon_of_rhymes_adds_prosody_and_its_coverage(tmp_path: Path) -> None:
    tunes = ["灯词", "无名"] * 4
    made = outputs()
    made = replace(made, table=made.table.assign(tune=tunes), lexicon=write_couyun(tmp_path))
    rows = made.table.drop_duplicates("id")
    (test, *_) = TASK.statistics(made, VerseScoring(rules="songci"))
    assert test.families[Prosody()].shape == (8, 14)
    assert TASK.counts(made, None) == TASK.counts(replace(made, lexicon=None), None) | {
        "poems": len(rows), "tune in the book": int((rows["tune"] == "灯词").sum()), "fits a variant": 0
    }  # fmt: skip
    english = replace(made, language="en")
    assert "poems" not in TASK.counts(english, None)


def test_verse_needs_rules_and_no_parses() -> None:
    with pytest.raises(ValidationError, match="rules"):
        VerseScoring.model_validate({})
    with pytest.raises(ValidationError, match="songci"):
        VerseScoring.model_validate({"rules": "haiku"})
    assert not TASK.needs_annotation(SongNetConfig(), None)


def test_a_text_must_fit_the_positions_of_the_model() -> None:
    network, dataset = SongNetConfig(positions=88), VerseSettings(units=6, length=24, max_tokens=80)
    VerseDecoder(slack=8).check(network, dataset, 1)
    VerseDecoder(mode="frame", slack=99).check(network, dataset, 1)
    line = (
        r"^decoder: texts of up to 89 tokens, of a model that has 88 positions; "
        r"raise the model's network\.positions, or lower the dataset's max_tokens or decoder\.slack$"
    )
    with pytest.raises(ConfigError, match=line):
        VerseDecoder(slack=9).check(network, dataset, 1)


@pytest.mark.parametrize("name", ["marks", "rhyme", "tone"])
def test_a_free_text_is_not_said_to_keep_what_it_does_not(name: str) -> None:
    network, dataset = SongNetConfig(positions=88), VerseSettings(units=6, length=24, max_tokens=80)
    VerseDecoder(mode="frame", **{name: True}).check(network, dataset, 1)
    with pytest.raises(ConfigError, match=rf"^decoder\.{name}: free texts keep no {name}; mode: frame$"):
        VerseDecoder(**{name: True}).check(network, dataset, 1)


def test_settings_are_those_that_the_method_uses() -> None:
    def settings(samples: int = 1, **decoder: Any) -> dict[str, Any]:
        return VerseDecoder(**decoder).shown(SongNetConfig(), samples, None)

    assert settings() == {
        "protocol": "free", "decoder": "top-k", "k": 32, "beam": None, "constraints": [], "samples": None
    }  # fmt: skip
    assert settings(3, mode="frame", marks=True, rhyme=True, method="beam", beam=4) == {
        "protocol": "frame", "decoder": "beam", "k": None, "beam": 4, "constraints": ["marks", "rhyme"], "samples": 3
    }  # fmt: skip
    assert next(iter(settings())) == "protocol"
