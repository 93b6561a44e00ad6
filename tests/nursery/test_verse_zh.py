import hashlib
import random
import re
from collections import Counter

import pytest
from pypinyin import Style, lazy_pinyin

from espalier.corpora.records import Verse
from espalier.io.errors import ConfigError
from espalier.nursery.verse_zh import grow
from espalier.verse.tunes import tunes

COUNT = 3000


@pytest.fixture(scope="module")
def poems() -> list[Verse]:
    return grow(COUNT, seed=1)


def ends(poem: Verse) -> list[str]:
    return [unit[-2] for unit in poem.target.split("\n")]


def final(character: str) -> str:
    return lazy_pinyin(character, style=Style.FINALS)[0]


def nucleus(character: str) -> str:
    """What rhymes, worked out from the spelling of the final alone; ü is apart from i and from u."""
    spelled = final(character).replace("ü", "v")
    if spelled.endswith("ng"):
        return "ang" if spelled.endswith("ang") else "eng"
    if spelled.endswith("n"):
        return "an" if spelled.endswith("an") else "en"
    for tail in ("ao", "ou", "ai", "ei"):
        if spelled.endswith(tail):
            return tail
    if spelled in ("ie", "ve"):
        return "ie"
    return {"iu": "ou", "ui": "ei", "ia": "a", "ua": "a", "e": "o", "uo": "o"}.get(spelled, spelled)


def tone(character: str) -> str:
    return "平" if lazy_pinyin(character, style=Style.TONE3)[0][-1] in "12" else "仄"


def test_records_are_numbered_and_say_where_they_come_from(poems: list[Verse]) -> None:
    assert len(poems) == COUNT
    assert [poem.id for poem in poems[:2]] == ["verse_zh/00001", "verse_zh/00002"]
    assert {(poem.origin, poem.language, poem.author) for poem in poems} == {("nursery", "zh", "nursery")}


def test_every_poem_has_the_clauses_and_marks_of_its_tune(poems: list[Verse]) -> None:
    for poem in poems:
        tune = tunes()[poem.tune]
        assert re.sub(r"[一-鿿]+", lambda run: str(len(run.group())), poem.target.replace("\n", "")) == tune.pattern
        assert all(unit.endswith("。") for unit in poem.target.split("\n"))
        assert poem.rhyme == tune.rhyme
        assert len(poem.target.split("\n")) == len(poem.rhyme)


def test_ends_rhyme_where_the_letters_say_so_and_nowhere_else(poems: list[Verse]) -> None:
    for poem in poems:
        sounds: dict[str, set[str]] = {}
        for letter, end in zip(poem.rhyme, ends(poem), strict=True):
            sounds.setdefault(letter, set()).add(nucleus(end))
        assert all(len(group) == 1 for group in sounds.values()), poem.target
        assert len({sound for group in sounds.values() for sound in group}) == len(sounds), poem.target


def test_rhymes_have_the_tone_that_the_tune_asks_for(poems: list[Verse]) -> None:
    for poem in poems:
        assert "".join(map(tone, ends(poem))) == tunes()[poem.tune].tone, poem.target


def test_no_character_rhymes_twice_in_a_poem(poems: list[Verse]) -> None:
    assert all(len(set(ends(poem))) == len(ends(poem)) for poem in poems)


def test_clauses_before_a_comma_do_not_rhyme(poems: list[Verse]) -> None:
    for poem in poems:
        for unit in poem.target.split("\n"):
            *earlier, last = re.split("[，。]", unit)[:-1]
            assert nucleus(last[-1]) not in {nucleus(clause[-1]) for clause in earlier}


def test_no_poem_and_no_long_clause_comes_twice(poems: list[Verse]) -> None:
    assert len({poem.target for poem in poems}) == COUNT
    long = Counter(clause for poem in poems for clause in re.split("[，。\n]+", poem.target) if len(clause) >= 5)
    assert max(long.values()) == 1
    short = Counter(clause for poem in poems for clause in re.split("[，。\n]+", poem.target) if len(clause) == 4)
    assert max(short.values()) < 20


def test_the_vocabulary_is_neither_a_toy_nor_a_dictionary(poems: list[Verse]) -> None:
    assert 800 <= len({character for poem in poems for character in poem.target if character not in "，。\n"}) <= 1500


def test_every_tune_and_twelve_rhymes_are_common(poems: list[Verse]) -> None:
    assert min(Counter(poem.tune for poem in poems).values()) >= COUNT / 100
    assert len(Counter(poem.tune for poem in poems)) == len(tunes())
    groups = Counter(nucleus(end) for poem in poems for end in ends(poem))
    assert len([group for group, number in groups.items() if number >= 100]) >= 12


@pytest.mark.parametrize(
    ("season", "foreign"),
    [("桃花", "秋风"), ("荷花", "飞雪"), ("寒梅", "荷风"), ("黄花", "春水"), ("重阳", "桃花"), ("榴花", "寒霜")],
)
def test_a_poem_keeps_to_one_season(poems: list[Verse], season: str, foreign: str) -> None:
    seen = [poem for poem in poems if season in poem.target]
    assert len(seen) >= 20
    assert not [poem for poem in seen if foreign in poem.target]


def test_the_person_comes_in_the_second_half(poems: list[Verse]) -> None:
    deeds = re.compile("独倚|望断|欲寄|长忆|静听|试问|莫负|独醉")
    halves = [0, 0]
    for poem in poems:
        units = poem.target.split("\n")
        for index, unit in enumerate(units):
            halves[2 * index >= len(units)] += bool(deeds.search(unit))
    assert halves[1] > 1.8 * halves[0]


def majority(characters: list[str]) -> list[bool]:
    groups = [nucleus(character) for character in characters]
    first = Counter(groups).most_common(1)[0][0]
    return [group == first for group in groups]


def test_rhymes_shuffled_between_poems_score_far_below_the_poems_themselves(poems: list[Verse]) -> None:
    pool = [end for poem in poems for end in ends(poem)]
    random.Random(0).shuffle(pool)
    hits = claimed = gold = 0
    for poem in poems:
        shuffled, true = majority([pool.pop() for _ in poem.rhyme]), majority(ends(poem))
        hits += sum(one and other for one, other in zip(shuffled, true, strict=True))
        claimed, gold = claimed + sum(shuffled), gold + sum(true)
    assert 0.4 < 2 * hits / (claimed + gold) < 0.6


def test_the_same_seed_grows_the_same_poems_and_more_of_them(poems: list[Verse]) -> None:
    assert grow(50, seed=1) == poems[:50]
    assert not {poem.target for poem in grow(50, seed=2)} & {poem.target for poem in poems}


def test_the_first_poems_are_what_they_were_on_other_machines(poems: list[Verse]) -> None:
    digest = hashlib.sha256("\n\n".join(poem.target for poem in poems[:100]).encode()).hexdigest()
    assert digest[:16] == "40d297ba19662e8e", (
        "the corpus has changed: raise nursery.verse_zh in versions.yaml, then pin this"
    )


def test_none_can_be_asked_for_but_not_fewer() -> None:
    assert grow(0, seed=1) == []
    with pytest.raises(ConfigError, match="cannot grow -3 poems"):
        grow(-3, seed=1)
