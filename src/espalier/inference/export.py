"""A model and all that it works with in one folder, which `espalier.load` reads wherever it lies."""

from __future__ import annotations

import shutil
from pathlib import Path

from espalier.inference.folder import SYSTEM, read_system, save_system
from espalier.io.errors import ArtifactError
from espalier.io.files import atomic_folder
from espalier.syntax.parsers.registry import export_parser

#: The name that model hubs show a card by.
CARD = "README.md"


def export_system(folder: Path, out: Path, card: str = "") -> None:
    """Copy a trained model, its parser and its expander into a new folder, and prove that the models load.

    `out/` holds the files of `folder`. Below it lie `parsers/<name>/` and `models/<name>/`, the expander.

    Args:
        folder: as training wrote it.
        out: must be new or empty.
        card: written to `README.md`; "" writes none.

    Raises:
        ArtifactError: `out` is not empty or lies in `folder`, a part is missing or damaged, or `out` cannot be written.
    """
    from espalier.models.serialization import WEIGHTS, load_model, weights_of

    weights_of(folder)  # trained at all
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ArtifactError("is not an empty folder", where=out, remedy="name a new one")
    if out.resolve().is_relative_to(folder.resolve()):
        raise ArtifactError("lies in the model's own folder", where=out, remedy="name another")
    with atomic_folder(out) as part:
        _copy(folder, part, part)
        for shape in sorted(part.rglob("model.json")):
            for weights in sorted(shape.parent.glob(WEIGHTS)):
                load_model(shape.parent, int(weights.stem.removeprefix("seed")))
        if card:
            (part / CARD).write_text(card, encoding="utf-8")


def _copy(folder: Path, to: Path, top: Path) -> None:
    """Copy a model's folder, and what it names to places below `top`."""
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
    save_system(to, described.settings, parser=parser, expander=expander)
