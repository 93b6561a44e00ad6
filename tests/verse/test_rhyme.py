"""Which words rhyme."""

from __future__ import annotations

import gzip
from hashlib import sha256
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.io.errors import ConfigError
from espalier.verse.rhyme import (
    CMUDICT,
    GROUPS,
    RELEASED_GROUPS,
    final_of,
    pronunciations,
    released_group,
    rhyme_group,
    rhyme_part,
    rhyme_parts,
    rhymes,
    sounds_alike,
)

# character, strict final, group with ü to u, group with ü to i, group of the released table
READINGS = [
    ("主", "u", "u", "u", "u"),
    ("雨", "v", "u", "i", "i"),
    ("妒", "u", "u", "u", "u"),
    ("故", "u", "u", "u", "u"),
    ("边", "ian", "an", "an", "an"),
    ("春", "uen", "en", "en", None),  # the released table has no "uen"
    ("村", "uen", "en", "en", None),
    ("尘", "en", "en", "en", "en"),
    ("云", "vn", "en", "en", "en"),
    ("瘦", "ou", "ou", "ou", "ou"),
    ("流", "iou", "ou", "ou", "ou"),
    ("水", "uei", "ei", "ei", "ei"),
    ("诗", "i", "i", "i", "i"),
    ("儿", "er", "i", "i", "er"),
    ("月", "ve", "ie", "ie", "o"),
    ("远", "van", "an", "an", "an"),
    ("歌", "e", "o", "o", "o"),
    ("红", "ong", "eng", "eng", "eng"),
]


@pytest.mark.parametrize(("character", "final", "to_u", "to_i", "released"), READINGS)
def test_a_character_rhymes_by_the_final_of_its_default_reading(
    character: str, final: str, to_u: str, to_i: str, released: str | None
) -> None:
    assert final_of(character) == final
    assert rhyme_group(character) == to_u
    assert rhyme_group(character, u_umlaut="i") == to_i
    assert released_group(character) == released


@pytest.mark.parametrize("token", ["", "a", "i", "1", "，", "□", " ", "々", "嗯", "春天", "</s>", "\n", "😀"])
def test_what_is_no_han_character_with_a_final_rhymes_with_nothing(token: str) -> None:
    # "a" and "i" are finals by themselves, and pypinyin hands back what it cannot read.
    assert rhyme_group(token) is None
    assert released_group(token) is None
    assert not sounds_alike(token, token, "zh")


def test_no_character_that_pypinyin_can_read_is_left_without_a_group() -> None:
    from pypinyin.constants import PINYIN_DICT

    finals = {final_of(chr(code)) for code in range(0x4E00, 0xA000) if code in PINYIN_DICT} - {None}
    known = {final for group in GROUPS.values() for final in group}
    assert finals - known == {"v"}  # whose group is the caller's choice


def test_there_are_thirteen_groups_and_no_final_is_in_two() -> None:
    for table in (GROUPS, RELEASED_GROUPS):
        finals = [final for group in table.values() for final in group]
        assert len(table) == 13
        assert len(finals) == len(set(finals))


def test_the_four_ends_of_the_papers_example_rhyme_only_with_the_umlaut_as_u() -> None:
    # zhu, yü, du, gu (section 4.3)
    assert {rhyme_group(character) for character in "主雨妒故"} == {"u"}
    assert [rhyme_group(character, u_umlaut="i") for character in "主雨妒故"] == ["u", "i", "u", "u"]
    assert [released_group(character) for character in "主雨妒故"] == ["u", "i", "u", "u"]


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("asleep", {("IY", "P")}),  # AH0 S L IY1 P
        ("Steep", {("IY", "P")}),
        ("remove", {("UW", "V")}),  # R IY0 M UW1 V
        ("love", {("AH", "V")}),
        ("read", {("EH", "D"), ("IY", "D")}),  # two pronunciations
        ("motion", {("OW", "SH", "AH", "N")}),  # M OW1 SH AH0 N: a feminine rhyme keeps both syllables
        ("the", {("AH",), ("IY",)}),  # DH AH0, DH AH1, DH IY0: without stress, the last vowel
        ("hmm", set()),  # a pronunciation without a vowel
        ("lov'd", {("AH", "V", "D")}),  # as "loved"
        ("lov’d", {("AH", "V", "D")}),
        ("moon-green", {("IY", "N")}),  # what follows the hyphen
        ("qzxv", set()),
        ("", set()),
        (",", set()),
        ("-", set()),
    ],
)
def test_a_word_rhymes_from_its_last_stressed_vowel_on(word: str, parts: set[tuple[str, ...]]) -> None:
    assert rhyme_parts(word) == parts
    assert (rhyme_part(word) in parts) if parts else rhyme_part(word) is None


def test_pronunciations_keep_stress_and_drop_comments() -> None:
    assert pronunciations("remove") == (("R", "IY0", "M", "UW1", "V"),)
    assert pronunciations("aalborg")[0] == ("AO1", "L", "B", "AO0", "R", "G")  # its line ends in a comment
    assert len(pronunciations("read")) == 2
    assert pronunciations("read(2)") == ()  # the name of an entry, no word


def test_the_dictionary_is_the_published_one_and_stands_beside_its_licence() -> None:
    folder = resources.files("espalier.verse")
    content = gzip.decompress(folder.joinpath("cmudict.dict.gz").read_bytes())
    assert CMUDICT == "1.1.3"
    assert sha256(content).hexdigest() == "81917843c7f44ce2b094ac63873c2c7a4cf802040792c455ba3ca406891c3d22"
    licence = folder.joinpath("cmudict.LICENSE").read_text(encoding="utf-8")
    assert licence.startswith("Copyright (C) 1993-2015 Carnegie Mellon University")


@pytest.mark.parametrize(
    ("first", "second", "strict", "consonance", "eye"),
    [
        ("asleep", "steep", True, True, True),
        ("minds", "finds", True, True, True),
        ("love", "remove", False, True, True),  # the paper's pair: V after the vowel, "ove" on the page
        ("cough", "though", False, False, True),  # F against nothing
        ("deep", "hope", False, True, False),  # P; "eep" against "ope"
        ("see", "go", False, False, False),  # nothing after the vowel is no consonance
        ("see", "me", True, True, True),
        ("light", "light", True, True, True),
        ("qzxv", "qzxv", False, False, False),  # neither sound nor vowel letter
        ("brove", "drove", False, False, True),  # unknown to the dictionary, but plain to the eye
    ],
)
def test_the_rules_widen_from_strict(first: str, second: str, strict: bool, consonance: bool, eye: bool) -> None:
    assert rhymes(first, second) is strict
    assert rhymes(first, second, "consonance") is consonance
    assert rhymes(first, second, "eye") is eye


def test_an_unknown_rule_is_named_with_those_that_exist() -> None:
    with pytest.raises(ConfigError, match="unknown rhyme rule 'near'; allowed: consonance, eye, strict"):
        rhymes("love", "dove", "near")  # type: ignore[arg-type]


@given(st.text(max_size=12), st.text(max_size=12))
def test_any_text_has_an_answer_and_rhyming_is_mutual(first: str, second: str) -> None:
    for rule in ("strict", "consonance", "eye"):
        assert rhymes(first, second, rule) == rhymes(second, first, rule)
    assert sounds_alike(first, second, "zh") == sounds_alike(second, first, "zh")
