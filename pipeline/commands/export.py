"""The command `export`: a trained model and all that it needs for inference, in one folder."""

from __future__ import annotations

from pathlib import Path

from espalier.cli.progress import say
from espalier.inference.export import export_system
from espalier.inference.folder import read_system
from espalier.io.registry import entry
from pipeline import layout
from pipeline.commands.model_card import card_of
from pipeline.params.entries import Params
from pipeline.params.read import load_params
from pipeline.records.systems import added_to, require_folder


def export(key: str, out: Path, *, card: bool, bfloat16: bool, hub: bool = False) -> None:
    """Write a folder that `espalier.load` reads on any machine.

    Args:
        card: whether to write the model's card, `README.md`.
        bfloat16: whether to round the weights to bfloat16.
        hub: whether to name the files as the Hugging Face Hub does; of several seeds, only the lowest is written.

    Raises:
        EspalierError: the model, its parser or its expander is not trained; metrics for the card are missing; or `out`
            is not empty.
    """
    params = load_params()
    trained(key, params)
    text = card_of(key, params) if card else ""
    export_system(layout.model(key), out, text, bfloat16=bfloat16, hub=hub, added=added_to(params, key))
    say(f"{out}: {size_of(out) / 1e6:.1f} MB; espalier.load({str(out)!r}) reads it")


def size_of(folder: Path) -> int:
    """The bytes of all files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def trained(key: str, params: Params) -> None:
    """Raise a ConfigError unless a model is in params.yaml and trained, and its parser and its expander are made."""
    entry("model", params.models, key)
    require_folder(params, layout.model(key), f"model {key} is not trained", f"train@{key}")
    system = read_system(layout.model(key))
    if system.parser is not None:
        name = system.parser.name
        require_folder(params, system.parser, f"parser {name} is not made", f"train_parser@{name}")
    if system.expander is not None:
        name = system.expander.name
        require_folder(params, system.expander, f"model {name}, its expander, is not trained", f"train@{name}")
