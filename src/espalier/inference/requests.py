"""Requests to a system. Errors refer to a request by its `name`, such as "posts.txt, row 3"."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class VerseRequest:
    """A format in its written form, its rhyme letters, and a tune's name; None if not given.

    Attributes:
        name: name of the request in errors.
        variant: number of the tune's variant, from 1; None for the first.
        tones: one sign per word: 平, 仄 or 中. Without a format and a tune, they define the format.
        acrostic: the first words of the sentences, or of the clauses if it has more words.
    """

    format: str | None
    rhyme: str | None = None
    tune: str | None = None
    name: str = ""
    variant: int | None = None
    tones: str | None = None
    acrostic: str | None = None


#: How many of the most frequent templates a text is paraphrased under where none is given.
TEMPLATES = 3


@dataclass(frozen=True)
class PairRequest:
    """A text to paraphrase, and optionally its own template."""

    text: str
    template: str | None = None
    name: str = "text"


@dataclass(frozen=True)
class Post:
    """A post to reply to."""

    text: str
    name: str = "post"


@dataclass(frozen=True)
class TemplateRequest:
    """A text whose structure is the template.

    Attributes:
        prompt: the first tokens of the template, at most half of it, with which the texts begin.
        topics: topic words of the texts; by default those of the template, if the model reads topics.
    """

    template: str
    prompt: str = ""
    topics: tuple[str, ...] = ()
    name: str = "template"
