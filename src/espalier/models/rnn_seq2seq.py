"""An encoder-decoder of GRUs that writes from left to right: X2Tree's four baselines, and SongNet's S2S.

The models differ in their context. SEQ2SEQ (Sutskever et al. 2014) starts from the encoder's last state and has no
context. ENCDEC (Cho et al. 2014) reads that state at every step. ATT (Bahdanau et al. 2015) reads an average of the
encoder's states, weighted by attention. NRM (Shang et al. 2015) reads both, concatenated. S2S is ATT over the row C of
a frame.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from espalier.datasets.dialogue.data import DialogueBatch
from espalier.datasets.verse.data import VerseBatch
from espalier.datasets.vocabulary import WordVocabulary
from espalier.layers.dropout import dropout
from espalier.layers.linear import linear
from espalier.layers.readout import Readout
from espalier.layers.recurrent import gru_update
from espalier.models.contract import Loss, scattered
from espalier.models.dialogue_config import Context, RNNSeq2SeqConfig
from espalier.models.post_encoder import EncodedPosts, PostEncoder
from espalier.models.songnet_config import VerseSeq2SeqConfig


@dataclass
class RNNSeq2SeqState:
    """A batch of prefixes.

    Attributes:
        rows: (prefixes,) source of each prefix.
        hidden: (prefixes, width).
    """

    post: EncodedPosts
    rows: Tensor
    hidden: Tensor

    def select(self, index: Tensor) -> Self:
        """The rows `index`. The encoded posts are not copied."""
        return replace(self, rows=self.rows[index], hidden=self.hidden[index])


class RNNSeq2Seq(nn.Module):
    """The model over the chain contract. A batch has `inputs` and `target`; `config.source` names its source."""

    vocabulary_rows: ClassVar[tuple[str, ...]] = (
        "post_encoder.embedding.weight", "embedding.weight", "readout.weight", "readout.bias",
    )  # fmt: skip

    def __init__(self, config: RNNSeq2SeqConfig | VerseSeq2SeqConfig, vocabulary: WordVocabulary) -> None:
        super().__init__()
        self.config, self.vocabulary = config, vocabulary
        words, width, word, inner = vocabulary.text_size, config.width, config.word, config.readout
        encoder_context: Context = "last" if config.context == "initial" else config.context
        ids = vocabulary.size
        self.post_encoder = PostEncoder(ids, word, width, encoder_context, bidirectional=config.bidirectional)
        self.embedding = nn.Embedding(words, word)
        self.feeds = config.context != "initial"
        context = self.post_encoder.out if self.feeds else 0
        self.initial = nn.Linear(self.post_encoder.final, width)
        self.decoder = nn.GRU(word + context, width, batch_first=True)
        # SEQ2SEQ predicts words only from its state.
        self.features = nn.Linear(width + word + context if self.feeds else width, inner)
        self.readout = Readout(inner, words)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -config.scale, config.scale)

    # --- The contract ------------------------------------------------------------------------------------------------

    def forward(self, batch: DialogueBatch | VerseBatch, smoothing: float = 0.0) -> Loss:
        """Summed negative log-likelihood of the words of the targets and EOS."""
        real = batch.real
        return Loss(
            self.readout.loss(batch.unpadded(self._features(batch)), batch.unpadded(batch.target), smoothing),
            real.sum(),
        )

    def token_losses(self, batch: DialogueBatch | VerseBatch) -> Tensor:
        """(batch, time) nats of each target, 0 at padding."""
        real = batch.real
        scores = self.readout.target_scores(batch.unpadded(self._features(batch)), batch.unpadded(batch.target)).chosen
        return scattered(-scores, real)

    def start(self, batch: DialogueBatch | VerseBatch) -> RNNSeq2SeqState:
        """Encode the sources. h_0 = tanh(V x + b), where x is the last state of the encoder."""
        post = self.post_encoder(getattr(batch, self.config.source), self.config.dropout)
        return RNNSeq2SeqState(post, torch.arange(len(batch), device=batch.device), self.initial(post.last).tanh())

    def step(self, tokens: Tensor, state: RNNSeq2SeqState) -> tuple[Tensor, RNNSeq2SeqState]:
        """Read `tokens`, (batch,); return log-probabilities of the next, (batch, words)."""
        x = self.embedding(tokens)
        context = self.post_encoder.contexts(state.post, state.rows, state.hidden)
        hidden = self._advance(self._into(x), context, state.hidden, self._weights())
        return self.readout.log_probabilities(self._joined(hidden, x, context)), replace(state, hidden=hidden)

    # --- Its parts ---------------------------------------------------------------------------------------------------

    def _features(self, batch: DialogueBatch | VerseBatch) -> Tensor:
        """(batch, time, readout) features of every place."""
        state, x = self.start(batch), self._drop(self.embedding(batch.inputs))
        if self.post_encoder.context == "last":
            context = state.post.last[:, None].expand(-1, x.shape[1], -1)
            fed = torch.cat([x, context], dim=-1) if self.feeds else x
            hidden, _ = self.decoder(fed, state.hidden[None])
        else:
            hiddens, contexts, weights = [state.hidden], list[Tensor](), self._weights()
            for into in self._into(x).unbind(1):
                contexts.append(self.post_encoder.contexts(state.post, None, hiddens[-1]))
                hiddens.append(self._advance(into, contexts[-1], hiddens[-1], weights))
            hidden, context = torch.stack(hiddens[1:], dim=1), torch.stack(contexts, dim=1)
        return self._drop(self._joined(hidden, x, context))

    def _into(self, x: Tensor) -> Tensor:
        """(..., 3 width): the input of the cell from embedded words, (..., word)."""
        weight, _, bias, _ = self.decoder.all_weights[0]
        return F.linear(x, weight[:, : self.config.word], bias)

    def _weights(self) -> tuple[Tensor, Tensor, Tensor]:
        """The GRU's weights for context and state, and the bias of the state."""
        weight, recurrent, _, bias = self.decoder.all_weights[0]
        return weight[:, self.config.word :], recurrent, bias

    def _advance(self, into: Tensor, context: Tensor, hidden: Tensor, weights: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        """(n, width) the hidden states after one more place."""
        context_weight, state_weight, bias = weights
        if self.feeds:
            into = into + F.linear(context, context_weight)
        return gru_update(into, linear(hidden, state_weight, bias), hidden)

    def _joined(self, hidden: Tensor, x: Tensor, context: Tensor) -> Tensor:
        """tanh(U [h; y; x]), the input of the readout."""
        joined = torch.cat([hidden, x, context], dim=-1) if self.feeds else hidden
        return linear(joined, self.features.weight, self.features.bias).tanh()

    def _drop(self, x: Tensor) -> Tensor:
        return dropout(x, self.config.dropout, self.training)
