"""GuiG's embeddings of word pieces and of tree symbols. The same matrices score the output."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from espalier.datasets.pairs.tree_symbols import TreeSymbols
from espalier.datasets.vocabulary import PAD
from espalier.layers.linear import linear
from espalier.layers.readout import TargetScores, readout_loss, target_scores


class PieceEmbedding(nn.Module):
    """Embedding of word pieces; its matrix also scores the output (Vaswani et al. 2017, section 3.4)."""

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        # `forward` multiplies by sqrt(width).
        self.pieces = embedding(size, width, width**-0.5)

    def forward(self, row: Tensor) -> Tensor:
        """(batch, time) ids to (batch, time, width)."""
        return self.pieces(row) * math.sqrt(self.pieces.embedding_dim)

    def loss(self, x: Tensor, target: Tensor, smoothing: float) -> Tensor:
        """loss_txt of GuiG, section 3.2, summed over (rows, width) states."""
        return readout_loss(x, self.pieces.weight, None, target, smoothing)

    def target_scores(self, x: Tensor, target: Tensor) -> TargetScores:
        """The scores of `target`, (rows,), at (rows, width) states."""
        return target_scores(x, self.pieces.weight, None, target)

    def log_probabilities(self, x: Tensor, sharpness: float = 1.0) -> Tensor:
        """(rows, width) states to (rows, size)."""
        return F.log_softmax(_sharpened(linear(x, self.pieces.weight, None), sharpness), dim=-1)


class TreeSymbolEmbedding(nn.Module):
    """`TreeSymbols` as Emb(x) = Emb(p) + Emb(l), with two output classifications: node and level (section 3.1)."""

    def __init__(self, symbols: TreeSymbols, width: int, alpha: float, beta: float) -> None:
        super().__init__()
        self.alpha, self.beta = alpha, beta
        self.nodes, self.levels = (embedding(size, width, width**-0.5) for size in (symbols.nodes, symbols.levels))
        self.label_ids: Tensor
        self.level_ids: Tensor
        self.register_buffer("label_ids", torch.from_numpy(symbols.label_ids), persistent=False)
        self.register_buffer("level_ids", torch.from_numpy(symbols.level_ids), persistent=False)

    def forward(self, row: Tensor) -> Tensor:
        """(batch, time) symbols to (batch, time, width)."""
        embedded = self.nodes(self.label_ids[row]) + self.levels(self.level_ids[row])
        return embedded * math.sqrt(self.nodes.embedding_dim)

    def loss(self, x: Tensor, target: Tensor, smoothing: float) -> Tensor:
        """loss_syn of GuiG, section 3.1: alpha times the loss of nodes plus beta times the loss of levels, summed."""
        nodes, levels = (
            F.cross_entropy(logits, classes[target], reduction="sum", label_smoothing=smoothing)
            for logits, classes in zip(self._logits(x), (self.label_ids, self.level_ids), strict=True)
        )
        return self.alpha * nodes + self.beta * levels

    def log_probabilities(self, x: Tensor, sharpness: float = 1.0) -> Tensor:
        """(rows, width) states to (rows, symbols): the sum of the log-probabilities of the node and of the level.

        The two are predicted independently. Combinations that are not symbols, such as a special with a level, have
        probability too, so the probabilities of the symbols sum to less than 1.
        """
        nodes, levels = (F.log_softmax(_sharpened(logits, sharpness), dim=-1) for logits in self._logits(x))
        return nodes[:, self.label_ids] + levels[:, self.level_ids]

    def _logits(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return (x @ self.nodes.weight.t()).float(), (x @ self.levels.weight.t()).float()


def _sharpened(logits: Tensor, sharpness: float) -> Tensor:
    return logits.float() if sharpness == 1.0 else logits.float() * sharpness


def embedding(size: int, width: int, std: float) -> nn.Embedding:
    """An embedding with weights from N(0, std) and a padding row of 0."""
    table = nn.Embedding(size, width, padding_idx=PAD)
    nn.init.normal_(table.weight, std=std)
    with torch.no_grad():
        table.weight[PAD].zero_()
    return table
