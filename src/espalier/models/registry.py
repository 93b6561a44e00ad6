"""Which architectures there are.

Hang your own in here: a config, a module with the contract of `contract.py`, and the vocabulary and the linearized data
that it is built on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from espalier.datasets.dialogue.data import DialogueData
from espalier.datasets.pairs.data import PairData
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.verse.data import VerseData
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import WordVocabulary
from espalier.io.errors import ArtifactError, ConfigError
from espalier.io.files import read_json, write_json
from espalier.models.guig import GuiG
from espalier.models.guig_config import GuiGConfig
from espalier.models.responder import Responder, ResponderConfig
from espalier.models.scpn import SCPN, SCPNConfig
from espalier.models.songnet import SongNet, SongNetConfig
from espalier.models.x2tree import X2Tree, X2TreeConfig

AnyVocabulary = WordVocabulary | PairVocabulary


@dataclass(frozen=True)
class Architecture:
    """How a model is configured and built, and what it reads."""

    config: type[BaseModel]
    build: Callable[[Any, Any], nn.Module]
    vocabulary: type[WordVocabulary] | type[PairVocabulary]
    data: type[VerseData] | type[PairData] | type[DialogueData]


ARCHITECTURES = {
    "songnet": Architecture(SongNetConfig, SongNet, VerseVocabulary, VerseData),
    "guig": Architecture(GuiGConfig, GuiG, PairVocabulary, PairData),
    "scpn": Architecture(SCPNConfig, SCPN, PairVocabulary, PairData),
    "x2tree": Architecture(X2TreeConfig, X2Tree, WordVocabulary, DialogueData),
    "responder": Architecture(ResponderConfig, Responder, WordVocabulary, DialogueData),
}


def architecture(name: str, *, where: str | None = None) -> Architecture:
    """The architecture of that name.

    Raises:
        ConfigError: there is none.
    """
    if name not in ARCHITECTURES:
        raise ConfigError.unknown("arch", name, ARCHITECTURES, where=where)
    return ARCHITECTURES[name]


def save_model(folder: Path, arch: str, model: nn.Module, vocabulary: AnyVocabulary, seed: int) -> None:
    """Add the weights of one seed to a model's folder, beside the JSON of its shape and its vocabulary."""
    config: BaseModel = model.config  # type: ignore[assignment]
    write_json(folder / "model.json", {"arch": arch, "config": config.model_dump(mode="json")})
    vocabulary.save(folder / "vocabulary.json")
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    file = folder / f"seed{seed}.safetensors"
    try:
        save_file(weights, file)
    except SafetensorError as error:
        raise ArtifactError(f"cannot write ({error})", where=file, remedy="free the place and run again") from error


def load_model(folder: Path, seed: int | None = None) -> tuple[nn.Module, Any]:
    """A model as it was trained, ready to decode.

    Args:
        seed: whose weights; None means the first.

    Raises:
        ArtifactError: no weights are there, or they are of another architecture than the JSON beside them says.
    """
    shape = folder / "model.json"
    value = read_json(shape)
    try:
        kind = architecture(value["arch"], where=str(shape))
        vocabulary = kind.vocabulary.load(folder / "vocabulary.json")
        model = kind.build(kind.config.model_validate(value["config"]), vocabulary)
    except (KeyError, TypeError, ValidationError) as error:
        raise ArtifactError(f"not the shape of a model ({error})", where=shape, remedy="train it again") from error
    load_weights(model, weights_of(folder, seed))
    return model.eval(), vocabulary


def weights_of(folder: Path, seed: int | None = None) -> Path:
    """The file of one seed's weights; None means the lowest seed.

    Raises:
        ArtifactError: there is none.
    """
    found = {int(file.stem.removeprefix("seed")): file for file in folder.glob("seed*.safetensors")}
    if not found or (seed is not None and seed not in found):
        raise ArtifactError(
            "no weights" + (f" of seed {seed}" if seed is not None else ""), where=folder, remedy="train the model"
        )
    return found[min(found) if seed is None else seed]


def load_weights(model: nn.Module, file: Path) -> None:
    """Put a file's weights into `model`.

    Raises:
        ArtifactError: it is no safetensors file, or its tensors are of another architecture.
    """
    try:
        weights = load_file(file)
    except (SafetensorError, OSError) as error:
        raise ArtifactError(f"not readable as weights ({error})", where=file, remedy="train the model again") from error
    own = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    given = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    for name in sorted(own.keys() | given.keys()):
        if own.get(name) != given.get(name):
            raise ArtifactError(
                f"weights of another architecture: {name} is {given.get(name, 'missing')} there, "
                f"{own.get(name, 'unknown')} here",
                where=file,
            )
    model.load_state_dict(weights)
