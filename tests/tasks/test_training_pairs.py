"""What training pairs tell of a text and of a pair of the test."""

from __future__ import annotations

from espalier.tasks.training_pairs import TrainingPairs

PAIRS = [
    {"source": "Who lit it?", "target": "It was lit by whom?"},
    {"source": "Who made it burn?", "target": "it was lit by whom"},
    {"source": "2 + 2?", "target": "2 + 2 ="},
]


def test_a_pair_is_unseen_joined_or_in_between() -> None:
    tests = {
        ("who lit it", "Who made it burn"): (False, True),  # by way of "it was lit by whom"
        ("it was lit by whom?", "Who lit it?"): (False, True),  # a training pair itself
        ("who lit it?", "what is a moth?"): (False, False),
        ("what is a moth?", "who lit it?"): (False, False),
        ("what is a moth?", "what is a lamp?"): (True, False),
        ("who lit it?", "2 + 2?"): (False, False),  # both train, and no chain leads from one to the other
        ("3 + 3?", "2 + 3 ="): (True, False),  # without letters a text is compared as it is
        ("2 + 2?", "2 + 2 ="): (False, True),
    }
    parts = TrainingPairs(PAIRS).parts(*zip(*tests, strict=True))
    assert list(zip(parts["unseen"], parts["joined"], strict=True)) == list(tests.values())


def test_a_look_up_gives_the_first_partner_as_it_is_written() -> None:
    pairs = TrainingPairs(PAIRS)
    assert pairs.look_up("WHO LIT IT") == "It was lit by whom?"
    assert pairs.look_up("it was lit by whom") == "Who lit it?"
    assert pairs.look_up("2 + 2 =") == "2 + 2?"
    assert pairs.look_up("who?") is None and TrainingPairs([]).look_up("who?") is None
