"""The commands that write texts, in the order of the help."""

from __future__ import annotations

import inspect
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Final

from espalier.cli.command import Command, parameter
from espalier.cli.models import absolute, models
from espalier.cli.requests import MAX_LINE, as_options
from espalier.inference import requests as asked
from espalier.io.errors import ConfigError, DataError


class Generate(Command):
    """Write verse in a given format.

    A line of --file is a format. Its rhyme letters, tune, variant, tones and acrostic may follow, separated by tabs.
    If one line has tones, each needs tones or a tune. Random draws depend on --seed, on the number of the line and on
    that of the text, so that equal lines get different texts.

    With --variant, --tone or a --book other than mandarin, the format of a tune is that of the Qinding cipu, and so is
    that of a tune beyond the built-in ones, the first of `espalier list tunes`.
    """

    service, request, options, either = "generate", asked.VerseRequest, asked.VerseOptions, True
    page = "espalier.cli.printers:poem_page"
    line = "one format a line; after tabs its rhyme letters, tune, variant, tones and acrostic"
    more: ClassVar[Sequence[inspect.Parameter]] = (
        parameter(
            "form", str,
            "A form of regulated verse by its name, such as 七言绝句: its format, tones and rhymes by Pingshui yun.",
        ),
        parameter("opening", int, "Which opening of the form, from 1; default: the first that takes the acrostic."),
    )  # fmt: skip

    def given(self) -> list[asked.VerseRequest]:
        """The request of the command line. Raises a ConfigError if something contradicts its form."""
        if self.values.get("form") is not None or self.values.get("opening") is not None:
            from espalier.cli.forms import as_format

            self.values |= as_format(self.values)
        return super().given()

    def chosen(self, requests: Sequence[asked.VerseRequest]) -> dict[str, Any]:
        """The given options, and the books if they are needed."""
        # Rhymes are those of single characters; without its dictionary of phrases pypinyin is imported 0.3 s sooner.
        os.environ.setdefault("PYPINYIN_NO_PHRASES", "1")
        options = super().chosen(requests) | ({"tone": True} if any(request.tones for request in requests) else {})
        from espalier.cli.books import books_for

        return options | books_for(requests, options)


class Polish(Generate):
    """Fill the blanks of a template (SongNet, table 6). A line of --file is a template."""

    service, argument, without, more = "polish", "template", ("variant", "tone", "free"), ()
    line = "one template a line; after tabs its rhyme letters, tune, variant, tones and acrostic"


class Paraphrase(Command):
    """Paraphrase a sentence along a template.

    The template is first expanded to a whole tree.

    A line of --file is a sentence; a template may follow after a tab. Without a template the 3 most frequent templates
    of the training data are used, one text each. The search is deterministic.

    With --strict the text keeps the template by its own parse, or the exit status is 1.

    A model that reads texts alone, such as C-DNPG, takes no template.
    """

    service, request, options = "paraphrase", asked.PairRequest, asked.ParaphraseOptions
    argument, shared, without, page = "text", ("template",), ("language",), "espalier.cli.printers:paraphrase_page"
    line = "one text a line; after a tab a template if wanted"
    more = (
        parameter("expander", str, "The model that expands templates; default: the model's own.", callback=absolute),
        parameter("show_tree", bool, "Print the tree that guided each text below it."),
    )

    def chosen(self, requests: Sequence[Any]) -> dict[str, Any]:
        """The given options; a ConfigError if several say what guides the text."""
        options = super().chosen(requests)
        names = [name for name in ("template", "like", "templates") if self.values[name] is not None]
        if len(names) > 1:
            where = " and ".join(f"--{name}" for name in names)
            raise ConfigError("each says what guides the text", where=where, remedy="give one of them")
        if self.values["full"] and self.values["expander"] is not None:
            raise ConfigError("a whole tree is not expanded", where="--full and --expander", remedy="give one of them")
        if names == ["template"]:
            options["templates"], self.names["templates"] = [self.values["template"]], "--template"
        return options

    def guided(self, requests: Sequence[Any]) -> bool:
        """Whether the text, or an option of models that read trees, asks for a tree."""
        names = ("template", "like", "templates", "full", "strict", "candidates", "expander", "show_tree")
        return any(self.values[name] for name in names) or any(request.template for request in requests)

    def misses(self, result: object) -> bool:
        """Whether the text does not keep its template, though it must."""
        return not getattr(result, "template_kept", True)


class Expand(Command):
    """Expand a template to the whole trees of a paraphrase (GuiG, section 3.1).

    A line of --file is a sentence; a template may follow after a tab. Without a template the 3 most frequent templates
    of the training data are used. Each tree is one line.
    """

    service, request, options = "expand", asked.PairRequest, asked.ExpandOptions
    argument, shared, without, page = "text", ("template",), ("language",), "espalier.cli.printers:expansion_page"
    line = "one text a line; after a tab a template if wanted"

    def chosen(self, requests: Sequence[Any]) -> dict[str, Any]:
        """The given options; a ConfigError if both say what is expanded."""
        options, template = super().chosen(requests), self.values["template"]
        if template is not None:
            if "templates" in options:
                where = "--template and --templates"
                raise ConfigError("each says what is expanded", where=where, remedy="give one of them")
            options["templates"], self.names["templates"] = [template], "--template"
        return options


class Granularity(Command):
    """Print the granularity of each word piece.

    The pieces are those of the sentence and of its paraphrase; each layer has its own granularities, from 0 (template)
    to 1 (detail). The model is C-DNPG or DNPG. A line of --file is a sentence.
    """

    service, request, options = "granularity", asked.PairRequest, asked.GranularityOptions
    argument, columns, without = "text", 1, ("template", "language")
    line, endings = "one text a line", (".svg",)
    more = (parameter("out", Path, "An SVG file for the heatmap; warm colours are template words.", resolve_path=True),)
    page, draw = "espalier.cli.printers:granularity_page", "espalier.cli.drawings:granularity_drawing"


class Compose(Command):
    """Write texts under the structure of a sentence.

    The model reads the word boundaries and the parts of speech of the template. The text need not keep them. Below each
    text stand the tokens and symbols of the template, and those of the text, which is tagged anew. With --pos and --pc
    a structure is given itself, or in place of the template's own; a line that this command prints is one too. A line
    of --file is a template; its prompt, its topics, separated by spaces, its pos and its pc may follow after tabs.
    """

    service, request, options, either = "compose", asked.TemplateRequest, asked.ComposeOptions, True
    line = "one template a line; after tabs its prompt, its topics with spaces, its pos and its pc"
    endings = (".svg", ".html")
    without = ("language",)
    page, draw = "espalier.cli.printers:composition_page", "espalier.cli.drawings:composition_drawing"
    more = (parameter("out", Path, "An SVG or HTML file with both structures of each text.", resolve_path=True),)

    def given(self) -> list[Any]:
        """The request of the command line. Raises a ConfigError if it has neither a template nor a structure."""
        found: list[Any] = super().given()
        if found and self.values["template"] is None and not (found[0].pos or found[0].pc):
            others = ("--pos", found[0].pos), ("--pc", found[0].pc), ("--prompt", found[0].prompt)
            where = next((name for name, value in others if value or self.values[name[2:]] is not None), "--topic")
            if self.values["file"] is not None:
                raise ConfigError("a file has its own", where=where, remedy="write it after a tab in each line")
            raise ConfigError("no template", where=where, remedy="give --template as well, or --pos or --pc")
        return found

    def language(self, requests: Sequence[asked.TemplateRequest]) -> str:
        """The language of the first template that has words of a known language; a DataError if none has.

        Without a template it is that of the prompt, else that of the tags: Penn's are capitals, jieba's are not.
        """
        from espalier.text.language import LANGUAGES, has_words, language_name, language_of

        texts = (request.template or request.prompt for request in requests)
        if found := next(filter(None, map(language_of, texts)), None):
            return found
        if tags := next((each.pos or "s" for each in requests if not each.template and (each.pos or each.pc)), None):
            return "en" if any(map(str.isupper, tags.removeprefix("pos"))) else "zh"
        first, named = requests[0], [language_name(language) for language in LANGUAGES]
        what = f"neither {' nor '.join(named)}" if has_words(first.template) else "no words"
        raise DataError(what, file=first.name, remedy=f"give a sentence in {' or '.join(named)}")


class Sample(Command):
    """Write texts with a model that reads nothing but their beginning, such as GPT2.

    A line of --file is a beginning. The model must be named, unless one is the default.
    """

    service, request, options, either = "sample", asked.SampleRequest, asked.SampleOptions, True
    page, line, spaced = "espalier.cli.printers:sample_page", "the beginning of a text a line", True

    def given(self) -> list[asked.SampleRequest]:
        """The beginning of the command line, which may be empty; none if there is a file."""
        prompt = self.values["prompt"]
        return [] if prompt is None and self.values["file"] is not None else [asked.SampleRequest(prompt or "")]


class Reply(Command):
    """Reply to a post. The best replies of the search come first. The search is deterministic."""

    service, request, options, page = "reply", asked.Post, asked.ReplyOptions, "espalier.cli.printers:reply_page"
    argument, line, spaced = "post", "one post a line", True
    treeless = "writes chains, which have no tree"
    more = (parameter("show_tree", bool, "Print the tree of each reply below it."),)


class Chat(Reply):
    """Reply to posts from standard input, one a line. The model reads one post at a time and no history.

    In a terminal, Ctrl-D, quit or exit ends the chat.
    """

    argument, without = "", ("text", "file", "json")

    def run(self) -> None:
        """Reply to each line. A line that cannot be read is reported and skipped."""
        models().enter(self.values["profile"])
        with as_options(self.names):
            writer = self.open([])
        if sys.stdin is None:  # closed
            return
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="surrogateescape")  # a line that is not UTF-8 is an error of that line alone
        asks = sys.stdin.isatty() and sys.stdout.isatty()
        if asks:
            with suppress(ImportError):
                import readline  # noqa: F401  # lines can be edited and come back
        with suppress(EOFError, KeyboardInterrupt):
            while True:
                post = (input("> ") if asks else _line()).strip()
                if asks and post in ("quit", "exit"):
                    return
                if post:
                    self.print(writer, [asked.Post(post)])
        if asks:
            print()


def _line() -> str:
    """The next line of standard input; an EOFError at its end, a DataError if the line is too long."""
    line = sys.stdin.readline(MAX_LINE + 1)
    if not line:
        raise EOFError
    if len(line) > MAX_LINE:
        raise DataError(f"a line of over {MAX_LINE:,} characters", file="standard input", remedy="shorten it")
    return line


COMMANDS: Final = (Generate, Polish, Paraphrase, Expand, Granularity, Compose, Sample, Reply, Chat)
