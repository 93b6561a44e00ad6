"""The command `paraphrase`: paraphrases of texts, under templates if the model reads trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from espalier.cli.models import models
from espalier.cli.requests import answer_all, as_options, read_requests, require_count
from espalier.inference.registry import reads_trees
from espalier.inference.requests import TEMPLATES, PairRequest
from espalier.inference.results import Paraphrase
from espalier.io.errors import ConfigError
from espalier.syntax.tree import Tree

#: Words are put together as in English.
LANGUAGE: Final = "en"
#: The columns within which a node is drawn on one line.
WIDTH: Final = 100


def requests_of(file: Path | None, given: Sequence[PairRequest]) -> list[PairRequest]:
    """Requests, one per line: a text, and optionally a template."""
    return read_requests(file, given, _request, "one text a line; after a tab a template if wanted", fields=2)


def _request(fields: list[str], name: str) -> PairRequest:
    text, template = [*fields, ""][:2]
    return PairRequest(text, template or None, name)


def write(
    requests: Sequence[PairRequest],
    model: str | None,
    expander: str | None,
    *,
    template: str | None,
    like: str | None,
    full: bool,
    templates: int | None,
    n: int,
    beam: int,
    length_power: float,
    show_tree: bool,
    json: bool,
) -> None:
    """Print paraphrases of each request's text.

    Args:
        template, like, templates: guidance for texts without a template of their own; at most one of the three.
    """
    options = {"--template": template, "--like": like, "--templates": templates}
    names = [name for name, value in options.items() if value is not None]
    if len(names) > 1:
        raise ConfigError("each says what guides the text", where=" and ".join(names), remedy="give one of them")
    if full and expander is not None:
        raise ConfigError("a whole tree is not expanded", where="--full and --expander", remedy="give one of them")
    system = models().open("paraphrase", LANGUAGE, model=model, expander=expander, expands=not full)
    searched: dict[str, Any] = {"beam": beam, "n": n, "length_power": length_power}
    if not reads_trees(system.view):
        require_count(n * len(requests))
        given = {**options, "--full": full or None, "--expander": expander, "--show-tree": show_tree or None}
        _require_none(given, system.name)
        with as_options():
            writer = system.writer("paraphrase", **searched)
            answer_all(writer, requests, lambda _, paraphrase: paraphrase.text, as_json=json)
        return
    shared = templates if templates is not None else 1 if template is not None or like is not None else TEMPLATES
    require_count(n * sum(1 if request.template else shared for request in requests))

    def show(request: PairRequest, paraphrase: Paraphrase) -> str:
        return page_of(paraphrase, show_tree, template is None and request.template is None)

    with as_options(templates="--template" if template is not None else "--templates"):
        guides = [template] if template is not None else shared
        writer = system.writer("paraphrase", templates=guides, like=like, full=full, **searched)
        answer_all(writer, requests, show, as_json=json)


def _require_none(options: Mapping[str, object], model: str) -> None:
    """Raise a ConfigError if an option for tree-guided models is given."""
    if names := [name for name, value in options.items() if value is not None]:
        raise ConfigError(f"model {model} reads no tree", where=" and ".join(names), remedy="leave it out")


def page_of(paraphrase: Paraphrase, show_tree: bool, show_template: bool) -> str:
    """The text, with its tree or else its template indented below it."""
    from espalier.syntax.constituency import read_tree

    below = [f"  {paraphrase.template}"] * show_template
    if show_tree:
        below = draw_tree(read_tree(paraphrase.tree, words=False), "  ")
    return "\n".join([paraphrase.text, *below])


def draw_tree(tree: Tree, indent: str) -> list[str]:
    """A tree in brackets. A node that is too long for one line has its children below it."""
    from espalier.syntax.constituency import write_tree

    line = indent + write_tree(tree)
    if len(line) <= WIDTH or not len(tree):
        return [line]
    lines = [f"{indent}({tree.label()}", *(line for child in tree for line in draw_tree(child, f"{indent}  "))]
    return [*lines[:-1], f"{lines[-1]})"]
