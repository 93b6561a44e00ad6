"""Models with random weights, and folders of them that commands load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from espalier.inference.folder import save_system
from espalier.models.registry import ARCHITECTURES
from espalier.models.serialization import save_model


def untrained(arch: str, network: dict[str, Any], vocabulary: Any) -> torch.nn.Module:
    """A model whose weights are drawn from N(0, 0.3)."""
    torch.manual_seed(1)
    kind = ARCHITECTURES[arch]
    model = kind.build(kind.config.model_validate(network), vocabulary).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.3)
    return model


def save_untrained(
    folder: Path, arch: str, network: dict[str, Any], vocabulary: Any, settings: Any, parser: Path | None = None
) -> None:
    """Write such a model, with the settings of its dataset."""
    folder.mkdir(parents=True)
    save_model(folder, arch, untrained(arch, network, vocabulary), vocabulary, seed=1)
    save_system(folder, settings.model_dump(mode="json"), parser=parser)
