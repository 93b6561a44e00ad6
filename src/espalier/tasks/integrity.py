"""The judge of verse (SongNet, equation 11): the probability of the mark that ends each unit under a plain decoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from espalier.datasets.verse.data import VerseData
from espalier.datasets.verse.frames import Frame, target_of
from espalier.datasets.vocabulary import SEP
from espalier.io.errors import ConfigError
from espalier.tasks.broken_endings import with_longer_units_cut, with_random_last_words, without_last_words
from espalier.tasks.chance import chance_seeds
from espalier.tasks.task import BaselineRow

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

    from espalier.datasets.verse.data import VerseBatch, VerseData
    from espalier.datasets.verse.vocabulary import VerseVocabulary

#: Tokens that a text has once it is read, and may lack where it was cut short: a separator, and the end mark.
CLOSING = 2


class VerseJudge:
    """The nats of the mark before each separator, given all tokens before it."""

    columns = ("judge_nats", "judge_marks", "judge_units")

    def check(self, decoder: Any, network: Any, dataset: Any) -> None:
        """Check that the judge is a plain decoder with a position for every token."""
        if getattr(network, "reads_format", True):
            raise ConfigError(
                "a judge that reads the format knows where marks stand",
                where="lm",
                remedy="a model with network.symbols: [] and network.global_attention: false",
            )
        if (tokens := dataset.max_tokens + decoder.extra_tokens + CLOSING) > network.positions:
            raise ConfigError(
                f"texts of up to {tokens} tokens, of a judge that has {network.positions} positions",
                where="lm",
                remedy="raise the judge's network.positions",
            )

    def read(self, texts: Sequence[str], vocabulary: VerseVocabulary) -> VerseData:
        """Texts as targets without a format. Words unknown to the judge are `UNK`."""
        targets = [target_of(text, vocabulary) for text in texts]
        frames = [Frame(target, *[np.zeros_like(target)] * 6) for target in targets]
        return VerseData.of([str(row) for row in range(len(texts))], frames, vocabulary, targets=targets)

    def measure(self, model: Any, batch: VerseBatch) -> dict[str, Tensor]:
        """(batch,) nats of the marks directly before separators, the number of these marks, and the number of units.

        A unit whose final mark is missing or unknown to the judge is counted only as a unit.
        """
        import torch

        vocabulary, target = model.vocabulary, batch.target
        is_mark = torch.zeros(vocabulary.text_size, dtype=torch.bool, device=batch.device)
        is_mark[vocabulary.mark_ids.tolist()] = True
        separates = target == SEP
        final = is_mark[target] & torch.nn.functional.pad(separates[:, 1:], (0, 1))
        nats = (model.token_losses(batch).double() * final).sum(1)
        return dict(zip(self.columns, (nats, final.sum(1), separates.sum(1)), strict=True))

    def controls(self, table: pd.DataFrame, train: VerseData, seed: int) -> Mapping[str, BaselineRow]:
        """The references with three kinds of broken endings."""
        language, references = train.vocabulary.language, table["reference"].tolist()
        seeds = chance_seeds(table, seed)
        made = {
            "cut": ("the reference without the last word of each unit", without_last_words(references, language)),
            "replaced": (
                "the reference with a random last word in each unit",
                with_random_last_words(references, seeds, train),
            ),
            "broken_off": (
                "longer units of other references, broken off where those of the reference end",
                with_longer_units_cut(references, seed, language),
            ),
        }
        return {name: BaselineRow(title, {"text": texts}, trivial=False) for name, (title, texts) in made.items()}
