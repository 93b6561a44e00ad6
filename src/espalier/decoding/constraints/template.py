"""The constraint for texts under a template: a fixed prompt, and a bounded or exact length."""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from espalier.datasets.structure.data import StructureBatch
from espalier.datasets.structure.vocabulary import TOPIC, StructureVocabulary
from espalier.datasets.vocabulary import BOS, EOS, PAD, UNK

#: Kinds of places by what they allow: a token, a token or the end mark, the end mark, the prompt's token.
_TOKEN, _ANY, _END, _PROMPT = range(4)


@dataclass
class TemplateState:
    """The current place of a batch of prefixes.

    `prompts`, `given` and `lengths` have one row for each template.

    Attributes:
        prompts: (templates, time) the tokens of the templates.
        given: (templates,) length of the prompt in tokens.
        lengths: (templates,) length of each template, without the end mark.
        template: (prefixes,) the template of each prefix.
        bias: (kinds, text size) 0 for tokens that a kind of place allows, -inf for others.
    """

    time: int
    prompts: Tensor
    given: Tensor
    lengths: Tensor
    template: Tensor
    bias: Tensor

    def select(self, index: Tensor) -> Self:
        """The rows `index`."""
        return replace(self, template=self.template[index])


class TemplateConstraint:
    """The tokens of the prompt, then any tokens up to the end mark. Only prompts may contain the unknown word.

    Args:
        prompt: whether the first tokens of a template are fixed; the batch gives their number.
        slack: how many tokens a text may be longer than its template.
        frame: whether a text must be exactly as long as its template.
    """

    def __init__(self, vocabulary: StructureVocabulary, *, prompt: bool, slack: int = 0, frame: bool = False) -> None:
        self.prompt, self.slack, self.frame = prompt, slack, frame
        self.bias = torch.zeros(_PROMPT + 1, vocabulary.text_size)
        self.bias[:, [PAD, UNK, BOS, TOPIC]] = -torch.inf
        self.bias[_TOKEN, EOS] = -torch.inf
        self.bias[[_END, _PROMPT]] = -torch.inf
        self.bias[_END, EOS] = 0.0

    def start(self, batch: StructureBatch) -> TemplateState:
        """The state at the first place of every template."""
        given = batch.prompt if self.prompt else torch.zeros_like(batch.prompt)
        rows = torch.arange(len(batch), device=batch.device)
        return TemplateState(0, batch.target, given, batch.real.sum(1) - 1, rows, self.bias.to(batch.device))

    def mask(self, state: TemplateState) -> Tensor:
        """(prefixes, text size) 0 for tokens that are allowed next, -inf for others."""
        time, lengths = state.time, state.lengths
        kind = torch.full_like(lengths, _TOKEN if self.frame else _ANY)
        kind = kind.masked_fill(time >= lengths + (0 if self.frame else self.slack), _END)
        kind = kind.masked_fill(time < state.given, _PROMPT)
        own = state.prompts[:, min(time, state.prompts.shape[1] - 1)]
        bias = state.bias[kind]
        allowed = bias.gather(1, own[:, None]).masked_fill((kind == _PROMPT)[:, None], 0.0)
        return bias.scatter_(1, own[:, None], allowed).index_select(0, state.template)

    def advance(self, tokens: Tensor, state: TemplateState) -> TemplateState:
        """The state at the next place."""
        return replace(state, time=state.time + 1)
