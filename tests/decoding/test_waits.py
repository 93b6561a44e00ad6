"""Searches on a device that has no data: what would wait for the device raises an error there."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from each_system import SYSTEMS, system
from torch.utils._python_dispatch import TorchDispatchMode

from espalier.datasets.vocabulary import BOS, EOS, PAD, UNK
from espalier.decoding import beam, sampling
from espalier.decoding.constraints.brackets import Brackets
from espalier.decoding.constraints.constraint import ForbiddenTokens
from espalier.decoding.constraints.frame import FrameConstraint, MaximumLength
from espalier.decoding.constraints.preorder import Preorder
from espalier.decoding.constraints.rhyme import RhymeConstraint
from espalier.decoding.constraints.template import TemplateConstraint
from espalier.decoding.constraints.trees import KeptTemplate, WellFormed
from espalier.io.errors import ConfigError
from espalier.verse.sounds import Sounds

META = torch.device("meta")


def on_device(value: Any) -> Any:
    """A state whose tensors are on the device."""
    if isinstance(value, torch.Tensor):
        return value.to(META)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: on_device(getattr(value, f.name)) for f in fields(value) if f.init})
    if isinstance(value, dict):
        return {key: on_device(part) for key, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(on_device, value))
    return value._make(map(on_device, value)) if isinstance(value, tuple) else value


@dataclass
class Started:
    """A state on the host, where waiting is free. The prefixes of a search go on on the device."""

    state: Any
    rows: int

    def select(self, index: torch.Tensor) -> Any:
        return on_device(self.state.select(torch.arange(self.rows).repeat_interleave(len(index) // self.rows)))


class There:
    """A model or a constraint: `here` starts, `there` goes on."""

    def __init__(self, here: Any, there: Any, batch: Any) -> None:
        self.there, self.started = there, Started(here.start(batch), len(batch))

    def start(self, batch: Any) -> Any:
        return self.started

    def __getattr__(self, name: str) -> Any:
        return getattr(self.there, name)


class NoCopies(TorchDispatchMode):
    """Refuses a copy to the device, for which the host waits."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        moved = func.overloadpacket.__name__ == "_to_copy" and args[0].device.type == "cpu"
        assert not moved or kwargs.get("device") != META, "a copy that blocks"
        return func(*args, **kwargs)


def rhymed(vocabulary: Any) -> RhymeConstraint:
    return RhymeConstraint(FrameConstraint(vocabulary, True, Sounds("zh", "mandarin", True)))


def words(vocabulary: Any) -> ForbiddenTokens:
    return ForbiddenTokens(torch.tensor([PAD, UNK, BOS]), vocabulary.text_size)


#: Constraints by the kind of data that they read.
CONSTRAINTS: dict[str, list[Callable[[Any], Any]]] = {
    "verse": [lambda vocabulary: MaximumLength(vocabulary, 3), rhymed],
    "pairs": [words],
    "structure": [lambda vocabulary: TemplateConstraint(vocabulary, prompt=True, slack=2)],
    "dialogue": [words, lambda vocabulary: Preorder(vocabulary.text_size, 3, UNK, EOS, [PAD, BOS], 1, 9)],
    "levels": [
        lambda vocabulary: WellFormed(vocabulary.trees, 60),
        lambda vocabulary: KeptTemplate(vocabulary.trees, 60, open_leaves=True),
    ],
    "brackets": [lambda vocabulary: Brackets(vocabulary.trees, 180, True)],
}
CHAINS = [name for name in SYSTEMS if not name.startswith("X2Tree")]


def kind_of(model: Any, data: str) -> str:
    return model.config.view.form if getattr(model.config.view, "writes", "text") == "tree" else data


@pytest.mark.parametrize("name", CHAINS)
def test_no_step_of_a_search_waits_for_the_device(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = system(name)
    here, there = given.model.eval(), copy.deepcopy(given.model).to(META)
    batch = given.collate(np.argsort(given.lengths, kind="stable")[:3], np.random.default_rng(1))
    moved, uniforms = batch.to(META), torch.rand(6, 9, device=META)
    settings: dict[str, Any] = {"max_ids": 9, "begin": BOS, "end": EOS}
    ended = []
    monkeypatch.setattr(beam._Finished, "hypotheses", lambda self, end: ended.append("beam") or [])
    monkeypatch.setattr(sampling._Drawn, "hypotheses", lambda self, power: ended.append("sample") or [])
    monkeypatch.setattr(sampling, "uniforms", lambda *_: uniforms)
    for make in [None, *CONSTRAINTS[kind_of(here, SYSTEMS[name][0])]]:
        rule: Any = make and There(own := make(here.vocabulary), own, batch)
        model: Any = There(here, there, batch)
        with NoCopies():
            beam.beam_search(model, moved, beam=4, min_ids=2, constraint=rule, **settings)
            sampling.sample(model, moved, seeds=range(6), constraint=rule, **settings)
    assert set(ended) == {"beam", "sample"}


def found(model: Any, batch: Any, **settings: Any) -> tuple[Any, Any]:
    every = beam.beam_search(model, batch, beam=4, best=2, length_power=0.6, **settings)
    drawn = sampling.sample(model, batch, seeds=range(2 * len(batch)), top_k=8, **settings)
    return [[(each.tokens, pytest.approx(each.score, rel=1e-5)) for each in row] for row in every], drawn


@pytest.mark.parametrize("kind", ["tables", "SongNet"])
def test_a_search_that_seldom_asks_finds_the_same(
    kind: str, toy: Any, sources: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "tables":
        model, batch = toy(4), sources(list(range(12)))
        settings = {"begin": 1, "end": 0, "max_ids": 20}
    else:
        given = system(kind)
        model, batch = given.model.eval(), given.collate(np.arange(12), np.random.default_rng(1))
        settings = {"begin": BOS, "end": EOS, "constraint": rhymed(model.vocabulary), "max_ids": 200}
    often = found(model, batch, **settings)
    for module in (beam, sampling):
        monkeypatch.setattr(module, "may_ask", lambda device, step: step % 7 == 0)
    assert found(model, batch, **settings) == often
    assert len({len(row) for row in often[1]}) > 2, "all rows end together"


def test_slots_that_no_prefix_reads_are_given_up_when_the_host_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    given = system("SongNet")
    model, batch = given.model.eval(), given.collate(np.arange(3), np.random.default_rng(1))
    filled, step = [], model.step

    def observed(tokens: torch.Tensor, state: Any) -> Any:
        filled.append(state.past[0].slots.read.shape[2])
        return step(tokens, state)

    monkeypatch.setattr(model, "step", observed)
    monkeypatch.setattr(beam, "may_ask", lambda device, step: step % 16 == 0)
    beam.beam_search(model, batch, beam=4, min_ids=64, max_ids=64, begin=BOS, end=EOS)
    given_up = [place for place, (before, now) in enumerate(pairwise(filled), start=1) if now != before + 4]
    assert given_up and not any(place % 16 for place in given_up)


def test_a_constraint_that_forbids_all_is_refused_by_a_search_that_never_asks(
    toy: Any, sources: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "may_ask", lambda device, step: False)
    with pytest.raises(ConfigError, match="no next token has a probability"):
        sampling.sample(
            toy(4), sources([1, 2]), seeds=[1, 2], max_ids=5, begin=1, end=0,
            constraint=ForbiddenTokens(torch.arange(4), 4),
        )  # fmt: skip
