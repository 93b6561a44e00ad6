import random
from collections import Counter
from typing import Any

import pytest

from espalier.corpora.readers import READERS
from espalier.io.errors import ConfigError
from espalier.nursery.sampling import MAX_COUNT, chance, pick, seeded, weighted


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


@pytest.mark.parametrize("count", [-1, MAX_COUNT + 1, 10**15])
@pytest.mark.parametrize("name", ["dialogue_zh", "lyrics_zh", "news_en", "paraphrase_en", "verse_en", "verse_zh"])
def test_a_count_that_is_negative_or_too_large_is_refused_at_once(name: str, count: Any) -> None:
    with pytest.raises(ConfigError, match=rf"nursery {name}: cannot grow .*; give a count of 0 or more, 1,000,000 at"):
        list(READERS[name].rows({}, {"count": count, "seed": 1}, language="zh", where="corpora.tiny"))


@pytest.mark.parametrize("option", ["count", "seed"])
@pytest.mark.parametrize("value", [None, [1], "10", 1.5, True])
@pytest.mark.parametrize("name", ["dialogue_zh", "lyrics_zh", "news_en", "paraphrase_en", "verse_en", "verse_zh"])
def test_a_count_and_a_seed_are_integers(name: str, option: str, value: Any) -> None:
    options = {"count": 1, "seed": 1, option: value}
    with pytest.raises(ConfigError, match=rf"corpora\.tiny\.options: {option}: Input should be a valid integer"):
        list(READERS[name].rows({}, options, language="zh", where="corpora.tiny"))


def test_the_same_seed_draws_the_same_numbers() -> None:
    assert seeded(7, 1, "lines", "lyrics_zh").random() == random.Random(7).random()
