"""Readers of posts against plain loops, and rows against the same rows alone."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from espalier.models.post_encoder import Context, PostEncoder

POSTS = [[5, 6, 7], [8], [9, 6, 5, 8, 7]]
CONTEXTS: list[Context] = ["last", "attention", "nrm"]
every_reader = pytest.mark.parametrize("bidirectional", [False, True], ids=["onward", "both ways"])
every_context = pytest.mark.parametrize("context", CONTEXTS)


def encoder_of(context: Context, bidirectional: bool) -> Any:
    torch.manual_seed(2)
    return PostEncoder(10, 4, 6, context, bidirectional=bidirectional).double()


def padded(posts: list[list[int]]) -> Tensor:
    longest = max(map(len, posts))
    return torch.tensor([post + [0] * (longest - len(post)) for post in posts])


def states_of(layer: nn.GRU, x: Tensor) -> tuple[Tensor, Tensor]:
    """(time, out) states of one row, and the last one of each direction."""
    ways = []
    for way, suffix in enumerate(["", "_reverse"][: 1 + layer.bidirectional]):
        weights = [getattr(layer, f"{name}_l0{suffix}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        state, found = x.new_zeros(1, layer.hidden_size), []
        for each in x.flip(0) if way else x:
            state = torch.gru_cell(each[None], state, *weights)
            found.append(state[0])
        ways.append(found[::-1] if way else found)
    last = torch.cat([found[0 if way else -1] for way, found in enumerate(ways)])
    return torch.stack([torch.cat(places) for places in zip(*ways, strict=True)]), last


@torch.no_grad()
@every_reader
@every_context
def test_a_context_is_what_a_loop_over_the_post_gives(context: Context, bidirectional: bool) -> None:
    encoder = encoder_of(context, bidirectional)
    post, queries = encoder(padded(POSTS)), torch.randn(4, 6, dtype=torch.float64)
    found = encoder.contexts(post, torch.tensor([2, 0, 0, 1]), queries)
    assert found.shape == (4, encoder.out) and post.last.shape == (3, encoder.final)
    for place, row in enumerate([2, 0, 0, 1]):
        x = encoder.embedding.weight[POSTS[row]]
        states, last = states_of(encoder.gru, x)
        assert torch.allclose(post.last[row], last)
        if context == "nrm":
            states = torch.stack([torch.cat([local, last]) for local in states_of(encoder.local_gru, x)[0]])
        if context == "last":
            wanted = last
        else:
            look = encoder.attention
            met = [torch.tanh(look.query(queries[place]) + look.key.weight @ state) for state in states]
            weights = torch.stack([look.score.weight[0] @ each for each in met]).softmax(0)
            wanted = weights @ states
        assert torch.allclose(found[place], wanted)


@torch.no_grad()
@every_context
def test_posts_in_their_own_order_are_seen_as_by_their_rows(context: Context) -> None:
    encoder, queries = encoder_of(context, False), torch.randn(3, 6, dtype=torch.float64)
    post = encoder(padded(POSTS))
    assert torch.equal(encoder.contexts(post, None, queries), encoder.contexts(post, torch.arange(3), queries))


@torch.no_grad()
@every_context
def test_padding_and_neighbours_change_nothing(context: Context) -> None:
    encoder, query = encoder_of(context, True), torch.randn(1, 6, dtype=torch.float64)
    together = encoder(torch.nn.functional.pad(padded(POSTS), (0, 3)))
    for row, post in enumerate(POSTS):
        alone = encoder.contexts(encoder(torch.tensor([post])), torch.tensor([0]), query)
        assert torch.allclose(alone, encoder.contexts(together, torch.tensor([row]), query))


@torch.no_grad()
@every_context
def test_a_post_without_words_gives_numbers_all_the_same(context: Context) -> None:
    encoder = encoder_of(context, False)
    for ids in (torch.zeros(2, 0, dtype=torch.long), torch.tensor([[0, 0], [5, 0]])):
        found = encoder.contexts(encoder(ids), torch.arange(2), torch.zeros(2, 6, dtype=torch.float64))
        assert torch.isfinite(found).all()


def test_the_embeddings_are_dropped_in_training_only() -> None:
    encoder = encoder_of("last", False)
    ids = padded(POSTS)
    assert not torch.equal(encoder(ids, 0.5).last, encoder(ids, 0.5).last)
    encoder.eval()
    assert torch.equal(encoder(ids, 0.5).last, encoder(ids).last)
