"""The bases of the settings of decoding and of scoring: `decoder` and `scoring` of a run in params.yaml."""

from collections.abc import Sequence
from typing import Annotated, Any, Generic, TypeVar

from pydantic import Field, field_validator

from espalier.datasets.encoding import Settings
from espalier.metrics.registry import own_names

Network = TypeVar("Network")
Dataset = TypeVar("Dataset")


class Decoder(Settings, Generic[Network, Dataset]):
    """The base of the settings of decoding, for models and datasets with settings of these types."""

    @property
    def needs_lexicon(self) -> bool:
        """Whether a run must name a `lexicon`."""
        return False

    @property
    def prefixes(self) -> int:
        """The number of prefixes that the search keeps per prompt."""
        return 1

    def check(self, network: Network, dataset: Dataset, samples: int) -> None:
        """Raise an error, when params.yaml is read, for settings that do not fit together.

        Args:
            network, dataset: validated settings of the run's model, and of the decoded dataset.

        Raises:
            ConfigError: settings do not fit; `where` is the key in the run's entry, such as "decoder.beam".
        """

    def shown(self, network: Network, samples: int, guidance: str | None) -> dict[str, Any]:
        """The settings of a run that a report shows, `protocol` first; None for settings that do not apply.

        Args:
            network: validated settings of the run's model.
            guidance: key of the run that guides this one, or None.
        """
        return {"protocol": "", **self.changed(()), "samples": samples if samples > 1 else None}

    def changed(self, always: Sequence[str], never: Sequence[str] = ()) -> dict[str, Any]:
        """The settings in `always`, and all that differ from their defaults.

        Args:
            never: settings that do not apply or are shown elsewhere.
        """
        defaults = {name: field.default for name, field in type(self).model_fields.items()}
        return {
            name: value for name, value in self if name not in never and (name in always or value != defaults[name])
        }


class Scoring(Settings):
    """The base of the settings of scoring."""

    #: Metrics of the user's own (`espalier.metrics.registry`) besides the task's, and the version of each. Raise a
    #: version when the metric's code changes: the runs that name it are then scored again.
    own_metrics: dict[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)

    @field_validator("own_metrics")
    @classmethod
    def _registered(cls, versions: dict[str, int]) -> dict[str, int]:
        known = sorted(own_names())
        for name in versions:
            if name not in known:
                own = ", ".join(known) or "none, as no module below plugins adds one to METRICS under a name without /"
                raise ValueError(f"unknown metric '{name}'; metrics of your own: {own}")
        return versions
