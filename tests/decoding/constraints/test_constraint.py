"""Constraints alone and together."""

from __future__ import annotations

from typing import Any

import torch

from espalier.decoding.constraints.constraint import All, Never


def test_never_rules_tokens_out_for_every_row(sources: Any) -> None:
    rule = Never(torch.tensor([0, 3]), 5)
    state = rule.start(sources([1, 2, 3]))
    wanted = [False, True, True, False, True]
    assert rule.mask(state).tolist() == [wanted] * 3
    chosen = rule.advance(torch.tensor([1, 2]), state.select(torch.tensor([2, 0])))
    assert rule.mask(chosen).tolist() == [wanted] * 2
    assert rule.mask(chosen.select(torch.tensor([1, 1, 0, 0]))).tolist() == [wanted] * 4


def test_all_is_what_every_part_allows(sources: Any) -> None:
    rule = All([Never(torch.tensor([0]), 4), Never(torch.tensor([1]), 4)])
    state = rule.start(sources([1, 2]))
    assert rule.mask(state).tolist() == [[False, False, True, True]] * 2
    state = rule.advance(torch.tensor([2]), state.select(torch.tensor([1])))
    assert rule.mask(state).tolist() == [[False, False, True, True]]


def test_where_parts_leave_nothing_the_later_yield(sources: Any) -> None:
    first, second, third = Never(torch.tensor([0, 1]), 4), Never(torch.tensor([2, 3]), 4), Never(torch.tensor([3]), 4)
    rule = All([first, second, third])
    assert rule.mask(rule.start(sources([1]))).tolist() == [[False, False, True, False]]
