"""The models that write paraphrases and the trees that guide them, and the parser that reads what they are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from espalier.io.errors import ConfigError, DataError
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.parser import Refused
from pipeline import layout
from pipeline.commands.requests import dataset_of, model_asked, require_trained
from pipeline.device import device
from pipeline.params import PairDataset, Params

if TYPE_CHECKING:
    from espalier.datasets.pairs.vocabulary import PairVocabulary

#: The two sorts of model, by what they write: the option that names one, and its default's command.
SORTS = {"text": ("--model", "paraphrase"), "tree": ("--expander", "expand")}
#: What the command reads and writes.
LANGUAGE = "en"
WRITTEN = "paraphrases"


@dataclass(frozen=True)
class Loaded:
    """A trained model of pairs.

    Attributes:
        most: the word pieces of a text, and the nodes of a tree, that it was trained on at most.
    """

    key: str
    dataset: str
    model: Any
    vocabulary: PairVocabulary
    most: int

    @property
    def steps(self) -> int:
        """The longest row that it writes, its end counted."""
        view = self.model.config.view
        unit = 3 if view.writes == "tree" and view.form == "brackets" else 1
        return min(unit * self.most + 1, self.model.config.positions)


def chosen(params: Params, given: str | None, writes: str) -> str:
    """The key of the model that is asked for, else of the default.

    Raises:
        ConfigError: there is none, it is of another task or language, or it is not trained.
    """
    option, command = SORTS[writes]
    key, language = model_asked(params, given, f"{command}.{LANGUAGE}", option, PairDataset, WRITTEN)
    if language != LANGUAGE:
        raise ConfigError(f"model {key} writes {language}, not {LANGUAGE}", where=option)
    require_trained(key)
    return key


def loaded(params: Params, key: str, writes: str) -> Loaded:
    """A trained model that writes the "text" or the "tree" that is wanted of it.

    Raises:
        ConfigError: it writes the other, or is guided by no tree.
    """
    from espalier.models.serialization import load_model

    option, _ = SORTS[writes]
    model: Any
    model, vocabulary = load_model(layout.model(key))
    view = model.config.view
    if view.writes != writes:
        raise ConfigError(f"model {key} writes {view.writes}s", where=option, remedy=f"{SORTS[view.writes][0]} {key}")
    if writes == "text" and "target_tree" not in view.reads:
        raise ConfigError(
            f"model {key} reads no tree: no template guides it", where=option, remedy="name one that reads target_tree"
        )
    most = min(dataset_of(params, key, PairDataset, WRITTEN, option).most, model.config.positions - 2)
    return Loaded(key, params.models[key].dataset, model.to(device()), vocabulary, most)


def agree(expander: Loaded, writer: Loaded) -> None:
    """Make sure that each tree of `expander` is one that `writer` can read.

    Raises:
        ConfigError: they were trained with other labels, or to other depths.
    """
    own, other = expander.vocabulary.trees, writer.vocabulary.trees
    names = f"{expander.key} and {writer.key} were trained with other"
    remedy = "train both on one dataset, or on two that share a vocabulary (vocab_from)"
    if odd := sorted({*own.labels} ^ {*other.labels}):
        known = f"only one knows {', '.join(odd[:5])}" + (f" and {len(odd) - 5} more" if len(odd) > 5 else "")
        raise ConfigError(f"{names} labels: {known}", where="--expander", remedy=remedy)
    if own.depth != other.depth:
        raise ConfigError(f"{names} depths of trees: {own.depth} and {other.depth}", where="--expander", remedy=remedy)


def parsed(parser: str, texts: Sequence[str], names: Sequence[str]) -> list[Parse]:
    """The parses of texts, each with a tree.

    Args:
        names: what errors call each text.

    Raises:
        DataError: one cannot be parsed.
        ConfigError: the parser gives no trees.
    """
    from espalier.syntax.parsers.registry import load_parser

    found = list[Parse]()
    for name, answer in zip(names, load_parser(layout.parser(parser)).parse(texts), strict=True):
        if isinstance(answer, Refused):
            raise DataError(f"parser {parser} refuses it ({answer.reason})", file=name, remedy="give one sentence")
        if not answer.tree:
            raise ConfigError(f"parser {parser} gives no constituency trees", where=f"parsers/{parser}")
        found.append(answer)
    return found
