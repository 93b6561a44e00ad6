"""Variants of tunes, on a small book written by hand: what each field of its files comes to, and how poems are judged.

The small book's words: 中 level and oblique, 东 風 风 空 and 高 桃 level, 孔 动 洞 梦 笑 照 oblique, 木 竹 entering.
"""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.io.errors import ArtifactError, ConfigError
from espalier.verse.books import Book, Books, ToneBook, read_books
from espalier.verse.grammar import parse_format
from espalier.verse.tune_book import TuneBook
from espalier.verse.variants import Variant, fit_of, followed, has_clauses, sentence_lengths, words_of
from tests.verse.couyun import write_couyun


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_couyun(tmp_path_factory.mktemp("couyun"))


@pytest.fixture(scope="module")
def tunes(folder: Path) -> TuneBook:
    return TuneBook(folder)


@pytest.fixture(scope="module")
def books(folder: Path) -> Books:
    return read_books(folder)


# --- What the book says ----------------------------------------------------------------------------------------------


def test_a_variant_has_the_clauses_sentences_tones_and_rhyme_groups_of_its_files(tunes: TuneBook) -> None:
    variant = tunes.variant("转韵词")
    assert variant.clauses == ((2, "。"), (2, "。"), (2, "。"), (2, "。"))
    assert variant.sentences == (2, 2, 2, 2)
    assert variant.tones == "中平中平中仄中仄"
    assert variant.rhymes == ((1, 3), (5, 7))  # in the order in which they begin, whatever the file's
    assert variant.turns == frozenset()
    assert (variant.pattern, variant.rhyme) == ("2。2。2。2。", "AABB")


def test_a_group_with_both_tones_turns_and_a_sentence_without_rhyme_has_no_letter(tunes: TuneBook) -> None:
    variant = tunes.variant("通叶词")
    assert variant.clauses == ((2, "。"), (2, "、"), (2, "。"), (2, "。"))
    assert variant.sentences == (2, 4, 2)
    assert (variant.rhymes, variant.turns) == (((1, 5, 7),), frozenset({0}))
    assert (variant.pattern, variant.rhyme) == ("2。2，2。2。", "AAA")
    assert Variant("x", 1, ((2, "。"), (1, "。")), "中平中", ((1,),)).rhyme == "A."


def test_a_tune_is_found_by_any_name_and_its_variants_count_from_one(tunes: TuneBook) -> None:
    assert tunes.names == (("试灯词", "灯词"), ("转韵词",), ("通叶词",))
    assert "灯词" in tunes
    assert [variant.number for variant in tunes.variants("灯词")] == [1, 2, 3, 4]
    assert tunes.variant("灯词", 3) == tunes.variants("试灯词")[2]
    assert tunes.variant("灯词").tune == "试灯词"


@pytest.mark.parametrize(
    ("tune", "number", "line"),
    [
        ("转灯词", 1, "tune: no tune '转灯词' in the book; names like it: .*转韵词"),
        ("abc", 1, "tune: no tune 'abc' in the book; names are those of the Qinding cipu"),
        ("转韵词", 2, "variant: no variant 2 of 转韵词; there are 1, from 1"),
        ("转韵词", 0, "variant: no variant 0 of 转韵词; there are 1, from 1"),
    ],
)
def test_a_tune_in_no_book_and_a_missing_variant_are_one_line(
    tunes: TuneBook, tune: str, number: int, line: str
) -> None:
    with pytest.raises(ConfigError, match=rf"^{line}") as error:
        tunes.variant(tune, number)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "change",
    [
        {"ge_lyu_str": "中平中平中仄中"},
        {"ge_lyu_str": "中平中平中仄中x"},
        {"rhyme_pos": [1, 3, 5]},
        {"yun_classify": {"0": [1, 3], "1": [4, 7]}, "rhyme_pos": [1, 3, 4, 7]},
        {"origin": "字字。字字。字字。字字"},
        {"origin": 7},
    ],
)
def test_a_damaged_form_book_is_one_line_with_the_remedy(tmp_path: Path, change: dict[str, object]) -> None:
    file = write_couyun(tmp_path) / "couyun/ci_pu/ci_list/cipai_1.json"
    file.write_text(json.dumps([json.loads(file.read_text("utf-8"))[0] | change]), "utf-8")
    with pytest.raises(ArtifactError, match=r"cipai_1\.json: .*; run dvc .*download@couyun") as error:
        TuneBook(tmp_path).variants("转韵词")
    assert "\n" not in str(error.value)


def test_a_missing_form_book_is_one_line_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"ci_index\.json: no form book; run dvc .*download@couyun"):
        TuneBook(tmp_path)


# --- How poems are judged --------------------------------------------------------------------------------------------


def test_the_places_of_a_poem_are_its_words_and_its_units_are_sentences() -> None:
    text = "东风，“高”桃。\n空！"
    assert (words_of(text), sentence_lengths(text)) == ("东风高桃空", (4, 1))


def test_a_poem_fits_the_variants_whose_sentences_have_its_lengths(tunes: TuneBook) -> None:
    numbers = [variant.number for variant in tunes.fitting("灯词", "字字字字字字。\n字字，字字字字。")]
    assert numbers == [1, 2, 3]
    assert tunes.fitting("灯词", "字字字。\n字字字字字字字字字。") == ()
    assert tunes.fitting("abc", "字字字字字字。\n字字字字字字。") == ()


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("中东。中东、中东。中动。", True),
        ("中东，中东，中东，中动。", True),  # other stops
        ("中东。中东中东。中动。", True),  # no mark at the pause
        ("中东中东、中东。中动。", False),  # two clauses as one
        ("中东。中、东中东。中动。", False),  # a pause elsewhere
        ("中东。中东、中东。中动中。", False),  # a word too many
        ("中东。中东、中东。", False),
    ],
)
def test_a_poem_has_the_clauses_of_a_variant_whatever_its_stops(tunes: TuneBook, text: str, has: bool) -> None:
    assert has_clauses(text, tunes.variant("通叶词")) == has  # 2。2、2。2。


def test_each_place_is_held_against_its_tone_and_any_reading_counts(tunes: TuneBook, books: Books) -> None:
    #       wanted: 中 平  中 平  中 仄  中 仄
    fit = fit_of("虎中。\n东洞。\n東中。\n孔虎。", tunes.variant("转韵词"), books)
    assert fit.tones == (True, True, True, False, True, True, True, False)  # 虎 is in no book
    assert fit.wanted == (False, True, False, True, False, True, False, True)
    # 洞 rhymes with a reading of 中, 虎 with nothing; 高 of part 8 has the level tone.
    assert (fit.variant.letters, fit.kept) == (".A.A.B.B", "...t...b")
    assert fit_of("虎东。\n东高。\n東中。\n孔洞。", fit.variant, books).kept == "...r...."


@pytest.mark.parametrize(
    ("text", "rhymes"),
    [
        ("字东。\n字空。\n字笑。\n字照。", ((True, True), (True, True))),
        ("字东。\n字高。\n字笑。\n字梦。", ((True, False), (True, False))),  # of equals the first by name: 1平, 1仄
        ("字中。\n字风。\n字中。\n字洞。", ((True, True), (True, True))),  # 中 level, then 中 oblique
        ("字东。\n字洞。\n字木。\n字竹。", ((False, True), (True, True))),  # one part, two tones
        ("字虎。\n字虎。\n字木。\n字笑。", ((False, False), (True, False))),  # no book knows 虎
    ],
)
def test_words_of_a_group_rhyme_if_they_share_a_part_and_a_tone(
    tunes: TuneBook, books: Books, text: str, rhymes: tuple[tuple[bool, ...], ...]
) -> None:
    fit = fit_of(text, tunes.variant("转韵词"), books)
    assert fit.rhymes_throughout == all(map(all, rhymes))
    assert [sum(group) for group in fit.rhymes] == [sum(group) for group in rhymes]


@pytest.mark.parametrize(
    ("text", "rhymes"),
    [
        ("字东。\n字字，字空。\n字洞。", (True, True, True)),
        ("字东。\n字字，字空。\n字笑。", (True, True, False)),
        ("字东。\n字字，字空。\n字风。", (True, True, False)),  # the last place wants the oblique tone of the part
        ("字中。\n字字，字东。\n字中。", (True, True, True)),
    ],
)
def test_a_group_that_turns_rhymes_across_the_tones_of_one_part(
    tunes: TuneBook, books: Books, text: str, rhymes: tuple[bool, ...]
) -> None:
    assert fit_of(text, tunes.variant("通叶词"), books).rhymes == (rhymes,)


@pytest.mark.parametrize(
    ("book", "by", "tones", "rhymes"),
    [
        ("cilin", "book", (True, True), True),
        ("pingshui", "book", (True, True), False),  # 动 is 上1, 梦 去1
        ("mandarin", "mandarin", (True, True), True),
    ],
)
def test_books_differ(
    tunes: TuneBook, books: Books, book: Book, by: ToneBook, tones: tuple[bool, ...], rhymes: bool
) -> None:
    fit = fit_of("东东。\n东风。\n东动。\n东梦。", tunes.variant("转韵词"), books, book=book, by=by)
    assert (fit.tones[5], fit.tones[7]) == tones
    assert all(fit.rhymes[1]) is rhymes


def test_a_poem_follows_the_variant_with_the_fewest_faults(tunes: TuneBook, books: Books) -> None:
    def number(text: str) -> int:
        fit = followed(text, tunes.fitting("灯词", text), books)
        assert fit is not None
        return fit.variant.number

    assert number("东洞洞，洞东东。\n东东洞，洞东风。") == 1
    assert number("东洞洞，洞东洞。\n东东洞，洞东梦。") == 2
    assert number("东洞，洞洞东东。\n东东洞，洞东风。") == 3  # as many faults as 1; its clauses end where the poem's do
    assert followed("东。", tunes.fitting("灯词", "东。"), books) is None


def test_a_poem_with_more_words_than_places_is_one_line(tunes: TuneBook, books: Books) -> None:
    with pytest.raises(ConfigError, match=r"^转韵词, variant 1: 3 words for 8 places$"):
        fit_of("东风空。", tunes.variant("转韵词"), books)


@given(st.lists(st.sampled_from("中东風高孔梦笑木竹虎"), min_size=8, max_size=8))
def test_whole_is_as_its_parts(words: list[str]) -> None:
    """Cilin by its definition, group by group: is there a group (a part and a tone) that all its words have?"""
    groups = {
        "中": {"1平", "1仄"}, "东": {"1平"}, "風": {"1平"}, "高": {"8平"}, "孔": {"1仄"}, "梦": {"1仄"}, "笑": {"8仄"},
        "木": {"15入"}, "竹": {"15入"}, "虎": set[str](),
    }  # fmt: skip
    tones = {word: {"平" if group.endswith("平") else "仄" for group in found} for word, found in groups.items()}

    class Known:
        def groups(self, character: str, book: Book) -> frozenset[str]:
            return frozenset(groups[character])

        def tones(self, character: str, by: ToneBook = "book") -> frozenset[str]:
            return frozenset(tones[character])

    variant = Variant("x", 1, ((2, "。"),) * 4, "中平中平中仄中仄", ((1, 3), (5, 7)))
    fit = fit_of("".join(words), variant, Known())  # type: ignore[arg-type]  # tones as plain strings
    shared = [groups[words[a]] & groups[words[b]] for a, b in ((1, 3), (5, 7))]
    assert fit.rhymes_throughout == all(shared)
    wrong = sum(wanted != "中" and wanted not in tones[word] for word, wanted in zip(words, variant.tones, strict=True))
    assert fit.tones.count(False) == wrong
    assert fit.faults == wrong + sum(not all(group) for group in fit.rhymes) + sum(not any(g) for g in fit.rhymes)


@pytest.mark.skipif(not os.environ.get("ESPALIER_MIRROR"), reason="the Qinding cipu is not at hand")
def test_all_tunes_of_the_qinding_cipu_are_formats() -> None:
    tunes = TuneBook(Path(os.environ["ESPALIER_MIRROR"]) / "couyun")
    variants = [variant for names in tunes.names for variant in tunes.variants(names[0])]
    assert (len(tunes), len(variants)) == (817, 2294)
    for variant in variants:
        format_ = parse_format(variant.pattern, "zh", variant.rhyme)
        assert tuple(map(len, variant.rhyme)) == (1,) * len(format_.units)
        assert format_.blanks == len(variant.tones)
