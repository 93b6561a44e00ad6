"""The services of models. This module does not import torch.

To add a service: `SERVICES["rhyme"] = Service("verse", "a model of verse", "my.module:RhymeWriter")`; then
`espalier.load(folder).answer("rhyme", inputs)` works.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from espalier.inference import requests as asked
from espalier.io.calls import kind_of, require_kind
from espalier.io.errors import CallError, ConfigError
from espalier.io.registry import Registry, imported

if TYPE_CHECKING:
    from espalier.datasets.pairs.data import PairView
    from espalier.datasets.pairs.encode import PairSettings
    from espalier.inference.loaded import LoadedModel
    from espalier.inference.writer import Writer
    from espalier.models.contract import NetworkSettings

Settings = TypeVar("Settings")
Network = TypeVar("Network")


@dataclass(frozen=True)
class Service(Generic[Settings, Network]):
    """A service that a model can offer.

    Attributes:
        encoding: key of the encoding that the model reads.
        needs: the models that offer it, for messages.
        writer: a writer class, or a function from a system and options to a writer; or "package.module:name", imported
            on use.
        options: the type of its options, of which a model can have its own defaults in `system.json`.
        parses: function of the settings of the model's encoding that tells whether inputs are parsed.
        serves: function that tells whether a model with these settings (`network`) offers it.
    """

    encoding: str
    needs: str
    writer: str | Callable[..., Any]
    options: type[asked.Options] = asked.Options
    parses: Callable[[Settings], bool] = lambda settings: False
    serves: Callable[[Network], bool] = lambda network: True

    def fits(self, encoding: str, network: Network) -> bool:
        """Whether a model with this encoding and these settings offers the service."""
        return encoding == self.encoding and self.serves(network)

    def require_options(self, given: Mapping[str, object]) -> None:
        """Raise a CallError if an option is unknown or of another type. Those of a function are not all known."""
        writer = imported("writer", self.writer, where="SERVICES")
        _, *own = inspect.signature(writer).parameters.values()  # the first is the system
        known = {each.name: writer for each in own if each.kind is not each.VAR_KEYWORD}
        known |= dict.fromkeys(inspect.signature(self.options).parameters, self.options)
        for name, value in given.items():
            if name in known:
                require_kind("", name, value, kind_of(known[name], name))
            elif known:
                raise CallError.unknown("option", name, known)

    def open(self, system: LoadedModel[Any, Any, Any], **options: Any) -> Writer[Any, Any, Any]:
        """A writer for this system.

        Raises:
            ConfigError: `writer` names a class that cannot be imported.
        """
        writer: Writer[Any, Any, Any] = imported("writer", self.writer, where="SERVICES")(system, **options)
        return writer


def reads_trees(view: PairView) -> bool:
    """Whether a model of pairs reads or writes trees as well as texts."""
    return view.writes == "tree" or set(view.reads) != {"source"}


def _has_trees(settings: PairSettings) -> bool:
    return settings.trees


def _always(settings: object) -> bool:
    return True


SERVICES: Final = Registry[Service[Any, Any]](
    "SERVICES",
    "service",
    Service,
    {
        "generate": Service("verse", "a model of verse", "espalier.inference.verse:VerseWriter", asked.VerseOptions),
        "polish": Service("verse", "a model of verse", "espalier.inference.verse:PolishWriter", asked.VerseOptions),
        "paraphrase": Service(
            "pairs",
            "a model of pairs that writes text",
            "espalier.inference.plain_paraphrase:paraphrase_writer",
            asked.ParaphraseOptions,
            _has_trees,
            lambda network: network.view.writes == "text",
        ),
        "expand": Service(
            "pairs",
            "a model of pairs that writes trees",
            "espalier.inference.paraphrase:ExpansionWriter",
            asked.ExpandOptions,
            _has_trees,
            lambda network: network.view.writes == "tree",
        ),
        "granularity": Service(
            "pairs",
            "a model with granularity heads (arch: cdnpg), or with levels (arch: dnpg)",
            "espalier.inference.plain_paraphrase:GranularityWriter",
            asked.GranularityOptions,
            _has_trees,
            lambda network: getattr(network, "granularity", "none") != "none",
        ),
        "compose": Service(
            "structure",
            "a model that reads structures (arch: sat)",
            "espalier.inference.compose:ComposeWriter",
            asked.ComposeOptions,
            _always,
            lambda network: bool(network.view.structures),
        ),
        "sample": Service(
            "structure",
            "a model that reads nothing but its own words (arch: sat, without structures and topics)",
            "espalier.inference.plain_text:SampleWriter",
            asked.SampleOptions,
            serves=lambda network: not network.view.reads,
        ),
        "reply": Service(
            "dialogue", "a model of dialogue", "espalier.inference.dialogue:ReplyWriter", asked.ReplyOptions, _always
        ),
    },
)


def services_of(encoding: str, network: NetworkSettings[Any]) -> list[str]:
    """The services that a model with this encoding and these settings offers."""
    return [name for name, each in SERVICES.items() if each.fits(encoding, network)]


def service(method: str, model: str, encoding: str, network: NetworkSettings[Any]) -> Service[Any, Any]:
    """Look up a service that a model offers.

    Args:
        model: name of the model.
        encoding, network: encoding that it reads, and its settings.

    Raises:
        ConfigError: the service is unknown, or the model does not offer it.
    """
    chosen = SERVICES.find(method)
    if chosen.fits(encoding, network):
        return chosen
    own = services_of(encoding, network)
    does = f"serves {' and '.join(own)}" if own else "serves likelihood alone"
    raise ConfigError(f"model {model} {does}; {method} needs {chosen.needs}")
