"""Automata of Chinese frames: exact, and every beginning can be finished; against all texts of a small book."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from espalier.frames import Acrostic, Format, Rhyme, Tones, Words
from espalier.frames.check_places import check_places
from espalier.frames.places import PlaceAutomaton
from espalier.frames.plan import Plan, plan_of
from espalier.io.errors import ConfigError
from espalier.verse.books import Books, read_books
from espalier.verse.format import Format as Written
from espalier.verse.grammar import parse_format
from espalier.verse.sounds import Sounds
from tests.verse.couyun import write_couyun

#: 中 is level and oblique in part 1, 高 level in part 8 and oblique in part 1; 灯 is in no book.
RHYMES = """
ds1 = ["中东", 1, 1, 1, 1]
yc18 = ["高桃", 1, 19, 8, 19]
ss60 = ["中洞高", 3, -1, -1, 60]
xc77 = ["笑照", 3, -18, -8, 77]
"""
WORDS = "中东高桃洞笑照灯"


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> Books:
    return read_books(write_couyun(tmp_path_factory.mktemp("couyun"), rhymes=RHYMES))


@st.composite
def written(draw: st.DrawFn) -> tuple[str, str, str, tuple[tuple[int, int], ...], tuple[str, ...]]:
    """A template of at most five words, its rhyme letters, tones, repetitions, and words that must occur."""
    lengths = draw(st.lists(st.integers(1, 2), min_size=1, max_size=3).filter(lambda each: sum(each) <= 4))
    slots = [[draw(st.sampled_from("____中桃")) for _ in range(length)] for length in lengths]
    units = ["".join(unit) + draw(st.sampled_from("。！")) for unit in slots]
    letters = "".join(draw(st.sampled_from("AAB.")) for _ in units)
    count = sum(lengths)
    tones = draw(st.one_of(st.just(""), st.text("中平仄", min_size=count, max_size=count)))
    copies = draw(st.one_of(st.just([]), st.lists(st.integers(1, 3), max_size=1)))
    copied = tuple((count - 1, count - 1 - back) for back in copies if back < count)
    words = draw(st.lists(st.text(WORDS[:3], min_size=1, max_size=2), max_size=2, unique=True))
    return "".join(units), letters, tones, copied, tuple(words)


def keeps(format_: Written, sounds: Sounds, words: tuple[str, ...], text: str) -> bool:
    """Whether a text keeps a format, as slowly and plainly as can be."""
    units = text.split("\n")
    flat = [
        (w, s, t)
        for u, v, x in zip(units, format_.units, format_.place_tones, strict=True)
        for w, s, t in zip(u, v, x, strict=True)
    ]
    if any(slot not in "_#" and word != slot for word, slot, _ in flat):
        return False
    kept = [(word, slot, tone) for word, slot, tone in flat if slot not in "。！"]
    if any(kept[copy][0] != kept[source][0] for copy, source in format_.copies):
        return False
    if sounds.tone and any(tone != "中" and tone not in sounds.tones(word) for word, _, tone in kept):
        return False
    if any(not any(word in clause for clause in text.replace("！", "。").split("。")) for word in words):
        return False
    ends, total = [], 0
    for unit in format_.units:
        total += sum(slot not in "。！" for slot in unit)
        ends.append(total - 1)
    roots = dict(format_.copies)
    asked = [tone for _, _, tone in kept]  # a word that is repeated has one reading, of the tone of either place
    for copy, source in format_.copies:
        asked[source] = max(asked[source], asked[copy], key="中".__ne__)
    for letter in {*format_.rhyme} - {"."}:
        own = list(
            dict.fromkeys(roots.get(end, end) for end, each in zip(ends, format_.rhyme, strict=True) if each == letter)
        )
        if len(own) < 2:
            continue
        free = [kept[place][0] for place in own if kept[place][1] in "_#"]
        given = {kept[place][0] for place in own if kept[place][1] not in "_#"}
        if len({*free}) < len(free) or {*free} & given:
            return False
        mixed = letter in format_.mixed_letters and sounds.tone
        sets = [
            {sounds.rhyme_key(g, mixed) for g in sounds.groups(kept[p][0], asked[p] if sounds.tone else "")}
            for p in own
        ]
        if not set.intersection(*sets):
            return False
    return True


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(each=written(), book=st.sampled_from(["cilin", "pingshui"]))
@example(each=("_。_。__。", "AAA", "中中中平", ((3, 2),), ()), book="cilin")  # the tone is that of the repetition
def test_an_automaton_accepts_the_texts_that_keep_the_frame_and_no_beginning_of_others(books, each, book) -> None:  # type: ignore[no-untyped-def]
    text, letters, tones, copies, words = each
    sounds = Sounds("zh", book, bool(tones), books)
    try:
        format_ = parse_format(text, "zh", letters, tones=tones, copies=copies, sounds=sounds)
        plan = plan_of(format_, sounds, words)
    except ConfigError:
        return
    right = {each for each in texts(plan) if keeps(format_, sounds, words, each)}
    for each in texts(plan):
        assert check_places(plan, each).kept == (each in right), each
    try:
        automaton = PlaceAutomaton(plan)
    except ConfigError:
        assert not right
        return
    assert right
    begun = {each[:end] for each in right for end in range(len(each) + 1)}
    for prefix in begun:
        state = automaton.start
        for character in prefix:
            state = automaton.step(state, character)  # type: ignore[assignment]
            assert state is not None, prefix
        follows = {character for character in (*WORDS, "。", "！", "\n") if character in automaton.allowed(state)}
        assert follows == {c for c in (*WORDS, "。", "！", "\n") if prefix + c in begun}, prefix
        assert automaton.accepts(state) == (prefix in right)
        assert automaton.remaining(state) == len(plan.places) - len(prefix)


def texts(plan: Plan) -> list[str]:
    """All texts with the marks of a plan."""
    choices = [WORDS if place.word else place.given for place in plan.places]
    return list(map("".join, product(*choices)))


def test_prefixes_with_one_future_have_one_state() -> None:
    """Neither free words nor finished letters leave a trace."""
    automaton = (Format("2。2。2。") & Rhyme("AA.")).automaton()
    one, other = automaton.start, automaton.start
    for first, second in zip("风声。\n山城。\n", "灯人。\n天门。\n", strict=True):
        one, other = automaton.step(one, first), automaton.step(other, second)
    assert one == other and hash(one) == hash(other)


def test_equal_sets_of_words_are_one_object_in_all_frames() -> None:
    """Sets of thousands of words are compared for each mask otherwise."""
    frames = [Format("2。2。") & Rhyme("AA"), Format("2，2。2。") & Tones("平平中中中中") & Rhyme("AA")]
    for frame in frames:
        one, other = frame.automaton(), frame.automaton()
        assert one.allowed(one.start) is other.allowed(other.start)
        rhyming = one.step(one.start, "风"), other.step(other.start, "风")
        assert one.allowed(rhyming[0]) is other.allowed(rhyming[1])


def test_rules_that_no_text_keeps_have_no_automaton() -> None:
    with pytest.raises(ConfigError, match="fit nowhere together"):
        (Format("2。") & Words("春风", "秋月")).automaton()


def test_rules_that_contradict_each_other_are_named() -> None:
    with pytest.raises(ConfigError, match="book is 'cilin' in Rhyme and 'pingshui' in Tones"):
        (Rhyme("A", book="cilin") & Tones("平平。", book="pingshui")).automaton()
    with pytest.raises(ConfigError, match="'江' where the format has '春'"):
        (Format("春_。") & Acrostic("江")).automaton()


def test_words_may_overlap_and_go_over_given_words() -> None:
    automaton = (Format("_月_。") & Words("明月", "月明")).automaton()
    state = automaton.start
    for character in "明月明。":
        assert automaton.allowed(state).some == {character}
        state = automaton.step(state, character)
    assert automaton.accepts(state)
