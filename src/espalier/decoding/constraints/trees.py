"""Constraints for trees written node by node: well-formed trees of bounded length, with or without a template.

Released GuiG decodes nodes by beam search and levels greedily, and discards outputs that are not trees; this module
allows only trees. The symbol of a node (label and level) decides whether the node may, and whether it must, have
children. These rules give the smallest number of nodes below each symbol, so that every allowed prefix can be
completed.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import torch
from torch import Tensor

from espalier.datasets.pairs.data import PairBatch
from espalier.datasets.pairs.tree_symbols import FIRST, TreeSymbols
from espalier.datasets.vocabulary import BOS, EOS
from espalier.io.errors import ConfigError
from espalier.syntax.levels import TreeError

_IMPOSSIBLE = 2**14  # more nodes than fit into any bound


@dataclass(frozen=True)
class NodeRules:
    """For each symbol, which nodes it may and must have below it. BOS is the parent of the root, at level 0.

    Attributes:
        depth: the last level.
        level: (size,) int64, 1 to `depth`; 0 for specials.
        opens: (size,) bool: whether it may have children.
        must: (size,) bool: whether it must have children.
        need: (size,) int64: the smallest number of nodes below it; 2**14 if only a template allows the symbol.
        min_need: (depth + 2,) int64: the minimum of `need` at each level; 2**14 at level 0 and below `depth`.
        to_level: (depth + 1, size) bool: the symbols at each level or above; the specials in row 0.
        fewer: (depth + 2, size) bool: in row n the symbols that need fewer than n nodes.
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
    def of(cls, symbols: TreeSymbols) -> NodeRules:
        """The rules of the training trees.

        A label that occurs only at the last level of the training trees is allowed only there. If they show no label
        with children and none without, the rules depend only on levels.

        Raises:
            ConfigError: there are no labels.
        """
        if not symbols.labels:
            raise ConfigError("no labels", where="tree symbols", remedy="build them from one tree at least")
        depth, any_ends = symbols.depth, any(symbols.ends)
        opens, ends = torch.tensor(symbols.opens), torch.tensor(symbols.ends)
        if not (any_ends or any(symbols.opens)):
            opens = ends = torch.ones(len(symbols.labels), dtype=torch.bool)
            any_ends = True
        opens, ends = (_with_specials(flags.repeat_interleave(depth)) for flags in (opens, ends))
        level = _with_specials(torch.arange(1, depth + 1).repeat(len(symbols.labels)))
        opens[BOS] = True
        last = level == depth
        opens &= ~last
        must = opens & ~ends
        # One child without children; or, if every label needs children, a chain down to the last level.
        below = torch.ones_like(level) if any_ends else depth - level
        need = torch.where(must, below, torch.where(opens | ends | last, 0, _IMPOSSIBLE))
        min_need = torch.full((depth + 2,), _IMPOSSIBLE)
        min_need[1:-1] = need[FIRST:].view(-1, depth).amin(0)
        rows = torch.arange(depth + 2)[:, None]
        return cls(depth, level, opens, must, need, min_need, level <= rows[:-1], need < rows)

    def to(self, device: torch.device | str) -> NodeRules:
        """The same rules on another device."""
        return NodeRules(self.depth, *(getattr(self, field.name).to(device) for field in fields(self)[1:]))


@dataclass(frozen=True)
class TemplateNodes:
    """The template of each row of a batch. Nodes below its open leaves are free.

    Attributes:
        nodes: (batch, n + 1) the template's symbols, then EOS.
        floor: (batch, n + 1) after the first n nodes of the template, free nodes are allowed below this level: the
            level of the last node if it is an open leaf, else the deepest level (no free node is allowed); 0 without a
            template.
        remaining: (batch, n + 1) the smallest number of nodes after the first n nodes of the template, including nodes
            that these need below them.
    """

    nodes: Tensor
    floor: Tensor
    remaining: Tensor

    @classmethod
    def of(cls, template: Tensor, levels: int, rules: NodeRules, open_leaves: bool = False) -> TemplateNodes:
        """The top `levels` levels of templates, (batch, nodes) symbols. Specials are skipped.

        Args:
            open_leaves: whether all leaves are open; else only those at the last level of a template.

        Raises:
            TreeError: the levels of a row do not form a tree.
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
        # The template determines which of its nodes have children, but at an open leaf the label does.
        following = torch.nn.functional.pad(level[:, 1:], (0, 1))
        leaf = (level > 0) & (following <= level)
        is_open = leaf if open_leaves else leaf & (level == level.amax(1, keepdim=True))
        cost = (level > 0) + torch.where(rules.must[nodes] & is_open, rules.need[nodes], 0)
        floor = torch.where(is_open, level, rules.depth)[:, :-1]
        first = torch.where(level[:, :1] > 0, rules.depth, 0)
        return cls(nodes, torch.cat([first, floor], dim=1), cost.flip(1).cumsum(1).flip(1))

    def select(self, index: Tensor) -> TemplateNodes:
        """The rows `index`."""
        return TemplateNodes(self.nodes[index], self.floor[index], self.remaining[index])

    def next(self, place: Tensor) -> Tensor:
        """(batch,) symbol of the template after its first `place` nodes; EOS after the last."""
        return self.nodes.gather(1, place[:, None])[:, 0]

    def free_below(self, place: Tensor) -> Tensor:
        """(batch,) level below which nodes are free after the template's first `place` nodes."""
        return self.floor.gather(1, place[:, None])[:, 0]

    def min_remaining(self, place: Tensor) -> Tensor:
        """(batch,) smallest number of nodes after the template's first `place` nodes."""
        return self.remaining.gather(1, place[:, None])[:, 0]

    def after(self, place: Tensor, written: Tensor) -> Tensor:
        """(batch,) `place`, plus 1 where `written` is True."""
        return (place + written).clamp(max=self.nodes.shape[1] - 1)

    def fit(self, max_ids: int, unit: int, rules: NodeRules) -> TemplateNodes:
        """Check that every template fits into a tree of at most `max_ids` ids, `unit` for each node and one for EOS.

        Raises:
            ConfigError: a template does not fit.
        """
        root = torch.where(self.floor[:, 0] == 0, rules.need[BOS], 0)
        tokens = unit * (self.remaining[:, 0] + root) + 1
        if bool((tokens > max_ids).any()):
            row = int((tokens > max_ids).nonzero()[0])
            raise ConfigError(
                f"the shortest tree has {int(tokens[row])} ids, EOS included, and {max_ids} are allowed",
                where=f"row {row + 1}",
                remedy=f"allow {int(tokens.max())} ids, or give a smaller template",
            )
        return self


def _with_specials(values: Tensor) -> Tensor:
    """`values`, one per symbol of a node, preceded by a 0 per special."""
    return torch.nn.functional.pad(values, (FIRST, 0))


def _check(level: Tensor) -> None:
    """Raise TreeError unless levels form trees. They are (batch, n + 1), with 0 after the last node."""
    before = torch.nn.functional.pad(level, (1, 0))[:, :-1]
    wrong = ((level > before + 1) | ((level == 1) & (before > 0))).any(1)
    if bool(wrong.any()):
        raise TreeError(
            "its levels are no tree's", file="template", row=int(wrong.nonzero()[0]) + 1,
            remedy="1 is the root, and no level exceeds the one before it by more than 1",
        )  # fmt: skip


@dataclass
class TreeState:
    """The state of a batch of prefixes of trees."""

    time: int
    last: Tensor  # (batch,) the last symbol; BOS before the first
    place: Tensor  # (batch,) the number of the template's nodes that are written
    template: TemplateNodes
    rules: NodeRules

    def select(self, index: Tensor) -> TreeState:
        """The rows `index`."""
        return replace(self, last=self.last[index], place=self.place[index], template=self.template.select(index))


class WellFormed:
    """The nodes of one tree in pre-order, as ids of `TreeSymbols`, and EOS: at most `max_ids` ids.

    Whether a node may have children depends on the nodes with its label in the training trees. Nodes at the last level
    have none.

    Args:
        max_ids: the largest number of ids, EOS included; `beam_search` must allow at least as many.
    """

    open_leaves = False

    def __init__(self, symbols: TreeSymbols, max_ids: int) -> None:
        self.max_ids, self.rules = max_ids, NodeRules.of(symbols)

    def start(self, batch: PairBatch) -> TreeState:
        """The state before the root.

        Raises:
            ConfigError: no tree has at most `max_ids` ids.
        """
        return self._start(torch.zeros(len(batch), 0, dtype=torch.long, device=batch.device), 0)

    def _start(self, template: Tensor, levels: int) -> TreeState:
        rules = self.rules.to(template.device)
        nodes = TemplateNodes.of(template, levels, rules, self.open_leaves).fit(self.max_ids, 1, rules)
        last = torch.full((len(template),), BOS, device=template.device)
        return TreeState(0, last, torch.zeros_like(last), nodes, rules)

    def mask(self, state: TreeState) -> Tensor:
        """Allow a child of the last node, a sibling of it or of an ancestor, the template's next node, or EOS."""
        rules, template, last = state.rules, state.template, state.last
        level, floor = rules.level[last], template.free_below(state.place)
        must = rules.must[last] & (level >= floor)
        # Free nodes are below the template and the root. If the last node must have a child, only a child is allowed.
        above = torch.where(must, level, torch.maximum(floor, level.clamp(max=1)))
        deepest = level + rules.opens[last]
        room = (self.max_ids - state.time - 2 - template.min_remaining(state.place)).clamp(-1, rules.depth)
        allowed = rules.to_level[deepest] & ~rules.to_level[above] & rules.fewer[room + 1]
        # A required child always fits, except in rows that a search has given up.
        done = ~must | (rules.min_need[level + 1] > room)
        return allowed.scatter_(1, template.next(state.place)[:, None], done[:, None])

    def advance(self, tokens: Tensor, state: TreeState) -> TreeState:
        """The state after one more node. Specials do not change it."""
        level = state.rules.level[tokens]
        place = state.template.after(state.place, (level > 0) & (level <= state.template.free_below(state.place)))
        last = torch.where(level > 0, tokens, state.last)
        return replace(state, time=state.time + 1, last=last, place=place)


class KeptTemplate(WellFormed):
    """`WellFormed`, with top levels equal to each row's template.

    At most `levels` levels of the template are used. Nodes of the last of these levels may have free children. A
    template may break the rules of labels.

    Args:
        open_leaves: whether leaves of the template above the last level may have free children too. A node with
            children in the template then gets no others.
    """

    def __init__(self, symbols: TreeSymbols, max_ids: int, levels: int = 3, open_leaves: bool = False) -> None:
        super().__init__(symbols, max_ids)
        self.levels, self.open_leaves = levels, open_leaves

    def start(self, batch: PairBatch) -> TreeState:
        """The state before the root. `batch.template` is (batch, nodes) symbols.

        Raises:
            ConfigError: a row's template needs more than `max_ids` tokens.
            TreeError: a row's template is not a tree.
        """
        return self._start(batch.template, self.levels)
