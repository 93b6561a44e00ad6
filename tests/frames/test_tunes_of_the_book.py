"""Texts of the automata of the book's tunes keep them; each variant with repetitions, and every fortieth other."""

from __future__ import annotations

import os
import random
from itertools import islice
from pathlib import Path

import pytest

from espalier.frames import Tune
from espalier.frames.compiled import compiled
from espalier.verse.ci_books import open_books
from espalier.verse.tunes import tunes


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


def test_a_tune_whose_name_in_the_book_is_no_simplified_one_is_found() -> None:
    books = open_books(Path(__file__).parents[2] / "released/songci/books.zip")
    assert Tune("薄倖").check("春风。", books).text == "春风。"
    assert Tune("殢人娇", book="cilin").automaton(books).start is not None


def test_a_tune_of_the_catalogue_repeats_what_its_variant_in_the_book_repeats() -> None:
    book = open_books(Path(__file__).parents[2] / "released/songci/books.zip").tunes
    for name, tune in tunes().items():
        variant = book.variant(name)
        if [count for unit in tune.units for count, _ in unit] == [count for count, _ in variant.clauses]:
            assert tune.copies == variant.copies, name


def test_a_tune_of_the_catalogue_repeats_its_lines_without_the_book() -> None:
    plan = compiled({"tune": "如梦令", "book": "mandarin"}, None)
    words = [number for number, place in enumerate(plan.places) if place.word]
    assert [plan.places[words[place]].source for place in (25, 26)] == [words[23], words[24]]
