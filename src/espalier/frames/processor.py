"""A processor of logits for `generate` of transformers: any causal language model writes texts that keep a frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from transformers import LogitsProcessor

from espalier.frames.automaton import Automaton
from espalier.frames.budget import Budget
from espalier.frames.following import Following, Place
from espalier.frames.line_automaton import LineAutomaton
from espalier.frames.spelling import Spelled
from espalier.frames.tokens import tokens_of
from espalier.frames.utf8 import split
from espalier.io.errors import ConfigError
from espalier.text.written import as_written

#: So many bytes of masks are kept, and the prefixes of so many lengths.
_MASKS: Final = 256 * 2**20
_KEPT: Final = 64

#: A text that has ended.
_END: Final = Place(None)


class FrameProcessor(LogitsProcessor):  # type: ignore[misc]
    """Allows the tokens with which each row can still keep a frame. A text ends where the frame may end.

    What a row needs is found from its ids alone, so that rows may be reordered (beam search), repeated and dropped. The
    prompt is what `generate` gives first; it can be of any length, also padded at the left. A processor can be used
    for one `generate` after another, not for two at the same time.

    A row that left the frame, since another processor forbade all that the frame allows or since a beam search has more
    beams than there are texts, ends at once.

    Args:
        automaton: what may follow in the texts of the frame (`Frame.automaton`).
        tokenizer: a tokenizer of transformers.
        max_new_tokens: what `generate` is given. Every text is then finished within it. If None, texts are as long as
            `generate` lets them be, and those that it cuts off are beginnings of texts that keep the frame.

    Raises:
        ConfigError: `max_new_tokens` are too few for the frame, or the tokenizer cannot spell it.
    """

    def __init__(self, automaton: Automaton[Any], tokenizer: Any, max_new_tokens: int | None = None) -> None:
        self.tokens = tokens_of(tokenizer)
        spelled = automaton if self.tokens.spells_all else Spelled(automaton, self.tokens)
        self.following = Following(spelled, self.tokens)
        self.budget = Budget(self.following)
        self.start = Place(spelled.start, fresh=True)
        self.max_new_tokens = max_new_tokens
        self.english = isinstance(automaton, LineAutomaton)
        #: The tokens that the shortest texts need, with the one that ends them.
        self.needed = self.budget.needed(self.start)
        if max_new_tokens is not None and max_new_tokens < self.needed:
            what = f"{max_new_tokens} tokens are too few for the frame"
            raise ConfigError(what, where="max_new_tokens", remedy=f"at least {self.needed}")
        self._prompt = torch.empty(0, 0, dtype=torch.long)
        self._places: dict[int, dict[tuple[int, ...], Place | None]] = {}  # by the number of ids after the prompt
        self._masks: dict[Any, Tensor] = {}
        self._equal: dict[bytes, Tensor] = {}  # equal masks are kept once

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Scores, (rows, vocabulary), with -inf for the tokens that may not follow.

        Raises:
            ConfigError: a prompt ends inside a character.
        """
        masks = [self.mask(ids, scores.shape[1]) for ids in self._texts(input_ids)]
        forbidden = masks[0] if len(masks) == 1 else torch.stack(masks)
        return scores.masked_fill(forbidden.to(scores.device), -torch.inf)

    def text(self, ids: Sequence[int]) -> str:
        """The text that ids after the prompt spell, without a blank before it; English as people write it."""
        text = self.tokens.text(ids).decode(errors="replace").removeprefix(" ")
        return as_written(text) if self.english else text

    def mask(self, ids: tuple[int, ...], size: int) -> Tensor:
        """(size,) whether a token may not follow after these ids, which follow the prompt."""
        place, left = self.place(ids), None
        if self.max_new_tokens is not None and place and place.state is not None:
            left = self.max_new_tokens - len(ids)
            left = left if self.budget.is_tight(place, left) else None
        if (known := self._masks.get((place, left, size))) is None:
            known = self._masks[place, left, size] = self._mask(place, left, size)
        return known

    def place(self, ids: tuple[int, ...]) -> Place | None:
        """What is left to write after these ids, which follow the prompt; None if they left the frame."""
        known = next((n for n in range(len(ids), 0, -1) if ids[:n] in self._places.get(n, ())), 0)
        place = self._places[known][ids[:known]] if known else self.start
        for length in range(known + 1, len(ids) + 1):
            place = self._after(place, ids[length - 1])
            self._places.setdefault(length, {})[ids[:length]] = place
        self._places.pop(len(ids) - _KEPT, None)
        return place

    def _after(self, place: Place | None, token: int) -> Place | None:
        if place is None or place is _END:
            return place
        if token in self.tokens.ends:
            return _END if not place.lead and self.following.automaton.accepts(place.state) else None
        return self.following.advance(place, token)

    def _mask(self, place: Place | None, left: int | None, size: int) -> Tensor:
        ends = np.array(sorted(self.tokens.ends))
        if place is None or place is _END:
            allowed = ends
        else:
            allowed = self.following.allowed(place)
            if left is not None:
                allowed = self.budget.within(place, allowed, left)
            if not place.lead and self.following.automaton.accepts(place.state):
                allowed = np.concatenate([allowed, ends])
        forbidden = np.ones(size, np.bool_)
        forbidden[allowed] = False
        if (known := self._equal.get(key := np.packbits(forbidden).tobytes())) is None:
            if len(self._equal) * size >= _MASKS:
                self._equal.clear()
                self._masks.clear()
            known = self._equal[key] = torch.from_numpy(forbidden)
        return known

    def _texts(self, input_ids: Tensor) -> list[tuple[int, ...]]:
        """The ids after the prompt. The prompt is the old one if all rows add one id to rows that are known; else new.

        Raises:
            ConfigError: a row of a new prompt ends inside a character.
        """
        length = self._prompt.shape[1]
        if input_ids.shape[1] > length and torch.equal(self._prompt, input_ids[:, :length]):
            rows = [tuple(row) for row in input_ids[:, length:].tolist()]
            before = self._places.get(len(rows[0]) - 1, {}) if len(rows[0]) > 1 else {(): self.start}
            if all(row[:-1] in before for row in rows) and any(self.place(row) is not None for row in rows):
                return rows
        for number, row in enumerate(input_ids[:, -4:].tolist(), start=1):
            if split(self.tokens.text(row))[1]:
                where = "prompt" if len(input_ids) == 1 else f"prompt {number}"
                raise ConfigError("it ends inside a character", where=where, remedy="end it after a whole character")
        self._prompt, self._places = input_ids.clone(), {}
        return [()] * len(input_ids)
