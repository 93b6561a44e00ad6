"""Beam search of verse at batch 32: ours against Hugging Face's `generate`.

    python benchmarks/decode_beam_verse.py [rounds] [--record]

Ours is a decoder with the weights of the peer, and SongNet itself, with symbols and global attention over its frame,
which the peer does not have. A third row is SongNet as it was before its prefixes shared the memory of their frame: it
copies the memory, and the places of its past, at each choice of prefixes. Texts have 70 tokens, as Song ci have
about; ends are given. Weights are random.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from forced_length import EndAt, EndAtProcessor
from measuring import Record, arguments, rate_table, rounds, timed
from peers import NURSERY, SMALL, Shape, collated, corpus, pair, songnet

from espalier.datasets.verse.data import VerseBatch
from espalier.datasets.vocabulary import BOS, EOS
from espalier.decoding.beam import beam_search
from espalier.layers.shared_memory import Past, select_all
from espalier.models.songnet import SongNet, SongNetState

BATCH, BEAM, LENGTH = 32, 5, 70


class CopiedState(SongNetState):
    """A state whose memory has a row for each prefix."""

    def select(self, index: torch.Tensor) -> SongNetState:
        bias = self.memory_bias.index_select(0, index) if self.memory_bias is not None else None
        symbols, last = self.symbols.index_select(0, index), self.last.index_select(0, index)
        past = [each.select(index, self.time) for each in self.past if isinstance(each, Past)]
        return CopiedState(self.time, symbols, last, select_all(self.memory, index), bias, past)


class CopyingSongNet(SongNet):
    def start(self, batch: VerseBatch) -> SongNetState:
        return CopiedState(**vars(super().start(batch)))


def race(shape: Shape, count: int, record: Record) -> None:
    plain, peer = (model.eval() for model in pair(shape, dropout=0.0))
    data = corpus(shape, 4000)
    batch = collated(data, np.argsort(np.abs(data.lengths - LENGTH), kind="stable")[:BATCH])
    only_end = torch.zeros(plain.vocabulary.text_size, dtype=torch.bool)
    only_end[EOS] = True
    begin, ends = torch.full((BATCH, 1), BOS), torch.full((BATCH,), LENGTH)
    processor = EndAtProcessor(ends.repeat_interleave(BEAM), only_end)

    def mine(model: SongNet) -> int:
        made = beam_search(
            model, batch, beam=BEAM, max_ids=LENGTH, begin=BOS, end=EOS, constraint=EndAt(ends, only_end)
        )
        assert all(len(row[0].tokens) + 1 == LENGTH for row in made)
        return BATCH * LENGTH

    def theirs() -> int:
        with torch.inference_mode():
            made = peer.generate(
                begin, attention_mask=torch.ones_like(begin), num_beams=BEAM, do_sample=False, length_penalty=0.0,
                max_new_tokens=LENGTH, logits_processor=[processor],
            )  # fmt: skip
        assert made.shape[1] == LENGTH + 1
        return BATCH * LENGTH

    ours = {
        "Espalier, the same decoder": plain,
        "Espalier, SongNet": songnet(shape, plain.vocabulary),
        "Espalier, SongNet that copies its memory": songnet(shape, plain.vocabulary, CopyingSongNet),
    }
    peer_name = "Hugging Face generate"
    runs = {name: timed(partial(mine, model)) for name, model in ours.items()} | {peer_name: timed(theirs)}
    found = rounds(runs, count, warm_up=1)
    title = f"{shape}; beam {BEAM}, batch {BATCH}; {torch.get_num_threads()} threads"
    for name in ours:
        record.add(rate_table(title, {each: found[each] for each in (name, peer_name)}, name))


def main() -> None:
    [count] = arguments(5)
    with Record(__file__) as record:
        for shape in (SMALL, NURSERY):
            race(shape, count, record)


if __name__ == "__main__":
    main()
