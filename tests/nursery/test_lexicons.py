import pytest

from espalier.nursery import lexicon_en, lexicon_zh
from espalier.verse.rhyme import pronunciations, rhyme_group

LENGTHS = {
    "two": 2,
    "one": 1,
    "count": 2,
    "does2": 2,
    "does3": 3,
    "state": 1,
    "over": 1,
    "head": 2,
    "verb": 1,
    "three": 3,
}


@pytest.mark.parametrize("season", lexicon_zh.SEASONS)
@pytest.mark.parametrize("theme", lexicon_zh.THEMES)
def test_chinese_words_have_the_length_of_their_field_and_no_field_is_empty(season: str, theme: str) -> None:
    words = lexicon_zh.lexicon(season, theme)
    for table in (words.scenery, words.deeds):
        for name, fields in table.items():
            for field, entries in fields.items():
                assert entries, (name, field)
                assert {len(entry) for entry in entries} == {LENGTHS[field]}, (name, field)
    for field, length in (("when", 2), ("where", 2), ("place", 2), ("short2", 2), ("short3", 3)):
        assert {len(entry) for entry in words.loose[field]} == {length}, field


def test_the_chinese_lexicon_has_thousands_of_entries() -> None:
    seen: set[str] = set()
    for season in lexicon_zh.SEASONS:
        for theme in lexicon_zh.THEMES:
            words = lexicon_zh.lexicon(season, theme)
            for table in (words.scenery, words.deeds):
                seen.update(entry for fields in table.values() for entries in fields.values() for entry in entries)
    assert len(seen) > 2500


def test_a_sound_is_the_group_and_the_tone() -> None:
    assert lexicon_zh.sound("春") == ("en", "en", "平")
    assert lexicon_zh.sound("雨") == (rhyme_group("雨"), rhyme_group("雨", u_umlaut="i"), "仄") == ("u", "i", "仄")
    assert lexicon_zh.sound("路") == ("u", "u", "仄")


@pytest.mark.parametrize("character", "还长重更了子")
def test_characters_read_in_two_ways_never_rhyme(character: str) -> None:
    sound = lexicon_zh.sound(character)
    assert sound is not None and sound[2] == "?"


def test_a_mark_has_no_sound() -> None:
    assert lexicon_zh.sound("，") is None


def test_words_of_one_sound_stay_in_the_order_of_the_file() -> None:
    assert lexicon_zh.by_sound(("花开", "人归", "月来", "帘外")) == {
        ("ai", "ai", "平"): ("花开", "月来"),
        ("ei", "ei", "平"): ("人归",),
        ("ai", "ai", "仄"): ("帘外",),
    }


def test_english_words_are_in_the_cmu_dictionary_with_one_number_of_syllables() -> None:
    for theme in lexicon_en.THEMES:
        words = lexicon_en.lexicon(theme)
        seen = [noun for nouns in words.nouns.values() for noun in nouns]
        seen += [
            word
            for table in (words.adjectives, words.states, words.prepositions)
            for group in table.values()
            for word in group
        ]
        verbs = [verb for frame in words.frames for verb in frame.verbs]
        verbs += [verb for group in words.intransitive.values() for verb in group]
        seen += [*verbs, *map(lexicon_en.third_person, verbs), *words.adverbs]
        for word in seen:
            assert len({sum(sound[-1].isdigit() for sound in sounds) for sounds in pronunciations(word)}) == 1, word


@pytest.mark.parametrize(
    ("noun", "plural"),
    [
        ("rose", "roses"),
        ("branch", "branches"),
        ("memory", "memories"),
        ("valley", "valleys"),
        ("leaf", "leaves"),
        ("child", "children"),
    ],
)
def test_plurals(noun: str, plural: str) -> None:
    assert lexicon_en.plural(noun) == plural


@pytest.mark.parametrize(
    ("verb", "third"),
    [("carry", "carries"), ("touch", "touches"), ("sway", "sways"), ("bless", "blesses"), ("fly", "flies")],
)
def test_third_persons(verb: str, third: str) -> None:
    assert lexicon_en.third_person(verb) == third


@pytest.mark.parametrize(
    ("word", "pattern"),
    [("river", "10"), ("return", "01"), ("the", "0"), ("through", "x"), ("moonlit", "1x"), ("rose", "1"), ("zzzz", "")],
)
def test_scansion_of_words(word: str, pattern: str) -> None:
    assert lexicon_en.pattern(word) == pattern


def test_an_is_a_matter_of_sound() -> None:
    assert [lexicon_en.begins_with_vowel(word) for word in ("hour", "ocean", "useful", "river")] == [
        True,
        True,
        False,
        False,
    ]
