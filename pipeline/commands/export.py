"""The command `export`: a trained model and all that it needs for inference, in one folder."""

from __future__ import annotations

from pathlib import Path

from espalier.cli.progress import say
from espalier.inference.export import export_system
from espalier.inference.folder import read_system
from espalier.io.registry import entry
from pipeline import layout
from pipeline.commands.model_card import card_of
from pipeline.params.read import load_params
from pipeline.records.systems import require_folder


def export(key: str, out: Path, *, card: bool, bfloat16: bool) -> None:
    """Write a folder that `espalier.load` reads on any machine.

    Args:
        card: whether to write the model's card, `README.md`.
        bfloat16: whether to round the weights to bfloat16.

    Raises:
        EspalierError: the model, its parser or its expander is not trained; metrics for the card are missing; or `out`
            is not empty.
    """
    params = load_params()
    model = entry("model", params.models, key)
    require_folder(params, layout.model(key), f"model {key} is not trained", f"train@{key}")
    system = read_system(layout.model(key))
    if system.parser is not None:
        name = system.parser.name
        require_folder(params, system.parser, f"parser {name} is not made", f"train_parser@{name}")
    if system.expander is not None:
        name = system.expander.name
        require_folder(params, system.expander, f"model {name}, its expander, is not trained", f"train@{name}")
    text = ""
    if card:
        text = card_of(key, params)
    export_system(layout.model(key), out, text, bfloat16=bfloat16, default_for=model.default_for)
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    say(f"{out}: {size / 1e6:.1f} MB; espalier.load({str(out)!r}) reads it")
