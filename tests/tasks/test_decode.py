"""The batches of a decoding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from espalier.decoding.bounds import GPU_PREFIXES, PREFIXES
from espalier.tasks.data import Inputs, RunOptions
from espalier.tasks.decode import Decoding


class EnoughError(Exception):
    """The batches are known."""


@pytest.mark.parametrize(("device", "at_once"), [("cpu", PREFIXES), ("cuda", GPU_PREFIXES)])
@pytest.mark.parametrize("beam", [1, 8])
def test_a_gpu_searches_more_prefixes_at_once_and_each_prompt_is_searched_once(
    device: str, at_once: int, beam: int
) -> None:
    sizes = np.random.default_rng(1).integers(1, 20, 20_000)
    data = SimpleNamespace(sizes=lambda view: sizes, longest=lambda view: 20)
    inputs = Inputs(data=data, prompts=np.arange(len(sizes)), rows=[[]] * len(sizes))
    task = SimpleNamespace(inputs=lambda *_: [inputs])
    model = SimpleNamespace(config=SimpleNamespace(view=None, positions=20))
    batches = list[Any]()

    def follow(parts: Iterable[Any], what: str) -> Iterator[Any]:
        assert what == "decode"
        batches.extend(parts)
        raise EnoughError

    decoder: Any = SimpleNamespace(prefixes=beam)
    decoding = Decoding[Any, Any, Any, Any, Any, Any](
        task,  # type: ignore[arg-type]
        model,
        decoder,
        RunOptions(),
        1,
        torch.device(device),
        follow,  # type: ignore[arg-type]
    )
    with pytest.raises(EnoughError):
        decoding.outputs(SimpleNamespace())  # type: ignore[arg-type]
    parts: Sequence[Any] = batches
    assert max(map(len, parts)) * beam == at_once and len(parts) == -(-len(sizes) * beam // at_once)
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(sizes)))
