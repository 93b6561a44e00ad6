"""The architectures by name. The settings of a model are imported when they are read, its module when it is built.

To add one: `ARCHITECTURES["mine"] = Architecture(MySettings, "verse", "my.module:MyModel")`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel

from espalier.io.registry import Registry, imported

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
        settings: the type of its settings, or "package.module:Class", which is imported when it is used.
        encoding: key of the encoding that the model reads.
        model: class that follows the contract of `contract.py`, or "package.module:Class", which is imported when a
            model is built.
    """

    settings: str | type[BaseModel]
    encoding: str
    model: str | type

    @property
    def config(self) -> type[BaseModel]:
        """The type of its settings, `network` in params.yaml.

        Raises:
            ConfigError: `settings` names a class that cannot be imported.
        """
        config: type[BaseModel] = imported("settings", self.settings, where="ARCHITECTURES")
        return config

    def build(self, config: NetworkSettings[object], vocabulary: Vocabulary) -> nn.Module:
        """Build a model with random weights, drawn from torch's generator.

        Raises:
            ConfigError: `model` names a class that cannot be imported.
        """
        return imported("model", self.model, where="ARCHITECTURES")(config, vocabulary)


_MODELS: Final = "espalier.models"

ARCHITECTURES: Final = Registry[Architecture](
    "ARCHITECTURES",
    "arch",
    Architecture,
    {
        "songnet": Architecture(f"{_MODELS}.songnet_config:SongNetConfig", "verse", f"{_MODELS}.songnet:SongNet"),
        "verse_seq2seq": Architecture(
            f"{_MODELS}.songnet_config:VerseSeq2SeqConfig", "verse", f"{_MODELS}.rnn_seq2seq:RNNSeq2Seq"
        ),
        "guig": Architecture(f"{_MODELS}.guig_config:GuiGConfig", "pairs", f"{_MODELS}.guig:GuiG"),
        "scpn": Architecture(f"{_MODELS}.guig_config:SCPNConfig", "pairs", f"{_MODELS}.scpn:SCPN"),
        "cdnpg": Architecture(f"{_MODELS}.cdnpg_config:CDNPGConfig", "pairs", f"{_MODELS}.cdnpg:CDNPG"),
        "pair_seq2seq": Architecture(
            f"{_MODELS}.cdnpg_config:PairSeq2SeqConfig", "pairs", f"{_MODELS}.pair_seq2seq:PairSeq2Seq"
        ),
        "dnpg": Architecture(f"{_MODELS}.cdnpg_config:DNPGConfig", "pairs", f"{_MODELS}.dnpg:DNPG"),
        "x2tree": Architecture(f"{_MODELS}.dialogue_config:X2TreeConfig", "dialogue", f"{_MODELS}.x2tree:X2Tree"),
        "sat": Architecture(f"{_MODELS}.sat_config:SATConfig", "structure", f"{_MODELS}.sat:SAT"),
        "rnn_seq2seq": Architecture(
            f"{_MODELS}.dialogue_config:RNNSeq2SeqConfig", "dialogue", f"{_MODELS}.rnn_seq2seq:RNNSeq2Seq"
        ),
    },
)
