"""The mixture of writing and copying against loops over places and ids."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from espalier.layers.copy import FLOOR, CopyGate, copied_all, copied_mass, mix, mix_all, smoothed_sum

SIZE = 9


def drawn(seed: int, rows: int = 2) -> tuple[list[Tensor], list[Tensor], Tensor, Tensor]:
    """For 2 sources and 3 places: attention over each of `rows` rows and their ids; the vocabulary's logs; gates."""
    torch.manual_seed(seed)

    def random(*shape: int) -> Tensor:
        return torch.randn(shape, dtype=torch.float64)

    lengths = [4, 6][:rows]
    weights = [random(2, 3, length).softmax(-1) for length in lengths]
    ids = [torch.randint(4, SIZE - 1, (2, length)) for length in lengths]  # one id is never copied
    return weights, ids, random(2, 3, SIZE).log_softmax(-1), random(2, 3, 1 + rows).log_softmax(-1)


def slow(source: int, place: int, token: int, seed: int, released: bool) -> float:
    weights, ids, vocabulary, gates = drawn(seed)
    shares = [math.exp(value) for value in gates[source, place].tolist()]
    parts = [math.exp(vocabulary[source, place, token])]
    for attention, row in zip(weights, ids, strict=True):
        parts.append(sum(float(attention[source, place, j]) for j in range(row.shape[1]) if row[source, j] == token))
    if released:
        return sum(share * math.log(max(part, FLOOR)) for share, part in zip(shares, parts, strict=True))
    return math.log(sum(share * part for share, part in zip(shares, parts, strict=True)))


@pytest.mark.parametrize("mixture", ["distribution", "released"])
def test_scores_of_all_ids_and_of_one_target_are_those_of_loops(mixture: str) -> None:
    weights, ids, vocabulary, gates = drawn(1)
    copies = [copied_all(attention, row, SIZE) for attention, row in zip(weights, ids, strict=True)]
    every = mix(vocabulary, copies, gates[:, :, None], mixture)  # type: ignore[arg-type]
    at_once = mix_all(vocabulary, weights, ids, gates, mixture)  # type: ignore[arg-type]
    for source in range(2):
        for place in range(3):
            for token in range(SIZE):
                wanted = slow(source, place, token, 1, mixture == "released")
                assert float(every[source, place, token]) == pytest.approx(wanted, abs=1e-9)
                assert float(at_once[source, place, token]) == pytest.approx(wanted, abs=1e-9)
                target = torch.full((2, 3), token)
                masses = [copied_mass(attention, row, target) for attention, row in zip(weights, ids, strict=True)]
                one = mix(vocabulary[..., token], masses, gates, mixture)  # type: ignore[arg-type]
                assert float(one[source, place]) == pytest.approx(wanted, abs=1e-9)


@given(st.integers(0, 10_000), st.integers(1, 2))
@settings(max_examples=30, deadline=None)
def test_the_mixture_is_a_distribution(seed: int, rows: int) -> None:
    weights, ids, vocabulary, gates = drawn(seed, rows)
    copies = [copied_all(attention, row, SIZE) for attention, row in zip(weights, ids, strict=True)]
    assert torch.allclose(
        mix(vocabulary, copies, gates[:, :, None]).exp().sum(-1), torch.ones(2, 3, dtype=torch.float64), atol=1e-9
    )


def test_the_released_mixture_is_none() -> None:
    weights, ids, vocabulary, gates = drawn(2)
    copies = [copied_all(attention, row, SIZE) for attention, row in zip(weights, ids, strict=True)]
    scores = mix(vocabulary, copies, gates[:, :, None], "released")
    assert (scores <= 0).all() and (scores.exp().sum(-1) < 0.99).all()


def test_an_id_that_stands_twice_is_copied_from_both_places() -> None:
    weights, ids = torch.tensor([[[0.2, 0.3, 0.5]]]), torch.tensor([[4, 7, 4]])
    assert copied_mass(weights, ids, torch.tensor([[4]])).item() == pytest.approx(0.7)
    assert copied_all(weights, ids, SIZE)[0, 0].tolist() == pytest.approx([0, 0, 0, 0, 0.7, 0, 0, 0.3, 0])


@pytest.mark.parametrize("mixture", ["distribution", "released"])
def test_gradients_are_numbers_where_nothing_can_be_copied(mixture: str) -> None:
    vocabulary = torch.full((2,), -200.0, requires_grad=True)  # e**-200 is 0 in 32 bits
    logits = torch.zeros(2, 2, requires_grad=True)
    mass = torch.tensor([0.0, 0.5], requires_grad=True)
    scores = mix(vocabulary, [mass], logits.log_softmax(-1), mixture)  # type: ignore[arg-type]
    scores.sum().backward()
    assert torch.isfinite(scores).all()
    for leaf in (vocabulary, logits, mass):
        assert leaf.grad is not None and torch.isfinite(leaf.grad).all()


# --- The gate ---------------------------------------------------------------------------------------------------------


def gate_of(scores: list[list[float]]) -> CopyGate:
    """A gate with one feature, whose scores are these multiples of it."""
    gate = CopyGate(1, len(scores))
    with torch.no_grad():
        gate.weight.copy_(torch.tensor(scores))
        gate.bias.zero_()
    return gate


def test_one_score_is_the_probability_of_writing_and_several_are_a_softmax() -> None:
    features = torch.tensor([[[math.log(3.0)], [0.0]]])
    one = gate_of([[1.0]]).log_probabilities(features, torch.tensor([[False]])).exp()
    assert torch.allclose(one, torch.tensor([[[0.75, 0.25], [0.5, 0.5]]]))
    several = gate_of([[0.0], [1.0], [0.0]]).log_probabilities(features, torch.tensor([[False, False]])).exp()
    assert torch.allclose(several, torch.tensor([[[0.2, 0.6, 0.2], [1 / 3, 1 / 3, 1 / 3]]]))


@pytest.mark.parametrize("scores", [[[1.0]], [[0.5], [-0.5]], [[0.0], [1.0], [2.0]]])
def test_nothing_is_copied_from_an_empty_row(scores: list[list[float]]) -> None:
    rows = max(1, len(scores) - 1)
    empty = torch.zeros(2, rows, dtype=torch.bool)
    empty[1, 0] = True
    found = gate_of(scores).log_probabilities(torch.ones(2, 3, 1), empty).exp()
    assert torch.allclose(found.sum(-1), torch.ones(2, 3)) and (found[0] > 0).all()
    assert (found[1, :, 1] == 0).all() and (found[1, :, 0] > 0).all()


def test_smoothing_gives_its_share_to_the_vocabulary_s_mean() -> None:
    losses, even = torch.tensor([1.0, 2.0]), torch.tensor([5.0, 7.0])
    assert float(smoothed_sum(losses, even, 0.0)) == 3.0
    assert float(smoothed_sum(losses, even, 0.25)) == 0.75 * 3 + 0.25 * 12
