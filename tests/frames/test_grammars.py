"""Grammars of automata: their languages are those of the automata."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.frames.grammars import NOTATIONS, Notation, grammar_of
from tests.frames.automata import POOL, Table, tables


def texts_of(table: Table, rng: random.Random, count: int) -> list[str]:
    """Random texts of an automaton, and texts near them."""
    found = []
    for _ in range(count):
        text, state = "", table.start
        while not table.accepts(state) or (table.arcs[state] and rng.random() < 0.5):
            characters, after = rng.choice(table.arcs[state])
            if after not in table.needs:
                continue
            text += rng.choice(
                sorted(characters.some - characters.without) or [each for each in POOL if each in characters]
            )
            state = after
        at, other = rng.randrange(len(text) + 1), rng.choice(POOL)
        found += [text, text[:at] + text[at + 1 :], text[:at] + other + text[at + 1 :], text[:at] + other + text[at:]]
    return found


@settings(max_examples=200, deadline=None)
@given(tables(), st.integers(0, 10**6))
def test_the_regex_is_of_the_texts_of_the_automaton(table: Table, seed: int) -> None:
    pattern = re.compile(grammar_of(table, "regex"))
    for text in texts_of(table, random.Random(seed), 10):
        assert bool(pattern.fullmatch(text)) == table.keeps(text), (pattern, text)


@pytest.mark.parametrize("notation", NOTATIONS)
@settings(max_examples=60, deadline=None)
@given(table=tables(), seed=st.integers(0, 10**6))
def test_a_server_reads_the_grammar_as_the_automaton(notation: Notation, table: Table, seed: int) -> None:
    server = pytest.importorskip("llguidance", reason="pip install llguidance")
    text = grammar_of(table, notation)
    match notation:
        case "lark":
            grammar = server.LLMatcher.grammar_from_lark(text)
        case "gbnf":
            grammar = server.LLMatcher.grammar_from_lark(server.gbnf_to_lark.gbnf_to_lark(text))
        case "regex":
            grammar = server.LLMatcher.grammar_from_regex(text)
    tokenizer = server.LLTokenizer("byte")
    for each in texts_of(table, random.Random(seed), 5):
        matcher = server.LLMatcher(tokenizer, grammar)
        assert not matcher.get_error()
        taken = matcher.try_consume_tokens(list(each.encode()))
        assert (taken == len(each.encode()) and matcher.is_accepting()) == table.keeps(each), (text, each)
