"""Models on disk: the weights of each seed, the settings, and the vocabulary.

The metadata of a weights file holds digests of its tensors and of the other two files. They are verified when a model
is loaded. A folder for the Hugging Face Hub has the weights of one seed, and names that the Hub knows: `config.json`
and `model.safetensors`.
"""

import hashlib
import json
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch
from pydantic import BaseModel, ValidationError
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from espalier.datasets.encoding import Vocabulary
from espalier.datasets.registry import ENCODINGS
from espalier.io.errors import ArtifactError, ConfigError
from espalier.io.files import read_json, write_json
from espalier.io.hashing import file_sha256
from espalier.models.registry import ARCHITECTURES

#: The version of `model.json` and of the weights beside it.
FORMAT = 2
#: The files that all seeds share.
SHAPE, VOCABULARY = "model.json", "vocabulary.json"
#: The files of the weights, one for each seed.
WEIGHTS = "seed[0-9]*.safetensors"
#: What the Hugging Face Hub calls the settings, and the weights of the one seed.
HUB_SHAPE, HUB_WEIGHTS = "config.json", "model.safetensors"
#: The key of the weights' metadata that holds the digests, as JSON.
DIGESTS = "sha256"
#: The digest that is the seed of weights whose name does not say it.
_SEED = "seed"


@runtime_checkable
class NamedIds(Vocabulary, Protocol):
    """A vocabulary whose ids are comparable with those of another."""

    @property
    def meanings(self) -> list[tuple[str, str]]:
        """The kind and meaning of each id."""


@runtime_checkable
class NamedSymbols(Protocol):
    """A vocabulary with separate symbols of structures."""

    @property
    def structures(self) -> tuple[str, ...]:
        """The names of the structures."""

    def symbol_meanings(self, structure: str) -> list[tuple[str, str]]:
        """The kind and meaning of each symbol id of a structure."""


def save_model(
    folder: Path, arch: str, model: nn.Module, vocabulary: Vocabulary, seed: int, *, hub: bool = False
) -> None:
    """Write the weights of one seed, the settings and the vocabulary into the folder of a model.

    Args:
        hub: whether the files have the names of the Hugging Face Hub.
    """
    config: BaseModel = model.config  # type: ignore[assignment]
    shape, file = (HUB_SHAPE, HUB_WEIGHTS) if hub else (SHAPE, f"seed{seed}.safetensors")
    write_json(folder / shape, {"format": FORMAT, "arch": arch, "config": config.model_dump(mode="json")})
    vocabulary.save(folder / VOCABULARY)
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    digests = {"tensors": _digest(weights), **{name: file_sha256(folder / name) for name in (shape, VOCABULARY)}}
    digests |= {_SEED: str(seed)} if hub else {}
    try:
        # A single key, since safetensors writes several keys in any order.
        save_file(weights, folder / file, {DIGESTS: json.dumps(digests, sort_keys=True)})
    except SafetensorError as error:
        raise ArtifactError(
            f"cannot write ({error})", where=folder / file, remedy="free disk space and run again"
        ) from error


def load_model(folder: Path, seed: int | None = None) -> tuple[nn.Module, Vocabulary]:
    """Load a trained model, in evaluation mode, and its vocabulary.

    Args:
        seed: seed of the weights; None means the lowest.

    Raises:
        ArtifactError: a file is missing, damaged or of another version, or the weights do not match the settings.
    """
    shape = shape_of(folder)
    value = read_json(shape)
    version = value.get("format") if isinstance(value, dict) else None
    if version != FORMAT:
        raise ArtifactError(
            f"format {version}, where this version of Espalier reads {FORMAT}", where=shape, remedy="train it again"
        )
    try:
        arch = ARCHITECTURES.find(value["arch"], where=str(shape))
        vocabulary = ENCODINGS[arch.encoding].vocabulary.load(folder / VOCABULARY)
        config: Any = arch.config.model_validate(value["config"])
        model = arch.build(config, vocabulary)
    except (KeyError, TypeError, ValidationError) as error:
        raise ArtifactError(f"not the shape of a model ({error})", where=shape, remedy="train it again") from error
    digests = load_weights(model, weights_of(folder, seed))
    for name in (shape.name, VOCABULARY):
        if digests.get(name) != file_sha256(folder / name):
            raise _damaged(folder / name, "not the file that the weights were written with")
    return model.eval(), vocabulary


def shape_of(folder: Path) -> Path:
    """The file with the settings of a model; it need not exist."""
    hub = folder / HUB_SHAPE
    return hub if hub.is_file() and not (folder / SHAPE).is_file() else folder / SHAPE


def weights_of(folder: Path, seed: int | None = None) -> Path:
    """The weights file of a seed; None means the lowest seed.

    Raises:
        ArtifactError: there is no such file.
    """
    files = weights_files(folder)
    if not files or (seed is not None and seed not in files):
        raise ArtifactError(
            "no weights" + (f" of seed {seed}" if seed is not None else ""), where=folder, remedy="train the model"
        )
    return files[min(files) if seed is None else seed]


def weights_files(folder: Path) -> dict[int, Path]:
    """The weights files of a model, by seed; none if it has none."""
    files = {int(file.stem.removeprefix("seed")): file for file in folder.glob(WEIGHTS)}
    if not files and (file := folder / HUB_WEIGHTS).is_file():
        files = {_seed_of(file): file}
    return files


def _seed_of(file: Path) -> int:
    """The seed in the metadata of a weights file."""
    with _opened(file) as (_, digests):
        seed = digests.get(_SEED, "")
    if not seed.isdecimal():
        raise _damaged(file, "weights without their seed")
    return int(seed)


def load_weights(model: nn.Module, file: Path) -> dict[str, str]:
    """Load the weights of a file into `model`.

    Returns:
        The digests in the file, by name.

    Raises:
        ArtifactError: the file is not safetensors or is damaged, or its tensors belong to another architecture or are
            not finite.
    """
    weights, digests = read_weights(file)
    _require_shapes(_shapes(model.state_dict()), _shapes(weights), file)
    _require_sound(weights, digests, file)
    model.load_state_dict(weights)
    return digests


def map_weights(model: nn.Module, vocabulary: Vocabulary, folder: Path) -> dict[str, int]:
    """Load the weights of a trained model (lowest seed) into `model`, which has another vocabulary.

    Some tensors have one row per id. The model lists them in `vocabulary_rows`, and in `symbol_rows` if it has separate
    tables of symbols. Their rows are copied by the meaning of the ids: equal words, or equal names of symbols. Rows of
    ids that the trained model lacks keep their initial values. All other tensors are copied whole.

    Args:
        vocabulary: vocabulary of `model`, with `meanings`, and with `symbol_meanings` if the model has `symbol_rows`.
        folder: folder of the trained model.

    Returns:
        "copied": the number of ids with copied rows; "new": the number of other ids.

    Raises:
        ArtifactError: as in `load_weights`; or the vocabularies differ in language or have no word in common.
        ConfigError: the model does not name `vocabulary_rows`.
    """
    named: tuple[str, ...] = getattr(model, "vocabulary_rows", ())
    if not named or not isinstance(vocabulary, NamedIds):
        raise ConfigError(
            f"{type(model).__name__} does not say which of its weights belong to words",
            where="training.init_vocab",
            remedy="same, with a dataset whose vocab_from is the first model's",
        )
    file = weights_of(folder)
    weights, digests = read_weights(file)
    known = type(vocabulary).load(folder / VOCABULARY)
    if digests.get(VOCABULARY) != file_sha256(folder / VOCABULARY):
        raise _damaged(folder / VOCABULARY, "not the file that the weights were written with")
    own, theirs = vocabulary.meanings, known.meanings
    if known.language != vocabulary.language or not any(kind == "word" for kind, _ in {*own} & {*theirs}):
        raise ArtifactError("its vocabulary has no word of this one", where=folder, remedy="another init, or none")
    pairs = dict.fromkeys(named, _same_rows(own, theirs))
    copied, count = len(pairs[named[0]]), len(own)
    for name, structure in getattr(model, "symbol_rows", {}).items():
        symbols = _symbols(vocabulary, structure)
        pairs[name] = _same_rows(symbols, _symbols(known, structure))
        copied, count = copied + len(pairs[name]), count + len(symbols)
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    _require_shapes(_shapes(state, pairs), _shapes(weights, pairs), file)
    _require_sound(weights, digests, file)
    for name, tensor in weights.items():
        if name not in pairs:
            state[name] = tensor
            continue
        # An output layer has rows only for the first ids, those of text.
        fit = pairs[name][(pairs[name][:, 0] < len(state[name])) & (pairs[name][:, 1] < len(tensor))]
        state[name][fit[:, 0]] = tensor[fit[:, 1]]
    model.load_state_dict(state)
    return {"copied": copied, "new": count - copied}


def read_weights(file: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors of a file by name, and the digests in the file.

    Raises:
        ArtifactError: the file is not safetensors or is damaged.
    """
    with _opened(file) as (tensors, digests):
        return {name: tensors.get_tensor(name) for name in tensors.keys()}, digests  # noqa: SIM118


@contextmanager
def _opened(file: Path) -> Iterator[tuple[Any, dict[str, str]]]:
    """The tensors of a file, which are read when they are taken, and its digests; an ArtifactError if it is damaged."""
    try:
        with safe_open(file, "pt") as tensors:
            yield tensors, json.loads((tensors.metadata() or {}).get(DIGESTS, "{}"))
    except (SafetensorError, OSError, ValueError) as error:
        raise _damaged(file, f"not readable as weights ({error})") from error


def _symbols(vocabulary: Vocabulary, structure: str) -> list[tuple[str, str]]:
    """The meanings of the symbols of a structure; none if the vocabulary lacks it."""
    if isinstance(vocabulary, NamedSymbols) and structure in vocabulary.structures:
        return vocabulary.symbol_meanings(structure)
    return []


def _same_rows(own: Sequence[tuple[str, str]], theirs: Sequence[tuple[str, str]]) -> Tensor:
    """(pairs, 2) indices of the rows with the same meaning in both."""
    rows = {meaning: row for row, meaning in enumerate(theirs)}
    found = [[row, rows[each]] for row, each in enumerate(own) if each in rows]
    return torch.tensor(found, dtype=torch.long).reshape(-1, 2)


def _shapes(weights: Mapping[str, Tensor], by_word: Container[str] = ()) -> dict[str, tuple[int, ...]]:
    """Shapes of tensors, without the first dimension of those named in `by_word` unless it is 0."""
    return {
        name: (int(len(tensor) > 0), *tensor.shape[1:]) if name in by_word else tuple(tensor.shape)
        for name, tensor in weights.items()
    }


def _require_shapes(expected: Mapping[str, Any], actual: Mapping[str, Any], file: Path) -> None:
    for name in sorted(expected.keys() | actual.keys()):
        if expected.get(name) != actual.get(name):
            raise ArtifactError(
                f"weights of another architecture: {name} is {actual.get(name, 'missing')} there, "
                f"{expected.get(name, 'unknown')} here",
                where=file,
            )


def _require_sound(weights: Mapping[str, Tensor], digests: Mapping[str, str], file: Path) -> None:
    if digests.get("tensors") != _digest(weights):
        raise _damaged(file, "damaged: its tensors are not those that were written")
    if unfit := sorted(name for name, tensor in weights.items() if not tensor.isfinite().all()):
        raise ArtifactError(
            f"{unfit[0]} has values that are not finite", where=file, remedy="train the model again, at a lower rate"
        )


def _digest(weights: Mapping[str, Tensor]) -> str:
    """SHA-256 of the names, types, shapes and values of tensors."""
    total = hashlib.sha256()
    for name, tensor in sorted(weights.items()):
        total.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        total.update(tensor.contiguous().flatten().view(torch.uint8).numpy().data)
    return total.hexdigest()


def _damaged(path: Path, what: str) -> ArtifactError:
    return ArtifactError(what, where=path, remedy="train or export the model again")
