import random
from collections import Counter

from espalier.nursery.lines_en import forms, scan


def test_words_are_grouped_by_how_they_scan_in_order() -> None:
    assert forms(("silent", "pale", "", "golden")) == (("10", ("silent", "golden")), ("1", ("pale",)), ("", ("",)))


def test_only_fillings_that_scan_are_found() -> None:
    slots = [
        ("the",),
        ("pale", "silent", ""),
        ("sun", "river"),
        ("forgets",),
        ("a",),
        ("golden", "pale"),
        ("flame", "return"),
    ]
    fillings = set()
    for seed in range(60):
        words = scan(random.Random(seed), [forms(choices) for choices in slots])
        fillings.add(words and " ".join(words))
    # None: no filling begins on the beat, which some lines are asked to do.
    assert fillings == {
        None,
        "the silent sun forgets a golden flame",
        "the silent sun forgets a pale return",
    }


def test_a_line_that_cannot_have_ten_syllables_is_given_up() -> None:
    assert scan(random.Random(0), [forms(("silent",)), forms(("river",))]) is None


def test_all_fillings_are_equally_likely() -> None:
    slots = [forms(("return",))] * 4
    mixed = [forms(("again", "", "")), forms(("again", "")), *slots]
    seen = Counter(tuple(words) for seed in range(6000) if (words := scan(random.Random(seed), mixed)))
    first, second = (seen["again", "", *["return"] * 4], seen["", "again", *["return"] * 4])
    # One way to fill the first and leave the second empty; two to leave the first empty.
    assert abs(first / (first + second) - 1 / 3) < 0.03
