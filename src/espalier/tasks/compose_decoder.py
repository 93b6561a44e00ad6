"""Settings of decoding texts under structures. The search is in `sequence_search.py`."""

from typing import Any, Literal, TypeAlias

from pydantic import Field

from espalier.datasets.structure.data import StructureBatch, StructureView
from espalier.datasets.structure.encode import StructureSettings
from espalier.datasets.structure.vocabulary import StructureVocabulary
from espalier.decoding.bounds import MAX_BEAM, MAX_LENGTH_POWER, MAX_TEMPERATURE, MAX_TOP_K
from espalier.io.errors import ConfigError
from espalier.models.contract import ChainModel, NetworkSettings
from espalier.tasks.settings import Decoder

ComposeModel: TypeAlias = ChainModel[StructureBatch, StructureVocabulary, StructureView, Any]


class ComposeDecoder(Decoder[NetworkSettings[StructureView], StructureSettings]):
    """Settings of decoding: `decoder` of a run in params.yaml."""

    #: "continue": each text starts with the prompt of its record; "none": with nothing.
    prompt: Literal["continue", "none"] = "continue"
    #: Make each text exactly as long as its template.
    frame: bool = False
    method: Literal["top_k", "beam"] = "top_k"
    top_k: int = Field(32, ge=1, le=MAX_TOP_K)
    temperature: float = Field(1.0, gt=0, le=MAX_TEMPERATURE)
    beam: int = Field(5, ge=1, le=MAX_BEAM)
    length_power: float = Field(0.0, ge=0, le=MAX_LENGTH_POWER)
    #: Without `frame`: a text is at most this many tokens longer than its template.
    slack: int = Field(20, ge=0, le=10_000)

    @property
    def extra_tokens(self) -> int:
        """The number of tokens by which a text may be longer than its template."""
        return 0 if self.frame else self.slack

    @property
    def prefixes(self) -> int:
        """The beam size; 1 for sampling."""
        return self.beam if self.method == "beam" else 1

    def check(self, network: NetworkSettings[StructureView], dataset: StructureSettings, samples: int) -> None:
        """Check that texts fit the model's positions, and that the dataset has the structures that the model reads."""
        if missing := [name for name in network.view.structures if name not in dataset.structures]:
            raise ConfigError(
                f"the dataset has no structure {missing[0]}, which the model reads",
                where="dataset",
                remedy=f"add it to the dataset's structures, which are {', '.join(dataset.structures) or 'none'}",
            )
        if (tokens := dataset.max_length + 1 + self.extra_tokens) > network.positions:
            raise ConfigError(
                f"texts of up to {tokens} tokens, of a model that has {network.positions} positions",
                where="decoder",
                remedy="raise the model's network.positions, or lower the dataset's max_length or decoder.slack",
            )

    def shown(self, network: NetworkSettings[StructureView], samples: int, guidance: str | None) -> dict[str, Any]:
        """The settings to show. Settings that the method does not use are None or left out."""
        beam = self.method == "beam"
        never = ["prompt", "frame", "method", "top_k", "beam", "temperature" if beam else "length_power"]
        return {
            "protocol": "frame" if self.frame else "free",
            "prompt": self.prompt,
            "decoder": "beam" if beam else "top-k",
            "k": None if beam else self.top_k,
            "beam": self.beam if beam else None,
            **self.changed((), [*never, *(["slack"] if self.frame else [])]),
            "samples": samples if samples > 1 else None,
        }
