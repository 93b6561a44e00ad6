"""Texts of the automata of the book's tunes keep them; each variant with repetitions, and every fortieth other."""

from __future__ import annotations

import os
import random
from itertools import islice
from pathlib import Path

import pytest

from espalier.frames import Tune
from espalier.verse.ci_books import open_books


@pytest.mark.skipif(not os.environ.get("ESPALIER_MIRROR"), reason="the books are not at hand")
def test_any_walk_through_the_automaton_of_a_tune_keeps_the_tune() -> None:
    books, rng = open_books(Path(os.environ["ESPALIER_MIRROR"], "couyun")), random.Random(1)
    variants = [variant for names in books.tunes.names for variant in books.tunes.variants(names[0])]
    chosen = [variant for number, variant in enumerate(variants) if variant.copies or number % 40 == 0]
    assert sum(bool(variant.copies) for variant in chosen) == 87
    for variant in chosen:
        frame = Tune(variant.tune, variant.number, "cilin", tone=True)
        automaton, text = frame.automaton(books), ""
        state = automaton.start
        while not automaton.accepts(state):
            characters = automaton.allowed(state).some or frozenset("一丁七")
            character = rng.choice([*islice(characters, 50)])
            text, state = text + character, automaton.step(state, character)
            assert state is not None
        report = frame.check(text, books)
        assert report.kept, (variant.tune, variant.number, text, report.violations)
