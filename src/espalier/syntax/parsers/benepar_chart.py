"""benepar's span scores and best trees, without unnecessary computations of its own code.

A `ChartParser` scores a span by its two fenceposts: f(e[j] - e[i]), where the first layer is linear. Here that layer is
applied to fenceposts instead of spans, and only to spans that begin before they end. The best tree is computed without
gradients. In training, gradients flow only through spans in which the best and the gold tree differ, since the margin
loss has no gradient elsewhere. Scores, losses and gradients equal those of benepar's `forward` and `compute_loss` up to
rounding.

Trees are labelled spans there. A unary chain is one label, S::VP. Tags are not constituents.

Source: Kitaev and Klein 2018 (arXiv 1805.01052), section 2; the margin loss: Stern, Andreas and Klein 2017
(arXiv 1705.03919), section 4.2. Shapes: B sentences of at most N words, width D, L labels, the first of them empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from espalier.syntax.constituency import WRAPPERS
from espalier.syntax.tree import Tree


class Nodes(NamedTuple):
    """Constituents of a batch, all (nodes,): sentence, first word, number of words less one, label.

    They are sorted by sentence, then start, then decreasing width, which is pre-order.
    """

    sentence: Tensor
    start: Tensor
    width: Tensor
    label: Tensor


def annotate_pretrained(model: Any, encoded: Sequence[Any]) -> tuple[Tensor, Tensor]:
    """Annotations, (B, N + 2, D), and mask, (B, N + 2), of sentences from the model's retokenizer."""
    batch = model.pad_encoded(list(encoded))
    extra = {}
    for name in ("token_type_ids", "decoder_input_ids", "decoder_attention_mask"):
        if name in batch:
            extra[name] = batch[name].to(model.device)
    hidden = model.pretrained_model(
        batch["input_ids"].to(model.device), attention_mask=batch["attention_mask"].to(model.device), **extra
    ).last_hidden_state
    rows = batch["words_from_tokens"].to(model.device)
    mask = batch["valid_token_mask"].to(model.device)
    features = hidden[torch.arange(len(rows), device=model.device)[:, None], rows.clamp(min=0)]
    features = features.masked_fill(~mask[:, :, None], 0)
    return annotate(model, model.project_pretrained(features), mask), mask


def annotate(model: Any, content: Tensor, mask: Tensor) -> Tensor:
    """Annotations, (B, N + 2, D), from word vectors, (B, N + 2, D / 2), or (.., D) without an encoder."""
    if model.encoder is None:
        return content
    hidden = model.encoder(model.add_timing(model.morpho_emb_dropout(content)), mask)
    return torch.cat([hidden[..., 0::2], hidden[..., 1::2]], -1)


def fenceposts(model: Any, annotations: Tensor) -> Tensor:
    """(B, N + 1, D): half of the word before a fencepost, and half of the word after it."""
    half = model.d_model // 2
    return torch.cat([annotations[:, :-1, :half], annotations[:, 1:, half:]], -1)


def score_spans(model: Any, posts: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Scores, (B, spans, L - 1), of all labels but the empty one (score 0), and the starts and widths of spans.

    Args:
        posts: fenceposts, (B, N + 1, D).
    """
    first, *rest = model.f_label
    words = posts.shape[1] - 1
    start, last = torch.triu_indices(words, words, device=posts.device)
    hidden = F.linear(posts, first.weight)
    scores = hidden.index_select(1, last + 1)
    scores -= hidden.index_select(1, start)
    scores += first.bias
    for layer in rest:
        scores = F.relu_(scores) if isinstance(layer, torch.nn.ReLU) else layer(scores)
    return scores, start, last - start


def best_nodes(
    scores: Tensor, start: Tensor, width: Tensor, lengths: Tensor, force_root: bool, gold: Tensor | None = None
) -> Nodes:
    """The nodes of the best binary tree of each sentence (CKY), including nodes with the empty label.

    Args:
        scores: (B, spans, L - 1), from `score_spans`; overwritten if `gold` is given.
        lengths: number of words of each sentence, (B,).
        force_root: whether the root must have a label.
        gold: labels (B, spans). All other labels, including the empty one, then get 1 added to their scores (Hamming
            margin).
    """
    if gold is not None:
        scores += 1
        named = gold > 0
        scores[named] = scores[named].scatter_add(-1, gold[named, None] - 1, scores.new_full((int(named.sum()), 1), -1))
    best, label = scores.max(-1)
    label += 1
    empty = torch.zeros_like(best) if gold is None else (gold > 0).to(best.dtype)
    keep = best > empty
    if force_root:
        keep |= (start == 0) & (width == lengths[:, None] - 1)
    label = torch.where(keep, label, 0)
    size = len(lengths), int(width.max()) + 1, int(width.max()) + 1
    chart = best.new_zeros(size)
    chart[:, start, width] = torch.where(keep, best, empty)
    labels = label.new_zeros(size)
    labels[:, start, width] = label
    chosen = _best_trees(chart, lengths)
    sentence, first, narrower = chosen.flip(2).nonzero(as_tuple=True)
    wide = size[1] - 1 - narrower
    return Nodes(sentence, first, wide, labels[sentence, first, wide])


def _best_trees(chart: Tensor, lengths: Tensor) -> Tensor:
    """The spans, (B, N starts, N widths), of the best tree of each sentence. `chart` is overwritten."""
    words = chart.shape[1]
    # The best totals by start and width, and again by end and, from the right, width: a split's halves then are rows.
    ending = torch.empty_like(chart)
    ending[:, :, words - 1] = chart[:, :, 0]
    split = torch.zeros(chart.shape, dtype=torch.long, device=chart.device)
    for width in range(1, words):
        halves = chart[:, : words - width, :width] + ending[:, width:, words - width :]
        best, split[:, : words - width, width] = halves.max(-1)
        best += chart[:, : words - width, width]
        chart[:, : words - width, width] = best
        ending[:, width:, words - 1 - width] = best
    chosen = torch.zeros(chart.shape, dtype=torch.bool, device=chart.device)
    chosen[torch.arange(len(lengths), device=chart.device), 0, lengths - 1] = True
    for width in range(words - 1, 0, -1):
        sentence, start = chosen[:, :, width].nonzero(as_tuple=True)
        left = split[sentence, start, width]
        chosen[sentence, start, left] = True
        chosen[sentence, start + left + 1, width - 1 - left] = True
    return chosen


def margin_loss(model: Any, posts: Tensor, lengths: Tensor, gold: Nodes) -> Tensor:
    """The summed margin loss of a batch, with benepar's value and gradient.

    Args:
        posts: fenceposts (B, N + 1, D), with a gradient.
        gold: constituents of the gold trees, without the empty label.
    """
    with torch.no_grad():
        scores, start, width = score_spans(model, posts.detach())
        words = posts.shape[1] - 1
        labels = torch.zeros(len(lengths), words, words, dtype=torch.long, device=posts.device)
        labels[gold.sentence, gold.start, gold.width] = gold.label
        best = best_nodes(scores, start, width, lengths, model.decoder.force_root_constituent, labels[:, start, width])
        wrong = best.label != labels[best.sentence, best.start, best.width]
        guessed = torch.zeros_like(labels)
        guessed[best.sentence, best.start, best.width] = best.label
        missed = guessed[gold.sentence, gold.start, gold.width] != gold.label
        named = wrong & (best.label > 0)
        sentence, first, wide, label = (
            torch.cat([one[named], other[missed]]) for one, other in zip(best, gold, strict=True)
        )
        sign = torch.ones(len(label), device=posts.device)
        sign[int(named.sum()) :] = -1
    flat, row = posts.flatten(0, 1), sentence * posts.shape[1] + first
    # index_select, since its gradient is summed in a fixed order on every machine, unlike that of indexing.
    features = flat.index_select(0, row + wide + 1) - flat.index_select(0, row)
    found_scores = model.f_label(features).gather(1, label[:, None] - 1).squeeze(1)
    return (found_scores * sign).sum() + wrong.sum()


#: Joins a unary chain's labels.
CHAIN: Final = "::"
#: The tag of a word where the model has no tagger.
UNKNOWN: Final = "UNK"


class Span(NamedTuple):
    """A constituent: words `start` (from 0) to `end` (exclusive), and its labels from the top, joined by `CHAIN`."""

    start: int
    end: int
    label: str


def spans_of(tree: Tree) -> list[Span]:
    """The labelled constituents of a tree, children before parents, without the root's empty label and the tags."""
    spans: list[Span] = []
    position = 0
    # A stack instead of recursion: a node is followed by its children, and they by the label that closes it.
    stack: list[Tree | tuple[int, str]] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            start, label = node
            if label:
                spans.append(Span(start, position, label))
            continue
        chain: list[str] = []
        while not isinstance(node[0], str):
            if chain or node.label() not in WRAPPERS:
                chain.append(node.label())
            if len(node) > 1:
                break
            node = node[0]
        stack.append((position, CHAIN.join(chain)))
        if isinstance(node[0], str):
            position += 1
        else:
            stack.extend(reversed(node))
    return spans


def tree_over(words: Sequence[str], tags: Sequence[str], spans: Iterable[Span]) -> Tree:
    """Build the tree of labelled spans.

    Args:
        tags: one per word; empty if the model has no tagger.
        spans: nested, parents before children (by start, then the longest first).

    Returns:
        A tree without TOP, unless no label spans all words.
    """
    top = Tree("TOP", [])
    open_spans = [(len(words), top)]
    position = 0
    for span in spans:
        position = _add_words(open_spans, words, tags, position, span.start)
        node = open_spans[-1][1]
        for label in span.label.split(CHAIN):
            node.append(child := Tree(label, []))
            node = child
        open_spans.append((span.end, node))
    _add_words(open_spans, words, tags, position, len(words))
    return top[0] if len(top) == 1 else top


def _add_words(
    open_spans: list[tuple[int, Tree]], words: Sequence[str], tags: Sequence[str], position: int, until: int
) -> int:
    """Attach words up to `until` to the constituents that contain them, and close constituents that end there."""
    while True:
        while len(open_spans) > 1 and open_spans[-1][0] <= position:
            open_spans.pop()
        if position == until:
            return position
        open_spans[-1][1].append(Tree(tags[position] if tags else UNKNOWN, [words[position]]))
        position += 1
