"""What a system is asked to write. `name` is what errors call a request, such as "posts.txt, row 3"."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class VerseRequest:
    """A format as people write it, its rhyme letters, a tune's name; None where not given.

    Attributes:
        name: what errors call the request.
        variant: of the tune, counted from 1; None for the first.
        tones: one sign for each word: 平, 仄 or 中. Without a format and a tune they are the format.
        acrostic: the first words of the sentences, or of the clauses where it has more.
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
    """A text to paraphrase, and a template of its own if it has one."""

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
    """A text whose structure is kept.

    Attributes:
        prompt: the template's own first tokens, at most half of it, with which the texts begin.
        topics: words that the texts are about; without them a model that reads topics has the template's own.
    """

    template: str
    prompt: str = ""
    topics: tuple[str, ...] = ()
    name: str = "template"
