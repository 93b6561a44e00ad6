"""Top-k generation at batch 32: our sampler against Hugging Face's `generate`, with the same weights.

    python benchmarks/generate_top_k.py [rounds] [--record]

Twice for each shape: texts as long as Song ci are (30 to 250 tokens; each ends at its place in both), and texts of 100
tokens all. Only tokens of the texts count, no padding after their ends. SongNet has symbols and global attention over
its frame, which the peer has not.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from forced_length import EndAt, EndAtProcessor
from measuring import Record, arguments, rate_table, rounds, timed
from peers import NURSERY, SMALL, Shape, collated, corpus, pair, songnet

from espalier.datasets.vocabulary import BOS, EOS, PAD
from espalier.decoding.sampling import sample
from espalier.models.songnet import SongNet

BATCH, TOP_K = 32, 32


def race(shape: Shape, lengths: np.ndarray, what: str, count: int, record: Record) -> None:
    ours, peer = (model.eval() for model in pair(shape, dropout=0.0))
    batch = collated(corpus(shape, BATCH), np.arange(BATCH))
    begin, ends = torch.full((BATCH, 1), BOS), torch.from_numpy(lengths)
    only_end = torch.zeros(ours.vocabulary.text_size, dtype=torch.bool)
    only_end[EOS] = True
    longest = int(lengths.max())

    def mine(model: SongNet) -> int:
        texts = sample(
            model, batch, seeds=range(BATCH), max_ids=longest, begin=BOS, end=EOS, top_k=TOP_K,
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
    models = {"Espalier, the same decoder": ours, "Espalier, SongNet": songnet(shape, ours.vocabulary)}
    peer_name, runs = "Hugging Face generate", {name: timed(partial(mine, each)) for name, each in models.items()}
    found = rounds(runs | {peer_name: timed(theirs)}, count)
    title = f"{shape}; {what}; log-probabilities {apart:.1e} apart; {torch.get_num_threads()} threads"
    for name in models:
        record.add(rate_table(title, {each: found[each] for each in (name, peer_name)}, name))


def main() -> None:
    [count] = arguments(7)
    with Record(__file__) as record:
        for shape in (SMALL, NURSERY):
            race(shape, corpus(shape, BATCH).lengths, "texts as long as Song ci", count, record)
            race(shape, np.full(BATCH, 100), "texts of 100 tokens", count, record)


if __name__ == "__main__":
    main()
