"""The architectures by name. This module does not import torch; a model's module is imported when the model is built.

To add one: `ARCHITECTURES["mine"] = Architecture(MySettings, "verse", "my.module:MyModel")`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel

from espalier.io.registry import Registry, imported
from espalier.models.cdnpg_config import CDNPGConfig
from espalier.models.dialogue_config import RNNSeq2SeqConfig, X2TreeConfig
from espalier.models.dnpg_config import DNPGConfig
from espalier.models.guig_config import GuiGConfig
from espalier.models.pair_seq2seq_config import PairSeq2SeqConfig
from espalier.models.sat_config import SATConfig
from espalier.models.scpn_config import SCPNConfig
from espalier.models.songnet_config import SongNetConfig
from espalier.models.verse_seq2seq_config import VerseSeq2SeqConfig

if TYPE_CHECKING:
    from torch import nn

    from espalier.datasets.encoding import Vocabulary
    from espalier.models.cdnpg import CDNPG
    from espalier.models.contract import ChainModel, NetworkSettings, TreeModel
    from espalier.models.dnpg import DNPG
    from espalier.models.guig import GuiG
    from espalier.models.pair_seq2seq import PairSeq2Seq
    from espalier.models.rnn_seq2seq import RNNSeq2Seq
    from espalier.models.sat import SAT
    from espalier.models.scpn import SCPN
    from espalier.models.songnet import SongNet
    from espalier.models.x2tree import X2Tree

    # Names are imported when they are used, so only here does the type checker see that they follow the contract.
    _CHAINS: tuple[type[ChainModel[Any, Any, Any, Any]], ...] = (
        SongNet, RNNSeq2Seq, GuiG, SCPN, CDNPG, PairSeq2Seq, DNPG, SAT,
    )  # fmt: skip
    _TREES: tuple[type[TreeModel[Any, Any, Any, Any, Any]], ...] = (X2Tree,)


@dataclass(frozen=True)
class Architecture:
    """The settings, the encoding and the class of a model.

    Attributes:
        config: the type of its settings, `network` in params.yaml.
        encoding: key of the encoding that the model reads.
        model: class that follows the contract of `contract.py`, or "package.module:Class", which is imported when a
            model is built.
    """

    config: type[BaseModel]
    encoding: str
    model: str | type

    def build(self, config: NetworkSettings[object], vocabulary: Vocabulary) -> nn.Module:
        """Build a model with random weights, drawn from torch's generator.

        Raises:
            ConfigError: `model` names a class that cannot be imported.
        """
        return imported("model", self.model, where="ARCHITECTURES")(config, vocabulary)


ARCHITECTURES: Final = Registry[Architecture](
    "ARCHITECTURES",
    "arch",
    Architecture,
    {
        "songnet": Architecture(SongNetConfig, "verse", "espalier.models.songnet:SongNet"),
        "verse_seq2seq": Architecture(VerseSeq2SeqConfig, "verse", "espalier.models.rnn_seq2seq:RNNSeq2Seq"),
        "guig": Architecture(GuiGConfig, "pairs", "espalier.models.guig:GuiG"),
        "scpn": Architecture(SCPNConfig, "pairs", "espalier.models.scpn:SCPN"),
        "cdnpg": Architecture(CDNPGConfig, "pairs", "espalier.models.cdnpg:CDNPG"),
        "pair_seq2seq": Architecture(PairSeq2SeqConfig, "pairs", "espalier.models.pair_seq2seq:PairSeq2Seq"),
        "dnpg": Architecture(DNPGConfig, "pairs", "espalier.models.dnpg:DNPG"),
        "x2tree": Architecture(X2TreeConfig, "dialogue", "espalier.models.x2tree:X2Tree"),
        "sat": Architecture(SATConfig, "structure", "espalier.models.sat:SAT"),
        "rnn_seq2seq": Architecture(RNNSeq2SeqConfig, "dialogue", "espalier.models.rnn_seq2seq:RNNSeq2Seq"),
    },
)
