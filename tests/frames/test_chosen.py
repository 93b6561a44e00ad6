"""Grammars of Chinese frames: their texts keep the frames, and have the rhyme groups that were chosen."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from espalier.frames import Format, Rhyme, Words
from espalier.frames.chosen import alternatives, chosen
from espalier.frames.compiled import compiled
from espalier.frames.grammars import grammar_of
from espalier.frames.places import PlaceAutomaton
from espalier.frames.plan import Plan, plan_of
from espalier.io.errors import ConfigError
from espalier.verse.books import Book
from espalier.verse.ci_books import CiBooks, open_books
from espalier.verse.grammar import parse_format
from espalier.verse.sounds import Sounds
from tests.frames.test_automaton import RHYMES, WORDS, written
from tests.verse.couyun import write_couyun

CHARACTERS = (*WORDS, "。", "！", "\n")


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> CiBooks:
    return open_books(write_couyun(tmp_path_factory.mktemp("couyun"), rhymes=RHYMES))


def plan_by(
    books: CiBooks, each: tuple[str, str, str, tuple[tuple[int, int], ...], tuple[str, ...]], book: Book
) -> Plan:
    """The plan of what `written` draws.

    Raises:
        ConfigError: no text keeps it.
    """
    text, letters, tones, copies, words = each
    sounds = Sounds("zh", book, bool(tones), books.rhyme_books)
    return plan_of(parse_format(text, "zh", letters, tones=tones, copies=copies, sounds=sounds), sounds, words)


def texts(automaton: PlaceAutomaton, state: object, begun: str = "") -> list[str]:
    """All texts of an automaton that have no other characters."""
    if automaton.accepts(state):
        return [begun]
    after = ((each, automaton.step(state, each)) for each in CHARACTERS)
    return [text for each, to in after if to is not None for text in texts(automaton, to, begun + each)]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(written(), st.sampled_from(["cilin", "pingshui"]))
def test_the_regex_has_the_texts_of_the_choice_and_all_of_them_keep_the_frame(books, each, book) -> None:  # type: ignore[no-untyped-def]
    try:
        plan = plan_by(books, each, book)
        whole = PlaceAutomaton(plan)
        choice = PlaceAutomaton(chosen(plan).plan)
    except ConfigError:
        return
    own, pattern = set(texts(choice, choice.start)), re.compile(grammar_of(choice, "regex"))
    assert own <= set(texts(whole, whole.start))
    candidates = map("".join, product(*(WORDS if place.word else place.given for place in plan.places)))
    assert {each for each in candidates if pattern.fullmatch(each)} == own


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(written(), st.sampled_from(["cilin", "pingshui"]))
def test_what_all_characters_lead_to_and_what_is_ahead_are_what_the_steps_say(books, each, book) -> None:  # type: ignore[no-untyped-def]
    try:
        automaton = PlaceAutomaton(plan_by(books, each, book))
    except ConfigError:
        return
    states, left = set(), [automaton.start]
    while left:
        states.add(state := left.pop())
        after = {automaton.step(state, each) for each in CHARACTERS} - {None}
        left += after - states
        common, ahead = automaton.common(state), automaton.ahead(state)
        assert common is None or after <= {common}
        assert all(each in ahead for to in after for each in CHARACTERS if each in automaton.allowed(to))


def test_the_groups_that_are_asked_for_are_taken_in_the_order_of_the_letters(books: CiBooks) -> None:
    frame = Format("1。1。1。1。") & Rhyme("ABAB", book="cilin")
    found = frame.grammar("regex", books, ["8平", "1仄"])
    assert found.groups == {"A": "8平", "B": "1仄"}
    assert all(frame.check(text, books).kept for text in ("高洞桃中", "桃中高洞") if re.fullmatch(found.text, text))
    with pytest.raises(ConfigError, match="group: unknown rhyme group '9平'; allowed: 1仄, 1平"):
        frame.grammar("regex", books, ["9平"])
    with pytest.raises(ConfigError, match="group: no 3 different words of 8仄 suit the places of letter A"):
        (Format("1。1。1。") & Rhyme("AAA", book="cilin")).grammar("regex", books, ["8仄"])
    with pytest.raises(ConfigError, match="group: 3 groups for 2 rhyme letters; at most 2"):
        frame.grammar("regex", books, ["1平", "1仄", "8平"])


@pytest.mark.parametrize("letters", ["AAB", "AA.", ".AA", "ABAB"])
def test_alternatives_have_the_texts_of_each_group_and_no_others(books: CiBooks, letters: str) -> None:
    frame = Format("1。" * len(letters)) & Rhyme(letters, book="cilin")
    found = frame.grammar("regex", books, alternatives=13)
    plan = compiled(frame.says(), books)
    choices = alternatives(plan, 13)
    automata = [PlaceAutomaton(each.plan) for each in choices]
    own = {text for each in automata for text in texts(each, each.start)}
    candidates = ["。\n".join(words) + "。" for words in product(WORDS, repeat=len(letters))]
    assert {each for each in candidates if re.fullmatch(found.text, each)} == own and len(choices) > 1
    assert all(frame.check(text, books).kept for text in own)
    assert found.alternatives == {
        name: tuple(dict.fromkeys(each.groups[name] for each in choices)) for name in choices[0].groups
    }


def test_alternatives_are_parts_that_a_server_reads() -> None:
    server = pytest.importorskip("llguidance", reason="pip install llguidance")
    frame, tokenizer = Format("7，7。7，7。") & Rhyme("AA"), server.LLTokenizer("byte")
    plans = [each.plan for each in alternatives(compiled(frame.says(), None), 13)]
    poems = ["".join(place.given[:1] or "一" for place in plan.places) for plan in plans]
    mixed = poems[0][: len(poems[0]) // 2] + poems[1][len(poems[0]) // 2 :]
    lark, gbnf = (frame.grammar(notation, alternatives=13).text for notation in ("lark", "gbnf"))
    for grammar in (lark, server.gbnf_to_lark.gbnf_to_lark(gbnf)):
        for poem in (*poems, mixed):
            matcher = server.LLMatcher(tokenizer, server.LLMatcher.grammar_from_lark(grammar))
            assert not matcher.get_error()
            taken = matcher.try_consume_tokens(list(poem.encode()))
            assert (taken == len(poem.encode()) and matcher.is_accepting()) == frame.check(poem).kept == (poem != mixed)


def test_alternatives_that_no_grammar_can_have_are_refused(books: CiBooks) -> None:
    frame = Format("1。1。") & Rhyme("AA", book="cilin")
    for count in (0, 14):
        with pytest.raises(ConfigError, match=f"^alternatives: {count} alternatives; give a number from 1 to 13$"):
            frame.grammar("lark", books, alternatives=count)
    with pytest.raises(ConfigError, match=r"^alternatives: alternatives beside words that must occur; leave out one"):
        (frame & Words("中")).grammar("lark", books, alternatives=2)
    given = frame.grammar("regex", books, ["1仄"], alternatives=2)
    assert given.alternatives == {"A": ("1仄",)} and given.text == frame.grammar("regex", books, ["1仄"]).text


def test_what_a_tune_repeats_is_given(tmp_path_factory: pytest.TempPathFactory) -> None:
    sounds = Sounds("zh")
    plan = plan_of(parse_format("3。3。", "zh", "..", copies=((3, 0), (4, 1)), sounds=sounds), sounds)
    assert chosen(plan, repeated="明月").repeated == "明月"
    pattern = re.compile(grammar_of(PlaceAutomaton(chosen(plan, repeated="明月").plan), "regex"))
    assert pattern.fullmatch("明月春。\n明月秋。") and not pattern.fullmatch("明天春。\n明天秋。")
    assert len(chosen(plan).repeated) == 2
    with pytest.raises(ConfigError, match="repeated: 1 words where 2 are repeated; one for each"):
        chosen(plan, repeated="明")


def test_a_notation_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigError, match="notation: unknown notation 'ebnf'; allowed: gbnf, lark, regex"):
        Format("2。").grammar("ebnf")  # type: ignore[arg-type]


def test_words_that_must_occur_have_a_small_grammar_only_where_parts_have_names() -> None:
    frame = Format("7，7。7，7。") & Words("明月", "春风")
    assert len(frame.grammar("lark").text) < 400_000
    with pytest.raises(ConfigError, match="more than 1,000,000 characters; write it as lark or gbnf"):
        frame.grammar("regex")


def test_a_grammar_that_is_too_large_is_refused_without_following_each_character(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frame, steps = Format("9。" * 6) & Rhyme("A" * 6) & Words("明月", "江", "春风"), list[str]()
    step = PlaceAutomaton.step
    monkeypatch.setattr(PlaceAutomaton, "step", lambda self, state, each: steps.append(each) or step(self, state, each))
    monkeypatch.setattr("espalier.frames.grammars.FOLLOWED", 20_000)
    with pytest.raises(ConfigError, match="grammar: it has too many choices"):
        frame.grammar("lark")
    assert len(steps) < 2_000
