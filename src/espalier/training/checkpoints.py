"""Checkpoints: safetensors files verified by a hash.

The hash is stored in a JSON manifest, which is written after the file. A checkpoint without a manifest or with another
hash is damaged, and the previous one is used.
"""

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from espalier.io.files import atomic_file, write_json
from espalier.io.hashing import file_sha256

#: The number of checkpoints that are kept; the older is used if the newest is damaged.
MAX_CHECKPOINTS = 2


@dataclass(frozen=True)
class Checkpoint:
    """Tensors by name, and JSON values, which include `step`."""

    tensors: dict[str, Tensor]
    state: dict[str, Any]


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint for its step, and delete all but this one and the `MAX_CHECKPOINTS` - 1 before it.

    Those of later steps are damaged ones, as training goes on from the last that is not.

    Raises:
        ArtifactError: the files cannot be written.
    """
    stem = f"step-{checkpoint.state['step']:09d}"
    weights = folder / f"{stem}.safetensors"
    with atomic_file(weights) as part:
        try:
            save_file({name: tensor.contiguous() for name, tensor in checkpoint.tensors.items()}, part)
        except SafetensorError as error:  # raised if the disk is full
            raise OSError(str(error)) from error
    write_json(folder / f"{stem}.json", {"sha256": file_sha256(weights), "state": checkpoint.state})
    manifests = {*folder.glob("step-*.json")}
    kept = sorted(manifest for manifest in manifests if manifest.stem <= stem)[-MAX_CHECKPOINTS:]
    for manifest in manifests - {*kept}:
        manifest.unlink(missing_ok=True)
        manifest.with_suffix(".safetensors").unlink(missing_ok=True)


def load_checkpoint(folder: Path) -> Checkpoint | None:
    """The newest undamaged checkpoint, or None. Each damaged one gives a warning."""
    for manifest in sorted(folder.glob("step-*.json"), reverse=True):
        weights = manifest.with_suffix(".safetensors")
        try:
            value = json.loads(manifest.read_text(encoding="utf-8"))
            if file_sha256(weights) != value["sha256"]:
                raise ValueError("its bytes are not those that were written")
            return Checkpoint(load_file(weights), value["state"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            warnings.warn(f"{manifest.stem} is damaged ({error}); falling back to the one before", stacklevel=2)
    return None
