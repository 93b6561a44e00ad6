"""The batches of a decoding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from espalier.decoding.bounds import GPU_PREFIXES, PREFIXES
from espalier.tasks.data import Inputs, RunOptions
from espalier.tasks.decode import Decoding, table_of_rows


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


VALUE = st.one_of(st.text(max_size=2), st.integers(-9, 9), st.floats(allow_infinity=False), st.none(), st.booleans())


@given(
    st.lists(st.fixed_dictionaries({"id": st.text(max_size=2)}, optional=dict.fromkeys("abc", VALUE)), max_size=5),
    st.lists(st.fixed_dictionaries({"id": st.text(max_size=2), "n": st.integers(), "x": st.floats()}), max_size=3),
)
def test_the_table_of_rows_is_that_of_a_list_of_them(mixed: list[dict[str, Any]], plain: list[dict[str, Any]]) -> None:
    for rows in (mixed, plain):
        found, wanted = table_of_rows(iter(rows)), pd.DataFrame(rows)
        pd.testing.assert_frame_equal(found, wanted)
