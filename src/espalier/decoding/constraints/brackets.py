"""What may come next where a tree is written in brackets, as SCPN does: as in `trees`, with three tokens a node."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from espalier.datasets.pairs.tree_symbols import CLOSE, FIRST, FIRST_BRACKETED, OPEN, TreeSymbols
from espalier.datasets.vocabulary import BOS, EOS, PAD
from espalier.decoding.constraints.trees import Kept, NodeRules

_UNIT = 3  # tokens a node: "(", its label, ")"


@dataclass
class BracketState:
    """What the brackets written so far leave open."""

    time: int
    last: Tensor  # (batch,) the token written last; BOS before the first
    level: Tensor  # (batch,) how many brackets are open: the level of the node at hand
    place: Tensor  # (batch,) how many of the kept nodes are written
    kept: Kept
    rules: NodeRules
    need: Tensor  # (depth + 1, labels) of the rules, by level

    def select(self, index: Tensor) -> BracketState:
        """The rows `index`."""
        rows = {name: getattr(self, name)[index] for name in ("last", "level", "place")}
        return replace(self, **rows, kept=self.kept.select(index))


class Brackets:
    """One tree in brackets; EOS after it, within `max_ids` tokens. The rules of labels are those of `WellFormed`.

    Args:
        max_ids: the most tokens, the end counted; `beam_search` must be given no fewer.
        template: whether the top levels equal each row's template, as in `KeptTemplate`.
        levels: the most levels of a template that are kept.
    """

    def __init__(self, symbols: TreeSymbols, max_ids: int, template: bool, levels: int = 3) -> None:
        self.max_ids, self.levels, self.template = max_ids, levels, template
        self.size, self.depth = symbols.bracketed_size, symbols.depth
        self.rules = NodeRules.of(symbols)

    def start(self, batch: Any) -> BracketState:
        """Before the first bracket; `batch.template` is (batch, tokens) bracketed ids if templates are kept.

        Raises:
            ConfigError: no tree is short enough, or none with a row's template.
            TreeError: a row's template is no tree.
        """
        rules = self.rules.to(batch.device)
        none = torch.zeros(len(batch), 0, dtype=torch.long, device=batch.device)
        nodes = nodes_of(batch.template, self.depth) if self.template else none
        kept = Kept.of(nodes, self.levels, rules).fit(self.max_ids, _UNIT, rules)
        last = torch.full((len(batch),), BOS, device=batch.device)
        need = torch.nn.functional.pad(rules.need[FIRST:].view(-1, self.depth).T, (0, 0, 1, 0))
        return BracketState(0, last, torch.zeros_like(last), torch.zeros_like(last), kept, rules, need)

    def mask(self, state: BracketState) -> Tensor:
        """After "(" a label; else "(", ")", or the end once the root is closed."""
        rules, kept, last, level = state.rules, state.kept, state.last, state.level
        naming, closed = last == OPEN, (last == CLOSE) & (level == 0)
        node = torch.where(last >= FIRST_BRACKETED, self._symbol(last, level), BOS)
        free = level >= kept.depth  # what is below is not the template's
        must = rules.must[node] & free & (last != CLOSE)
        coming = kept.next(state.place)
        following = rules.level[coming]
        # Tokens to spare once what is open is closed, the kept nodes are written, and EOS is.
        room = self.max_ids - state.time - 1 - level - _UNIT * kept.still(state.place)
        fits = _UNIT * (1 + rules.min_need[level + 1]) <= room
        opens = torch.where(free, rules.opens[node] & fits, following == level + 1)

        mask = torch.zeros(len(last), self.size, dtype=torch.bool, device=last.device)
        mask[:, OPEN] = opens & ~naming & ~closed
        mask[:, CLOSE] = (following <= level) & (level > 0) & ~must & ~naming
        labels = _UNIT * state.need[level] < room[:, None]
        mask[:, FIRST_BRACKETED:] = labels & (naming & (level > kept.depth))[:, None]
        given = naming & (level <= kept.depth)
        only = torch.where(given, FIRST_BRACKETED + (coming - FIRST) // self.depth, EOS)
        # Nothing is left only for rows that a search has given up.
        return mask.scatter_(1, only[:, None], (given | closed | ~mask.any(1))[:, None])

    def advance(self, tokens: Tensor, state: BracketState) -> BracketState:
        """One token further; specials change nothing."""
        level = (state.level + (tokens == OPEN).long() - (tokens == CLOSE).long()).clamp(0, self.depth)
        place = state.kept.after(state.place, (tokens >= FIRST_BRACKETED) & (level <= state.kept.depth))
        last = torch.where(tokens < FIRST, state.last, tokens)
        return replace(state, time=state.time + 1, last=last, level=level, place=place)

    def _symbol(self, label: Tensor, level: Tensor) -> Tensor:
        return FIRST + (label - FIRST_BRACKETED) * self.depth + level - 1


def nodes_of(brackets: Tensor, depth: int) -> Tensor:
    """The symbols that bracketed ids name, each in the place of its label; PAD elsewhere and below level `depth`."""
    level = (brackets == OPEN).cumsum(1) - (brackets == CLOSE).cumsum(1)
    named = (brackets >= FIRST_BRACKETED) & (level >= 1) & (level <= depth)
    return torch.where(named, FIRST + (brackets - FIRST_BRACKETED) * depth + level - 1, PAD)
