"""Training of a spaCy pipeline: hash embeddings and a convolution for words, with a tagger and an arc-eager parser.

The pipeline consists of spaCy's own components, which share word vectors and are trained together; see Honnibal and
Johnson 2015 (EMNLP; transitions and dynamic oracle). Non-projective trees are made projective with decorated relations
(Nivre and Nilsson 2005), which the parser learns and reverts. Unlike in `spacy train`, the learning rate falls linearly
to zero at the last step, so that the length of training is known, and batches contain sentences of similar length. The
weights of the epoch with the best dev score are kept.
"""

import random
import time
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import spacy
from numpy.typing import NDArray
from spacy.attrs import ORTH
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokenizer import Tokenizer
from spacy.training import Example
from thinc.api import Adam, Optimizer

from espalier.io.errors import DataError
from espalier.io.files import atomic_file, atomic_folder
from espalier.io.hashing import seed_from
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.parser import Parser, Refused
from espalier.syntax.parsers.spacy_backend import MEMBER, SpacyParser, one_sentence, use_numpy
from espalier.syntax.parsers.training_config import SpacyTraining, linear_schedule

__all__ = ["SpacyTraining", "attachment", "train_spacy"]

#: Batches that are cut from one pool, sorted by length: the parser's steps are as many as the longest sentence needs.
POOL: Final = 16

_SCORES: Final = ("uas", "las", "tags")

Watch = Callable[[int, int, str], None]


class _Best(NamedTuple):
    scores: dict[str, float]
    epoch: int
    weights: list[NDArray[Any]]


def train_spacy(
    train: Sequence[Parse],
    dev: Sequence[Parse],
    config: SpacyTraining,
    folder: Path,
    scratch: Path,
    *,
    seed: int,
    watch: Watch = lambda done, total, note: None,
) -> dict[str, float]:
    """Train on dependency trees, and write the pipeline to `folder` in spaCy's own format, which `spacy.load` can read.

    The result depends only on the arguments (on one machine), even if training was killed and resumed: the randomness
    of an epoch depends on the seed and its number, and every epoch ends with a checkpoint.

    Args:
        train: sentences with words, tags, heads and labels; only words and tags without `config.trees`.
        scratch: folder of the checkpoint, used only with these arguments.
        watch: called after each step with the steps done, the total steps, and a short note.

    Returns:
        Of the first member: "uas", "las" and "tags" of the best epoch on dev, in percent over all words; "epoch": its
        number, from 1. The best epoch has the highest sum of "las" and "tags".

    Raises:
        DataError: there is no tree for training, or no dev tree for choosing an epoch.
    """
    learnt = [parse for parse in train if _is_gold(parse, config) and len(parse.words) <= config.max_words]
    judged = [parse for parse in dev if _is_gold(parse, config)]
    if not config.trees:
        judged = [Parse(parse.words, parse.tags) for parse in judged]
    if not learnt or not judged:
        raise DataError(
            f"no {'dev' if learnt else 'training'} sentence has {'tags and heads' if config.trees else 'tags'}",
            file="treebank",
            remedy="check its reader",
        )
    with _own_randomness():
        scores = _train(learnt, judged, config, folder, scratch, seed, watch)
        for number in range(2, config.members + 1):
            own = f"{MEMBER}{number}"
            _train(learnt, judged, config, folder / own, scratch / own, seed_from(seed, own), watch)
    return scores


def _is_gold(parse: Parse, config: SpacyTraining) -> bool:
    return bool(parse.tags and (parse.heads or not config.trees))


def _train(
    train: Sequence[Parse],
    dev: Sequence[Parse],
    config: SpacyTraining,
    folder: Path,
    scratch: Path,
    seed: int,
    watch: Watch,
) -> dict[str, float]:
    nlp, examples = _pipeline_and_examples(train, config, seed)
    parser = SpacyParser(nlp, "")
    optimizer = Adam(config.rate, L2=0.01, L2_is_weight_decay=True, grad_clip=1.0, use_averages=False)
    checkpoint = scratch / "checkpoint.npz"
    first, best = _resumed(checkpoint, nlp, optimizer)
    lengths = np.array([len(parse.words) for parse in train])
    epochs = [_batches(lengths, config.batch, seed_from(seed, "order", epoch)) for epoch in range(config.epochs)]
    done, total = sum(map(len, epochs[:first])), sum(map(len, epochs))
    for epoch in range(first, config.epochs):
        _seed(seed, "dropout", epoch)
        began, read = time.monotonic(), 0
        name = "las" if config.trees else "tags"
        judged = f", dev {name.upper()} {best.scores[name]:.2f}" if epoch else ""
        for batch in epochs[epoch]:
            done += 1
            optimizer.learn_rate = config.rate * linear_schedule(done, total, config.warmup)
            loss = _step(nlp, [examples[i] for i in batch], config.dropout, optimizer)
            words = int(lengths[batch].sum())
            read += words
            speed = read / (time.monotonic() - began)
            watch(done, total, f"epoch {epoch + 1}, {speed:.0f} words/s, loss {loss / words:.2f}{judged}")
        scores = attachment(dev, parser)
        if scores["las"] + scores["tags"] > best.scores["las"] + best.scores["tags"]:
            best = _Best(scores, epoch + 1, [value.copy() for _, value in _parameters(nlp)])
        _save(checkpoint, nlp, optimizer, epoch + 1, best)
    nlp, _ = _pipeline_and_examples(train, config, seed)  # once more, since parsing dev has taught it words
    _put(nlp, best.weights)
    with atomic_folder(folder) as part:
        nlp.to_disk(part)
    return best.scores | {"epoch": best.epoch}


def _step(nlp: Language, examples: Sequence[Example], dropout: float, optimizer: Optimizer) -> float:
    """One step of all components. Returns the loss of the last one: the parser, or the tagger without a parser.

    `nlp.update` would update the shared vectors before it has the gradients of the other components, that is, one step
    late. It would also copy the examples, which is unnecessary here.
    """
    losses: dict[str, float] = {}
    for component in _components(nlp):
        component.update(examples, drop=dropout, sgd=None, losses=losses)
    for component in _components(nlp):
        component.finish_update(optimizer)
    return float(losses[nlp.pipe_names[-1]])


def _pipeline_and_examples(parses: Sequence[Parse], config: SpacyTraining, seed: int) -> tuple[Language, list[Example]]:
    """A new pipeline with the words, tags and relations of the sentences, and the sentences as training examples."""
    _seed(seed, "weights")
    nlp = spacy.blank(config.language)
    if config.language == "en":  # words that are given have no other norms either
        tokenizer: Tokenizer = nlp.tokenizer
        tokenizer.rules = {text: [{ORTH: token[ORTH]} for token in tokens] for text, tokens in tokenizer.rules.items()}
    for name, settings in config.components().items():
        nlp.add_pipe(name, config=settings)
    examples = []
    for parse in parses:
        gold: dict[str, list[Any]] = {"tags": list(parse.tags)}
        if config.trees:
            gold["heads"] = [head - 1 if head else number for number, head in enumerate(parse.heads)]
            gold["deps"] = [label if head else "ROOT" for label, head in zip(parse.labels, parse.heads, strict=True)]
        examples.append(Example.from_dict(one_sentence(nlp.vocab, parse.words), gold))
    if config.trees:
        # Where nearly all heads are on one side, a transition without relation would count as rare, and spaCy stop.
        sides = [head > number for parse in parses for number, head in enumerate(parse.heads, start=1) if head]
        scarce = 1 + min(sum(sides), len(sides) - sum(sides)) // 2
        parser: TrainablePipe = nlp.get_pipe("parser")
        parser.cfg["min_action_freq"] = min(config.min_frequency, scarce)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"\[W033\]")  # it has no table of norms
        nlp.initialize(lambda: examples)
    use_numpy(nlp)
    return nlp, examples


def _components(nlp: Language) -> list[TrainablePipe]:
    return [component for _, component in nlp.pipeline if isinstance(component, TrainablePipe)]


# --- Weights and checkpoints ------------------------------------------------------------------------------------------


def _parameters(nlp: Language) -> list[tuple[tuple[int, str], NDArray[Any]]]:
    """The parameters of all components with the optimizer's keys, in an order that is equal in all processes."""
    nodes = (node for component in _components(nlp) for node in component.model.walk())
    return [
        ((node.id, name), node.get_param(name)) for node in nodes for name in node.param_names if node.has_param(name)
    ]


def _put(nlp: Language, weights: Sequence[NDArray[Any]]) -> None:
    for (_, parameter), value in zip(_parameters(nlp), weights, strict=True):
        if parameter.shape != value.shape:
            raise ValueError("weights of another shape")
        parameter[...] = value


def _save(checkpoint: Path, nlp: Language, optimizer: Optimizer, epochs: int, best: _Best) -> None:
    arrays: dict[str, Any] = {
        "epochs": np.array([epochs, best.epoch]),
        "scores": np.array([best.scores[name] for name in _SCORES]),
    }
    for number, (key, value) in enumerate(_parameters(nlp)):
        arrays[f"weights {number}"] = value
        arrays[f"best {number}"] = best.weights[number]
        arrays[f"updates {number}"] = np.array(optimizer.nr_update.get(key, 0))
        for name, moments in (("first", optimizer.mom1), ("second", optimizer.mom2)):
            arrays[f"{name} {number}"] = moments[key] if key in moments else np.zeros(0, np.float32)
    with atomic_file(checkpoint) as part, part.open("wb") as file:
        np.savez(file, **arrays)


def _resumed(checkpoint: Path, nlp: Language, optimizer: Optimizer) -> tuple[int, _Best]:
    """The number of completed epochs, and the best one. The checkpoint's state is loaded into `nlp` and `optimizer`."""
    none = 0, _Best(dict.fromkeys(_SCORES, -1.0), 0, [])
    if not checkpoint.is_file():
        return none
    try:
        with np.load(checkpoint, allow_pickle=False) as file:
            state = {name: file[name] for name in file.files}
        keys = [key for key, _ in _parameters(nlp)]
        numbers = range(len(keys))
        scores = dict(zip(_SCORES, state["scores"].tolist(), strict=True))
        epochs, epoch = state["epochs"].tolist()
        best = _Best(scores, epoch, [state[f"best {number}"] for number in numbers])
        updates = [int(state[f"updates {number}"]) for number in numbers]
        moments = [(state[f"first {number}"], state[f"second {number}"]) for number in numbers]
        _put(nlp, [state[f"weights {number}"] for number in numbers])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        warnings.warn(f"the checkpoint is damaged ({type(error).__name__}); training starts again", stacklevel=4)
        return none
    for key, count, (first, second) in zip(keys, updates, moments, strict=True):
        if count:
            optimizer.nr_update[key], optimizer.mom1[key], optimizer.mom2[key] = count, first, second
    return epochs, best


# --- Batches, rates, randomness ---------------------------------------------------------------------------------------


def _batches(lengths: NDArray[np.int64], words: int, seed: int) -> list[NDArray[np.int64]]:
    """Batches of at most `words` words, each of sentences of similar length, in random order."""
    draw = np.random.default_rng(seed)
    order = draw.permutation(len(lengths))
    pool = np.cumsum(lengths[order]) // (POOL * words)
    order = order[np.lexsort((lengths[order], pool))]
    batches, first, filled = [], 0, 0
    for place, length in enumerate(lengths[order]):
        if place > first and filled + length > words:
            batches.append(order[first:place])
            first, filled = place, 0
        filled += int(length)
    batches.append(order[first:])
    return [batches[place] for place in draw.permutation(len(batches))]


def _seed(*values: Any) -> None:
    """Seed the two global generators that spaCy and thinc use."""
    number = seed_from(*values) % 2**32
    random.seed(number)
    np.random.seed(number)


@contextmanager
def _own_randomness() -> Iterator[None]:
    """Restore the state of the global generators at the end of the context."""
    states = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])


# --- Scores -----------------------------------------------------------------------------------------------------------


def attachment(gold: Sequence[Parse], parser: Parser) -> dict[str, float]:
    """UAS, LAS and tag accuracy, in percent, of a parser with given words. All words count.

    UAS and LAS are 0 if the gold sentences have no heads.
    """
    heads = labels = tags = words = 0
    for one, other in zip(gold, parser.parse([parse.words for parse in gold]), strict=True):
        words += len(one.words)
        if isinstance(other, Refused):
            continue
        if one.heads:
            same = [a == b for a, b in zip(one.heads, other.heads, strict=True)]
            heads += sum(same)
            labels += sum(a and b == c for a, b, c in zip(same, one.labels, other.labels, strict=True))
        tags += sum(a == b for a, b in zip(one.tags, other.tags, strict=True))
    return {"uas": 100 * heads / words, "las": 100 * labels / words, "tags": 100 * tags / words}
