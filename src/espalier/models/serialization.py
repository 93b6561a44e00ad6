"""Models on disk: the weights of each seed, the settings, and the vocabulary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from espalier.datasets.encoding import Vocabulary
from espalier.datasets.registry import encoding
from espalier.io.errors import ArtifactError
from espalier.io.files import read_json, write_json
from espalier.models.registry import architecture

#: The version of `model.json` and of the weights beside it.
FORMAT = 1


def save_model(folder: Path, arch: str, model: nn.Module, vocabulary: Vocabulary, seed: int) -> None:
    """Write the weights of one seed, the settings and the vocabulary into a model's folder."""
    config: BaseModel = model.config  # type: ignore[assignment]
    write_json(folder / "model.json", {"format": FORMAT, "arch": arch, "config": config.model_dump(mode="json")})
    vocabulary.save(folder / "vocabulary.json")
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    file = folder / f"seed{seed}.safetensors"
    try:
        save_file(weights, file)
    except SafetensorError as error:
        raise ArtifactError(f"cannot write ({error})", where=file, remedy="free the place and run again") from error


def load_model(folder: Path, seed: int | None = None) -> tuple[nn.Module, Any]:
    """A trained model in evaluation mode, and its vocabulary.

    Args:
        seed: of the weights; None means the lowest.

    Raises:
        ArtifactError: a file is missing or of another version, or the weights do not fit the settings.
    """
    shape = folder / "model.json"
    value = read_json(shape)
    version = value.get("format") if isinstance(value, dict) else None
    if version != FORMAT:
        raise ArtifactError(
            f"format {version}, where this version of Espalier reads {FORMAT}", where=shape, remedy="train it again"
        )
    try:
        arch = architecture(value["arch"], where=str(shape))
        vocabulary = encoding(arch.encoding).vocabulary.load(folder / "vocabulary.json")
        model = arch.build(arch.config.model_validate(value["config"]), vocabulary)
    except (KeyError, TypeError, ValidationError) as error:
        raise ArtifactError(f"not the shape of a model ({error})", where=shape, remedy="train it again") from error
    load_weights(model, weights_of(folder, seed))
    return model.eval(), vocabulary


def weights_of(folder: Path, seed: int | None = None) -> Path:
    """The file of one seed's weights; None means the lowest seed.

    Raises:
        ArtifactError: there is none.
    """
    files = {int(file.stem.removeprefix("seed")): file for file in folder.glob("seed*.safetensors")}
    if not files or (seed is not None and seed not in files):
        raise ArtifactError(
            "no weights" + (f" of seed {seed}" if seed is not None else ""), where=folder, remedy="train the model"
        )
    return files[min(files) if seed is None else seed]


def load_weights(model: nn.Module, file: Path) -> None:
    """Load a file's weights into `model`.

    Raises:
        ArtifactError: the file is not safetensors, or its tensors are of another architecture.
    """
    try:
        weights = load_file(file)
    except (SafetensorError, OSError) as error:
        raise ArtifactError(f"not readable as weights ({error})", where=file, remedy="train the model again") from error
    expected = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    actual = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    for name in sorted(expected.keys() | actual.keys()):
        if expected.get(name) != actual.get(name):
            raise ArtifactError(
                f"weights of another architecture: {name} is {actual.get(name, 'missing')} there, "
                f"{expected.get(name, 'unknown')} here",
                where=file,
            )
    model.load_state_dict(weights)
