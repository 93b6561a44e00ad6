"""Top-k sampling: the distribution, and that nothing but row and seed decides."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from espalier.decoding.constraints.constraint import ForbiddenTokens
from espalier.decoding.sampling import hypotheses, sample

END, BEGIN = 0, 1


def draw(model: Any, batch: Any, seeds: list[int], **changes: Any) -> list[list[int]]:
    return sample(model, batch, seeds=seeds, **({"max_ids": 12, "begin": BEGIN, "end": END} | changes))


def test_neighbours_never_change_a_text(toy: Any, sources: Any) -> None:
    model, rows, seeds = toy(6), [3, 1, 4, 1, 5, 9, 2], [10, 11, 12, 13, 14, 15, 16]
    together = draw(model, sources(rows), seeds)
    assert together == [draw(model, sources([row]), [seed])[0] for row, seed in zip(rows, seeds, strict=True)]
    order = [6, 2, 0, 5, 1, 4, 3]
    again = draw(model, sources([rows[i] for i in order]), [seeds[i] for i in order])
    assert again == [together[i] for i in order]
    assert len({tuple(text) for text in together}) > 3


def test_the_same_seed_gives_the_same_text_and_another_another(toy: Any, sources: Any) -> None:
    model = toy(6)
    texts = draw(model, sources([1] * 6), [5, 5, 6, 7, 8, 9])
    assert texts[0] == texts[1] == draw(model, sources([1]), [5])[0]
    assert len({tuple(text) for text in texts}) > 2


def test_a_larger_bound_goes_on_where_a_smaller_one_stops(toy: Any, sources: Any) -> None:
    model = toy(6)
    for seed in range(8):
        long, short = (draw(model, sources([2]), [seed], max_ids=max_ids)[0] for max_ids in (30, 4))
        assert long[:4] == short and len(short) <= 4


def test_finished_rows_leave_the_batch(toy: Any, sources: Any) -> None:
    class Timed(toy):  # type: ignore[misc]
        """Source n ends after n words, for sure."""

        def logs(self, prefix: tuple[int, ...]) -> Tensor:
            scores = super().logs(prefix).clone()
            scores[END] = 40.0 if len(prefix) - 2 >= prefix[0] else -40.0
            return scores.log_softmax(0)

    model, rows = Timed(5), [0, 6, 1, 6, 2, 6, 1, 0]
    texts = draw(model, sources(rows), list(range(8)))
    assert [len(text) for text in texts] == rows
    assert model.batches == sorted(model.batches, reverse=True) and model.batches[-1] == 3
    assert texts == [draw(model, sources([row]), [seed])[0] for seed, row in enumerate(rows)]


def test_top_1_is_greedy(toy: Any, sources: Any) -> None:
    model = toy(6)
    prefix: tuple[int, ...] = (4, BEGIN)
    greedy: list[int] = []
    while len(greedy) < 12 and (best := int(model.logs(prefix).argmax())) != END:
        greedy.append(best)
        prefix = (*prefix, best)
    assert draw(model, sources([4] * 3), [1, 2, 3], top_k=1) == [greedy] * 3


class Known:
    """The same distribution at every step."""

    def __init__(self, probabilities: list[float]) -> None:
        self.logs = torch.tensor(probabilities).log()

    def start(self, batch: Any) -> Any:
        return self

    def select(self, index: Tensor) -> Any:
        return self

    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        return self.logs.expand(len(tokens), -1), self


@pytest.mark.parametrize(
    ("top_k", "temperature", "wanted"),
    [
        (9, 1.0, [0.1, 0.4, 0.3, 0.2]),
        (3, 1.0, [0.0, 4 / 9, 3 / 9, 2 / 9]),
        (2, 1.0, [0.0, 4 / 7, 3 / 7, 0.0]),
        (4, 0.5, [1 / 30, 16 / 30, 9 / 30, 4 / 30]),
    ],
)
def test_tokens_come_as_often_as_they_should(sources: Any, top_k: int, temperature: float, wanted: list[float]) -> None:
    count = 4000
    texts = draw(
        Known([0.1, 0.4, 0.3, 0.2]), sources([0] * count), list(range(count)),
        max_ids=1, top_k=top_k, temperature=temperature,
    )  # fmt: skip
    drawn = torch.tensor([text[0] if text else END for text in texts]).bincount(minlength=4) / count
    for found, expected in zip(drawn.tolist(), wanted, strict=True):
        spread = (expected * (1 - expected) / count) ** 0.5
        assert abs(found - expected) <= 4 * spread


def test_a_forbidden_token_is_never_drawn_even_with_top_k_beyond_the_rest(sources: Any) -> None:
    rule = ForbiddenTokens(torch.tensor([1, 3]), 4)
    texts = draw(Known([0.02, 0.9, 0.03, 0.05]), sources([0] * 300), list(range(300)), top_k=4, constraint=rule)
    assert {token for text in texts for token in text} == {2}


def test_a_text_that_does_not_end_is_cut(sources: Any) -> None:
    assert [len(text) for text in draw(Known([0.0, 0.5, 0.5]), sources([0, 0]), [1, 2], max_ids=7)] == [7, 7]


def test_a_sequence_has_the_model_s_log_probability_whatever_it_was_drawn_from(toy: Any, sources: Any) -> None:
    model, rows, most = toy(4), [2, 5], 3
    seeds = list(range(16))
    found = hypotheses(
        model,
        sources(rows),
        seeds=seeds,
        max_ids=most,
        begin=BEGIN,
        end=END,
        top_k=3,
        temperature=0.7,
        length_power=2.0,
    )
    drawn = draw(model, sources([2] * 8 + [5] * 8), seeds, max_ids=most, top_k=3, temperature=0.7)
    assert [each.tokens for each in found] == drawn and len({*map(tuple, drawn)}) > 3
    known = [model.everything(row, most) for row in rows]
    for place, each in enumerate(found):
        ids = tuple(each.tokens) + (() if len(each.tokens) == most else (END,))
        assert each.log_probability == pytest.approx(known[place // 8][ids], abs=1e-5)
        assert each.score == pytest.approx(each.log_probability / len(ids) ** 2)
