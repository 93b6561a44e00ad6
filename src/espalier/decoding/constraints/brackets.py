"""The constraints of `trees` for bracketed trees (SCPN), with three ids per node."""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from espalier.datasets.pairs.data import PairBatch
from espalier.datasets.pairs.tree_symbols import CLOSE, FIRST, FIRST_BRACKETED, OPEN, TreeSymbols
from espalier.datasets.vocabulary import BOS, EOS, PAD
from espalier.decoding.constraints.trees import NodeRules, TemplateNodes

_UNIT = 3  # ids of a node: "(", its label, ")"


@dataclass
class BracketState:
    """The state of a batch of prefixes of bracketed trees."""

    time: int
    last: Tensor  # (batch,) the last id; BOS before the first
    level: Tensor  # (batch,) the number of open brackets: the level of the current node
    place: Tensor  # (batch,) the number of the template's nodes that are written
    template: TemplateNodes
    rules: NodeRules
    need: Tensor  # (depth + 1, labels) of the rules, by level

    def select(self, index: Tensor) -> Self:
        """The rows `index`."""
        rows = {name: getattr(self, name)[index] for name in ("last", "level", "place")}
        return replace(self, **rows, template=self.template.select(index))


class Brackets:
    """One tree in brackets and EOS: at most `max_ids` ids. Labels follow the rules of `WellFormed`.

    Args:
        max_ids: the largest number of ids, EOS included; `beam_search` must allow at least as many.
        template: whether the top levels equal each row's template, as in `KeptTemplate`.
        levels: the number of a template's top levels to keep.
        open_leaves: as in `KeptTemplate`.
    """

    def __init__(
        self, symbols: TreeSymbols, max_ids: int, template: bool, levels: int = 3, open_leaves: bool = False
    ) -> None:
        self.max_ids, self.levels, self.template, self.open_leaves = max_ids, levels, template, open_leaves
        self.size, self.depth = symbols.bracketed_size, symbols.depth
        self.rules = NodeRules.of(symbols)

    def start(self, batch: PairBatch) -> BracketState:
        """The state before the first bracket. With `template`, `batch.template` is (batch, time) bracketed ids.

        Raises:
            ConfigError: no tree of at most `max_ids` ids exists, or none with a row's template.
            TreeError: a row's template is not a tree.
        """
        rules = self.rules.to(batch.device)
        none = torch.zeros(len(batch), 0, dtype=torch.long, device=batch.device)
        nodes = nodes_of(batch.template, self.depth) if self.template else none
        template = TemplateNodes.of(nodes, self.levels, rules, self.open_leaves).fit(self.max_ids, _UNIT, rules)
        last = torch.full((len(batch),), BOS, device=batch.device)
        need = torch.nn.functional.pad(rules.need[FIRST:].view(-1, self.depth).T, (0, 0, 1, 0))
        return BracketState(0, last, torch.zeros_like(last), torch.zeros_like(last), template, rules, need)

    def mask(self, state: BracketState) -> Tensor:
        """Allow a label after "(", else "(" or ")", and EOS after the root is closed."""
        rules, template, last, level = state.rules, state.template, state.last, state.level
        naming, closed = last == OPEN, (last == CLOSE) & (level == 0)
        node = torch.where(last >= FIRST_BRACKETED, _symbol(last, level, self.depth), BOS)
        floor = template.free_below(state.place)
        free = level >= floor  # what is below is not the template's
        must = rules.must[node] & free & (last != CLOSE)
        coming = template.next(state.place)
        following = rules.level[coming]
        # The ids that are left after closing all brackets, the template's remaining nodes, and EOS.
        room = self.max_ids - state.time - 1 - level - _UNIT * template.min_remaining(state.place)
        fits = _UNIT * (1 + rules.min_need[level + 1]) <= room
        opens = torch.where(free, rules.opens[node] & fits, following == level + 1)

        mask = torch.zeros(len(last), self.size, dtype=torch.bool, device=last.device)
        mask[:, OPEN] = opens & ~naming & ~closed
        mask[:, CLOSE] = (following <= level) & (level > 0) & ~must & ~naming
        labels = _UNIT * state.need[level] < room[:, None]
        mask[:, FIRST_BRACKETED:] = labels & (naming & (level > floor))[:, None]
        given = naming & (level <= floor)
        only = torch.where(given, FIRST_BRACKETED + (coming - FIRST) // self.depth, EOS)
        # Only rows that a search has given up allow nothing.
        return mask.scatter_(1, only[:, None], (given | closed | ~mask.any(1))[:, None])

    def advance(self, tokens: Tensor, state: BracketState) -> BracketState:
        """The state after one more id; specials do not change it."""
        level = (state.level + (tokens == OPEN).long() - (tokens == CLOSE).long()).clamp(0, self.depth)
        named = (tokens >= FIRST_BRACKETED) & (level <= state.template.free_below(state.place))
        place = state.template.after(state.place, named)
        last = torch.where(tokens < FIRST, state.last, tokens)
        return replace(state, time=state.time + 1, last=last, level=level, place=place)


def nodes_of(brackets: Tensor, depth: int) -> Tensor:
    """Tree symbols at the places of labels in bracketed ids; PAD elsewhere and below level `depth`."""
    level = (brackets == OPEN).cumsum(1) - (brackets == CLOSE).cumsum(1)
    named = (brackets >= FIRST_BRACKETED) & (level >= 1) & (level <= depth)
    return torch.where(named, _symbol(brackets, level, depth), PAD)


def _symbol(label: Tensor, level: Tensor, depth: int) -> Tensor:
    """The tree symbol of a bracketed label at a level."""
    return FIRST + (label - FIRST_BRACKETED) * depth + level - 1
