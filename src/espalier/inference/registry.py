"""What can be asked of a model. This module imports no torch.

To add a service: `SERVICES["compose"] = Service("structure", "a model of structures", "my.module:ComposeWriter")`; then
`espalier.load(folder).answer("compose", inputs)` works.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from espalier.io.errors import ConfigError
from espalier.io.registry import entry, imported

if TYPE_CHECKING:
    from espalier.inference.writer import Writer


@dataclass(frozen=True)
class Service:
    """One thing that a model can be asked to do.

    Attributes:
        encoding: the key of the encoding that the model reads.
        needs: the models that can do it, for messages.
        writer: the class that does it, or "package.module:Class", imported when it is used.
        parses: whether it parses what it is given.
        serves: whether a model with this view can do it.
    """

    encoding: str
    needs: str
    writer: str | type
    parses: bool = False
    serves: Callable[[Any], bool] = lambda view: True

    def fits(self, encoding: str, view: Any) -> bool:
        """Whether a model that reads this encoding under this view can do it."""
        return encoding == self.encoding and self.serves(view)

    def open(self, system: Any, **options: Any) -> Writer[Any, Any, Any]:
        """A writer for this system.

        Raises:
            ConfigError: `writer` names no class that can be imported.
        """
        writer: Writer[Any, Any, Any] = imported("writer", self.writer, where="SERVICES")(system, **options)
        return writer


def _writes_guided_text(view: Any) -> bool:
    return view.writes == "text" and "target_tree" in view.reads


def _writes_trees(view: Any) -> bool:
    return bool(view.writes == "tree")


SERVICES: Final[dict[str, Service]] = {
    "generate": Service("verse", "a model of verse", "espalier.inference.verse:VerseWriter"),
    "polish": Service("verse", "a model of verse", "espalier.inference.verse:PolishWriter"),
    "paraphrase": Service(
        "pairs",
        "a model of pairs that writes text and reads target_tree",
        "espalier.inference.paraphrase:ParaphraseWriter",
        True,
        _writes_guided_text,
    ),
    "expand": Service(
        "pairs",
        "a model of pairs that writes trees",
        "espalier.inference.expansion:ExpansionWriter",
        True,
        _writes_trees,
    ),
    "reply": Service("dialogue", "a model of dialogue", "espalier.inference.dialogue:ReplyWriter", True),
}


def service(method: str, model: str, encoding: str, view: Any) -> Service:
    """The service of that name, for a model that can do it.

    Args:
        model: its name.
        encoding, view: what it reads.

    Raises:
        ConfigError: the model cannot, or there is no such service.
    """
    chosen = entry("service", SERVICES, method)
    if chosen.fits(encoding, view):
        return chosen
    own = [name for name, other in SERVICES.items() if other.fits(encoding, view)]
    does = f"serves {' and '.join(own)}" if own else "serves likelihood alone"
    raise ConfigError(f"model {model} {does}; {method} needs {chosen.needs}")
