"""Pasts whose prefixes share slots against pasts in which each prefix has its own."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from espalier.layers.attention import Attention, Factors
from espalier.layers.shared_memory import KeyValues, Past, Slots, select_all, select_pasts, shared_pasts

WIDTH, HEADS = 12, 3
SOURCES, BEAM = 3, 4


def attention() -> Attention:
    torch.manual_seed(1)
    return Attention(WIDTH, HEADS).eval()


@st.composite
def selections(draw: st.DrawFn) -> list[list[int]]:
    """What a beam search may select after each step: of the sources that go on, any prefixes of each."""
    sources, steps = SOURCES, []
    for _ in range(draw(st.integers(1, 25))):
        rows = draw(st.permutations(range(sources)))[: draw(st.integers(1, sources)) if draw(st.booleans()) else None]
        steps.append([row * BEAM + draw(st.integers(0, BEAM - 1)) for row in rows for _ in range(BEAM)])
        sources = len(rows)
    return steps


@settings(max_examples=30, deadline=None)
@given(selections(), st.sampled_from([None, 1, 5]), st.integers(0, 3), st.booleans(), st.booleans())
def test_shared_slots_give_what_places_of_their_own_give(
    steps: list[list[int]], window: int | None, before: int, masked: bool, factored: bool
) -> None:
    layers = [attention(), attention()]
    draw = torch.Generator().manual_seed(len(steps))

    def begin() -> list[Past]:
        return [layer.empty(SOURCES, 2, torch.zeros(0), window) for layer in layers]

    def step(pasts: Sequence[Past], x: Tensor, time: int) -> Tensor:
        # What hangs on places is made of the prefixes' own rows, so it tells whose slot is read.
        places = (x[:, 0, :1] * torch.arange(1.0, time + 2))[:, None, None]
        bias = (places.sin() > -0.9) | (torch.arange(time + 1) == time) if masked else None
        factors = Factors(places.cos().abs() + 0.1, renormalised=masked) if factored else None
        for layer, past in zip(layers, pasts, strict=True):
            x = layer.step(x, past, time, bias=bias, factors=factors) if window is None else layer.step(x, past, time)
        return x

    plain, shared = begin(), begin()
    with torch.inference_mode():
        for time in range(before):
            x = torch.randn(SOURCES, 1, WIDTH, generator=draw)
            step(plain, x, time), step(shared, x, time)
        index = torch.arange(SOURCES).repeat_interleave(BEAM)
        plain = select_pasts(plain, index, before)
        with shared_pasts():
            shared = select_pasts(shared, index, before)
        for time, selected in enumerate(steps, before):
            x = torch.randn(len(plain[0]), 1, WIDTH, generator=draw)
            assert len(shared[0]) == len(plain[0])
            assert torch.allclose(step(shared, x, time), step(plain, x, time), atol=1e-5)
            index = torch.tensor(selected)
            plain, shared = (select_pasts(pasts, index, time + 1) for pasts in (plain, shared))


@pytest.mark.parametrize("shape", [(BEAM, HEADS, 1, 2), (BEAM, 1, 1, 1), (1, HEADS, 1, 2), (1, 1, 1, 2), (1, 1, 1, 1)])
@pytest.mark.parametrize("renormalised", [False, True])
def test_biases_and_factors_are_broadcast_as_where_no_slots_are_shared(
    shape: tuple[int, ...], renormalised: bool
) -> None:
    layer, draw = attention(), torch.Generator().manual_seed(2)
    start, x = [layer.empty(1, 2, torch.zeros(0))], torch.randn(2, BEAM, 1, WIDTH, generator=draw)
    factors = Factors(torch.rand(shape, generator=draw), renormalised)
    bias = (torch.rand(shape, generator=draw) < 0.7) | (torch.arange(shape[3]) == shape[3] - 1)
    outputs = []
    for context in (shared_pasts(), nullcontext()):
        with torch.inference_mode():
            with context:
                (past,) = select_pasts(start, torch.zeros(BEAM, dtype=torch.long), 0)
            layer.step(x[0], past, 0)
            outputs.append(layer.step(x[1], past, 1, bias=bias, factors=factors))
    torch.testing.assert_close(*outputs)


def test_searches_that_begin_with_the_same_pasts_do_not_disturb_each_other() -> None:
    layer, x = attention(), torch.randn(3, 1, WIDTH)
    start = layer.empty(3, 4, x)
    with torch.inference_mode():
        layer.step(x, start, 0)
        before, found = (start.keys.clone(), start.values.clone()), []
        for _ in range(2):
            for row in range(3):
                with shared_pasts():
                    past = select_pasts([start], torch.tensor([row] * BEAM), 1)
                for time in range(1, 20):
                    found.append(layer.step(x[row].expand(BEAM, -1, -1), past[0], time))
                    past = select_pasts(past, torch.tensor([1] * BEAM), time + 1)
    assert torch.equal(torch.stack(found[:57]), torch.stack(found[57:]))
    assert torch.equal(start.keys[:, :, :1], before[0][:, :, :1]) and start.slots is None
    assert torch.equal(start.values[:, :, :1], before[1][:, :, :1])


def test_pasts_of_different_windows_are_not_selected_together() -> None:
    layer, x = attention(), torch.zeros(0)
    with shared_pasts(), pytest.raises(ValueError, match="select those of each window"):
        select_pasts([layer.empty(2, 2, x), layer.empty(2, 2, x, 5)], torch.tensor([0, 0]), 0)


def test_a_step_of_a_past_that_has_gone_on_is_refused() -> None:
    layer, x = attention(), torch.randn(BEAM, 1, WIDTH)
    with shared_pasts():
        (past,) = select_pasts([layer.empty(1, 2, x)], torch.zeros(BEAM, dtype=torch.long), 0)
    again = [layer.step(x, past, 0) for _ in range(2)]
    assert torch.equal(*again)
    layer.step(x, past, 1)
    for time in (0, 3):
        with pytest.raises(ValueError, match=f"a step at place {time} of prefixes that share slots, after place 1"):
            layer.step(x, past, time)


def test_sources_that_end_are_taken_out_without_a_copy() -> None:
    layer, x = attention(), torch.randn(3 * BEAM, 1, WIDTH)
    with torch.inference_mode(), shared_pasts():
        (past,) = select_pasts([layer.empty(3, 8, x)], torch.arange(3).repeat_interleave(BEAM), 0)
        layer.step(x, past, 0)
        (rest,) = select_pasts([past], torch.tensor([2 * BEAM] * BEAM + [BEAM] * BEAM), 1)
    assert rest.keys.data_ptr() == past.keys.data_ptr() and len(rest.keys) == 2


@pytest.mark.parametrize("index", [[], [4], [0, 1, 2, 3, 5], [9, 9, 1], [*range(12), *range(12)]])
def test_a_selection_that_no_search_makes_is_right_too(index: list[int]) -> None:
    layer, x = attention(), torch.randn(2 * SOURCES * BEAM, 1, WIDTH)
    every, index_ = torch.arange(SOURCES).repeat_interleave(BEAM), torch.tensor(index, dtype=torch.long)
    pasts = [layer.empty(SOURCES, 2, x)]
    with shared_pasts():
        shared = select_pasts(pasts, every, 0)
    plain = select_pasts(pasts, every, 0)
    outputs = []
    with torch.inference_mode():
        for each in (shared, plain):
            layer.step(x[: SOURCES * BEAM], each[0], 0)
            each = select_pasts(each, index_, 1)
            assert len(each[0]) == len(index)
            outputs.append(layer.step(x[: len(index)], each[0], 1) if index else x[:0])
    assert torch.allclose(*outputs, atol=1e-5)


def test_slots_that_no_prefix_reads_are_given_up() -> None:
    layer, x = attention(), torch.randn(2 * BEAM, 1, WIDTH)
    with shared_pasts():
        pasts = select_pasts([layer.empty(2, 2, x)], torch.arange(2).repeat_interleave(BEAM), 0)
    for time in range(200):
        layer.step(x, pasts[0], time)
        # All go on from the first prefix of their source: one slot of each step is read.
        pasts = select_pasts(pasts, torch.tensor([0] * BEAM + [BEAM] * BEAM), time + 1)
    slots = pasts[0].slots
    assert slots is not None and 200 <= slots.read.shape[2] <= 200 + 200 // 2 + 32


@pytest.mark.parametrize("beam", [1, 4, 7])
def test_buffers_have_room_for_two_slots_of_each_prefix_and_step_at_most(beam: int) -> None:
    """As `decoding.memory` counts: also where no prefixes have a place in common, so none is given up."""
    layer, x = attention(), torch.randn(beam, 1, WIDTH)
    with torch.inference_mode(), shared_pasts():
        (past,) = select_pasts([layer.empty(1, 2, x)], torch.zeros(beam, dtype=torch.long), 0)
        for time in range(150):
            layer.step(x, past, time)
            (past,) = select_pasts([past], torch.arange(beam), time + 1)
            assert past.keys.shape[2] <= max(32, 2 * beam * (time + 1))
            assert past.slots is not None and past.slots.read.shape[2] == beam * (time + 1)


def test_all_layers_have_the_same_slots() -> None:
    layer, x = attention(), torch.randn(2 * BEAM, 1, WIDTH)
    with shared_pasts():
        pasts = select_pasts([layer.empty(2, 2, x) for _ in range(3)], torch.arange(2).repeat_interleave(BEAM), 0)
    for past in pasts:
        layer.step(x, past, 0)
    pasts = select_pasts(pasts, torch.arange(2 * BEAM), 1)
    assert len({id(past.slots) for past in pasts}) == 1


def test_slots_by_hand() -> None:
    """Two prefixes write a and b; both go on from b, and the first of them, c, and its sibling, d, are kept in turn."""
    slots = Slots.begin(1, 2, 0, None, torch.device("cpu")).after
    slots, _ = slots.select(torch.tensor([1, 1]))
    assert slots.read.tolist() == [[[False, True], [False, True]]]
    slots, _ = slots.after.select(torch.tensor([1, 0]))
    assert slots.read.tolist() == [[[False, True, False, True], [False, True, True, False]]]
    assert slots.times.tolist() == [[0, 0, 1, 1]] and slots.time == 2


def test_the_rows_of_a_memory_are_copied() -> None:
    cache = KeyValues(torch.arange(6.0).reshape(3, 1, 2, 1), torch.zeros(3, 1, 2, 1))
    (chosen,) = select_all([cache], torch.tensor([2, 0, 2]))
    assert chosen.keys[:, 0, 0, 0].tolist() == [4.0, 0.0, 4.0]
    chosen.keys.zero_()
    assert cache.keys[2, 0, 0, 0] == 4.0


@given(st.lists(st.integers(0, 5), max_size=8))
def test_a_selection_of_a_past_has_the_rows_that_were_asked_for_and_leaves_the_past(index: list[int]) -> None:
    past = attention().empty(6, 4, torch.zeros(0))
    values = torch.arange(6.0 * HEADS * 3 * 4).reshape(6, HEADS, 3, 4)
    past.keys[:, :, :3], past.values[:, :, :3] = values, -values
    chosen = past.select(torch.tensor(index, dtype=torch.long), 3)
    assert torch.equal(chosen.keys[:, :, :3], values[index]) and torch.equal(chosen.values[:, :, :3], -values[index])
    assert chosen.keys.shape[2] == 4  # and there is room for the next place
    chosen.keys.zero_()
    assert torch.equal(past.keys[:, :, :3], values)
