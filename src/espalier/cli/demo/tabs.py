"""The tabs of the page: what each asks for first, and how its answer is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from espalier.cli.check import Check
from espalier.cli.command import Command
from espalier.cli.commands import Compose, Generate, Granularity, Paraphrase, Polish, Reply
from espalier.cli.demo import pictures
from espalier.cli.demo.asking import Answer, ask, check
from espalier.cli.streams import told
from espalier.inference.requests import Option, described
from espalier.io.errors import EspalierError
from espalier.syntax.parse import Parse

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Tab:
    """A service on the page.

    Attributes:
        verb: what its button says.
        first: the options that stand in the open, with what they begin with; the argument of a command is one of them.
        others: the names of those that are folded.
        draw: HTML of the answer to values of the options.
    """

    title: str
    command: type[Command]
    verb: str
    about: str
    first: Mapping[str, Any]
    others: Sequence[str]
    draw: Callable[[Values], str]

    def answer(self, values: Values) -> str:
        """The drawn answer, or what is wrong, in the words of the command line."""
        try:
            return self.draw(values)
        except EspalierError as error:
            return pictures.page([pictures.problem(told(error))])

    def options(self) -> Iterator[tuple[str, Any, Option]]:
        """The name, type and meaning of each option."""
        command = self.command
        fields = [*described(command.request), *described(command.options)]
        known = {field.name: (kind, option) for field, kind, option in fields} | COMMON
        if command.argument:
            known[command.argument] = (str, fields[0][2])
        for name in (*self.first, *self.others):
            yield name, *known[name]


#: Options that most commands have.
COMMON: Final[dict[str, tuple[Any, Option]]] = {
    "model": (str, Option("A released model, or one of the profile; default: the released one, if one serves.")),
    "language": (Literal["zh", "en"], Option("The language of the texts.")),
}


def _drawn(command: type[Command], picture: Callable[[Answer], list[str]]) -> Callable[[Values], str]:
    """Answers of a command, drawn by `picture`."""

    def draw(values: Values) -> str:
        answer = ask(command, values)
        return pictures.page(picture(answer), answer.notes)

    return draw


def _paraphrases(answer: Answer) -> list[str]:
    """Each paraphrase, with the tree of its source beside its own where the model reads trees."""
    trees: dict[str, str] = {}
    for source in dict.fromkeys(result.source for result in answer.results if result.tree):
        (parse,) = answer.writer.system.parse([source], ["text"])
        trees[source] = parse.tree if isinstance(parse, Parse) else ""
    return [pictures.paraphrase(result, trees.get(result.source, "")) for result in answer.results]


def _checked(values: Values) -> str:
    """A text with what does not keep its rules; a / ends a line, as on the command line."""
    report, notes = check({**values, "text": str(values["text"]).replace("/", "\n")})
    return pictures.page([pictures.checked(report)], notes)


VERSE: Final = Tab(
    "Verse",
    Generate,
    "Write",
    "Verse in exactly the form that is asked for. ○ is a level tone, ● an oblique one; rhymes are underlined.",
    {"format": "5,5。7,5。", "rhyme": "AA", "tune": "", "n": 2, "seed": 4},
    ("tones", "acrostic", "variant", "book", "tone", "top_k", "temperature", "beam", "language", "model"),
    _drawn(Generate, lambda answer: [pictures.verse(result) for result in answer.results]),
)
POLISH: Final = Tab(
    "Polish",
    Polish,
    "Polish",
    "Click the characters that are to be written anew, or type _ for them; then polish.",
    {"template": "宿雨不寒梢，雨里江春到。", "seed": 1},
    ("rhyme", "book", "top_k", "model"),
    _drawn(Polish, lambda answer: [pictures.verse(result) for result in answer.results]),
)
PARAPHRASE: Final = Tab(
    "Paraphrase",
    Paraphrase,
    "Write",
    "A sentence under the top of a parse tree, which is given, or taken from another sentence.",
    {"text": "Anna asked for a camera.", "template": "(S (NP (DT) (NN)) (VP (VBD) (VP)) (.))", "like": ""},
    ("templates", "full", "strict", "n", "beam", "length_power", "model"),
    _drawn(Paraphrase, _paraphrases),
)
GRANULARITY: Final = Tab(
    "Granularity",
    Granularity,
    "Read",
    "How C-DNPG reads a sentence: the darker a word piece, the more it is a detail, and the less part of a template.",
    {"text": "Can you tell me who found the key?"},
    ("beam", "length_power", "model"),
    _drawn(Granularity, lambda answer: [pictures.shades(result) for result in answer.results]),
)
REPLY: Final = Tab(
    "Reply",
    Reply,
    "Reply",
    "Replies to a post, each written as a tree, from its root to its leaves.",
    {"post": "你喜欢吃什么？", "n": 3},
    ("beam", "length_power", "min_words", "model"),
    _drawn(Reply, lambda answer: [pictures.reply(result) for result in answer.results]),
)
TEMPLATE: Final = Tab(
    "Template",
    Compose,
    "Write",
    "A text under the word boundaries and parts of speech of a sentence. Symbols that differ are underlined.",
    {"template": "a dog was running in a room", "topics": "", "n": 2, "seed": 1},
    ("prompt", "frame", "top_k", "temperature", "beam", "model"),
    _drawn(Compose, lambda answer: [pictures.structures(result) for result in answer.results]),
)
CHECK: Final = Tab(
    "Check",
    Check,
    "Check",
    "A pasted text, held against rules. It needs no model.",
    {"text": "江上一灯明，照我过长桥。月落山空人未睡，风雪满归船。", "tune": "", "format": "5,5。7,5。", "rhyme": "AA"},
    ("tones", "acrostic", "form", "syllables", "meter", "variant", "book", "tone"),
    _checked,
)
TABS: Final = (VERSE, POLISH, PARAPHRASE, GRANULARITY, REPLY, TEMPLATE, CHECK)
