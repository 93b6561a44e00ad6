"""The command `grammar`: a frame for servers that constrain what a model writes. It needs no model."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from espalier.cli.check import BOOKS, MELODY
from espalier.cli.command import Command
from espalier.cli.models import models
from espalier.cli.requests import as_options, option_of
from espalier.inference import requests as asked
from espalier.inference.writer import ArgumentError, InferenceWarning
from espalier.io.errors import ConfigError
from espalier.io.terminal import json_line

if TYPE_CHECKING:
    from espalier.frames.judge import Grammar as Written

#: Rules of which there is no grammar: of English lines, and of trees.
NO_GRAMMAR = ("syllables", "meter", "template")


class Grammar(Command):
    """Write a grammar of the texts that keep a tune, a form, a format or a melody, for a server of another model.

    Servers such as vLLM, SGLang and llama.cpp constrain what their models write by it. A grammar remembers no rhyme: it
    has one rhyme group for each letter, which --group chooses, or one of several (--alternatives), each rhyme place its
    own words of it, and given words where a tune repeats words. All its texts keep the rules.
    """

    service, request, options = "grammar", asked.GrammarRequest, asked.GrammarOptions
    without = ("text", "marks", *NO_GRAMMAR, "model", "language", "file")
    more = (BOOKS, *MELODY)

    def run(self) -> None:
        """Print the grammar, and note what was chosen for it."""
        models().enter(self.values["profile"])
        with as_options(self.names):
            found = self.written(self.chosen([]))
        if self.values["json"]:
            print(json_line(asdict(found)))
            return
        groups = [f"{letter} {' or '.join(own)}" for letter, own in found.alternatives.items()]
        if groups and not self.values["groups"]:
            warnings.warn(f"rhyme groups: {', '.join(groups)}; --group chooses others", InferenceWarning, stacklevel=2)
        if found.repeated and not self.values["repeated"]:
            what = f"the words that are repeated: {found.repeated}; --repeated gives others"
            warnings.warn(what, InferenceWarning, stacklevel=2)
        print(found.text.rstrip("\n"))

    def called(self, field: str) -> str:
        """The option that gives a field; "" for rules of which there is no grammar."""
        return "" if field in NO_GRAMMAR else option_of(self.names, field)

    def written(self, options: Mapping[str, Any]) -> Written:
        """The grammar of the frame that the options say."""
        from espalier.cli import framed

        rules = {field.name: self.values.get(field.name) for field, *_ in self.fields}
        of_frame = {name: value for name, value in options.items() if name in ("book", "tone", "rare")}
        said = framed.lined({**rules, **of_frame}, framed.melody_of(self.values), "zh")
        try:
            return framed.written(said, options, framed.books_of(self.values), self.called)
        except ConfigError as error:
            if error.where in {*rules, *options, "book", "group", "repeated", "alternatives"}:
                raise ArgumentError(error.what, where=str(error.where), remedy=error.remedy) from error
            raise
