"""A model that lacks a member of its contract is refused before training."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from torch import nn

from espalier.datasets.pairs.data import PairData
from espalier.datasets.structure.vocabulary import StructureVocabulary
from espalier.datasets.verse.data import VerseData
from espalier.datasets.vocabulary import WordVocabulary
from espalier.io.errors import ConfigError
from espalier.models.contract import check_model
from espalier.models.registry import ARCHITECTURES

SETTINGS = ("width", "positions", "view", "model_dump")
SHARED = ("config", "vocabulary", "forward", "loss", "start")
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
