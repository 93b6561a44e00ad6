"""Top-k generation at batch 32: our sampler against Hugging Face's `generate`, with the same weights.

python benchmarks/generate_top_k.py [rounds]
"""

from __future__ import annotations

import sys

import numpy as np
import torch
from peers import collated, corpus, pair, rounds, table, timed

from espalier.corpora.vocabulary import BOS
from espalier.decoding.sampling import sample

BATCH, TOKENS, TOP_K = 32, 100, 32


def main() -> None:
    ours, peer = (model.eval() for model in pair(dropout=0.0))
    batch = collated(corpus(BATCH), np.arange(BATCH))
    begin = torch.full((BATCH, 1), BOS)

    def mine() -> int:
        texts = sample(ours, batch, seeds=range(BATCH), steps=TOKENS, begin=BOS, end=-1, top_k=TOP_K)
        return sum(map(len, texts))

    def theirs() -> int:
        with torch.inference_mode():
            made = peer.generate(
                begin, attention_mask=torch.ones_like(begin), do_sample=True, top_k=TOP_K,
                max_new_tokens=TOKENS, min_new_tokens=TOKENS,
            )  # fmt: skip
        return int(made[:, 1:].numel())

    state = ours.start(batch)
    scores, _ = ours.step(begin[:, 0], state)
    with torch.no_grad():
        apart = float((scores - peer(begin).logits[:, 0].log_softmax(-1)).abs().max())
    assert apart < 1e-4, f"the two models are not the same: log-probabilities {apart} apart"
    name = "Espalier sample"
    found = rounds(
        {name: timed(mine), "Hugging Face generate": timed(theirs)}, int(sys.argv[1]) if len(sys.argv) > 1 else 7
    )
    print(f"log-probabilities {apart:.1e} apart; {torch.get_num_threads()} threads\n")
    print(table(found, name))


if __name__ == "__main__":
    main()
