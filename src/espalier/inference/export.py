"""Export of a model with all its parts into one folder, which `espalier.load` reads at any place."""

from __future__ import annotations

import shutil
from pathlib import Path

from espalier.inference.folder import CARD, CHECKSUMS, POSTS, SYSTEM, Added, read_system, save_system, write_checksums
from espalier.inference.released import BOOKS
from espalier.io.calls import checked_call
from espalier.io.errors import ArtifactError
from espalier.io.files import atomic_folder, read_json, write_json
from espalier.models.serialization import HUB_SHAPE, load_model, save_model, shape_of, weights_files, weights_of
from espalier.syntax.parsers.registry import export_parser
from espalier.verse.ci_books import pack_books


@checked_call
def export_system(
    folder: str | Path,
    out: str | Path,
    card: str = "",
    *,
    bfloat16: bool = False,
    hub: bool = False,
    added: Added | None = None,
) -> None:
    """Copy a trained model, its parser and its expander into a new folder, and check that the models load.

    `out/` contains the files of `folder`, `parsers/<name>/`, the expander in `models/<name>/`, and checksums of all.

    Args:
        folder: folder written by training.
        out: a new or empty folder.
        card: text for `README.md`; "" for none.
        bfloat16: whether to round the weights to bfloat16, which halves their files. They are loaded as 32 bits.
        hub: whether to write the weights of the lowest seed alone, under the names of the Hugging Face Hub.
        added: what the folder does not say.

    Raises:
        ArtifactError: `out` is not empty or lies in `folder`, a part is missing or damaged, or `out` cannot be written.
    """
    folder, out = Path(folder), Path(out)
    weights_of(folder)  # trained at all
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ArtifactError("is not an empty folder", where=out, remedy="name a new one")
    if out.resolve().is_relative_to(folder.resolve()):
        raise ArtifactError("lies in the model's own folder", where=out, remedy="name another")
    with atomic_folder(out) as part:
        _copy(folder, part, part, added or Added())
        for system in sorted(part.rglob(SYSTEM)):  # beside each model; parsers have files like those of models
            _rewrite(shape_of(system.parent), bfloat16=bfloat16, hub=hub)
        if card:
            (part / CARD).write_text(card, encoding="utf-8")
        write_checksums(part)


def _rewrite(shape: Path, *, bfloat16: bool, hub: bool) -> None:
    """Load the weights of a model whose settings are in `shape`, and write them in the form that is asked for."""
    folder, arch, renamed = shape.parent, read_json(shape)["arch"], hub and shape.name != HUB_SHAPE
    files = weights_files(folder)
    for seed, file in sorted(files.items()):
        if renamed and seed != min(files):
            file.unlink()
            continue
        model, vocabulary = load_model(folder, seed)
        if bfloat16 or renamed:
            model = model.bfloat16() if bfloat16 else model
            save_model(folder, arch, model, vocabulary, seed, hub=hub or shape.name == HUB_SHAPE)
        if renamed:
            file.unlink()
            shape.unlink()


def _copy(folder: Path, to: Path, top: Path, added: Added) -> None:
    """Copy the folder of a model, and the parts that it names to places below `top`."""
    described = read_system(folder)
    to.mkdir(parents=True, exist_ok=True)
    for file in sorted(folder.iterdir()):
        if file.is_file() and file.name not in (SYSTEM, CHECKSUMS):
            shutil.copyfile(file, to / file.name)
    parser = expander = None
    if described.parser is not None:
        parser = top / "parsers" / described.parser.name
        if not parser.exists():
            export_parser(described.parser, parser)
    if described.expander is not None:
        expander = top / "models" / described.expander.name
        if not expander.exists():
            _copy(described.expander, expander, top, Added(synthetic=added.synthetic))
    save_system(
        to,
        described.settings,
        parser=parser,
        expander=expander,
        options=described.options if added.options is None else added.options,
        default_for=described.default_for if added.default_for is None else added.default_for,
        synthetic=described.synthetic if added.synthetic is None else added.synthetic,
        plugins=described.plugins,
    )
    if added.posts:
        write_json(to / POSTS, added.posts)
    if added.books:
        pack_books(added.books, to / BOOKS)
