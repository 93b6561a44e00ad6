"""What a system is asked to write. `name` is what errors call a request, such as "posts.txt, row 3"."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class VerseRequest:
    """A format as people write it, its rhyme letters, a tune's name; None where not given."""

    format: str | None
    rhyme: str | None = None
    tune: str | None = None
    name: str = ""


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
