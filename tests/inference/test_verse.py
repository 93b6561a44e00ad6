"""Verse in formats, through the library."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import espalier
from espalier.inference.requests import VerseRequest
from espalier.inference.system import System
from espalier.inference.writer import ArgumentError, CallError, InferenceWarning, parted
from espalier.io.errors import ConfigError, DataError, EspalierError
from espalier.verse.books import Book, Tone, ToneBook
from espalier.verse.rhyme import group_name
from espalier.verse.sounds import Sounds


@pytest.fixture(scope="module")
def verse(models: Path) -> System:
    return espalier.load(models / "verse", device="cpu")


def test_each_format_is_filled_n_times_in_order(verse: System) -> None:
    poems = verse.generate(["3,4。", "2。2。"], n=2, seed=5)
    assert [(poem.format, poem.sample, poem.seed) for poem in poems] == [
        ("3，4。", 0, 5), ("3，4。", 1, 5), ("2。2。", 0, 5), ("2。2。", 1, 5),
    ]  # fmt: skip
    for poem in poems[:2]:
        assert len(poem.text) == 9 and (poem.text[3], poem.text[8]) == ("，", "。")
    assert [len(unit) for unit in poems[2].text.split("\n")] == [3, 3]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "5,5。",
            r"^System\.generate, formats: str '5,5。' instead of a list of str or VerseRequest; write \[...\] around",
        ),
        (b"5", "formats: bytes b'5' instead of a list of str or VerseRequest$"),
        (None, "formats: None instead of a list"),
        (5, "formats: int 5 instead of a list"),
        ({"5,5。"}, "formats: set instead of a list"),
        (len, "formats: builtin_function_or_method instead of a list"),
        ([None], r"^System\.generate, formats\[0\]: None instead of str or VerseRequest$"),
        ([5], r"formats\[0\]: int 5 instead of str or"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_input_of_another_type_is_one_line(verse: System, given: Any, said: str) -> None:
    with pytest.raises(CallError, match=said) as error:
        verse.generate(given)
    assert isinstance(error.value, TypeError) and isinstance(error.value, EspalierError)


def test_the_inputs_may_be_an_array_or_a_column_of_a_table(verse: System) -> None:
    assert verse.generate(np.array(["2。"])) == verse.generate(pd.Series(["2。"], index=[7])) == verse.generate(["2。"])


def test_an_unknown_option_is_one_line_that_lists_those_that_exist(verse: System) -> None:
    with pytest.raises(CallError, match=r"^verse\.generate: unknown option 'foo'; allowed: .*\bseed\b.*top_k"):
        verse.generate(["5。"], foo=1)


def test_a_system_says_what_it_is(verse: System) -> None:
    assert repr(verse) == "<System verse of verse: generate, polish; on cpu>"


def test_a_text_depends_on_its_place_and_seed_and_not_on_its_batch(
    verse: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    formats = ["3,4。", "5。", "3,4。"]
    poems = verse.generate(formats, seed=2)
    assert poems == verse.generate(formats, seed=2) != verse.generate(formats, seed=3)
    assert poems[:1] == verse.generate(formats[:1], seed=2) and poems[0].text != poems[2].text
    monkeypatch.setattr("espalier.inference.writer.PREFIXES", 1)
    assert poems == verse.generate(formats, seed=2)


def test_a_request_gives_rhyme_letters_and_a_tune(verse: System) -> None:
    with pytest.warns(InferenceWarning, match="model verse does not read the names of tunes"):
        (poem,) = verse.generate([VerseRequest(None, None, "卜算子")])
    assert (poem.format, poem.rhyme, poem.tune) == ("5，5。7，5。5，5。7，5。", "AAAA", "卜算子")
    (poem,) = verse.generate([VerseRequest("2。2。", "A.")])
    assert poem.rhyme == "A."


def test_units_of_one_letter_rhyme_where_separators_are_copied(verse: System) -> None:
    for poem in verse.generate(["3。3。"], n=4):
        first, second = (group_name(unit[-2], "zh") for unit in poem.text.split("\n"))
        assert first == second


def test_polish_keeps_words_known_or_not_and_wants_blanks(verse: System) -> None:
    (poem,) = verse.polish(["_龘山_。"])
    assert poem.text[1:3] == "龘山" and "_" not in poem.text
    with pytest.raises(ConfigError, match=r"templates\[0\], template: '5。' has no blanks; write _ for each word"):
        verse.polish(["5。"])


def test_a_search_finds_the_same_text_whatever_the_seed(verse: System) -> None:
    assert verse.generate(["3。"], beam=3, seed=1)[0].text == verse.generate(["3。"], beam=3, seed=2)[0].text


def test_a_search_gives_its_best_texts_the_most_probable_first(verse: System) -> None:
    found = verse.generate(["3。", "2。"], beam=4, n=3)
    assert [(poem.format, poem.sample) for poem in found] == [
        (each, rank) for each in ("3。", "2。") for rank in range(3)
    ]
    assert [poem.text for poem in found[::3]] == [poem.text for poem in verse.generate(["3。", "2。"], beam=4)]
    records = [{"target": poem.text, "rhyme": poem.rhyme, "tune": "", "author": ""} for poem in found]
    nats = [each.nll for each in verse.likelihood(records)]
    assert nats[:3] == sorted(nats[:3]) and nats[3:] == sorted(nats[3:])
    assert len({poem.text for poem in found}) == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n: 0 is too small; at least 1"),
        ({"top_k": 0}, "top_k: 0 is too small"),
        ({"beam": -1}, "beam: -1 is too small; at least 0"),
        ({"temperature": 0.0}, "temperature: 0.0 is no temperature; above 0"),
        ({"temperature": math.nan}, "temperature: nan is no temperature"),
        ({"temperature": math.inf}, "temperature: inf is no temperature; above 0, at most 100"),
        ({"temperature": -1.0}, "temperature: -1.0 is no temperature"),
        ({"beam": 20_000}, "beam: 20000 is too large; at most 1,000"),
        ({"top_k": 10**12}, "top_k: 1000000000000 is too large; at most 1,000,000"),
        ({"n": 10_001}, "n: 10001 is too large; at most 10,000"),
        ({"beam": 2, "n": 3}, "n: 3 texts of 2 beams; raise the beam to 3, or lower n"),
    ],
)
def test_an_option_that_cannot_be_is_one_line(verse: System, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        verse.generate(["3。"], **options)
    assert str(caught.value).startswith(f"verse.generate, {message}")


@pytest.mark.parametrize(
    ("format_", "message"),
    [
        ("", "formats[1], format: the format is empty"),
        ("3。" * 9, "formats[1], format: 9 units; this model knows at most 8"),
        ("20。", "formats[1], format: a unit of 17 words"),
        ("10。" * 7, "formats[1], format: a format of 85 tokens; this model writes at most 64"),
    ],
)
def test_a_bad_format_is_named_by_its_place(verse: System, format_: str, message: str) -> None:
    with pytest.raises(EspalierError) as caught:
        verse.generate(["3。", format_])
    assert str(caught.value).startswith(message)


def test_a_writer_names_bad_formats_and_answers_the_good_ones_as_if_nothing_were_wrong(verse: System) -> None:
    writer = verse.writer("generate", seed=4)
    requests = [VerseRequest(text, name=f"row {row}") for row, text in enumerate(["3。", "3,,", "4。"], start=1)]
    jobs, errors = parted(writer.read(requests))
    assert [str(error).split(":")[0] for error in errors] == ["row 2, format"]
    results = [poem for _, poem in writer.write(jobs)]
    whole = verse.generate(["3。", "5。", "4。"], seed=4)
    assert results == [whole[0], whole[2]]


def test_likelihood_is_that_of_the_model_s_loss(verse: System) -> None:
    import numpy as np

    from espalier.corpora.records import Verse
    from espalier.datasets.verse.encode import VerseEncoding

    poems = [{"target": "灯人山。\n天在船。", "author": "", "tune": "", "rhyme": "AA"},
             {"target": "明天，好。", "author": "", "tune": "", "rhyme": "."}]  # fmt: skip
    found = verse.likelihood(poems)
    records = [Verse(id=str(row), origin="", language="zh", **poem) for row, poem in enumerate(poems)]
    split = VerseEncoding().encode(records, verse.vocabulary, verse.settings).split
    for row, likelihood in enumerate(found):
        loss = verse.model(split.batch(np.array([row]), verse.view))
        assert likelihood.nll == pytest.approx(loss.total.item(), rel=1e-5)
        assert likelihood.tokens == int(loss.targets) and likelihood.counts["words"] == (6, 3)[row]
        assert likelihood.perplexity == pytest.approx(math.exp(loss.total.item() / int(loss.targets)), rel=1e-5)
    assert verse.likelihood([records[1]])[0].nll == pytest.approx(found[1].nll, rel=1e-5)
    assert verse.likelihood([]) == []


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"target": "灯。"}, "records[0]: no author, tune, rhyme"),
        (
            {"target": "灯。", "author": "", "tune": "", "rhyme": "A", "language": "xx"},
            "records[0]: its language is 'xx'; the model reads 'zh'",
        ),
        (
            {"target": "灯。", "author": "", "tune": "", "rhyme": "A", "moon": ""},
            "records[0]: unknown field moon; known",
        ),
        (
            {"target": "灯。", "author": "", "tune": "", "rhyme": "AB"},
            "records[0]: 2 rhyme letters, units: 1; give one letter for each unit, . for none",
        ),
        ({"target": "灯。\n" * 8 + "灯。", "author": "", "tune": "", "rhyme": "." * 9}, "records[0]: over 8 units"),
    ],
)
def test_a_record_that_cannot_be_measured_is_named(verse: System, record: dict[str, str], message: str) -> None:
    with pytest.raises(DataError) as caught:
        verse.likelihood([record])
    assert str(caught.value).startswith(message)


def test_nothing_is_warned_of_without_a_tune(verse: System) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        verse.generate(["3。"])


class Readings:
    """Every character has the readings 1平 and 1仄, 人 the first alone."""

    def groups(self, character: str, book: Book) -> frozenset[str]:
        return frozenset({"1平"} if character == "人" else {"1平", "1仄"})

    def tones(self, character: str, by: ToneBook = "book") -> frozenset[Tone]:
        return frozenset({"平"} if character == "人" else {"平", "仄"})

    def characters(self, book: Book) -> str:
        return "人灯山"


@pytest.mark.parametrize("beam", [0, 3])
def test_tones_and_an_acrostic_are_kept_by_a_given_book(verse: System, beam: int) -> None:
    options = {"book": "cilin", "tone": True, "books": Readings(), "beam": beam}
    (poem,) = verse.generate([VerseRequest(None, tones="平仄，仄仄。平仄。", acrostic="灯山")], **options)
    assert (poem.text[0], poem.text.split("\n")[1][0]) == ("灯", "山") and poem.tones == "平仄仄仄平仄"
    assert "人" not in (poem.text[1], *poem.text[3:5], poem.text[-2])


@pytest.mark.parametrize(
    ("request_", "options", "message"),
    [
        (VerseRequest("2。", tones="平平平"), {"tone": True}, "tones: '平平平' has 3 tones, the format 2 words"),
        (VerseRequest("2。", tones="平平"), {}, "tones: tones are given, but tone is off; set tone as well"),
        (VerseRequest("2。"), {"tone": True}, "tone: the format has no tones; give them"),
        (VerseRequest("2。", variant=2), {}, "variant: a variant is given, but no tune; give its tune"),
        (VerseRequest(None, None, "卜算子", variant=2), {}, "tune: the variants of tunes are of the source"),
        (VerseRequest("2。", acrostic=""), {}, "acrostic: is empty; leave it out"),
        (VerseRequest(None, tones=""), {"tone": True}, "tones: is empty; leave it out"),
        (VerseRequest("2。", acrostic="灯人山"), {}, "acrostic: '灯人山' has 3 words"),
        (VerseRequest("2人。", tones="中中仄"), {"tone": True, "book": "cilin", "books": Readings()},
         "tones, unit 1: the tone of '人' is 平, its position has 仄"),
        (VerseRequest("2。"), {"book": "cilin"}, "book: the rhyme book cilin is of the source couyun, which"),
        (VerseRequest("2。"), {"book": "guangyun"}, "book: unknown book 'guangyun'; allowed: cilin"),
        (VerseRequest("2。"), {"free": True, "tone": True}, "free: free texts keep no rhymes or tones"),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_is_one_line(
    verse: System, request_: VerseRequest, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        verse.generate([request_], **options)
    assert str(caught.value).removeprefix("verse.generate, ").startswith(message)


def test_a_literal_that_the_model_does_not_know_is_said(verse: System) -> None:
    with pytest.warns(InferenceWarning, match="model verse does not know 龘; kept as written, read as unknown"):
        verse.generate(["2龘。"])


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (VerseRequest("2兙。2。"), True),
        (VerseRequest("2兙。_#。"), False),  # the first unit has no rhyme place
        (VerseRequest("2兙。2。", rhyme=".A"), False),
        (VerseRequest("2山。2。"), False),
    ],
)
def test_a_literal_without_a_rhyme_group_is_said_if_its_unit_should_rhyme(
    verse: System, request_: VerseRequest, said: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = Sounds.groups
    monkeypatch.setattr(
        Sounds, "groups", lambda self, word, *a, **k: frozenset() if word == "兙" else groups(self, word, *a, **k)
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        [poem] = verse.generate([request_])
    texts = [str(each.message) for each in caught]
    assert ("mandarin has no rhyme group of 兙; its unit rhymes with none" in texts) is said
    assert (poem.rhyme[0] == ".") is ("兙" in poem.format)


def test_an_unknown_literal_at_a_rhyme_place_is_read_as_a_word_that_rhymes_with_it(verse: System) -> None:
    # 闪 rhymes with 山, the first word of the vocabulary in its group; 龘 stands where nothing rhymes.
    with pytest.warns(InferenceWarning) as said:
        (poem,) = verse.generate([VerseRequest("2闪。龘2。", rhyme="AA")])
    assert str(said[0].message) == (
        "model verse does not know 闪 龘; kept as written, read 闪 as 山, which rhymes with it and 龘 as unknown"
    )
    assert poem.text[2] == "闪" and poem.text.split("\n")[1][0] == "龘"


def test_traditional_characters_are_read_as_simplified_ones_with_one_note(verse: System) -> None:
    with pytest.warns(InferenceWarning, match="Traditional characters are read as Simplified ones"):
        (poem,) = verse.generate(["2門。"])
    assert poem.text[2] == "门"
