import random
from collections import Counter

import pytest

from espalier.nursery.sampling import chance, pick, weighted


def test_draws_are_pinned_so_that_no_version_of_python_can_change_them() -> None:
    rng = random.Random(7)
    assert [pick(rng, "abcdefghij") for _ in range(8)] == list("dbgafdaf")
    assert [weighted(rng, [("x", 1), ("y", 3)]) for _ in range(6)] == list("xyxxyy")


def test_weights_are_proportions() -> None:
    rng = random.Random(0)
    seen = Counter(weighted(rng, [("x", 1), ("y", 3), ("z", 0)]) for _ in range(8000))
    assert seen["z"] == 0
    assert abs(seen["y"] / 8000 - 0.75) < 0.02


def test_chance_is_a_probability() -> None:
    rng = random.Random(0)
    assert not any(chance(rng, 0.0) for _ in range(100))
    assert all(chance(rng, 1.0) for _ in range(100))


def test_nothing_to_draw_from_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="no item"):
        weighted(random.Random(0), [("x", 0)])
