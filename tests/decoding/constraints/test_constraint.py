"""Constraints alone and together."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from espalier.decoding.constraints.constraint import Constrained, ForbiddenTokens, masked
from espalier.decoding.sampling import sample
from espalier.io.errors import ConfigError


def test_forbidden_tokens_are_ruled_out_for_every_row(sources: Any) -> None:
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


def test_a_mask_of_another_width_than_the_scores_is_refused_by_name(sources: Any) -> None:
    rule = ForbiddenTokens(torch.tensor([0]), 5)
    with pytest.raises(ConfigError, match=r"constraint ForbiddenTokens: its mask has the shape \(2, 5\), .*\(2, 4\)"):
        Constrained(rule, rule.start(sources([1, 2]))).masked(torch.zeros(2, 4))


def test_sampling_says_that_a_constraint_leaves_no_token(toy: Any, sources: Any) -> None:
    rule = ForbiddenTokens(torch.arange(4), 4)
    with pytest.raises(ConfigError, match="sampling: no next token has a probability: the constraint forbids all"):
        sample(toy(4), sources([1, 2]), seeds=[1, 2], max_ids=3, begin=1, end=0, constraint=rule)
