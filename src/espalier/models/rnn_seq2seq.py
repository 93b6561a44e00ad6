"""The chain decoders that X2Tree is compared with: a GRU writes the response from left to right.

They differ in what they see of the post. SEQ2SEQ (Sutskever et al. 2014) begins with the encoder's last state and sees
no more of it; ENCDEC (Cho et al. 2014) sees it in every cell and before every softmax; ATT (Bahdanau et al. 2015) sees
an average of the encoder's states, weighted anew at each step; NRM (Shang et al. 2015) sees both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from espalier.datasets.dialogue.data import DialogueBatch
from espalier.datasets.vocabulary import WordVocabulary
from espalier.layers.linear import linear
from espalier.layers.readout import Readout
from espalier.layers.recurrent import gru_update
from espalier.models.contract import Loss
from espalier.models.dialogue_config import Context, RNNSeq2SeqConfig
from espalier.models.post_encoder import EncodedPosts, PostEncoder


@dataclass
class RNNSeq2SeqState:
    """A batch of prefixes.

    Attributes:
        rows: (prefixes,) whose post each answers.
        hidden: (prefixes, width).
    """

    post: EncodedPosts
    rows: Tensor
    hidden: Tensor

    def select(self, index: Tensor) -> RNNSeq2SeqState:
        """The rows `index`; posts are never copied."""
        return replace(self, rows=self.rows[index], hidden=self.hidden[index])


class RNNSeq2Seq(nn.Module):
    """The model over the chain contract."""

    def __init__(self, config: RNNSeq2SeqConfig, vocabulary: WordVocabulary) -> None:
        super().__init__()
        self.config, self.vocabulary = config, vocabulary
        words, width, word, inner = vocabulary.text_size, config.width, config.word, config.readout
        seen: Context = "last" if config.context == "initial" else config.context
        self.reader = PostEncoder(words, word, width, seen, both_ways=config.both_ways)
        self.embedding = nn.Embedding(words, word)
        self.feeds = config.context != "initial"
        context = self.reader.out if self.feeds else 0
        self.initial = nn.Linear(self.reader.final, width)
        self.decoder = nn.GRU(word + context, width, batch_first=True)
        # SEQ2SEQ reads words out of its state alone.
        self.features = nn.Linear(width + word + context if self.feeds else width, inner)
        self.readout = Readout(inner, words)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -config.scale, config.scale)

    # --- The contract ------------------------------------------------------------------------------------------------

    def forward(self, batch: DialogueBatch, smoothing: float = 0.0) -> Loss:
        """`loss`, by the name under which wrappers (autocast, data parallelism) look for it."""
        return self.loss(batch, smoothing)

    def loss(self, batch: DialogueBatch, smoothing: float = 0.0) -> Loss:
        """Summed negative log-likelihood of the responses' words and ends."""
        real = batch.real
        return Loss(self.readout.loss(self._features(batch)[real], batch.target[real], smoothing), real.sum())

    def token_losses(self, batch: DialogueBatch) -> Tensor:
        """(batch, time) nats of each target, 0 at padding."""
        real = batch.real
        found = self.readout.log_probabilities(self._features(batch)[real]).gather(1, batch.target[real][:, None])
        return found.new_zeros(real.shape).masked_scatter(real, -found)

    def start(self, batch: DialogueBatch) -> RNNSeq2SeqState:
        """Read the posts; h_0 = tanh(V x + b), for SEQ2SEQ as well, whose x is nowhere else."""
        post = self.reader(batch.source, self.config.dropout)
        return RNNSeq2SeqState(post, torch.arange(len(batch), device=batch.device), self.initial(post.last).tanh())

    def step(self, tokens: Tensor, state: RNNSeq2SeqState) -> tuple[Tensor, RNNSeq2SeqState]:
        """Read `tokens`, (batch,); give log-probabilities of the next, (batch, words)."""
        x = self.embedding(tokens)
        context = self.reader.look(state.post, state.rows, state.hidden)
        hidden = self._advance(self._into(x), context, state.hidden, self._weights())
        return self.readout.log_probabilities(self._joined(hidden, x, context)), replace(state, hidden=hidden)

    # --- Its parts ---------------------------------------------------------------------------------------------------

    def _features(self, batch: DialogueBatch) -> Tensor:
        """(batch, time, readout) of every place."""
        state, x = self.start(batch), self._drop(self.embedding(batch.inputs))
        if self.reader.context == "last":
            context = state.post.last[:, None].expand(-1, x.shape[1], -1)
            fed = torch.cat([x, context], dim=-1) if self.feeds else x
            hidden, _ = self.decoder(fed, state.hidden[None])
        else:
            hiddens, contexts, weights = [state.hidden], list[Tensor](), self._weights()
            for into in self._into(x).unbind(1):
                contexts.append(self.reader.look(state.post, None, hiddens[-1]))
                hiddens.append(self._advance(into, contexts[-1], hiddens[-1], weights))
            hidden, context = torch.stack(hiddens[1:], dim=1), torch.stack(contexts, dim=1)
        return self._drop(self._joined(hidden, x, context))

    def _into(self, x: Tensor) -> Tensor:
        """(..., 3 width): the cell's input from its words (..., word)."""
        weight, _, bias, _ = self.decoder.all_weights[0]
        return F.linear(x, weight[:, : self.config.word], bias)

    def _weights(self) -> tuple[Tensor, Tensor, Tensor]:
        """What the cell has for the context and for its state, and the state's bias."""
        weight, recurrent, _, bias = self.decoder.all_weights[0]
        return weight[:, self.config.word :], recurrent, bias

    def _advance(self, into: Tensor, context: Tensor, hidden: Tensor, weights: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        """(n, width) hidden states one place further."""
        seen, recurrent, bias = weights
        if self.feeds:
            into = into + F.linear(context, seen)
        return gru_update(into, linear(hidden, recurrent, bias), hidden)

    def _joined(self, hidden: Tensor, x: Tensor, context: Tensor) -> Tensor:
        """tanh(U [h; y; x]), what the softmax reads."""
        read = torch.cat([hidden, x, context], dim=-1) if self.feeds else hidden
        return linear(read, self.features.weight, self.features.bias).tanh()

    def _drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.config.dropout, self.training) if self.config.dropout else x
