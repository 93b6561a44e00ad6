"""Top-k generation at batch 32: our sampler against Hugging Face's `generate`, with the same weights.

    python benchmarks/generate_top_k.py [rounds]

Twice for each shape: texts as long as Song ci are (30 to 250 tokens; each ends at its place in both), and texts of 100
tokens all. Only tokens of the texts count, no padding after their ends.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

import numpy as np
import torch
from peers import NURSERY, SMALL, Shape, collated, corpus, pair, rounds, table, timed
from torch import Tensor
from transformers import LogitsProcessor

from espalier.corpora.verse_data import VerseBatch
from espalier.corpora.vocabulary import BOS, EOS, PAD
from espalier.decoding.sampling import sample

BATCH, TOP_K = 32, 32


@dataclass(frozen=True)
class EndState:
    """How far each text has come, and where it ends."""

    time: int
    lengths: Tensor

    def select(self, index: Tensor) -> EndState:
        return EndState(self.time, self.lengths[index])


@dataclass(frozen=True)
class EndAt:
    """Our constraint: the end mark at each text's place, and nowhere else."""

    lengths: Tensor
    only_end: Tensor

    def start(self, batch: VerseBatch) -> EndState:
        return EndState(0, self.lengths)

    def mask(self, state: EndState) -> Tensor:
        return torch.where((state.time + 1 >= state.lengths)[:, None], self.only_end, ~self.only_end)

    def advance(self, tokens: Tensor, state: EndState) -> EndState:
        return replace(state, time=state.time + 1)


class EndAtProcessor(LogitsProcessor):
    """The same for Hugging Face."""

    def __init__(self, lengths: Tensor, only_end: Tensor) -> None:
        self.lengths, self.only_end = lengths, only_end

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        allowed = torch.where((input_ids.shape[1] >= self.lengths)[:, None], self.only_end, ~self.only_end)
        return scores.masked_fill(~allowed, -torch.inf)


def race(shape: Shape, lengths: np.ndarray, what: str, count: int) -> None:
    ours, peer = (model.eval() for model in pair(shape, dropout=0.0))
    batch = collated(corpus(shape, BATCH), np.arange(BATCH))
    begin, ends = torch.full((BATCH, 1), BOS), torch.from_numpy(lengths)
    only_end = torch.zeros(ours.vocabulary.text_size, dtype=torch.bool)
    only_end[EOS] = True
    longest = int(lengths.max())

    def mine() -> int:
        texts = sample(
            ours, batch, seeds=range(BATCH), steps=longest, begin=BOS, end=EOS, top_k=TOP_K,
            constraint=EndAt(ends, only_end),
        )  # fmt: skip
        assert [len(text) + 1 for text in texts] == lengths.tolist()
        return int(lengths.sum())

    def theirs() -> int:
        with torch.inference_mode():
            made = peer.generate(
                begin, attention_mask=torch.ones_like(begin), do_sample=True, top_k=TOP_K, max_new_tokens=longest,
                logits_processor=[EndAtProcessor(ends, only_end)],
            )  # fmt: skip
        assert (made[:, 1:] != PAD).sum(1).tolist() == lengths.tolist()
        return int(lengths.sum())

    scores, _ = ours.step(begin[:, 0], ours.start(batch))
    with torch.no_grad():
        apart = float((scores - peer(begin).logits[:, 0].log_softmax(-1)).abs().max())
    assert apart < 1e-4, f"the two models are not the same: log-probabilities {apart} apart"
    name = "Espalier sample"
    found = rounds({name: timed(mine), "Hugging Face generate": timed(theirs)}, count)
    print(f"{shape}; {what}; log-probabilities {apart:.1e} apart; {torch.get_num_threads()} threads\n")
    print(table(found, name), "\n")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    for shape in (SMALL, NURSERY):
        race(shape, corpus(shape, BATCH).lengths, "texts as long as Song ci", count)
        race(shape, np.full(BATCH, 100), "texts of 100 tokens", count)


if __name__ == "__main__":
    main()
