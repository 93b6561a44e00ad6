"""Constraints alone and together."""

from __future__ import annotations

from typing import Any

import torch

from espalier.decoding.constraints.constraint import ForbiddenTokens, masked


def test_never_rules_tokens_out_for_every_row(sources: Any) -> None:
    rule = ForbiddenTokens(torch.tensor([0, 3]), 5)
    state = rule.start(sources([1, 2, 3]))
    wanted = [-torch.inf, 0.0, 0.0, -torch.inf, 0.0]
    assert rule.mask(state).tolist() == [wanted] * 3
    chosen = rule.advance(torch.tensor([1, 2]), state.select(torch.tensor([2, 0])))
    assert rule.mask(chosen).tolist() == [wanted] * 2
    assert rule.mask(chosen.select(torch.tensor([1, 1, 0, 0]))).tolist() == [wanted] * 4


def test_a_mask_of_bools_and_one_that_is_added_say_the_same() -> None:
    scores = torch.tensor([[-1.0, -2.0, -torch.inf]])
    as_bool, added = torch.tensor([[True, False, True]]), torch.tensor([[0.0, -torch.inf, 0.0]])
    assert masked(scores, as_bool).tolist() == masked(scores, added).tolist() == [[-1.0, -torch.inf, -torch.inf]]
