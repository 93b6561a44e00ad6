"""Frames as values: rules that combine with `&`.

    >>> from espalier.frames import Acrostic, Format, Rhyme
    >>> frame = Format("5,5。7,5。") & Rhyme("AA") & Acrostic("江月")
    >>> frame.check("江上一灯明，照我过长桥。月落山空人未睡，风雪满归船。").score < 1
    True

Books of rhymes and tunes are passed where a rule needs them (`espalier.verse.ci_books.open_books`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from espalier.frames import judge
from espalier.frames.forms import form_named
from espalier.frames.melody import By, read_melody
from espalier.frames.tune_names import tune_name
from espalier.io.calls import checked_call
from espalier.io.errors import ConfigError
from espalier.text.language import Language
from espalier.verse.grammar import WIDE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from espalier.frames.automaton import Automaton
    from espalier.frames.grammars import Notation
    from espalier.frames.judge import Grammar
    from espalier.frames.processor import FrameProcessor
    from espalier.frames.report import Report
    from espalier.syntax.parsers.parser import Parser
    from espalier.verse.books import Book
    from espalier.verse.ci_books import CiBooks


class Frame(ABC):
    """What a text must satisfy: one rule, or several that `&` has joined."""

    @property
    @abstractmethod
    def rules(self) -> tuple[Rule, ...]:
        """The rules, in the order in which they were joined."""

    @checked_call
    def __and__(self, other: Frame) -> Frame:
        return Rules((*self.rules, *other.rules))

    @checked_call
    def check(self, text: str, books: CiBooks | None = None, parser: Parser | None = None) -> Report:
        """How well a text keeps the frame, and where it does not.

        Args:
            books: the books of rhymes and tunes, where a rule needs them.
            parser: what sees the tree of the text, where a template is a rule
                (`espalier.syntax.parsers.registry.load_parser`).

        Raises:
            ConfigError: the rules contradict each other, or a book or the parser is not given.
            TreeError: the template is no tree.
        """
        return judge.check(self.says(), text, books, parser)

    @checked_call
    def automaton(self, books: CiBooks | None = None) -> Automaton[Any]:
        """What may follow in a text that keeps the frame, character by character.

        Raises:
            ConfigError: no text keeps the frame, it has no format, or a book is not given.
        """
        return judge.automaton(self.says(), books)

    @checked_call
    def processor(
        self, tokenizer: Any, max_new_tokens: int | None = None, books: CiBooks | None = None
    ) -> FrameProcessor:
        """A processor of logits, with which `generate` of transformers writes only texts that keep the frame.

        Args:
            tokenizer: the tokenizer of the model.
            max_new_tokens: what `generate` is given; every text is finished within it.

        Raises:
            ConfigError: as `automaton`; the tokens are too few for the frame, or the tokenizer cannot spell it.
        """
        automaton = self.automaton(books)
        from espalier.frames.processor import FrameProcessor

        return FrameProcessor(automaton, tokenizer, max_new_tokens)

    @checked_call
    def grammar(
        self,
        notation: Notation,
        books: CiBooks | None = None,
        groups: Sequence[str] = (),
        repeated: str = "",
        alternatives: int = 1,
    ) -> Grammar:
        """A grammar for servers that constrain what a model writes. All its texts keep the frame.

        Its rhymes are of one group for each letter, or of a few, and the words that a tune repeats are given: a grammar
        cannot remember them.

        Args:
            notation: "lark", "gbnf" or "regex".
            groups: the rhyme groups of the letters, in the order in which these begin; else those with the most words.
            repeated: the words at the places that others repeat; else some that suit.
            alternatives: the most choices of groups between which a text may choose, at most 13.

        Raises:
            ConfigError: as `automaton`; a group or the repeated words do not suit, or the grammar is too large.
        """
        return judge.grammar(self.says(), books, notation, groups, repeated, alternatives)

    def says(self) -> dict[str, Any]:
        """What the rules say, by the name of each property.

        Raises:
            ConfigError: two rules say different things of one property.
        """
        said: dict[str, tuple[Rule, Any]] = {}
        for rule in self.rules:
            for name, value in rule.said().items():
                other, before = said.get(name, (rule, value))
                if name == "words":
                    value = before + value if name in said else value
                elif before != value:
                    what = f"{name} is '{before}' in {type(other).__name__} and '{value}' in {type(rule).__name__}"
                    remedy = "leave out one of them"
                    raise ConfigError(f"rules contradict each other: {what}", where=name, remedy=remedy)
                said[name] = (rule, value)
        return {name: value for name, (_, value) in said.items()}


@dataclass(frozen=True)
class Rules(Frame):
    """Several rules, all of which hold."""

    joined: tuple[Rule, ...]

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules."""
        return self.joined


@checked_call
def frame_of(values: Mapping[str, Any], called: Callable[[str], str] = str) -> Frame:
    """The frame of rules that are given by the names of their fields: {"format": "5,5。", "rhyme": "A"}.

    A field that several rules have, such as `book`, goes to those that are given. A field that is false is passed over
    where no rule has it, since it asks for nothing.

    Args:
        called: what errors call a field, such as the option that gives it; "" for one that cannot be given.

    Raises:
        ConfigError: nothing is given that a rule begins with.
    """
    given = {name: value for name, value in values.items() if value is not None}
    kinds = {fields(kind)[0].name: kind for kind in KINDS}
    rules = [
        Words(*given[first]) if kind is Words else kind(**{name: given[name] for name in _names(kind) & given.keys()})
        for first, kind in kinds.items()
        if first in given
    ]
    asking = {name for name, value in given.items() if value is not False}
    alone = asking.difference(*(_names(type(rule)) for rule in rules))
    if rules and alone:
        what = f"{min(alone)} is given, but no rule that it belongs to"
        having = " or ".join(called(first) for first, kind in kinds.items() if min(alone) in _names(kind))
        raise ConfigError(what, where=min(alone), remedy=f"give {having} as well" if having else "leave it out")
    if not rules:
        raise ConfigError("no rule is given", remedy=f"give one of: {', '.join(filter(None, map(called, kinds)))}")
    return Rules(tuple(rules))


def _names(kind: type[Rule]) -> set[str]:
    return {field.name for field in fields(kind)}


@dataclass(frozen=True)
class Rule(Frame):
    """One rule. What it says are its fields that are not None, under their names."""

    #: Names of properties that differ from those of the fields.
    names: ClassVar[dict[str, str]] = {}

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rule itself."""
        return (self,)

    def said(self) -> dict[str, Any]:
        """What the rule says, by the names of properties."""
        values = {self.names.get(field.name, field.name): getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


@checked_call
@dataclass(frozen=True)
class Format(Rule):
    """The words of each clause, and the marks: counts ("5,5。7,5。") or a template ("_雨___，____#。").

    Args:
        format: the written format; `espalier.verse.grammar` describes it.
        language: "en" counts the words of lines, not characters; such a format is checked, and has no automaton.
        marks: whether the marks must be those of the format; else any mark may end a clause, in English anywhere.
    """

    format: str
    language: Language = "zh"
    marks: bool = True

    def said(self) -> dict[str, Any]:
        """What the rule says, in Chinese with its marks as Chinese writes them."""
        written = self.format.translate(WIDE) if self.language == "zh" else self.format
        return super().said() | {"format": written}

    @classmethod
    @checked_call
    def of_melody(
        cls, path: str | Path, part: str | None = None, verse: int | str | None = None, by: By = "lyrics"
    ) -> Format:
        """The format of Chinese lyrics to a melody: a character for each syllable, and any marks or none.

        Args and errors as in `espalier.frames.melody.read_melody`.
        """
        return cls(str(read_melody(Path(path), part, verse, by)), marks=False)


@checked_call
@dataclass(frozen=True)
class Rhyme(Rule):
    """Which units rhyme: one letter for each, "." for none. Without letters, all units rhyme.

    The words of a letter differ, except where a tune repeats a line. A text to a tune is only told of equal ones.

    Args:
        book: the rhyme book: "mandarin", "cilin" or "pingshui".
        rare: whether rare readings of Mandarin count.
    """

    rhyme: str | None = None
    book: Book | None = None
    rare: bool | None = None

    def said(self) -> dict[str, Any]:
        """The letters and the book."""
        return super().said() | {"rhymes": True}


@checked_call
@dataclass(frozen=True)
class Tones(Rule):
    """The tone of each word: 平 level, 仄 oblique, 中 either. Marks between the signs are those of the text.

    Args:
        book: the book whose tones count: Mandarin's, or those of Pingshui yun for "cilin" and "pingshui".
    """

    tones: str
    book: Book | None = None
    rare: bool | None = None


@checked_call
@dataclass(frozen=True)
class Acrostic(Rule):
    """The first words of the sentences or, if there are more of them, of the clauses; in English the lines' letters."""

    acrostic: str


@checked_call
@dataclass(frozen=True, init=False)
class Words(Rule):
    """Words that occur somewhere in the text, in any order; they may overlap."""

    words: tuple[str, ...]

    def __init__(self, *words: str) -> None:
        if not words or not all(words):
            raise ConfigError("no words", where="words", remedy="for example Words('春', '明月')")
        object.__setattr__(self, "words", words)


@checked_call
@dataclass(frozen=True)
class Tune(Rule):
    """The format, the rhymes, the repeated lines and, on request, the tones of a ci tune (词牌).

    Level and oblique words never rhyme with each other, except where the tune turns its rhyme.

    Args:
        tune: any of its names (`espalier.frames.tune_names`).
        variant: its variant in the Qinding cipu, from 1. By default, `check` finds the one that fits best, and
            `automaton` takes the one that most Song ci follow.
        tone: whether all places must have their tones, not only the rhymes.
        marks: whether the marks must be those of the book; else any mark may end a clause. By default they are not
            checked, and what is written has them.
    """

    tune: str
    variant: int | None = None
    book: Book | None = None
    tone: bool | None = None
    marks: bool | None = None
    rare: bool | None = None

    def said(self) -> dict[str, Any]:
        """What the rule says, with the tune's name in the book."""
        return super().said() | {"tune": tune_name(self.tune)}


@checked_call
@dataclass(frozen=True)
class Syllables(Rule):
    """The number of syllables of each line, in English: "5/7/5"."""

    syllables: str

    @classmethod
    @checked_call
    def of_melody(
        cls, path: str | Path, part: str | None = None, verse: int | str | None = None, by: By = "lyrics"
    ) -> Syllables:
        """The syllables of English lyrics to a melody, a score in MusicXML.

        Args and errors as in `espalier.frames.melody.read_melody`.
        """
        return cls(str(read_melody(Path(path), part, verse, by)))


@checked_call
@dataclass(frozen=True)
class Meter(Rule):
    """The meter of each line, in English: "iambic pentameter", or one for each line with "/" between them."""

    meter: str


@checked_call
@dataclass(frozen=True)
class Form(Rule):
    """A form by its name, such as "五言绝句" or "limerick" (`espalier.frames.forms`). It gives the other rules.

    Args:
        form: any of its names.
        opening: which of the kinds of a form, from 1. By default, `check` finds the one that fits best, and `automaton`
            takes the first that goes with the other rules.
        marks: whether each line of regulated verse must end with its mark, "，" or "。"; else any mark may end it. By
            default they are not checked, and what is written has them.
        book: the rhyme book of regulated verse, which is Pingshui; no other agrees with it.
    """

    form: str
    opening: int | None = None
    marks: bool | None = None
    book: str | None = None

    def said(self) -> dict[str, Any]:
        """What the rule says, with the form's own name."""
        return super().said() | {"form": form_named(self.form) or self.form}


@checked_call
@dataclass(frozen=True)
class Template(Rule):
    """The top levels of a sentence's tree, with words or without: "(S (NP you) (VP) (.))" (`espalier.frames.trees`).

    It takes a parser to see it: `check` needs one, and there is no automaton, processor or grammar.
    """

    template: str


#: The rules, each by its first field.
KINDS: Final[tuple[type[Rule], ...]] = (
    Format, Rhyme, Tones, Acrostic, Words, Tune, Syllables, Meter, Form, Template,
)  # fmt: skip
