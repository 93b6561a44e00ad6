"""Export of a model with all its parts into one folder, which `espalier.load` reads at any place."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from espalier.inference.folder import SYSTEM, read_system, save_system
from espalier.io.errors import ArtifactError
from espalier.io.files import atomic_folder, read_json
from espalier.models.serialization import WEIGHTS, load_model, save_model, weights_of
from espalier.syntax.parsers.registry import export_parser

#: The name that model hubs show a card by.
CARD = "README.md"


def export_system(
    folder: Path, out: Path, card: str = "", *, bfloat16: bool = False, default_for: Sequence[str] = ()
) -> None:
    """Copy a trained model, its parser and its expander into a new folder, and check that the models load.

    `out/` contains the files of `folder`, `parsers/<name>/`, and the expander in `models/<name>/`.

    Args:
        folder: folder written by training.
        out: a new or empty folder.
        card: text for `README.md`; "" for none.
        bfloat16: whether to round the weights to bfloat16, which halves their files. They are loaded as 32 bits.
        default_for: services and languages, "generate.zh", for which the model is the default.

    Raises:
        ArtifactError: `out` is not empty or lies in `folder`, a part is missing or damaged, or `out` cannot be written.
    """
    weights_of(folder)  # trained at all
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ArtifactError("is not an empty folder", where=out, remedy="name a new one")
    if out.resolve().is_relative_to(folder.resolve()):
        raise ArtifactError("lies in the model's own folder", where=out, remedy="name another")
    with atomic_folder(out) as part:
        _copy(folder, part, part, default_for)
        for shape in sorted(part.rglob("model.json")):
            for weights in sorted(shape.parent.glob(WEIGHTS)):
                seed = int(weights.stem.removeprefix("seed"))
                model, vocabulary = load_model(shape.parent, seed)
                if bfloat16:
                    save_model(shape.parent, read_json(shape)["arch"], model.bfloat16(), vocabulary, seed)
        if card:
            (part / CARD).write_text(card, encoding="utf-8")


def _copy(folder: Path, to: Path, top: Path, default_for: Sequence[str] = ()) -> None:
    """Copy the folder of a model, and the parts that it names to places below `top`."""
    described = read_system(folder)
    to.mkdir(parents=True, exist_ok=True)
    for file in sorted(folder.iterdir()):
        if file.is_file() and file.name != SYSTEM:
            shutil.copyfile(file, to / file.name)
    parser = expander = None
    if described.parser is not None:
        parser = top / "parsers" / described.parser.name
        if not parser.exists():
            export_parser(described.parser, parser)
    if described.expander is not None:
        expander = top / "models" / described.expander.name
        if not expander.exists():
            _copy(described.expander, expander, top)
    save_system(
        to,
        described.settings,
        parser=parser,
        expander=expander,
        options=described.options,
        default_for=default_for or described.default_for,
    )
