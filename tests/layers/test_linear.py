"""Packed products: PyTorch's numbers, never stale, and rows that do not know their neighbours."""

from __future__ import annotations

import os
import pickle
import resource
from copy import deepcopy
from threading import Thread
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from espalier.io.errors import ArgumentError
from espalier.layers.linear import Activation, ConstantWeights, _packs, constant_weights, has_bfloat16, linear

needs_bfloat16 = pytest.mark.skipif(not has_bfloat16(), reason="this CPU has no instructions for bfloat16")


@pytest.mark.parametrize("activation", [None, "gelu", "gelu_tanh"])
@pytest.mark.parametrize("shape", [(5, 24), (3, 1, 24), (2, 7, 24)])
def test_the_packed_product_is_the_plain_one(shape: tuple[int, ...], activation: Activation | None) -> None:
    x, weight, bias = torch.randn(shape), torch.randn(40, 24), torch.randn(40)
    plain = F.linear(x, weight, bias)
    if activation:
        plain = F.gelu(plain, approximate="tanh" if activation == "gelu_tanh" else "none")
    assert torch.equal(linear(x, weight, bias, activation), plain)
    with constant_weights():
        torch.testing.assert_close(linear(x, weight, bias, activation), plain, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("inputs", "outputs"), [(24, 40), (256, 768), (256, 1005), (1024, 256)])
def test_a_row_has_the_same_bits_alone_and_among_others(inputs: int, outputs: int) -> None:
    x, weight, bias = torch.randn(70, inputs), torch.randn(outputs, inputs), torch.randn(outputs)
    with constant_weights():
        every = linear(x, weight, bias)
        for count in (1, 2, 3, 5, 11, 32, 33):
            assert torch.equal(linear(x[:count], weight, bias), every[:count])


@needs_bfloat16
@pytest.mark.parametrize("activation", [None, "gelu", "gelu_tanh"])
def test_a_product_in_bfloat16_is_that_of_rounded_factors_in_its_block_and_in_those_within(
    activation: Activation | None,
) -> None:
    x, weight, bias = torch.randn(5, 24), torch.randn(40, 24), torch.randn(40)
    rounded = F.linear(*(each.bfloat16().float() for each in (x, weight, bias)))
    if activation:
        rounded = F.gelu(rounded, approximate="tanh" if activation == "gelu_tanh" else "none")
    with constant_weights():
        exact = linear(x, weight, bias, activation)
        with constant_weights(bfloat16=True), constant_weights():
            found = linear(x, weight, bias, activation)
            assert found.dtype == torch.float32 and not torch.equal(found, exact)
            torch.testing.assert_close(found, rounded, rtol=2**-8, atol=1e-3)
            assert torch.equal(linear(x[:2], weight, bias, activation), found[:2])
        assert torch.equal(linear(x, weight, bias, activation), exact)


def test_a_cpu_without_bfloat16_is_refused_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("espalier.layers.linear.has_bfloat16", lambda: False)
    with pytest.raises(ArgumentError, match="this CPU has no instructions for it"), constant_weights(bfloat16=True):
        pass
    assert _packs.get() is None


def test_weights_that_changed_between_two_decodings_are_packed_anew() -> None:
    layer, x = torch.nn.Linear(8, 8), torch.randn(2, 8)
    optimizer = torch.optim.AdamW(layer.parameters(), lr=0.5, fused=True)
    for _ in range(3):
        layer(x).sum().backward()
        optimizer.step()
        with constant_weights():
            torch.testing.assert_close(linear(x, layer.weight, layer.bias), layer(x))


def test_a_part_of_a_matrix_is_told_from_another() -> None:
    weight, bias, x = torch.randn(12, 6), torch.randn(12), torch.randn(2, 6)
    with constant_weights(), constant_weights():
        for rows in (slice(0, 4), slice(4, 12), slice(0, 12), slice(0, 4)):
            torch.testing.assert_close(linear(x, weight[rows], bias[rows]), F.linear(x, weight[rows], bias[rows]))


def test_the_weights_of_a_model_are_packed_once_for_all_blocks_and_passing_matrices_are_let_go() -> None:
    layer, x = torch.nn.Linear(6, 4), torch.randn(2, 6)
    kept, packed = ConstantWeights(layer), list[set[int]]()
    for _ in range(3):
        with constant_weights(kept), constant_weights():
            torch.testing.assert_close(linear(x, layer.weight, layer.bias), layer(x))
            torch.testing.assert_close(linear(x, layer.weight[:3], layer.bias[:3]), layer(x)[:, :3])
            linear(x, torch.randn(4, 6), None)
        assert len(kept.packs) == 2
        packed.append({id(pack) for _, pack in kept.packs.values()})
    assert packed[0] == packed[1] == packed[2]


@pytest.mark.parametrize(
    "change",
    [
        lambda layer: layer.load_state_dict(torch.nn.Linear(6, 4).state_dict()),
        lambda layer: layer.weight.detach().neg_(),
        lambda layer: layer.double().float().weight.detach().neg_(),
        lambda layer: setattr(layer, "weight", torch.nn.Parameter(torch.randn(4, 6))),
    ],
)
def test_weights_that_changed_between_two_blocks_are_packed_anew_and_the_old_let_go(change: Any) -> None:
    layer, x = torch.nn.Linear(6, 4), torch.randn(2, 6)
    kept = ConstantWeights(layer)
    for _ in range(2):
        with constant_weights(kept):
            torch.testing.assert_close(linear(x, layer.weight, layer.bias), layer(x))
        ((weight, _),) = kept.packs.values()
        assert weight.data_ptr() == layer.weight.data_ptr()
        change(layer)
        assert not kept.packs


def test_a_training_between_two_blocks_is_noticed() -> None:
    layer, x = torch.nn.Linear(6, 4), torch.randn(2, 6)
    kept, optimizer = ConstantWeights(layer), torch.optim.AdamW(layer.parameters(), lr=0.1)
    for _ in range(2):
        with constant_weights(kept):
            torch.testing.assert_close(linear(x, layer.weight, layer.bias), layer(x))
        layer(x).sum().backward()
        optimizer.step()


def test_a_model_that_was_loaded_within_a_block_keeps_its_packed_weights() -> None:
    with torch.inference_mode():
        layer, x = torch.nn.Linear(6, 4), torch.randn(2, 6)
    kept = ConstantWeights(layer)
    with constant_weights(kept):
        linear(x, layer.weight, layer.bias)
    assert len(kept.packs) == 1


@pytest.mark.parametrize("copy", [deepcopy, lambda kept: pickle.loads(pickle.dumps(kept))])
def test_a_copy_of_what_has_packed_weights_keeps_none(copy: Any) -> None:
    layer, x = torch.nn.Linear(6, 4), torch.randn(2, 6)
    kept = ConstantWeights(layer)
    with constant_weights(kept):
        linear(x, layer.weight, layer.bias)
    of_layer, copied = copy([layer, kept])
    with constant_weights(copied):
        linear(x, of_layer.weight, of_layer.bias)
    assert [weight.data_ptr() for weight, _ in copied.packs.values()] == [of_layer.weight.data_ptr()]


def test_a_thread_takes_nothing_from_the_block_of_another() -> None:
    layer, x, passing = torch.nn.Linear(6, 4), torch.randn(2, 6), torch.randn(4, 6)
    kept = ConstantWeights(layer)

    def other() -> None:
        with constant_weights(kept):
            linear(x, layer.weight, layer.bias)

    with constant_weights(kept):
        linear(x, passing, None)
        thread = Thread(target=other)
        thread.start()
        thread.join()
        packs = _packs.get()
        assert packs is not None and [weight.data_ptr() for weight, _ in packs.values()] == [passing.data_ptr()]
    assert not kept.packs  # the last block has used no parameter


def test_passing_matrices_do_not_take_each_others_place() -> None:
    x, bias = torch.randn(2, 6), torch.zeros(4)
    with constant_weights():
        for scale in range(20):
            weight = torch.full((4, 6), float(scale))  # freed at once: the next one could get its address
            torch.testing.assert_close(linear(x, weight, bias), F.linear(x, weight))


@pytest.mark.skipif("CS_GNU_LIBC_VERSION" not in os.confstr_names, reason="another C library keeps its own memory")
def test_memory_that_is_freed_between_two_steps_is_not_fetched_again() -> None:
    def faults() -> int:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(20):
            torch.ones(4 << 20)  # 16 MiB, or 4,096 pages
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    with constant_weights():
        faults()
        assert faults() < 20 * 4096 / 4
