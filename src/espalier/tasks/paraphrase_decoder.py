"""Settings of decoding paraphrases and their trees. The search is in `paraphrase_search.py`, which imports torch."""

from typing import Any, Literal, Self, TypeAlias

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from espalier.datasets.pairs.data import PairBatch, PairView
from espalier.datasets.pairs.encode import PairSettings
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.decoding.bounds import CANDIDATES, MAX_BEAM, MAX_CANDIDATES, MAX_LENGTH_POWER
from espalier.io.errors import ConfigError
from espalier.models.contract import ChainModel, NetworkSettings
from espalier.tasks.settings import Decoder

PairModel: TypeAlias = ChainModel[PairBatch, PairVocabulary, PairView, Any]


class PairDecoder(Decoder[NetworkSettings[PairView], PairSettings]):
    """Settings of decoding with a model of pairs: `decoder` of a run in params.yaml."""

    #: The tree that guides a text generator: the target's own, its template, or the output of another run.
    guide: Literal["target", "template", "run"] = "target"
    #: The template that an expander expands: the top of the target's tree, or the corpus's most frequent templates, one
    #: for each sample (table 5).
    template: Literal["target", "frequent"] = "target"
    beam: int = Field(8, ge=1, le=MAX_BEAM)
    #: The shortest text, in ids without EOS; 0 allows an empty one.
    min_ids: int = Field(0, ge=0, le=65_536)
    #: A hypothesis of n ids, its end among them, is ranked by log-probability / n**length_power.
    length_power: float = Field(0.0, ge=0, le=MAX_LENGTH_POWER)
    #: The longest text or tree, in ids with EOS.
    max_ids: int = Field(52, ge=2, le=65_536)
    #: For models that write trees: "tree" allows only well-formed trees; "template" also keeps the template's levels;
    #: "open_template" keeps its nodes, and any of them that has no children there may have some.
    constraint: Literal["none", "tree", "template", "open_template"] = "none"
    #: Write candidates for each text. They are parsed as the texts of all runs are, and scoring takes the first whose
    #: parse keeps the template (`espalier.tasks.candidates`).
    strict: bool = False
    #: Their number: the hypotheses of the beam, those of a beam under the classes of words of the tree's leaves, and
    #: samples beyond them.
    candidates: int = Field(CANDIDATES, ge=1, le=MAX_CANDIDATES)
    #: Added to the ranking of a candidate, times `kept_of_source`. It is in the unit of the ranking, which depends on
    #: `length_power`.
    source_weight: float = Field(0.0, ge=0, le=1000)
    #: Keep z of each piece of the source and of the best text, for models with granularity heads or levels.
    granularity: bool = False
    #: Decode only this many pairs, spread over the split; 0 means all.
    rows: int = Field(0, ge=0, le=100_000_000)

    @model_validator(mode="after")
    def _bounds(self) -> Self:
        if self.min_ids >= self.max_ids:
            raise ValueError(f"min_ids: {self.min_ids} and an end do not fit into max_ids: {self.max_ids}")
        if self.min_ids > 1 and self.constraint != "none":
            raise ValueError(f"min_ids: {self.min_ids} is for texts; a constraint decides when a tree may end")
        if not self.strict and "candidates" in self.model_fields_set:
            raise ValueError(f"candidates: {self.candidates} are for strict: true")
        if not self.strict and self.source_weight:
            raise ValueError(f"source_weight: {self.source_weight} is for strict: true")
        return self

    @model_serializer(mode="wrap")
    def _shown(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The settings without those of candidates if there are none: records of other runs stay as they are."""
        found: dict[str, Any] = dump(self)
        unused = () if self.source_weight else ("source_weight",)
        unused = unused if self.strict else ("strict", "candidates", *unused)
        return {name: found[name] for name in found if name not in unused}

    @property
    def prefixes(self) -> int:
        """The beam size, or the number of samples beyond the beams if that is larger."""
        return max(self.beam, self.sampled) if self.strict else self.beam

    @property
    def varied(self) -> bool:
        """Whether samples have different trees or templates. Else they are the best hypotheses of one search."""
        return self.guide == "run" or self.template == "frequent"

    @property
    def classed(self) -> int:
        """The candidates of the beam under classes of words."""
        return min(self.beam, max(0, self.candidates - self.beam))

    @property
    def sampled(self) -> int:
        """The candidates that are samples."""
        return max(0, self.candidates - 2 * self.beam)

    def check(self, network: NetworkSettings[PairView], dataset: PairSettings, samples: int) -> None:
        """Check that outputs fit the model's positions, and that models of trees have pairs with trees."""
        if self.max_ids > network.positions:
            raise ConfigError(
                f"{self.max_ids} ids, of a model that has {network.positions} positions",
                where="decoder.max_ids",
                remedy=f"at most {network.positions}",
            )
        view = network.view
        if not dataset.trees and (view.writes == "tree" or set(view.reads) - {"source"}):
            raise ConfigError("the model reads or writes trees, and the pairs have none", where="dataset")
        if self.granularity and getattr(network, "granularity", "none") == "none":
            raise ConfigError("the model has no granularity", where="decoder.granularity", remedy="leave it out")
        check_constraint(self, view)
        if self.strict and not (view.writes == "text" and "target_tree" in view.reads):
            raise ConfigError("the model writes no texts along trees", where="decoder.strict", remedy="leave it out")
        if self.source_weight and "source" not in view.reads:
            raise ConfigError("the model reads no source", where="decoder.source_weight", remedy="leave it out")
        if self.strict and samples > 1 and (self.guide != "run" or self.template == "frequent"):
            what = "candidates of several samples are guided by the trees of a run"
            raise ConfigError(what, where="samples", remedy="one sample, or guide: run and template: target")
        if samples > 1 and self.guide == "run" and not (view.writes == "text" and "target_tree" in view.reads):
            raise ConfigError("the model writes no texts along trees", where="decoder.guide", remedy="leave it out")
        if not self.strict and not self.varied and samples > self.beam:
            what = f"{samples} samples, the best of {self.beam} beams"
            raise ConfigError(what, where="samples", remedy="a wider beam")

    def shown(self, network: NetworkSettings[PairView], samples: int, guidance: str | None) -> dict[str, Any]:
        """The settings to show. `protocol` is the tree that guides a text, or the constraint of a tree."""
        if network.view.writes == "tree":
            constraints = {"none": "unconstrained", "tree": "well-formed"}
            protocol = constraints.get(self.constraint, "template kept")
        elif "target_tree" not in network.view.reads:
            protocol = ""
        else:
            protocol = {"target": "target parse", "template": "bare template", "run": "expanded parse"}[self.guide]
        return {
            "protocol": protocol,
            "guidance": guidance,
            **self.changed(("beam",), ("guide", "constraint", "granularity")),
            "samples": samples if samples > 1 else None,
        }


def check_constraint(decoder: PairDecoder, view: PairView) -> None:
    """Raise a ConfigError if a constraint for trees is used with texts."""
    if view.writes == "text" and decoder.constraint != "none":
        raise ConfigError(f"{decoder.constraint} is for trees", where="decoder.constraint", remedy="none, for texts")
