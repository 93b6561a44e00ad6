"""paraphrase: a text said again under templates, each expanded first to a whole tree that fits the text (GuiG).

The expander (section 3.1) keeps what the template says; its tree guides the text generator (section 3.2). Nothing is
drawn: the same call writes the same texts.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from espalier.io.errors import ConfigError, DataError
from espalier.syntax.tree import Tree
from pipeline.commands import paraphrase_models as loading
from pipeline.commands import templates
from pipeline.commands.paraphrase_models import Loaded
from pipeline.commands.paraphrase_search import Job, Text, check_room, paraphrases, source_of
from pipeline.commands.requests import dataset_of, lines_asked, parser_of, require_text
from pipeline.params import PairDataset, Params, load_params

#: What one call may ask for, and the most beams of a search.
MOST, BEAMS = 10_000, 256
#: How many of the most frequent templates are taken where none is asked for.
TEMPLATES = 3
#: The columns within which a node is drawn on one line.
WIDTH = 100


@dataclass(frozen=True)
class Request:
    """A text, a template of its own if it has one, and what errors call it."""

    text: str
    template: str | None = None
    name: str = "text"


@dataclass(frozen=True)
class Options:
    """What guides the texts that have no template of their own, what writes them, and how they are shown."""

    template: str | None
    like: str | None
    full: bool
    templates: int | None
    model: str | None
    expander: str | None
    n: int
    beam: int
    show_tree: bool
    json: bool


def requests_of(file: Path | None, given: list[Request]) -> list[Request]:
    """One request a line: a text, and after a tab its template. Standard input where nothing else is given.

    Raises:
        ConfigError: nothing is asked for.
        DataError: the file is missing, no text, or empty.
    """
    nothing = ConfigError("nothing to paraphrase", remedy="give a text, --file, or lines on standard input")
    remedy = "one text a line, with a tab and a template if wanted"
    lines = lines_asked(file, bool(given), nothing=nothing, remedy=remedy)
    rows = [(name, *line.partition("\t")) for name, line in lines]
    return [Request(source.strip(), template.strip() or None, name) for name, source, _, template in rows]


def write(requests: list[Request], options: Options) -> None:
    """Paraphrases of each request's text, in the order asked for, to standard output."""
    _check(options, requests)
    params = load_params()
    writer, expander, parser = _system(params, options, requests)
    jobs = _jobs(requests, options, writer, parser)
    if expander is not None:
        check_room(jobs, expander)
    shown = {"model": writer.key, "expander": expander.key if expander else None}
    for text in paraphrases(jobs, writer, expander, options.n, options.beam):
        print(json.dumps(_object(text) | shown, ensure_ascii=False) if options.json else _page(text, options.show_tree))
        sys.stdout.flush()


# --- What is asked for -----------------------------------------------------------------------------------------------


def _check(options: Options, requests: list[Request]) -> None:
    """Make sure that the options are ones that can stand together."""
    for name, value in (("--n", options.n), ("--beam", options.beam), ("--templates", options.templates)):
        if value is not None and value < 1:
            raise ConfigError(f"{value} is too small", where=name, remedy="at least 1")
    if options.beam > BEAMS:
        raise ConfigError(f"{options.beam} is too large", where="--beam", remedy=f"at most {BEAMS}")
    if options.n > options.beam:
        raise ConfigError(
            f"{options.n} texts of {options.beam} beams", where="--n", remedy=f"--beam {options.n}, or more"
        )
    names = [
        name
        for name, value in (
            ("--template", options.template), ("--like", options.like), ("--templates", options.templates)
        )
        if value is not None
    ]  # fmt: skip
    if len(names) > 1:
        raise ConfigError("each says what guides the text", where=" and ".join(names), remedy="give one of them")
    if options.full and options.like is None:
        raise ConfigError("there is no whole tree to take", where="--full", remedy="give it with --like")
    if options.full and options.expander is not None:
        raise ConfigError("a whole tree is not expanded", where="--full and --expander", remedy="give one of them")
    for request in requests:
        if options.full and request.template is not None:
            raise ConfigError("its template would be expanded", where=request.name, remedy="leave out --full")
    guides = options.templates or (1 if options.template or options.like else TEMPLATES)
    if (asked := options.n * guides * len(requests)) > MOST:
        raise ConfigError(f"{asked:,} texts at once", where="--n", remedy=f"at most {MOST:,}")


def _system(params: Params, options: Options, requests: list[Request]) -> tuple[Loaded, Loaded | None, str]:
    """The text generator, the expander unless the guide is whole, and the parser's key; texts are looked at first."""
    first = loading.chosen(params, options.model, "text")
    second = None if options.full else loading.chosen(params, options.expander, "tree")
    dataset = dataset_of(params, first, PairDataset, loading.WRITTEN, "--model")
    parser = parser_of(params, dataset.corpus)
    for name, text in _texts(requests, options):
        _readable(text, name, dataset.most)
    writer = loading.loaded(params, first, "text")
    if second is None:
        return writer, None, parser
    expander = loading.loaded(params, second, "tree")
    loading.agree(expander, writer)
    most = min(writer.most, expander.most)  # a tree of one is read by the other
    return replace(writer, most=most), replace(expander, most=most), parser


def _texts(requests: list[Request], options: Options) -> list[tuple[str, str]]:
    """Everything that is parsed, each after what errors call it."""
    found = [(each.name, each.text) for each in requests]
    return found + ([("--like", options.like)] if options.like is not None else [])


def _readable(text: str, name: str, most: int) -> None:
    """Make sure that this looks like one English sentence of a length that models can read."""
    require_text(text, loading.LANGUAGE, name)
    if (words := len(text.split())) > most:
        raise DataError(f"{words} words", file=name, remedy=f"at most {most} word pieces; give one sentence at a time")


def _jobs(requests: list[Request], options: Options, writer: Loaded, parser: str) -> list[Job]:
    """Each text with each of its templates. What people wrote is checked before anything is parsed."""
    symbols, guides = writer.vocabulary.trees, list[list[str] | None]()
    shared: list[str] | None = None
    if options.template is not None:
        shared = [templates.written(options.template, symbols, "--template")]
    elif options.like is None and any(each.template is None for each in requests):
        shared = templates.frequent(writer.dataset, options.templates or TEMPLATES, symbols)
    for request in requests:
        own = request.template
        guides.append(shared if own is None else [templates.written(own, symbols, f"{request.name}, template")])

    names, texts = zip(*_texts(requests, options), strict=True)
    read = [text.lower() if writer.vocabulary.lower else text for text in texts]
    parses = loading.parsed(parser, read, names)
    if options.like is not None:
        levels = symbols.depth if options.full else writer.model.config.view.template
        shared = [templates.top(parses.pop().tree, symbols, levels, "--like")]
    jobs = list[Job]()
    for row, (request, parse) in enumerate(zip(requests, parses, strict=True)):
        source = source_of(names[row], request.text, parse, writer)
        told = request.template is None and options.template is None
        jobs += [Job(source, template, told) for template in guides[row] or shared or []]
    return jobs


# --- What is shown ---------------------------------------------------------------------------------------------------


def _object(text: Text) -> dict[str, Any]:
    return {
        "text": _printed(text),
        "words": text.words,
        "source": text.job.source.source,
        "template": text.job.template,
        "tree": text.tree,
        "score": round(text.score, 4),
    }


def _page(text: Text, tree: bool) -> str:
    """The text; indented below it the tree if wanted, else a template that the user did not write."""
    from espalier.syntax.constituency import read_tree

    below = _drawn(read_tree(text.tree, words=False), "  ") if tree else [f"  {text.job.template}"] * text.job.told
    return "\n".join([_printed(text), *below])


def _drawn(tree: Tree, indent: str) -> list[str]:
    """A tree in brackets; a node that is too long for a line has its children below it."""
    from espalier.syntax.constituency import write_tree

    line = indent + write_tree(tree)
    if len(line) <= WIDTH or not len(tree):
        return [line]
    lines = [f"{indent}({tree.label()}", *(line for child in tree for line in _drawn(child, f"{indent}  "))]
    return [*lines[:-1], f"{lines[-1]})"]


def _printed(text: Text) -> str:
    """Words as they are written: marks and clitics at the word before, and a capital where all is lower-case."""
    from nltk.tokenize.treebank import TreebankWordDetokenizer

    words = ["I" if word == "i" and text.lower else word for word in text.words]
    found = str(TreebankWordDetokenizer().detokenize(words))
    start = next((place for place, character in enumerate(found) if character.isalnum()), 0)
    return found[:start] + found[start : start + 1].upper() + found[start + 1 :] if text.lower else found
