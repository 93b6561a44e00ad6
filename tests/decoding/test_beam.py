"""Beam search against enumeration of every sequence."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from espalier.decoding.beam import CHUNK, Hypothesis, _without_holes, beam_search, best_sums
from espalier.decoding.constraints.constraint import ForbiddenTokens
from espalier.decoding.sampling import sample

END, BEGIN = 0, 1
SIZE, MAX_IDS = 4, 5


def search(model: Any, batch: Any, beam: int, **changes: Any) -> list[list[Hypothesis]]:
    settings = {"max_ids": MAX_IDS, "begin": BEGIN, "end": END} | changes
    return beam_search(model, batch, beam=beam, **settings)


def ranked(
    model: Any, source: int, power: float, max_ids: int = MAX_IDS, **changes: Any
) -> list[tuple[list[int], float]]:
    """Every sequence without its end mark, the best first."""
    every = model.everything(source, max_ids, **changes)
    scored = [([t for t in tokens if t != END], total / len(tokens) ** power) for tokens, total in every.items()]
    return sorted(scored, key=lambda pair: -pair[1])


@pytest.mark.parametrize("power", [0.0, 0.6, 1.0])
@pytest.mark.parametrize(("size", "max_ids"), [(3, 5), (4, 4)])
def test_a_wide_beam_finds_the_best_of_all_sequences(
    toy: Any, sources: Any, power: float, size: int, max_ids: int
) -> None:
    model = toy(size)
    found = search(model, sources([1, 2, 3]), 120, max_ids=max_ids, length_power=power)
    for source, row in zip([1, 2, 3], found, strict=True):
        wanted = ranked(model, source, power, max_ids)[:120]
        assert [each.tokens for each in row] == [tokens for tokens, _ in wanted]
        assert [each.score for each in row] == pytest.approx([score for _, score in wanted], rel=1e-5)


def test_scores_are_log_probabilities_over_a_power_of_the_length(toy: Any, sources: Any) -> None:
    model = toy(SIZE)
    every = model.everything(5, MAX_IDS)
    for each in search(model, sources([5]), 4, length_power=0.6)[0]:
        key = tuple(each.tokens) if len(each.tokens) == MAX_IDS else (*each.tokens, END)
        assert each.log_probability == pytest.approx(every[key], rel=1e-5)
        assert each.score == pytest.approx(each.log_probability / len(key) ** 0.6)


@pytest.mark.parametrize("source", range(12))
def test_a_beam_of_one_is_greedy(toy: Any, sources: Any, source: int) -> None:
    model = toy(SIZE)
    greedy = sample(model, sources([source]), seeds=[0], max_ids=MAX_IDS, begin=BEGIN, end=END, top_k=1)
    assert search(model, sources([source]), 1)[0][0].tokens == greedy[0]


@pytest.mark.parametrize("beam", [1, 2, 5])
@pytest.mark.parametrize("power", [0.0, 0.6])
def test_a_batch_gives_what_its_rows_give_alone(toy: Any, sources: Any, beam: int, power: float) -> None:
    model, rows = toy(SIZE), list(range(10))
    together = search(model, sources(rows), beam, length_power=power, max_ids=8)
    alone = [search(model, sources([row]), beam, length_power=power, max_ids=8)[0] for row in rows]
    assert together == alone
    assert all(len(row) == beam for row in together)
    assert all(row == sorted(row, key=lambda each: -each.score) for row in together)


def test_the_constraint_is_obeyed_by_the_best_that_it_allows(toy: Any, sources: Any) -> None:
    model = toy(SIZE)
    rule = ForbiddenTokens(torch.tensor([2]), SIZE)
    found = search(model, sources([1, 2]), 80, constraint=rule, length_power=0.6)
    for source, row in zip([1, 2], found, strict=True):
        wanted = ranked(model, source, 0.6, forbidden=(2,))
        assert [each.tokens for each in row] == [tokens for tokens, _ in wanted][:80]
        assert len(row) == min(80, len(wanted))


@pytest.mark.parametrize("shortest", [0, 1, 3])
def test_no_sequence_is_shorter_than_asked_and_the_best_of_the_others_are_found(
    toy: Any, sources: Any, shortest: int
) -> None:
    model = toy(SIZE)
    found = search(model, sources([1, 2]), 700, min_ids=shortest)
    for source, row in zip([1, 2], found, strict=True):
        wanted = [tokens for tokens, _ in ranked(model, source, 0.0) if len(tokens) >= shortest]
        assert [each.tokens for each in row] == wanted
        assert min(len(tokens) for tokens in wanted) == shortest


def test_no_sequence_is_longer_than_the_steps(toy: Any, sources: Any) -> None:
    model = toy(SIZE)
    never_ends = ForbiddenTokens(torch.tensor([END]), SIZE)
    found = search(model, sources([1]), 3, constraint=never_ends, max_ids=4)
    assert [len(each.tokens) for each in found[0]] == [4, 4, 4]
    assert len(model.batches) == 4


def test_a_row_that_is_done_costs_no_more(toy: Any, sources: Any) -> None:
    class Short(toy):  # type: ignore[misc]
        """Source 0 ends at once, with near certainty; the others go on."""

        def logs(self, prefix: tuple[int, ...]) -> torch.Tensor:
            scores = super().logs(prefix).clone()
            scores[END] += 20.0 if prefix[0] == 0 else -20.0
            return scores.log_softmax(0)

    model = Short(SIZE)
    found = search(model, sources([0, 1, 2]), 1, max_ids=6)
    assert found[0][0].tokens == [] and len(found[1][0].tokens) == 6
    assert model.batches == [3, 2, 2, 2, 2, 2]


@pytest.mark.parametrize("power", [0.0, 0.6])
def test_the_best_alone_are_the_first_of_all_and_found_sooner(toy: Any, sources: Any, power: float) -> None:
    rows, steps = list(range(10)), list[int]()
    for wanted in range(1, 6):
        model, every = toy(SIZE), toy(SIZE)
        found = search(model, sources(rows), 5, best=wanted, length_power=power, max_ids=12)
        assert found == [row[:wanted] for row in search(every, sources(rows), 5, length_power=power, max_ids=12)]
        steps.append(sum(model.batches))
    assert steps == sorted(steps) and steps[0] < steps[-1]


@given(st.lists(st.booleans(), min_size=1, max_size=9).filter(any))
def test_the_last_rows_that_are_kept_fill_the_places_of_those_that_are_not(keep: list[bool]) -> None:
    kept = _without_holes(torch.tensor(keep)).tolist()
    assert sorted(kept) == [row for row, is_kept in enumerate(keep) if is_kept]
    assert all(kept[row] == row for row in range(len(kept)) if keep[row])


def test_scores_that_are_no_numbers_leave_what_was_found(
    toy: Any, sources: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, numbers = toy(SIZE), toy.logs
    first = float(model.logs((1, BEGIN))[END])
    broken = torch.full((SIZE,), torch.nan)
    monkeypatch.setattr(toy, "logs", lambda self, past: broken if past[0] == 1 < len(past) - 1 else numbers(self, past))
    found, other = search(model, sources([1, 2]), SIZE, max_ids=2)
    assert [(each.tokens, each.score) for each in found] == [([], first)]
    assert len(other) == SIZE


def test_hypotheses_are_never_repeated(toy: Any, sources: Any) -> None:
    for row in search(toy(3), sources(list(range(6))), 12, length_power=0.6):
        assert len({(tuple(each.tokens), each.score) for each in row}) == len(row)


@pytest.mark.parametrize("beams", [1, 5])
@pytest.mark.parametrize("size", [3, CHUNK - 1, CHUNK, CHUNK + 1, 700])
def test_the_best_sums_are_those_of_a_whole_topk(size: int, beams: int) -> None:
    generator = torch.Generator().manual_seed(size + beams)
    past, scores = (torch.randn(*shape, generator=generator) for shape in ((4, beams), (4 * beams, size)))
    scores[torch.rand(scores.shape, generator=generator) < 0.3] = -torch.inf
    past[1, 1:], scores[0, 1:] = -torch.inf, -torch.inf  # rows with fewer finite sums than are asked for
    best, parent, token = best_sums(past, scores, 2 * beams)
    wanted, flat = (past.flatten()[:, None] + scores).view(4, -1).topk(min(2 * beams, beams * size), dim=1)
    real = best > -torch.inf
    assert torch.equal(best, wanted)
    assert torch.equal(parent[real], (flat // size)[real]) and torch.equal(token[real], (flat % size)[real])
    assert int(token.max()) < size and int(parent.max()) < beams
