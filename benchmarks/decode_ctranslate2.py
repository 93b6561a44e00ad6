"""Decoding at batch 32: ours in 32 bits and with products in bfloat16, CTranslate2 in 32 bits and in 8, equal weights.

    python benchmarks/decode_ctranslate2.py [rounds] [--record]

CTranslate2 (`pip install ctranslate2`, MIT) reads the weights from the copies that Hugging Face's models have of ours.
The Transformer has learned a made-up language (`decode_beam.py`); the decoder of verse has random weights. No length
normalisation. Tokens are those of the texts, end marks counted; log-probabilities are all by our model. Rates are per
second of the process. A CPU without instructions for bfloat16 has no row of them. SongNet has symbols and global
attention over its frame, which CTranslate2's decoder has not. The last row of a table is ours if all but the matrix
products and the attention took no time (`measuring.only`).
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import ctranslate2
import marian
import numpy as np
import peers
import torch
from ctranslate2.converters.transformers import BartLoader, GPT2Loader
from decode_beam import BATCH, BEAM, LONGEST, decoded, learn
from decode_beam import scores as text_scores
from measuring import PRODUCTS, Record, arguments, only, rate_table, rounds, timed
from torch import Tensor

from espalier.datasets.vocabulary import BOS, EOS
from espalier.decoding.beam import beam_search
from espalier.decoding.constraints.constraint import ForbiddenTokens
from espalier.decoding.sampling import sample
from espalier.layers.linear import constant_weights, has_bfloat16
from espalier.models.songnet import SongNet

#: The tokens of a text of fixed length, of a poem by beam search, and of one by sampling.
TEXT, VERSE, POEM = 20, 70, 100
TOP_K = 32
OURS, ROUNDED, SONGNET, THEIRS = "Espalier", "Espalier, bfloat16", "Espalier, SongNet", "CTranslate2, {}"
LIMIT = "Espalier, products and attention alone"
ATTENTION = "aten::_scaled_dot_product_flash_attention_for_cpu"
Texts = list[list[int]]


#: CTranslate2's names of the ids that have other names than their digits.
SPECIALS = ("<pad>", "<unk>", "<s>", "</s>")


def names(count: int) -> list[str]:
    """CTranslate2's names of the ids."""
    return [*SPECIALS, *map(str, range(len(SPECIALS), count))]


def ids(tokens: list[str]) -> list[int]:
    """The ids of names."""
    return [SPECIALS.index(token) if token in SPECIALS else int(token) for token in tokens]


def converted(spec: Any, kind: Callable[..., Any]) -> dict[str, Any]:
    """CTranslate2's models of a specification whose vocabularies are registered."""
    spec.config.bos_token, spec.config.eos_token, spec.config.unk_token = "<s>", "</s>", "<unk>"
    spec.validate()
    spec.optimize(quantization="float32")
    threads = {"inter_threads": 1, "intra_threads": torch.get_num_threads()}
    with tempfile.TemporaryDirectory() as folder:
        spec.save(folder)
        forms = {"fp32": "float32", "int8": "int8_float32"}
        return {THEIRS.format(name): kind(folder, compute_type=form, **threads) for name, form in forms.items()}


def rounded(run: Callable[[], Texts]) -> Texts:
    """The texts of a run whose products are in bfloat16."""
    with constant_weights(bfloat16=True):
        return run()


def race(
    title: str,
    runs: dict[str, Callable[[], Texts]],
    scores: Callable[[Texts], Tensor] | None,
    longest: int,
    count: int,
    more: Mapping[str, Callable[[], Texts]],
) -> tuple[str, dict[str, list[float]]]:
    """The title of a table with what is known of the texts, and the rates.

    Args:
        scores: (texts,) log-probabilities; None for samples, which differ.
        longest: the tokens of a text that is cut off.
        more: what writes with other weights.
    """
    texts: dict[str, Texts] = {}

    def run(name: str) -> int:
        texts[name] = runs[name]()
        return sum(min(len(text) + 1, longest) for text in texts[name])

    with constant_weights():  # packed once, as CTranslate2 packs them when it loads a model
        runs = runs | ({ROUNDED: partial(rounded, runs[OURS])} if has_bfloat16() else {}) | more
        contestants = {name: timed(partial(run, name), time.process_time) for name in runs}
        limit = only((*PRODUCTS, ATTENTION), contestants[OURS])
        rates = rounds(contestants | {LIMIT: limit}, count, warm_up=2)
    mean = statistics.mean(min(len(text) + 1, longest) for text in texts[OURS])
    title += f", {mean:.1f} tokens each; {torch.get_num_threads()} threads"
    if scores is None:
        return title, rates
    found = [float(scores(made).mean()) for name, made in texts.items() if name not in more]
    same = {
        name: sum(one == other for one, other in zip(texts[OURS], texts[name], strict=True))
        for name in (THEIRS.format("fp32"), ROUNDED)
        if name in texts
    }
    kept = f", and {same[ROUNDED]} stay the same in bfloat16" if ROUNDED in same else ""
    # To fix a length, theirs renormalises the probabilities without the end, so it searches for other texts.
    fixed = all(len(text) == longest for text in texts[OURS])
    assert fixed or found[0] >= found[1] - 1e-4, "theirs are more probable"
    values = ", ".join(f"{value:.3f}" for value in found)
    return (
        f"{title}; of {BATCH} texts {same[THEIRS.format('fp32')]} are those of {THEIRS.format('fp32')}{kept}; "
        f"mean log-probabilities {values}",
        rates,
    )


def transformer(shape: marian.Shape, count: int, record: Record) -> None:
    """Paraphrases by beam search and greedily."""
    ours, peer = marian.pair(shape, dropout=0.0)
    learn(ours, marian.corpus(shape, 30_000), steps=400)
    marian.copy(ours, peer)
    peer.config.normalize_before = peer.config.normalize_embedding = False
    spec = BartLoader().get_model_spec(peer)
    tokens = names(shape.pieces)
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    spec.config.decoder_start_token = tokens[BOS]
    theirs = converted(spec, ctranslate2.Translator)
    batch = marian.corpus(shape, BATCH, seed=5).batch(np.arange(BATCH), marian.VIEW)
    sources = [[tokens[piece] for piece in row if piece] for row in batch.source.tolist()]

    def mine(beam: int, best: int, longest: int, shortest: int) -> Texts:
        return decoded(ours, batch, beam, longest, best=best, min_ids=shortest)

    def its(model: ctranslate2.Translator, beam: int, best: int, longest: int, shortest: int) -> Texts:
        found = model.translate_batch(
            sources, beam_size=beam, num_hypotheses=best, length_penalty=0, max_decoding_length=longest,
            min_decoding_length=max(1, shortest),
        )  # fmt: skip
        return [ids(row.hypotheses[0]) for row in found]

    for what, *settings in (
        (f"beam {BEAM}, fixed length", BEAM, 1, TEXT, TEXT),
        (f"beam {BEAM}, free ends, the best text", BEAM, 1, LONGEST, 0),
        (f"beam {BEAM}, free ends, {BEAM} texts", BEAM, BEAM, LONGEST, 0),
        ("greedy, free ends", 1, 1, LONGEST, 0),
    ):
        runs = {OURS: partial(mine, *settings)} | {name: partial(its, each, *settings) for name, each in theirs.items()}
        scores = partial(text_scores, ours, shape, batch)
        record.add(rate_table(*race(f"{shape}; {what}", runs, scores, settings[2], count, {}), OURS))


def verse(shape: peers.Shape, count: int, record: Record) -> None:
    """Poems by beam search and by sampling."""
    ours, peer = (model.eval() for model in peers.pair(shape, dropout=0.0))
    symbols, size = peers.songnet(shape, ours.vocabulary), ours.vocabulary.text_size
    spec = GPT2Loader().get_model_spec(peer)
    spec.register_vocabulary(names(size))
    theirs = converted(spec, ctranslate2.Generator)
    batch = peers.collated(peers.corpus(shape, BATCH), np.arange(BATCH))

    def its(model: ctranslate2.Generator, length: int, **settings: Any) -> Texts:
        found = model.generate_batch(
            [["<s>"]] * BATCH, max_length=length, min_length=length, include_prompt_in_result=False, **settings
        )
        return [ids(row.sequences[0]) for row in found]

    def searched(model: SongNet) -> Texts:
        found = beam_search(model, batch, beam=BEAM, best=1, max_ids=VERSE, min_ids=VERSE, begin=BOS, end=EOS)
        return [row[0].tokens for row in found]

    def sampled(model: SongNet) -> Texts:
        return sample(
            model, batch, seeds=range(BATCH), max_ids=POEM, begin=BOS, end=EOS, top_k=TOP_K,
            constraint=ForbiddenTokens(torch.tensor([EOS]), size),
        )  # fmt: skip

    beam: dict[str, Any] = {"beam_size": BEAM, "length_penalty": 0}
    runs = {OURS: partial(searched, ours)} | {name: partial(its, each, VERSE, **beam) for name, each in theirs.items()}
    scores, more = partial(poem_scores, ours), {SONGNET: partial(searched, symbols)}
    tell(*race(f"{shape}; beam {BEAM}, fixed length", runs, scores, VERSE, count, more), record)
    top_k: dict[str, Any] = {"beam_size": 1, "sampling_topk": TOP_K}
    runs = {OURS: partial(sampled, ours)} | {name: partial(its, each, POEM, **top_k) for name, each in theirs.items()}
    more = {SONGNET: partial(sampled, symbols)}
    tell(*race(f"{shape}; top-{TOP_K} sampling, fixed length", runs, None, POEM, count, more), record)


def tell(title: str, rates: dict[str, list[float]], record: Record) -> None:
    """A table of the decoder without symbols, and one of SongNet."""
    symbols = rates.pop(SONGNET)
    record.add(rate_table(title, rates, OURS))
    theirs = {name: found for name, found in rates.items() if name not in (OURS, ROUNDED, LIMIT)}
    record.add(rate_table(title.partition(" threads")[0] + " threads", {SONGNET: symbols} | theirs, SONGNET))


@torch.inference_mode()
def poem_scores(model: SongNet, texts: Texts) -> Tensor:
    """(texts,) log-probabilities of texts of one length, without their ends."""
    tokens = torch.tensor([[BOS, *text] for text in texts])
    state = model.start(peers.collated(peers.corpus(peers.NURSERY, len(texts)), np.arange(len(texts))))
    total = torch.zeros(len(texts))
    for before, after in zip(tokens.T[:-1], tokens.T[1:], strict=True):
        scores, state = model.step(before, state)
        total += scores.gather(1, after[:, None])[:, 0]
    return total


def main() -> None:
    [count] = arguments(7)
    with Record(__file__) as record:
        for decoder in (peers.SMALL, peers.NURSERY):
            verse(decoder, count, record)
        for shape in (marian.SMALL, marian.PAPER):
            transformer(shape, count, record)


if __name__ == "__main__":
    main()
