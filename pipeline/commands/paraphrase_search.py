"""Texts under templates, for people: a batch of templates is expanded, then a batch of texts is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from espalier.corpora.records import Pair
from espalier.io.errors import ConfigError, DataError
from espalier.syntax.parse import Parse
from pipeline.commands.paraphrase_models import Loaded
from pipeline.device import device

if TYPE_CHECKING:
    from espalier.decoding.paraphrase import PairDecoder

    from espalier.datasets.pairs.data import PairData, PairView

#: Beams that are searched together. It changes the speed, never the text.
BATCH = 256


@dataclass(frozen=True)
class Job:
    """A text, and the template or the whole tree that guides its paraphrases.

    Attributes:
        source: the text with its parse; as its own target, which nobody reads.
        told: whether people are told the template; not if they wrote it.
    """

    source: Pair
    template: str
    told: bool


@dataclass(frozen=True)
class Text:
    """A paraphrase.

    Attributes:
        tree: what guided it.
        score: its log-probability, given its source and its tree.
        lower: whether the model knows lower case alone.
    """

    words: list[str]
    tree: str
    score: float
    lower: bool
    job: Job


def source_of(name: str, text: str, parse: Parse, writer: Loaded) -> Pair:
    """A text with its parse as a record, if the models can read it.

    Args:
        name: what errors call the text; the record's id.

    Raises:
        DataError: it is too long, or its parse has labels that the models do not know.
    """
    from espalier.datasets.pairs.encode import linearize_pairs
    from espalier.syntax.constituency import cut, linearize, read_tree, write_tree

    symbols = writer.vocabulary.trees
    tree = cut(read_tree(parse.tree, words=False), symbols.depth)
    if odd := sorted({*linearize(tree)[0]} - {*symbols.labels}):
        raise DataError(
            f"its parse has labels that the models do not know: {', '.join(odd)}", file=name, remedy="word it otherwise"
        )
    words, nodes = " ".join(parse.words), write_tree(tree)
    source = Pair(
        id=name, origin="command line", language="en",
        source=text, source_words=words, source_tree=nodes, target=text, target_words=words, target_tree=nodes,
    )  # fmt: skip
    _, aside, _ = linearize_pairs([source], writer.vocabulary, most=writer.most)
    if aside:
        raise DataError(
            f"{'its parse' if 'nodes' in aside[0].reason else 'it'} has {aside[0].reason}",
            file=name,
            remedy="give one sentence at a time",
        )
    return source


def check_room(jobs: Sequence[Job], expander: Loaded) -> None:
    """Make sure that each template leads to a tree that is short enough.

    Raises:
        ConfigError: one does not.
    """
    from espalier.decoding.paraphrase import pair_constraint

    decoder, view = _tree_decoder(expander, 1), _open_view(expander)
    constraint, seen = pair_constraint(decoder, view, expander.vocabulary), set[str]()
    for job in jobs:
        if job.template in seen:
            continue
        seen.add(job.template)
        data = _data([job], expander, templates=[job.template])
        try:
            constraint.start(data.batch(np.array([0]), view))
        except ConfigError as error:
            raise ConfigError(
                error.what, where=f"{job.source.id}, template {job.template}", remedy="give a smaller template"
            ) from error


def paraphrases(jobs: Sequence[Job], writer: Loaded, expander: Loaded | None, n: int, beam: int) -> Iterator[Text]:
    """The `n` best texts of each job, in order, the best first; fewer where beams end in the same words.

    Without an expander each job's template is the whole tree.
    """
    size = max(1, BATCH // beam)
    for start in range(0, len(jobs), size):
        part = jobs[start : start + size]
        trees = _expanded(part, expander, beam) if expander else [job.template for job in part]
        yield from _written(part, trees, writer, n, beam)


def _expanded(jobs: Sequence[Job], expander: Loaded, beam: int) -> list[str]:
    """The best tree for each job's source that keeps its template."""
    from espalier.decoding.paraphrase import pair_constraint, tree_text, write_pairs

    decoder, view = _tree_decoder(expander, beam), _open_view(expander)
    data = _data(jobs, expander, templates=[job.template for job in jobs])
    batch = data.batch(np.arange(len(jobs)), view).to(device())
    found = write_pairs(expander.model, batch, decoder, pair_constraint(decoder, view, expander.vocabulary))
    return [tree_text(each[0].tokens, view, expander.vocabulary) for each in found]


def _written(jobs: Sequence[Job], trees: list[str], writer: Loaded, n: int, beam: int) -> Iterator[Text]:
    """The best texts for each job's source under its tree."""
    from espalier.decoding.paraphrase import PairDecoder, pair_constraint, write_pairs

    decoder = PairDecoder(beam=beam, steps=writer.steps, min_ids=1)
    view, vocabulary = writer.model.config.view, writer.vocabulary
    batch = _data(jobs, writer, guides=trees).batch(np.arange(len(jobs)), view).to(device())
    found = write_pairs(writer.model, batch, decoder, pair_constraint(decoder, view, vocabulary))
    for job, tree, hypotheses in zip(jobs, trees, found, strict=True):
        scores = dict[str, float]()
        for each in hypotheses:  # pieces differ where words do not
            scores.setdefault(vocabulary.decode_text(each.tokens), each.log_probability)
        for text, score in list(scores.items())[:n]:
            yield Text(text.split(), tree, score, vocabulary.lower, job)


def _data(
    jobs: Sequence[Job], model: Loaded, *, guides: list[str] | None = None, templates: list[str] | None = None
) -> PairData:
    """The jobs' texts as a model reads them."""
    from espalier.datasets.pairs.encode import linearize_pairs

    sources = [job.source for job in jobs]
    data, aside, _ = linearize_pairs(sources, model.vocabulary, most=model.most, guides=guides, templates=templates)
    if aside:
        raise DataError(f"model {model.key} cannot read it: {aside[0].reason}", file=aside[0].id)
    return data


def _tree_decoder(expander: Loaded, beam: int) -> PairDecoder:
    from espalier.decoding.paraphrase import PairDecoder

    return PairDecoder(beam=beam, steps=expander.steps, constraint="template")


def _open_view(expander: Loaded) -> PairView:
    """What the expander reads, and the template if it does not; kept are all levels that are given."""
    view: PairView = expander.model.config.view
    reads = dict.fromkeys((*view.reads, "template"))
    return replace(view, reads=tuple(reads), template=expander.vocabulary.trees.depth)
