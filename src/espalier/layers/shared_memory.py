"""Keys and values that the prefixes of a source share, so that a beam does not copy them.

A memory has one row for each source. The pasts of the prefixes of a beam have most of their places in common, so a
source has one set of slots: a step fills a slot for each prefix, and `Slots` says which prefixes have read which. A
selection of prefixes then moves only slots that take the place of unread ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

_sharing: ContextVar[bool] = ContextVar("sharing", default=False)
_all: ContextVar[bool] = ContextVar("all", default=False)


@contextmanager
def _within(variable: ContextVar[bool], value: bool) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def shared_pasts() -> AbstractContextManager[None]:
    """In this block a selection that repeats each row equally often makes one past of the repetitions of a row."""
    return _within(_sharing, True)


def all_sources(known: bool) -> AbstractContextManager[None]:
    """In this block a selection leaves the prefixes of each source together, and no source out, if that is `known`.

    Then nothing is looked up, for which the host would have to wait for a device, and no slot is given up.
    """
    return _within(_all, known)


class Moves(NamedTuple):
    """What a selection does with the buffers of a shared past.

    Attributes:
        sources: (sources,) the sources that remain; None if all do.
        taken: the places of `sources` that were another's; None if buffers are copied, or all sources remain.
        filled: the number of filled slots.
        within: (3, moved) source, new slot and old slot of each slot that moves.
    """

    sources: Tensor | None
    taken: Tensor | None
    filled: int
    within: Tensor | None


@dataclass(frozen=True)
class Slots:
    """Which slots each prefix of a source has read. All layers of a decoder have the same.

    Attributes:
        read: (sources, prefixes, slots) bool.
        times: (sources, slots) the place in the text of each slot.
        time: the place of the next step.
        window: the number of places that a step reads, its own included; None means all.
        full: the number of slots from which unread ones are given up.
    """

    read: Tensor
    times: Tensor
    time: int
    window: int | None = None
    full: int = 32

    @classmethod
    def begin(cls, sources: int, prefixes: int, time: int, window: int | None, device: torch.device) -> Slots:
        """The places of each source before `time`, which all of its prefixes have read."""
        filled = _filled(time, window)
        read = torch.ones(sources, prefixes, filled, dtype=torch.bool, device=device)
        return cls(read, torch.arange(time - filled, time, device=device).expand(sources, -1), time, window)

    @cached_property
    def after(self) -> Slots:
        """The slots with a slot for each prefix at the place `time`."""
        sources, prefixes, _ = self.read.shape
        own = torch.eye(prefixes, dtype=torch.bool, device=self.read.device).expand(sources, -1, -1)
        read = torch.cat([self.read, own], dim=2)
        times = torch.cat([self.times, self.times.new_full((sources, prefixes), self.time)], dim=1)
        if self.window is not None:
            read &= (times > self.time - self.window)[:, None]
        return replace(self, read=read, times=times, time=self.time + 1)

    def at(self, time: int) -> Slots:
        """The slots before the step at `time`.

        Raises:
            ValueError: the next step is another one.
        """
        if time not in (self.time, self.time + 1):
            raise ValueError(f"a step at place {time} of prefixes that share slots, after place {self.time}")
        return self if time == self.time else self.after

    def select(self, index: Tensor) -> tuple[Slots, Moves]:
        """The prefixes `index`, in that order, and what the buffers do."""
        sources, prefixes, filled = self.read.shape
        owners = memory_rows(index, sources * prefixes, sources)
        rows = sources if owners is None else len(owners)
        read = self.read.flatten(0, 1).index_select(0, index).view(rows, len(index) // max(1, rows), filled)
        times, taken = self.times, None
        if owners is not None:
            times = times.index_select(0, owners)
            if rows <= sources:
                taken = (owners != torch.arange(rows, device=owners.device)).nonzero()[:, 0]
        if not rows or filled < self.full or _all.get():
            return replace(self, read=read, times=times), Moves(owners, taken, filled, None)
        # Slots that are read fill the first places: those that lie behind them move to unread ones.
        live = read.any(1)
        size = int(live.sum(1).amax())
        behind, free = live[:, size:], ~live[:, :size]
        free &= free.cumsum(1) <= behind.sum(1, keepdim=True)
        (source, to), place = free.nonzero().unbind(1), behind.nonzero()[:, 1] + size
        times = times.clone()
        read[source, :, to], times[source, to] = read[source, :, place], times[source, place]
        slots = replace(self, read=read[:, :, :size], times=times[:, :size], full=size + size // 2 + 32)
        return slots, Moves(owners, taken, filled, torch.stack([source, to, place]))

    def of_prefixes(self, x: Tensor) -> Tensor:
        """(sources * prefixes, heads, 1, width) to (sources, heads, prefixes, width)."""
        return x.unflatten(0, self.read.shape[:2]).squeeze(3).transpose(1, 2)

    def at_slots(self, x: Tensor) -> Tensor:
        """Values for the places of each prefix, broadcastable to (sources * prefixes, heads, 1, `time`), for its slots.

        Returns:
            (sources, heads, prefixes, slots); those of slots that a prefix has not read are meaningless.
        """
        x = self.of_prefixes(x.expand(self.read.shape[:2].numel(), -1, -1, self.time))
        return x.gather(3, self.times[:, None, None].expand(-1, *x.shape[1:3], -1))


@dataclass
class KeyValues:
    """Projected keys and values, each (batch, heads, time, head width)."""

    keys: Tensor
    values: Tensor

    def __len__(self) -> int:
        return len(self.keys)

    def select(self, index: Tensor) -> KeyValues:
        """The rows `index` of the batch, in that order."""
        return KeyValues(self.keys.index_select(0, index), self.values.index_select(0, index))


@dataclass
class Past:
    """The keys and values of the places before a step, in buffers, (rows, heads, slots, head width), that grow.

    A row is a prefix, and its slots are its places. If `slots` is given, a row is a source, and its prefixes share it.

    Attributes:
        window: the number of places that a step reads, its own included; None means all.
    """

    keys: Tensor
    values: Tensor
    window: int | None = None
    slots: Slots | None = None

    @classmethod
    def empty(cls, batch: int, heads: int, capacity: int, width: int, like: Tensor, window: int | None = None) -> Past:
        """Room for `capacity` places of each prefix."""
        keys, values = (_room(batch, heads, capacity, width, like) for _ in range(2))
        return cls(keys, values, window)

    def __len__(self) -> int:
        return len(self.keys) if self.slots is None else self.slots.read.shape[:2].numel()

    def append(self, time: int, keys: Tensor, values: Tensor) -> KeyValues:
        """Write the place `time` of each prefix, (prefixes, heads, 1, head width).

        Returns:
            The places that a step at `time` reads, in the slots of `slots.after` if there are slots.
        """
        slot = time
        if self.slots is not None:
            self.slots = self.slots.at(time)
            slot, keys, values = self.slots.read.shape[2], *map(self.slots.of_prefixes, (keys, values))
        elif self.window is not None and time >= self.window:  # the oldest place leaves
            slot, self.keys, self.values = self.window - 1, self.keys.roll(-1, dims=2), self.values.roll(-1, dims=2)
        end = slot + keys.shape[2]
        while end > self.keys.shape[2]:
            self.keys, self.values = _grown(self.keys), _grown(self.values)
        self.keys[:, :, slot:end], self.values[:, :, slot:end] = keys, values
        return KeyValues(self.keys[:, :, :end], self.values[:, :, :end])

    def select(self, index: Tensor, time: int) -> Past:
        """The prefixes `index`, which share no slots, in that order, as copies of `time` places, without gradients."""
        filled = _filled(time, self.window)
        keys, values = (_selected(buffer, index, filled) for buffer in (self.keys, self.values))
        return replace(self, keys=keys, values=values)

    def moved(self, slots: Slots, moves: Moves) -> Past:
        """The shared past after a selection. It has the buffers of this one."""
        keys, values = (_moved(buffer, moves) for buffer in (self.keys, self.values))
        return replace(self, keys=keys, values=values, slots=slots)


def select_pasts(pasts: Sequence[Past], index: Tensor, time: int) -> list[Past]:
    """The prefixes `index`, in that order, of the pasts of all layers after `time` places.

    Shared pasts keep their buffers, so the pasts before the selection must not be used any more.

    Raises:
        ValueError: the layers have different windows.
    """
    first = pasts[0]
    if any(past.window != first.window for past in pasts):
        raise ValueError("layers of different windows have no slots in common: select those of each window")
    if first.slots is not None:
        slots, moves = first.slots.at(time).select(index)
        return [past.moved(slots, moves) for past in pasts]
    if _sharing.get():
        owners = memory_rows(index, len(first), len(first))
        rows = torch.arange(len(first), device=index.device) if owners is None else owners
        slots = Slots.begin(len(rows), len(index) // max(1, len(rows)), time, first.window, index.device)
        return [replace(past.select(rows, time), slots=slots) for past in pasts]
    return [past.select(index, time) for past in pasts]


def select_all(caches: Sequence[KeyValues], index: Tensor) -> list[KeyValues]:
    """`KeyValues.select` for each layer."""
    return [cache.select(index) for cache in caches]


def _filled(time: int, window: int | None) -> int:
    """The number of places of a past after `time` places."""
    return time if window is None else min(time, window)


def _room(batch: int, heads: int, slots: int, width: int, like: Tensor) -> Tensor:
    """An empty (batch, heads, slots, width) tensor, in memory by slots: the filled slots of a row are contiguous."""
    return like.new_empty(batch, slots, heads, width).transpose(1, 2)


def _grown(buffer: Tensor) -> Tensor:
    """The buffer with twice the capacity. Unfilled slots are not written, since touching fresh pages is slow."""
    batch, heads, slots, width = buffer.shape
    larger = _room(batch, heads, max(16, 2 * slots), width, buffer)
    larger[:, :, :slots] = buffer
    return larger


@torch.no_grad()
def _selected(buffer: Tensor, index: Tensor, filled: int) -> Tensor:
    _, heads, slots, width = buffer.shape
    selected = _room(len(index), heads, slots, width, buffer)
    torch.index_select(buffer.transpose(1, 2)[:, :filled], 0, index, out=selected.transpose(1, 2)[:, :filled])
    return selected


@torch.no_grad()
def _moved(buffer: Tensor, moves: Moves) -> Tensor:
    sources, taken, filled, within = moves
    if sources is not None and taken is None:
        buffer = _selected(buffer, sources, filled)
    elif sources is not None and taken is not None:
        part = buffer.transpose(1, 2)[:, :filled]
        part.index_copy_(0, taken, part.index_select(0, sources[taken]))
        buffer = buffer[: len(sources)]
    if within is not None:
        source, to, place = within
        by_slot = buffer.transpose(1, 2)
        by_slot[source, to] = by_slot[source, place]
    return buffer


def memory_rows(index: Tensor, prefixes: int, sources: int) -> Tensor | None:
    """The rows of memory for a selection of prefixes; None if all rows stay in their order, as with `all_sources`.

    A memory has one row for each source, shared by equally many consecutive prefixes. If the selection preserves this,
    the new memory has one row per source, else one per prefix.

    Args:
        index: (selected,) the selected prefixes.
        prefixes, sources: their numbers before the selection.

    Returns:
        (rows,) indices of the memory's rows.
    """
    if _all.get() and len(index) == prefixes:
        return None
    owner = index // max(1, prefixes // max(1, sources))
    owners, counts = torch.unique_consecutive(owner, return_counts=True)
    if len(counts) and not bool((counts == counts[0]).all()):
        owners = owner
    same = len(owners) == sources and torch.equal(owners, torch.arange(sources, device=index.device))
    return None if same else owners
