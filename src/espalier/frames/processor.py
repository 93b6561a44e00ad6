"""A processor of logits for `generate` of transformers: any causal language model writes texts that keep a frame."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
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
from espalier.frames.word_following import WordFollowing
from espalier.io.errors import ConfigError
from espalier.text.written import as_written

#: So many bytes of masks are kept, and the prefixes of so many lengths.
_MASKS: Final = 256 * 2**20
_KEPT: Final = 64

#: The score of the end of a row that ends before the frame does: the only one, and less than those of other beams.
_LAST: Final = -1e9

#: A text that has ended.
_END: Final = Place(None)


class FrameProcessor(LogitsProcessor):  # type: ignore[misc]
    """Allows the tokens with which each row can still keep a frame. A text ends where the frame may end.

    What a row needs is found from its ids alone, so that rows may be reordered (beam search), repeated and dropped. The
    prompt is what `generate` gives first; it can be of any length, also padded at the left.

    A processor can be used for one `generate` after another. It knows a new one by its ids, which are not those of the
    call before with one more token in each row. A prompt that is just what the `generate` before returned looks like
    its next step, so that the text goes on: call `reset` before, or take a fresh processor. Ids that go back in a text
    that cannot have ended are an error; assisted decoding, and two `generate` at the same time, give such.

    Processors that `generate` makes of its own settings (`no_repeat_ngram_size`, `min_new_tokens`) come before this
    one. Where they forbid all that the frame allows, the row ends at once: a text that is complete keeps the frame, and
    of one that is not a warning tells. A row that left the frame, since a beam search has more beams than there are
    texts, ends too.

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
        self.english = isinstance(automaton, LineAutomaton)
        if isinstance(automaton, LineAutomaton) and self.tokens.spells_all:
            self.following: Following = WordFollowing(automaton, self.tokens)
        else:
            spelled = automaton if self.tokens.spells_all else Spelled(automaton, self.tokens)
            self.following = Following(spelled, self.tokens)
        self.budget = Budget(self.following)
        self.start = Place(self.following.automaton.start, fresh=True)
        self.max_new_tokens = max_new_tokens
        #: The tokens that the shortest texts need, with the one that ends them.
        self.needed = self.budget.needed(self.start)
        if max_new_tokens is not None and max_new_tokens < self.needed:
            what = f"{max_new_tokens} tokens are too few for the frame"
            raise ConfigError(what, where="max_new_tokens", remedy=f"at least {self.needed}")
        self._places: dict[int, dict[tuple[int, ...], Place | None]] = {}  # by the number of ids after the prompt
        self._masks: dict[Any, Tensor] = {}
        self._equal: dict[bytes, Tensor] = {}  # equal masks are kept once
        self.reset()

    def reset(self) -> None:
        """Take the ids that come next for a prompt, whatever they are."""
        self._now = self._before = _Texts(torch.empty(0, 0, dtype=torch.long), over=True)
        self._places = {}

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Scores, (rows, vocabulary), with -inf for the tokens that may not follow.

        Raises:
            ConfigError: a prompt ends inside a character, the ids go back in a text that cannot have ended, or the
                model has fewer tokens than the tokenizer.
        """
        if scores.shape[1] < self.tokens.count_of_ids:
            what = f"the model has {scores.shape[1]} tokens, and the tokenizer {self.tokens.count_of_ids}"
            raise ConfigError(what, where="scores", remedy="model.resize_token_embeddings(len(tokenizer))")
        rows = self._texts(input_ids)
        forbidden = torch.stack([self.mask(ids, scores.shape[1]) for ids in rows]).to(scores.device)
        allowed = scores.masked_fill(forbidden, -torch.inf)
        for row in (allowed == -torch.inf).all(1).nonzero()[:, 0].tolist():
            allowed[row, sorted(self.tokens.ends)] = self._end(self.place(rows[row]), row + 1)
        return allowed

    def _end(self, place: Place | None, row: int) -> float:
        """The score of the end of a text that other processors let neither go on nor end."""
        if self._may_end(place):
            return 0.0
        if place is not None:
            what = f"row {row} ends before the frame does, since other processors forbid all tokens that it allows"
            remedy = "leave out what generate is given beside it, such as no_repeat_ngram_size or bad_words_ids"
            warnings.warn(f"{what}; {remedy}", stacklevel=4)
        return _LAST

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
            return _END if self._may_end(place) else None
        return self.following.advance(place, token)

    def _mask(self, place: Place | None, left: int | None, size: int) -> Tensor:
        ends = np.array(sorted(self.tokens.ends))
        if place is None or place is _END:
            allowed = ends
        else:
            allowed = self.following.allowed(place)
            if left is not None:
                allowed = self.budget.within(place, allowed, left)
            if self._may_end(place):
                allowed = np.concatenate([allowed, ends])
        forbidden = np.ones(size, np.bool_)
        forbidden[allowed] = False
        if (known := self._equal.get(key := np.packbits(forbidden).tobytes())) is None:
            if len(self._equal) * size >= _MASKS:
                self._equal.clear()
                self._masks.clear()
            known = self._equal[key] = torch.from_numpy(forbidden)
        return known

    def _may_end(self, place: Place | None) -> bool:
        """Whether a text may end at a place, or has ended."""
        if place is None or place is _END:
            return place is _END
        return not place.lead and self.following.automaton.accepts(place.state)

    def _texts(self, input_ids: Tensor) -> list[tuple[int, ...]]:
        """The ids after the prompt: none, if they begin a new `generate`.

        Raises:
            ConfigError: a row of a new prompt ends inside a character, or the ids go back in a text.
        """
        rows = self._now.after_prompt(input_ids)
        if not (rows and self._now.has_before(rows) and self._lives(rows)):
            self._require_new(input_ids, rows)
            self._before, self._now, self._places = self._now, _Texts(input_ids.clone()), {}
            rows = [()] * len(input_ids)
        self._now.rows = frozenset(rows)
        self._now.over = self._now.over or any(self._may_end(self.place(row)) for row in rows)
        if self.max_new_tokens is not None:
            self._now.over = self._now.over or len(rows[0]) + 1 >= self.max_new_tokens
        return rows

    def _lives(self, rows: Sequence[tuple[int, ...]]) -> bool:
        """Whether a row is in the frame."""
        return any(self.place(row) is not None for row in rows)

    def _require_new(self, input_ids: Tensor, rows: Sequence[tuple[int, ...]]) -> None:
        """Raise a ConfigError if ids are not those of a new `generate`."""
        known = self._places.get(len(rows[0]) - 1, {}) if rows and len(rows[0]) > 1 else {(): self.start}
        back = bool(rows) and not self._now.over and all(row[:-1] in known for row in rows) and self._lives(rows)
        others = self._before.after_prompt(input_ids)
        if back or (others and not self._before.over and self._before.has_before(others) and self._lives(others)):
            what = "the ids are neither the next of the texts that are written, nor surely a new prompt"
            remedy = "call reset() before a generate after one that was cut off; decode without an assistant"
            raise ConfigError(
                what, where="processor", remedy=f"{remedy}, and use a processor for one generate at a time"
            )
        for number, row in enumerate(input_ids[:, -4:].tolist(), start=1):
            if split(self.tokens.text(row))[1]:
                where = "prompt" if len(input_ids) == 1 else f"prompt {number}"
                raise ConfigError("it ends inside a character", where=where, remedy="end it after a whole character")


@dataclass
class _Texts:
    """The texts of one `generate`.

    Attributes:
        prompt: its ids.
        rows: the ids after the prompt in the last call.
        over: whether a text may have ended, so that ids that go back are those of another `generate`.
    """

    prompt: Tensor
    rows: frozenset[tuple[int, ...]] = frozenset()
    over: bool = False

    def after_prompt(self, input_ids: Tensor) -> list[tuple[int, ...]]:
        """The ids after the prompt; no rows if they do not begin with the prompt, or have nothing after it."""
        length = self.prompt.shape[1]
        if input_ids.shape[1] <= length or not torch.equal(self.prompt, input_ids[:, :length]):
            return []
        return [tuple(row) for row in input_ids[:, length:].tolist()]

    def has_before(self, rows: Sequence[tuple[int, ...]]) -> bool:
        """Whether the rows are those of the last call with one more id each."""
        return all(row[:-1] in self.rows for row in rows)
