"""A model that lacks a member of its contract is refused before training."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from espalier.datasets.pairs.data import PairData
from espalier.datasets.structure.vocabulary import StructureVocabulary
from espalier.datasets.verse.data import VerseData
from espalier.datasets.vocabulary import WordVocabulary
from espalier.io.errors import ConfigError
from espalier.models.contract import Loss, check_class, check_model
from espalier.models.output_check import check_outputs
from espalier.models.registry import ARCHITECTURES

SETTINGS = ("width", "positions", "view", "model_dump")
SHARED = ("config", "vocabulary", "forward", "start")
CHAIN = (*SHARED, "token_losses", "step")
TREE = (*SHARED, "arity", "tree_losses", "roots", "nodes", "child")


def model_without(missing: str, members: tuple[str, ...]) -> nn.Module:
    """A module whose class has all these members, and whose config has all `SETTINGS`, but one."""
    config = SimpleNamespace(**{name: None for name in SETTINGS if f"config.{name}" != missing})
    body: dict[str, Any] = {name: config if name == "config" else lambda *_: None for name in members}
    body.pop(missing, None)
    return type("Toy", (nn.Module,), body)()


@pytest.mark.parametrize("members", [CHAIN, TREE])
def test_a_model_with_every_member_passes(members: tuple[str, ...]) -> None:
    check_model(model_without("", members), "toy")


@pytest.mark.parametrize(
    ("kind", "members", "missing"),
    [
        (kind, members, missing)
        for kind, members in (("chain", CHAIN), ("tree", TREE))
        for missing in (*members, *(f"config.{name}" for name in SETTINGS))
    ],
)
def test_what_is_missing_is_named_in_one_line(kind: str, members: tuple[str, ...], missing: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_model(model_without(missing, members), "toy")
    assert str(caught.value) == (
        f"architecture toy: its model, Toy, has no {missing}, which every {kind} model needs; "
        "see espalier/models/contract.py"
    )


def test_a_module_that_defines_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match="architecture toy: its model, Linear, has no config, which every chain"):
        check_model(nn.Linear(1, 1), "toy")


def test_a_class_is_refused_for_a_method_that_is_missing_or_takes_other_arguments() -> None:
    body: dict[str, Any] = {name: lambda self, *_: None for name in CHAIN[2:]}
    check_class(type("Toy", (nn.Module,), body), "toy")  # config and vocabulary are known of a built model alone
    for changed, told in (
        ({"start": None}, "has no method start"),
        ({"step": lambda self: 0}, "has no step that takes"),
    ):
        with pytest.raises(ConfigError, match=f"architecture toy: its model, Toy, {told}"):
            check_class(type("Toy", (nn.Module,), {**body, **changed}), "toy")


class Rows:
    """A batch of the rows of `Constant`."""

    real = torch.ones(2, 3, dtype=torch.bool)

    def __len__(self) -> int:
        return len(self.real)


class Constant(nn.Module):
    """Two rows of three places; each word of four is as probable as any."""

    def forward(self, batch: Any) -> Any:
        return Loss(self.token_losses(batch).sum(), torch.tensor(6))

    def token_losses(self, batch: Any) -> Any:
        return torch.full((2, 3), math.log(4))

    def start(self, batch: Any) -> Any:
        return SimpleNamespace(select=None)

    def step(self, tokens: Any, state: Any) -> Any:
        return torch.full((2, 4), -math.log(4)), state


@pytest.mark.parametrize(
    ("method", "returned", "told"),
    [
        ("forward", torch.ones(2), r"forward returns Tensor of shape \(2,\), where the contract says Loss"),
        ("forward", Loss(torch.ones(2), torch.tensor(6)), "forward returns Loss, where"),
        ("token_losses", torch.ones(6), r"token_losses returns Tensor of shape \(6,\), where"),
        ("token_losses", torch.ones(2, 1), r"token_losses returns Tensor of shape \(2, 1\), .* here of shape \(2, 3\)"),
        ("start", 3, "start returns int without select, where"),
        ("step", torch.zeros(2, 4), r"step returns Tensor of shape \(2, 4\), where"),
        ("step", (torch.full((3, 4), -9.0), None), "step returns scores of 3 rows, where .* here of 2 rows"),
        ("step", (torch.zeros(2, 4), None), "step returns scores whose exponentials sum to more than 1, where"),
    ],
)
def test_what_a_model_returns_against_the_contract_is_named(
    monkeypatch: pytest.MonkeyPatch, method: str, returned: Any, told: str
) -> None:
    model, batch = Constant(), Rows()
    check_outputs(model, batch, "toy")
    if method == "token_losses":
        monkeypatch.setattr(Constant, "forward", lambda *_: Loss(torch.tensor(6.0), torch.tensor(6)))
    monkeypatch.setattr(Constant, method, lambda *_: returned)
    with pytest.raises(ConfigError, match=rf"^architecture toy: its model, Constant: {told}.*contract\.py$"):
        check_outputs(model, batch, "toy")


def test_the_check_of_outputs_draws_nothing_and_leaves_the_mode_as_it_was() -> None:
    model = Constant()
    before = torch.get_rng_state()
    model.forward = lambda batch: Loss(torch.full((2, 3), math.log(4)).sum() + 0 * torch.rand(()), torch.tensor(6))  # type: ignore[method-assign]
    check_outputs(model.train(), Rows(), "toy")
    assert model.training and torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_architecture_satisfies_it(arch: str, data: VerseData, linearized: Callable[..., PairData]) -> None:
    vocabularies = {
        "verse": data.vocabulary,
        "pairs": linearized([("a b", "(S (A a) (B b))", "b a", "(S (B b) (A a))")], depth=2, pieces=20).vocabulary,
        "dialogue": WordVocabulary(("a", "b"), "en"),
        "structure": StructureVocabulary(("a", "b"), "en", {"pos": ("NN",)}),
    }
    kind = ARCHITECTURES[arch]
    sizes = {name: 36 for name in ("width", "word") if name in kind.config.model_fields}
    model = kind.build(kind.config.model_validate(sizes), vocabularies[kind.encoding])
    check_model(model, arch)
