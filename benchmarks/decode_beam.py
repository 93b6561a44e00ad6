"""Beam search and greedy decoding at batch 32: ours against Hugging Face's `generate`, with the same weights.

    python benchmarks/decode_beam.py [rounds] [--record]

Both models learn a made-up language for some minutes first, for searches of random weights are not like those that
are made. Three times for each shape: by beam search, texts whose ends are given (7 to 30 pieces), and texts that end
where they will; and these greedily. No length normalisation. Tokens are those of the texts, end marks counted; scores
are log-probabilities, all by our model.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from forced_length import EndAt, EndAtProcessor
from marian import PAPER, SMALL, VIEW, Shape, copy, corpus, our_loss, pair, peer_loss, vocabulary
from measuring import Record, arguments, rate_table, rounds, timed
from torch import Tensor

from espalier.datasets.batch import batch_plan
from espalier.datasets.pairs.data import PairBatch, PairData
from espalier.datasets.vocabulary import BOS, EOS
from espalier.decoding.beam import beam_search
from espalier.decoding.sampling import sample
from espalier.models.guig import GuiG
from espalier.training.config import TrainingConfig
from espalier.training.optimization import Optimizer, precision_of

BATCH, BEAM, LONGEST = 32, 5, 40


def learn(model: GuiG, data: PairData, steps: int) -> None:
    """A little of the made-up language."""
    config = TrainingConfig(steps=1)
    optimizer = Optimizer(model.train(), config)
    bf16 = precision_of(config, torch.device("cpu")) == "bf16"
    plan = batch_plan(data.sizes(VIEW), budget=2048, seed=0, epoch=0)[:steps]
    assert len(plan) == steps
    for number, indices in enumerate(plan):
        for group in optimizer.param_groups:
            group["lr"] = 2e-3 * min(1.0, (number + 1) / 30)
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            loss = our_loss(model, data.batch(indices, VIEW, grain=data.GRAIN))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    model.eval()


def scores(model: GuiG, shape: Shape, batch: PairBatch, texts: Sequence[Sequence[int]]) -> Tensor:
    """(batch,) log-probabilities of texts without end marks; what has none, being as long as it may, counts none."""
    blank: list[list[int]] = [[] for _ in texts]
    columns = {"source": blank, "target": [list(text) for text in texts], "source_tree": blank, "target_tree": blank}
    made = PairData.of([""] * len(texts), columns, vocabulary(shape)).batch(np.arange(len(texts)), VIEW)
    ended = torch.tensor([len(text) < LONGEST for text in texts])
    with torch.no_grad():
        losses = model.token_losses(PairBatch(batch.source, *(made.source_tree,) * 3, made.inputs, made.target))
    return -(losses * ((made.target != EOS) | ended[:, None])).sum(1)


def decoded(model: GuiG, batch: PairBatch, beam: int, longest: int, **search: Any) -> list[list[int]]:
    """The best text of each source, by beam search with its options, or greedily with a beam of 1."""
    ends = {"max_ids": longest, "begin": BOS, "end": EOS}
    if beam == 1:
        return sample(model, batch, seeds=range(BATCH), top_k=1, **ends)
    return [row[0].tokens for row in beam_search(model, batch, beam=beam, **ends, **search)]


def race(
    shape: Shape,
    models: tuple[GuiG, Any],
    lengths: np.ndarray | None,
    what: str,
    count: int,
    record: Record,
    beam: int = BEAM,
) -> None:
    ours, peer = models
    data = corpus(shape, BATCH, seed=5)
    batch = data.batch(np.arange(BATCH), VIEW)
    mask = (batch.source != 0).long()
    found: dict[str, list[list[int]]] = {}
    rule, processors, longest = None, [], LONGEST
    if lengths is not None:
        only_end = torch.zeros(shape.pieces, dtype=torch.bool)
        only_end[EOS] = True
        ends, longest = torch.from_numpy(lengths), int(lengths.max())
        rule = EndAt(ends, only_end)
        processors = [EndAtProcessor(ends.repeat_interleave(beam), only_end)]

    def mine() -> int:
        found["ours"] = decoded(ours, batch, beam, longest, constraint=rule)
        return written(found["ours"])

    def theirs() -> int:
        with torch.inference_mode():
            made = peer.generate(
                batch.source, attention_mask=mask, num_beams=beam, do_sample=False, use_cache=True, length_penalty=0.0,
                max_new_tokens=longest, logits_processor=processors,
            )  # fmt: skip
        rows = [row[1:] for row in made.tolist()]
        found["theirs"] = [row[: row.index(EOS)] if EOS in row else row for row in rows]
        return written(found["theirs"])

    def written(texts: list[list[int]]) -> int:
        assert lengths is None or [len(text) + 1 for text in texts] == lengths.tolist()
        return sum(min(len(text) + 1, longest) for text in texts)

    name = "Espalier"
    rates = rounds({name: timed(mine), "Hugging Face generate": timed(theirs)}, count, warm_up=1)
    gained = (scores(ours, shape, batch, found["ours"]) - scores(ours, shape, batch, found["theirs"])).tolist()
    same = sum(one == other for one, other in zip(found["ours"], found["theirs"], strict=True))
    mean = statistics.mean(map(len, found["ours"])) + 1
    search = f"beam {beam}" if beam > 1 else "greedy"
    title = (
        f"{shape}; {search}, batch {BATCH}; {what}, {mean:.1f} tokens each; {torch.get_num_threads()} threads; "
        f"{same} of {BATCH} texts are the same; mean log-probability, ours - theirs: {statistics.mean(gained):+.1e} "
        f"({min(gained):+.1e} to {max(gained):+.1e})"
    )
    record.add(rate_table(title, rates, name))
    assert statistics.mean(gained) >= -1e-4, "theirs are more probable"


def main() -> None:
    [count] = arguments(7)
    with Record(__file__) as record:
        for shape in (SMALL, PAPER):
            models = pair(shape, dropout=0.0)
            learn(models[0], corpus(shape, 30_000), steps=400)
            copy(*models)
            ours, peer = models[0], models[1].eval()
            held_out = corpus(shape, BATCH, seed=5).batch(np.arange(BATCH), VIEW)
            with torch.no_grad():
                apart = abs(float(our_loss(ours, held_out)) - float(peer_loss(peer, held_out)))
            assert apart < 1e-4, f"the two models are not the same: losses {apart} apart"
            lengths = corpus(shape, BATCH, seed=5).columns["target"].lengths + 1
            race(shape, (ours, peer), lengths, "ends given", count, record)
            race(shape, (ours, peer), None, "free ends", count, record)
            race(shape, (ours, peer), None, "free ends", count, record, beam=1)


if __name__ == "__main__":
    main()
