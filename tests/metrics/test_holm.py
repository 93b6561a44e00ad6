from __future__ import annotations

import pytest

from espalier.metrics.holm import holm


def test_adjusted_values_are_those_computed_by_hand() -> None:
    # Smallest first: .01 * 4 = .04; .02 * 3 = .06; .03 * 2 = .06; .04 * 1, but not below the one before: .06.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    # .005 * 3; .4 * 2; .9 * 1
    assert holm([0.9, 0.005, 0.4]) == pytest.approx([0.9, 0.015, 0.8])
    assert holm([0.6, 0.7]) == [1.0, 1.0]


def test_equal_values_stay_equal_and_one_or_none_stays_as_it_is() -> None:
    assert holm([0.02, 0.02, 0.5]) == pytest.approx([0.06, 0.06, 0.5])
    assert (holm([0.03]), holm([])) == ([0.03], [])
