"""What may come next where a tree is written node by node: a whole tree in time, with the top of its template if any.

Released GuiG decodes nodes by beam search and levels greedily and throws away what is no tree; here nothing else can be
written. A node's rules are those of its symbol (label and level): whether it may have children and whether it must.
From these follows how many nodes each symbol still needs below it, so that whatever is begun can be finished.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor

from espalier.datasets.pairs.data import PairBatch
from espalier.datasets.pairs.tree_symbols import FIRST, TreeSymbols
from espalier.datasets.vocabulary import BOS, EOS
from espalier.io.errors import ConfigError
from espalier.syntax.levels import TreeError

_NEVER = 2**14  # more nodes than there is room for


@dataclass(frozen=True)
class NodeRules:
    """What may stand below a node, for each symbol. BOS stands for a node above the root, at level 0.

    Attributes:
        depth: the last level.
        level: (size,) int64, 1 to `depth`; 0 for specials.
        opens: (size,) bool: it may have children.
        must: (size,) bool: it may, and has to.
        need: (size,) int64: the least number of nodes below it; very many where it may stand in a template only.
        min_need: (depth + 2,) int64: the least of `need` at each level; very many at 0 and below `depth`.
        to_level: (depth + 1, size) bool: the symbols of each level and of those above it; in row 0 the specials.
        fewer: (depth + 2, size) bool: the symbols that need fewer nodes than the row's number.
    """

    depth: int
    level: Tensor
    opens: Tensor
    must: Tensor
    need: Tensor
    min_need: Tensor
    to_level: Tensor
    fewer: Tensor

    @classmethod
    def of(cls, symbols: TreeSymbols, labels: bool = True) -> NodeRules:
        """From what was seen in training.

        A label that was seen at the last level alone stands nowhere else. Labels none of which was seen with children,
        or without, are no rule: levels alone are one then, as they are if `labels` is False.

        Raises:
            ConfigError: there are no labels.
        """
        if not symbols.labels:
            raise ConfigError("no labels", where="tree symbols", remedy="build them from one tree at least")
        depth, any_ends = symbols.depth, any(symbols.ends)
        opens, ends = torch.tensor(symbols.opens), torch.tensor(symbols.ends)
        if not (labels and (any_ends or any(symbols.opens))):
            opens = ends = torch.ones(len(symbols.labels), dtype=torch.bool)
            any_ends = True
        opens, ends = (_with_specials(flags.repeat_interleave(depth)) for flags in (opens, ends))
        level = _with_specials(torch.arange(1, depth + 1).repeat(len(symbols.labels)))
        opens[BOS] = True
        last = level == depth
        opens &= ~last
        must = opens & ~ends
        # One child that may end, or, where no label may, one after another down to the last level, where all may.
        below = torch.ones_like(level) if any_ends else depth - level
        need = torch.where(must, below, torch.where(opens | ends | last, 0, _NEVER))
        min_need = torch.full((depth + 2,), _NEVER)
        min_need[1:-1] = need[FIRST:].view(-1, depth).amin(0)
        rows = torch.arange(depth + 2)[:, None]
        return cls(depth, level, opens, must, need, min_need, level <= rows[:-1], need < rows)

    def to(self, device: torch.device | str) -> NodeRules:
        """The same rules on another device."""
        return NodeRules(self.depth, *(getattr(self, field.name).to(device) for field in fields(self)[1:]))


@dataclass(frozen=True)
class Kept:
    """The nodes that each row of a batch must write, and how deep they reach; what is below them is free.

    Attributes:
        depth: (batch,) levels that are the template's; 0 where there is none.
        nodes: (batch, n + 1) their symbols, then EOS.
        rest: (batch, n + 1) the least number of nodes that are to come, those that the kept ones need included.
    """

    depth: Tensor
    nodes: Tensor
    rest: Tensor

    @classmethod
    def of(cls, template: Tensor, levels: int, rules: NodeRules) -> Kept:
        """The top `levels` levels of templates, (batch, nodes) symbols; specials among them are skipped.

        Raises:
            TreeError: a row's levels are no tree's.
        """
        level = rules.level[template]
        real = (level > 0) & (level <= levels)
        order = (~real).long().sort(dim=1, stable=True).indices
        count = real.sum(1, keepdim=True)
        ended = torch.arange(template.shape[1] + 1, device=template.device) >= count
        nodes = torch.nn.functional.pad(template.gather(1, order), (0, 1))
        nodes = nodes.masked_fill(ended, EOS)[:, : int(count.max()) + 1 if len(count) else 1]
        level = rules.level[nodes]
        _check(level)
        depth = level.amax(1)
        # Above the last level that is kept, the template says what has children; there, the label does.
        owed = rules.must[nodes] & (level == depth[:, None])
        cost = (level > 0) + torch.where(owed, rules.need[nodes], 0)
        return cls(depth, nodes, cost.flip(1).cumsum(1).flip(1))

    def select(self, index: Tensor) -> Kept:
        """The rows `index`."""
        return Kept(self.depth[index], self.nodes[index], self.rest[index])

    def next(self, place: Tensor) -> Tensor:
        """(batch,) the symbol that comes after the first `place` of each row; EOS after the last."""
        return self.nodes.gather(1, place[:, None])[:, 0]

    def still(self, place: Tensor) -> Tensor:
        """(batch,) the least number of nodes to come after the first `place`."""
        return self.rest.gather(1, place[:, None])[:, 0]

    def after(self, place: Tensor, written: Tensor) -> Tensor:
        """(batch,) `place` one further on where `written`."""
        return (place + written).clamp(max=self.nodes.shape[1] - 1)

    def fit(self, max_ids: int, unit: int, rules: NodeRules) -> Kept:
        """Itself, if every row leads to a tree of at most `max_ids` tokens, `unit` for a node and one for the end.

        Raises:
            ConfigError: it does not.
        """
        root = torch.where(self.depth == 0, rules.need[BOS], 0)
        tokens = unit * (self.rest[:, 0] + root) + 1
        if bool((tokens > max_ids).any()):
            row = int((tokens > max_ids).nonzero()[0])
            raise ConfigError(
                f"the shortest tree takes {int(tokens[row])} tokens, its end counted, where {max_ids} are allowed",
                where=f"row {row + 1}",
                remedy=f"allow {int(tokens.max())} ids, or give a smaller template",
            )
        return self


def _with_specials(values: Tensor) -> Tensor:
    """`values`, one for each symbol that is a node, after a 0 for each special."""
    return torch.nn.functional.pad(values, (FIRST, 0))


def _check(level: Tensor) -> None:
    """Raise TreeError where the levels, (batch, n + 1), 0 after the last, are no tree's."""
    before = torch.nn.functional.pad(level, (1, 0))[:, :-1]
    wrong = ((level > before + 1) | ((level == 1) & (before > 0))).any(1)
    if bool(wrong.any()):
        raise TreeError(
            "its levels are no tree's", file="template", row=int(wrong.nonzero()[0]) + 1,
            remedy="1 is the root, and no level exceeds the one before it by more than 1",
        )  # fmt: skip


@dataclass
class TreeState:
    """What the nodes written so far leave open."""

    time: int
    last: Tensor  # (batch,) the symbol written last; BOS before the first
    place: Tensor  # (batch,) how many of the kept nodes are written
    kept: Kept
    rules: NodeRules

    def select(self, index: Tensor) -> TreeState:
        """The rows `index`."""
        return replace(self, last=self.last[index], place=self.place[index], kept=self.kept.select(index))


class WellFormed:
    """Nodes in pre-order, symbols of `TreeSymbols`, that make one tree; EOS after it, within `max_ids` tokens.

    A node has the children that its label was seen with: none, or some, unless it stands at the last level.

    Args:
        max_ids: the most tokens, the end counted; `beam_search` must be given no fewer.
        labels: whether labels matter; if not, levels alone do.
    """

    def __init__(self, symbols: TreeSymbols, max_ids: int, labels: bool = True) -> None:
        self.max_ids, self.rules = max_ids, NodeRules.of(symbols, labels)

    def start(self, batch: Any) -> TreeState:
        """Before the root.

        Raises:
            ConfigError: no tree is short enough.
        """
        return self._start(torch.zeros(len(batch), 0, dtype=torch.long, device=batch.device), 0)

    def _start(self, template: Tensor, levels: int) -> TreeState:
        rules = self.rules.to(template.device)
        kept = Kept.of(template, levels, rules).fit(self.max_ids, 1, rules)
        last = torch.full((len(template),), BOS, device=template.device)
        return TreeState(0, last, torch.zeros_like(last), kept, rules)

    def mask(self, state: TreeState) -> Tensor:
        """A child of the last node, a sibling of it or of a node above it, the next that is kept, or the end."""
        rules, kept, last = state.rules, state.kept, state.last
        level = rules.level[last]
        must = rules.must[last] & (level >= kept.depth)
        # Free nodes stand below the kept ones, and below the root; a child that must be is the only choice.
        above = torch.where(must, level, torch.maximum(kept.depth, level.clamp(max=1)))
        deepest = level + rules.opens[last]
        room = (self.max_ids - state.time - 2 - kept.still(state.place)).clamp(-1, rules.depth)
        allowed = rules.to_level[deepest] & ~rules.to_level[above] & rules.fewer[room + 1]
        # Something always fits where a child must be, but in rows that a search has given up.
        done = ~must | (rules.min_need[level + 1] > room)
        return allowed.scatter_(1, kept.next(state.place)[:, None], done[:, None])

    def advance(self, tokens: Tensor, state: TreeState) -> TreeState:
        """One node further; specials change nothing."""
        level = state.rules.level[tokens]
        place = state.kept.after(state.place, (level > 0) & (level <= state.kept.depth))
        last = torch.where(level > 0, tokens, state.last)
        return replace(state, time=state.time + 1, last=last, place=place)


class KeptTemplate(WellFormed):
    """`WellFormed`, with top levels that equal each row's template.

    They are the template's own levels, `levels` at most; the nodes of the last of them may have children that are
    free. Where a template breaks the rules of labels, it is right.
    """

    def __init__(self, symbols: TreeSymbols, max_ids: int, levels: int = 3) -> None:
        super().__init__(symbols, max_ids)
        self.levels = levels

    def start(self, batch: PairBatch) -> TreeState:
        """Before the root; `batch.template` is (batch, nodes) symbols.

        Raises:
            ConfigError: a row's template needs more than `max_ids` tokens.
            TreeError: a row's template is no tree.
        """
        return self._start(batch.template, self.levels)
