import pytest

from espalier.nursery.inflect_en import comparative, plural, verb_form


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        ("be", "be is are was been being"),
        ("have", "have has have had had having"),
        ("do", "do does do did done doing"),
        ("buy", "buy buys buy bought bought buying"),
        ("write", "write writes write wrote written writing"),
        ("fix", "fix fixes fix fixed fixed fixing"),
        ("carry", "carry carries carry carried carried carrying"),
        ("enjoy", "enjoy enjoys enjoy enjoyed enjoyed enjoying"),
        ("see", "see sees see saw seen seeing"),
        ("plan", "plan plans plan planned planned planning"),
        ("set", "set sets set set set setting"),
        ("open", "open opens open opened opened opening"),
        ("lie", "lie lies lie lied lied lying"),
        ("cancel", "cancel cancels cancel cancelled cancelled cancelling"),
    ],
)
def test_a_verb_has_six_forms(verb: str, forms: str) -> None:
    tags = ("VB", "VBZ", "VBP", "VBD", "VBN", "VBG")
    assert " ".join(verb_form(verb, tag) for tag in tags) == forms


def test_only_were_shows_that_the_subject_is_plural() -> None:
    assert verb_form("be", "VBD", many=True) == "were"
    assert verb_form("buy", "VBD", many=True) == "bought"


def test_words_of_one_meaning_are_inflected_together() -> None:
    assert verb_form("buy|purchase", "VBD") == "bought|purchased"
    assert plural("child|kid") == "children|kids"
    assert plural("match|game") == "matches|games"


def test_plurals_and_comparatives() -> None:
    assert [plural(noun) for noun in ("man", "lady", "box", "car")] == ["men", "ladies", "boxes", "cars"]
    assert comparative("old") == ("older",)
    assert comparative("expensive") == ("more", "expensive")
