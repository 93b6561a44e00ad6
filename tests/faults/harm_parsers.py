"""Models of parsers that were damaged after they were written."""

from __future__ import annotations

import random
import shutil
import warnings
from pathlib import Path

from harm import DAMAGES, Project, Verdict, flip, module_of

from espalier.io.errors import EspalierError
from espalier.syntax.parsers.registry import load_parser

SENTENCES = ("dogs see cats", "cats see dogs", "dogs")


def a_parser(project: Project, rng: random.Random) -> Verdict:
    """A parser of which a bit or a file is damaged is refused in a line, or parses as before."""
    makers = module_of("syntax/parsers/test_registry.py")
    backend = rng.choice([*makers.SETTINGS])
    whole, folder = project.scratch / f"parser_{backend}", project.scratch / "parser"
    if not whole.exists():
        makers.made(backend, whole)
        shutil.rmtree(whole / "scratch", ignore_errors=True)
    wanted = repr(load_parser(whole).parse(SENTENCES))
    shutil.copytree(whole, folder)
    file = rng.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
    damage = "a bit" if rng.random() < 0.6 else rng.choice([name for name in DAMAGES if name != "a folder"])
    _damage(file, damage, rng)
    what = f"{backend}, {file.relative_to(folder)}: {damage}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = repr(load_parser(folder).parse(SENTENCES))
    except EspalierError as error:
        return Verdict("line" if "\n" not in str(error) else "wrong", f"{what}: {error}")
    except Exception as error:
        return Verdict("traceback", f"{what}: {type(error).__name__}: {str(error)[:300]}")
    finally:
        shutil.rmtree(folder)
    return Verdict("well" if found == wanted else "wrong", what)


def _damage(file: Path, damage: str, rng: random.Random) -> None:
    if damage == "deleted":
        file.unlink()
    else:
        file.write_bytes(flip(file.read_bytes(), rng) if damage == "a bit" else DAMAGES[damage](file.read_bytes(), rng))
