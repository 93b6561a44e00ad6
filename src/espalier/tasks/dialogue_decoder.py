"""Settings of decoding replies. The search is in `dialogue_search.py`, which imports torch."""

from collections.abc import Sequence
from typing import Any, Literal, Protocol, Self, TypeAlias

from pydantic import Field, model_validator

from espalier.datasets.dialogue.data import ARITY, DialogueBatch, DialogueView
from espalier.datasets.dialogue.encode import DialogueSettings
from espalier.datasets.vocabulary import WordVocabulary
from espalier.decoding.bounds import MAX_BEAM, MAX_LENGTH_POWER, MAX_LOCAL, MAX_MMI, MAX_TEMPERATURE, MAX_TOP_K
from espalier.io.errors import ConfigError
from espalier.models.contract import ChainModel, NetworkSettings, TreeModel
from espalier.tasks.settings import Decoder

DialogueChain: TypeAlias = ChainModel[DialogueBatch, WordVocabulary, DialogueView, Any]
DialogueTree: TypeAlias = TreeModel[DialogueBatch, WordVocabulary, DialogueView, Any, Any]
DialogueModel: TypeAlias = DialogueChain | DialogueTree


class DialogueNetwork(NetworkSettings[DialogueView], Protocol):
    """The settings of a model of dialogue."""

    @property
    def context(self) -> str:
        """What the model reads of the post at every step."""


class DialogueDecoder(Decoder[DialogueNetwork, DialogueSettings]):
    """Settings of decoding replies: `decoder` of a run in params.yaml."""

    #: Replies are searched, or sampled (ours).
    method: Literal["beam", "top_k"] = "beam"
    top_k: int = Field(32, ge=1, le=MAX_TOP_K)
    temperature: float = Field(1.0, gt=0, le=MAX_TEMPERATURE)
    #: The beam size: G of trees (6 in the paper), or that of chains (200 in the paper); of samples, their number.
    beam: int = Field(6, ge=1, le=MAX_BEAM)
    #: L: the number of groups of children that are kept for each leaf of a tree.
    local: int = Field(6, ge=1, le=MAX_LOCAL)
    #: The shortest and the longest reply, in words; a reply of `max_words` words is not expanded.
    min_words: int = Field(1, ge=1, le=10_000)
    max_words: int = Field(50, ge=1, le=10_000)
    #: The largest number of levels of a tree.
    depth: int = Field(30, ge=1, le=10_000)
    #: The leaf that is expanded next: the "first" open one of the tree, or "any", as in the paper.
    order: Literal["any", "first"] = "first"
    #: The search of trees ends when no open tree can overtake the finished ones ("sure"), or, as in the paper, when
    #: enough trees are finished.
    stop: Literal["sure", "paper"] = "sure"
    #: A reply of n words, a tree or a chain, is ranked by log-probability / min(n + 1, max_words)**length_power.
    length_power: float = Field(0.0, ge=0, le=MAX_LENGTH_POWER)
    #: The beam's replies are ranked anew by log p(y | x) - mmi log p(y), with the same length penalty; 0: are not.
    mmi: float = Field(0.0, ge=0, le=MAX_MMI)
    #: Decode only this many posts of the split, after the first `skip`; 0 means all.
    posts: int = Field(0, ge=0, le=100_000_000)
    skip: int = Field(0, ge=0, le=100_000_000)

    @model_validator(mode="after")
    def _bounds(self) -> Self:
        if self.min_words > self.max_words:
            raise ValueError(f"min_words: {self.min_words} is greater than max_words: {self.max_words}")
        if self.method == "top_k" and self.min_words > 1:
            raise ValueError(f"min_words: {self.min_words}, but samples have no shortest length")
        return self

    @property
    def prefixes(self) -> int:
        """The beam size, or the number of samples."""
        return self.beam

    def check(self, network: DialogueNetwork, dataset: DialogueSettings, samples: int) -> None:
        """Check that `beam` is at least the number of replies, and that trees have a word order (K = 3, or chains)."""
        if samples > self.beam:
            raise ConfigError(f"{samples} replies of {self.beam} beams", where="samples", remedy=f"at most {self.beam}")
        if network.view.shape == "tree":
            check_arity(network.view.arity)

    def shown(self, network: DialogueNetwork, samples: int, guidance: str | None) -> dict[str, Any]:
        """The settings to show. A run that writes chains has no settings of tree search."""
        shape = network.view.shape
        tree, sampled = shape == "tree", self.method == "top_k"
        searched = {"tree": "tree beam", "chain": "chain beam", "linear": "chain beam over trees"}[shape]
        never = () if tree else ("local", "depth", "order", "stop")
        unranked = () if self.mmi else ("length_power",)
        other = ("local", "order", "stop", *unranked) if sampled else ("top_k", "temperature")
        return {
            "protocol": searched.replace("beam", "samples") if sampled else searched,
            "K": network.view.arity if shape != "chain" else None,
            "context": network.context,
            **({"k": self.top_k} if sampled else {}),
            **self.changed(("beam",) if sampled else ("beam", "local"), (*never, *other, "method", "top_k")),
            "replies": samples,
        }


def length_of(words: Sequence[str], decoder: DialogueDecoder) -> float:
    """The divisor of the length penalty: (n + 1)**`length_power`, where n + 1 is at most `max_words`."""
    return float(min(len(words) + 1, decoder.max_words) ** decoder.length_power)


def check_arity(arity: int) -> None:
    """Raise an error for trees without a word order.

    Raises:
        ConfigError: K is neither 1 nor 3.
    """
    if arity not in (1, ARITY):
        raise ConfigError(
            f"trees of {arity} children a node have no order of words",
            where="model",
            remedy=f"a model with arity {ARITY}, or 1",
        )
