"""Room for words that must occur in Chinese verse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.frames import Format, Rhyme, Words
from espalier.frames.place_room import MOST_WORDS, PlaceRoom
from espalier.frames.places import PlaceAutomaton
from espalier.frames.plan import Plan, plan_of
from espalier.frames.words import Wanted
from espalier.io.errors import ConfigError
from espalier.verse.grammar import parse_format
from espalier.verse.sounds import Sounds

TWELVE = ["明月", "清风", "石桥", "孤灯", "春水", "秋山", "白云", "夜雨", "落花", "归雁", "寒江", "青烟"]
#: Of the characters, 山 and 川 rhyme, and so do 花 and 家; 山 川 花 家 are level, 月 and 雨 oblique.
CHARACTERS = "山川花家月雨"


def ways(plan: Plan, start: int, words: list[str], begun: str, put: Mapping[int, str]) -> Iterator[Mapping[int, str]]:
    """All ways to put words into places, one after the other, as slowly and plainly as can be."""
    if not words:
        yield put
        return
    word, *others = words
    for first in range(start - len(begun), len(plan.places) - len(word) + 1):
        written = max(start - first, 0)
        if written >= len(word) or not begun.endswith(word[:written]):
            continue
        more = {**put}
        for index, character in enumerate(word[written:], start=first + written):
            place = plan.places[index]
            root = place.source if place.source >= 0 else index
            there = plan.places[root].given or more.setdefault(root, character)
            if not place.word or there != character:
                break
        else:
            yield from ways(plan, start, others, begun, more)


@given(
    units=st.lists(st.text("____山月", min_size=1, max_size=3), min_size=1, max_size=3),
    tones=st.text("平仄中", min_size=9, max_size=9),
    toned=st.booleans(),
    copies=st.lists(st.tuples(st.integers(1, 8), st.integers(0, 7)), max_size=1),
    words=st.lists(st.text(CHARACTERS, min_size=1, max_size=3), min_size=1, max_size=4, unique=True),
    start=st.integers(0, 8),
    begun=st.text(CHARACTERS, max_size=2),
)
def test_words_fit_where_a_plain_search_puts_them(
    units: list[str],
    tones: str,
    toned: bool,
    copies: list[tuple[int, int]],
    words: list[str],
    start: int,
    begun: str,
) -> None:
    size, sounds = sum(map(len, units)), Sounds("zh", "mandarin", toned)
    copied = tuple((copy, source) for copy, source in copies if source < copy < size)
    text, letters = "".join(f"{unit}。" for unit in units), "A" * len(units)
    try:
        format_ = parse_format(text, "zh", letters, tones=tones[:size] if toned else "", copies=copied, sounds=sounds)
        automaton, plan = PlaceAutomaton(plan_of(format_, sounds)), plan_of(format_, sounds, tuple(words))
    except ConfigError:  # without words, too, no text keeps it
        return
    if any(place.source >= 0 for place in plan.places):
        start = 0
    start = min(start, len(plan.places))
    begun = begun if start else ""
    words = [word for word in words if word not in begun]  # the others have occurred
    ends = (begun[at:] for at in range(len(begun)))
    end = next((end for end in ends if any(word.startswith(end) for word in words)), "")
    state = replace(automaton.start, place=start)

    def agrees(put: Mapping[int, str]) -> bool:
        free = {place: word for place, word in put.items() if not plan.places[place].given}
        right = all(not (tone := plan.sign(place)) or word in plan.readings.toned[tone] for place, word in free.items())
        return right and automaton._agrees(state, tuple(free.items()))

    expected = any(map(agrees, ways(plan, start, words, end, {})))
    wanted = Wanted(frozenset(words), end)
    assert PlaceRoom(plan).fits(start, wanted, {}, partial(automaton._agrees, state)) == expected


def test_more_words_than_the_clauses_hold_are_refused_at_once() -> None:
    for words, text in ((TWELVE[:10], "5,5。7,5。"), (TWELVE[:9], "4,4,4,4。"), (TWELVE, "3,3,3,3,3,3。")):
        with pytest.raises(ConfigError, match="fit nowhere together; leave some out"):
            (Format(text) & Words(*words)).automaton()


@pytest.mark.parametrize("rhyme", [False, True])
def test_words_that_fill_the_end_of_a_text_are_found_without_a_try_of_all_their_orders(rhyme: bool) -> None:
    frame = Format("5,5。7,5。") & Words(*TWELVE[:8])
    automaton = (frame & Rhyme("AA") if rhyme else frame).automaton()
    state, text = automaton.start, ""
    while not automaton.accepts(state):
        allowed = automaton.allowed(state)
        text += "们" if allowed.open and "们" in allowed else min(allowed.some)
        state = automaton.step(state, text[-1])
    assert text.startswith("们们") and frame.check(text).kept


def test_words_are_refused_if_they_are_too_many_to_place() -> None:
    with pytest.raises(ConfigError, match="words: 9 words are too many to place; at most 8; check tells whether"):
        (Format("7,7。7,7。7,7。7,7。") & Words(*TWELVE[: MOST_WORDS + 1])).automaton()
    (Format("7,7。7,7。7,7。7,7。") & Words(*TWELVE[:MOST_WORDS])).automaton()
