"""Training of benepar's `ChartParser` on a treebank, with its character LSTM and Transformer.

It follows Kitaev and Klein 2018 (arXiv 1805.01052): margin loss over trees plus five times the tagger's cross-entropy;
Adam (0.9, 0.98) with warm-up. Benepar's own script halves the learning rate when dev F1 stagnates. Here the rate falls
linearly to zero at the last step, so that the length of training is known. Batches contain sentences of similar length.
The weights of the epoch with the best dev F1 are kept.
"""

import copy
import io
import pickle
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from espalier.io.errors import DataError
from espalier.io.files import atomic_file
from espalier.io.hashing import seed_from
from espalier.syntax.constituency import read_tree
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.benepar_backend import TRAINED, BeneparParser
from espalier.syntax.parsers.benepar_chart import (
    CHAIN,
    UNKNOWN,
    Nodes,
    Span,
    annotate,
    fenceposts,
    margin_loss,
    spans_of,
)
from espalier.syntax.parsers.benepar_compat import ChartParser, HParams, RetokenizerForCharLSTM, ptb_unescape
from espalier.syntax.parsers.benepar_words import numbered, padded, word_vectors
from espalier.syntax.parsers.parser import Parser
from espalier.syntax.parsers.training_config import BeneparTraining, linear_schedule

__all__ = ["BeneparTraining", "Example", "batch_loss", "bracket_f1", "train_benepar"]

#: Batches that are cut from one pool, sorted by length: little padding, and still another batch in each epoch.
POOL: Final = 16

Watch = Callable[[int, int, str], None]


class Example(NamedTuple):
    """A training sentence: the words in the model's form, and the numbers of their tags and constituents."""

    read: list[str]
    tags: list[int]
    #: Start, words less one, label.
    nodes: list[tuple[int, int, int]]


class _Best(NamedTuple):
    f1: float
    epoch: int
    weights: dict[str, Tensor]


def train_benepar(
    train: Sequence[Parse],
    dev: Sequence[Parse],
    config: BeneparTraining,
    folder: Path,
    scratch: Path,
    *,
    seed: int,
    watch: Watch = lambda done, total, note: None,
) -> dict[str, float]:
    """Train on trees, and write the model to `folder` in benepar's own format, which `benepar.Parser` can load.

    The result depends only on the arguments (on one machine with a fixed number of threads), even if training was
    killed and resumed: the randomness of an epoch depends on the seed and its number, and every epoch ends with a
    checkpoint.

    Args:
        train: sentences with words, tags and trees.
        scratch: folder of the checkpoint, used only with these arguments.
        watch: called after each step with the steps done, the total steps, and a short note.

    Returns:
        "f1": the best labelled bracket F1 on dev, in percent, over all brackets including unary ones (EVALB differs,
            since it ignores punctuation); "epoch": the epoch that reached it, from 1.

    Raises:
        DataError: there is no tree for training, or no dev tree for choosing an epoch.
    """
    learnt = [parse for parse in train if parse.tree and len(parse.words) <= config.max_words]
    judged = [parse for parse in dev if parse.tree]
    if not learnt or not judged:
        raise DataError(
            f"no {'dev' if learnt else 'training'} sentence has a tree", file="treebank", remedy="check its reader"
        )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_from(seed, "weights"))
        model, examples = _model_and_examples(learnt, config)
        best = _trained(model, examples, judged, config, scratch, seed, watch)
    _save(folder / TRAINED, {"config": model.config, "state_dict": best.weights})
    return {"f1": best.f1, "epoch": best.epoch}


def _model_and_examples(parses: Sequence[Parse], config: BeneparTraining) -> tuple[Any, list[Example]]:
    """A new model with vocabularies of the sentences, and the sentences as numbers."""
    read = [ptb_unescape(parse.words) for parse in parses]
    spans = [spans_of(read_tree(parse.tree)) for parse in parses]
    tags = _numbers(UNKNOWN, {tag for parse in parses for tag in parse.tags})
    labels = _numbers("", {span.label for nodes in spans for span in nodes})
    rooted = all(nodes and nodes[-1][:2] == (0, len(words)) for nodes, words in zip(spans, read, strict=True))
    numbers = HParams(**config.hparams(tagged=len(tags) > 1, rooted=rooted))
    model = ChartParser(tags, labels, RetokenizerForCharLSTM.build_vocab(read), numbers)
    examples = [
        Example(
            words,
            [tags[tag] for tag in parse.tags],
            [(span.start, span.end - span.start - 1, labels[span.label]) for span in its],
        )
        for parse, words, its in zip(parses, read, spans, strict=True)
    ]
    return model.to("cuda" if torch.cuda.is_available() else "cpu"), examples


def _numbers(first: str, others: set[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate([first, *sorted(others - {first})])}


def _trained(
    model: Any,
    examples: Sequence[Example],
    dev: Sequence[Parse],
    config: BeneparTraining,
    scratch: Path,
    seed: int,
    watch: Watch,
) -> _Best:
    optimizer = torch.optim.Adam(model.parameters(), lr=config.rate, betas=(0.9, 0.98), eps=1e-9, fused=True)
    checkpoint = scratch / "checkpoint.pt"
    first, best = _resumed(checkpoint, model, optimizer)
    lengths = np.array([len(example.read) for example in examples])
    steps = -(-len(examples) // config.batch)
    done, total = first * steps, config.epochs * steps
    for epoch in range(first, config.epochs):
        draw = np.random.default_rng(seed_from(seed, "order", epoch))
        torch.manual_seed(seed_from(seed, "dropout", epoch))
        model.train()
        began, read = time.monotonic(), 0
        judged = f", dev F1 {best.f1:.2f}" if epoch else ""
        for batch in _batches(lengths, config.batch, draw):
            done += 1
            for group in optimizer.param_groups:
                group["lr"] = config.rate * linear_schedule(done, total, config.warmup)
            loss = batch_loss(model, [examples[i] for i in batch])
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            read += len(batch)
            speed = read / (time.monotonic() - began)
            note = f"epoch {epoch + 1}, {speed:.0f} sentences/s, loss {loss.item():.2f}{judged}"
            watch(done, total, note)
        f1 = bracket_f1(dev, BeneparParser(model, ""))
        if f1 > best.f1:
            best = _Best(f1, epoch + 1, {name: value.cpu().clone() for name, value in model.state_dict().items()})
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        _save(checkpoint, {**state, "epochs": epoch + 1, "best": best._asdict()})
    return best


def _resumed(checkpoint: Path, model: Any, optimizer: torch.optim.Optimizer) -> tuple[int, _Best]:
    """The number of completed epochs, and the best one. The checkpoint's state is put into `model` and `optimizer`."""
    if not checkpoint.exists():
        return 0, _Best(-1.0, 0, {})
    weights, moments = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
    try:
        state = torch.load(checkpoint, map_location="cpu", weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        return state["epochs"], _Best(**state["best"])
    except (OSError, RuntimeError, pickle.UnpicklingError, EOFError, ValueError, KeyError, TypeError) as error:
        warnings.warn(f"the checkpoint is damaged ({type(error).__name__}); training starts again", stacklevel=4)
    model.load_state_dict(weights)
    optimizer.load_state_dict(moments)
    return 0, _Best(-1.0, 0, {})


def _batches(lengths: NDArray[np.int64], size: int, draw: np.random.Generator) -> Iterator[list[int]]:
    """Batches of the sentences of an epoch, each of similar lengths, in random order."""
    order = draw.permutation(len(lengths))
    pools = [order[first : first + POOL * size] for first in range(0, len(order), POOL * size)]
    batches = []
    for pool in pools:
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += [pool[first : first + size].tolist() for first in range(0, len(pool), size)]
    for place in draw.permutation(len(batches)):
        yield batches[place]


def batch_loss(model: Any, examples: Sequence[Example]) -> Tensor:
    """benepar's loss of a batch: margin loss per sentence, and weighted cross-entropy of the tagger per word."""
    device = model.device
    words, rows = numbered(example.read for example in examples)
    ids, mask = (tensor.to(device) for tensor in padded(rows))
    vectors = word_vectors(model.char_encoder, words, model.char_vocab)
    annotations = annotate(model, F.embedding(ids, vectors), mask)
    nodes = [(number, *node) for number, example in enumerate(examples) for node in example.nodes]
    gold = torch.tensor(nodes, dtype=torch.long, device=device).reshape(-1, 4)  # trees of one word may have no node
    loss = margin_loss(model, fenceposts(model, annotations), mask.sum(1) - 2, Nodes(*gold.T)) / len(examples)
    if model.f_tag is None:
        return loss
    tags, _ = padded([[-100, *example.tags, -100] for example in examples], -100)
    scores = model.f_tag(annotations).flatten(0, 1)
    return loss + model.tag_loss_scale * F.cross_entropy(scores, tags.to(device).flatten(), ignore_index=-100)


def bracket_f1(gold: Sequence[Parse], parser: Parser) -> float:
    """Labelled bracket F1, in percent, of a parser with given words. All brackets count."""
    predicted = parser.parse([parse.words for parse in gold])
    both = right = 0
    for one, other in zip(gold, predicted, strict=True):
        ours, theirs = _brackets(one), _brackets(other) if isinstance(other, Parse) else Counter[Span]()
        both += ours.total() + theirs.total()
        right += (ours & theirs).total()
    return 200 * right / both if both else 0.0


def _brackets(parse: Parse) -> Counter[Span]:
    spans = spans_of(read_tree(parse.tree))
    return Counter(Span(span.start, span.end, label) for span in spans for label in span.label.split(CHAIN))


def _save(path: Path, value: object) -> None:
    """Write with `torch.save`, via memory, since the file would otherwise contain its own name."""
    buffer = io.BytesIO()
    torch.save(value, buffer)
    with atomic_file(path) as part:
        part.write_bytes(buffer.getbuffer())
