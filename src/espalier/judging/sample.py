"""A sample of outputs to judge: its items, the system of each text, and what each rater is shown in which order.

The sample is the key: raters never see it. What they see is `Sample.shown`, and the hash of that is in each file that
they get and give back, so that ratings of another sample are recognized.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Final

from pydantic import Field, field_validator

from espalier.io.hashing import digest
from espalier.io.validation import Strict
from espalier.judging.protocol import FIRST, SECOND, TIE, Protocol
from espalier.text.language import Language

#: Characters of a sample's hash.
HASH: Final = 16
#: The words for the answers about a pair, in the order of display.
PAIR_WORDS: Final[Mapping[str, str]] = {FIRST: "the first", TIE: "neither", SECOND: "the second"}


class Source(Strict):
    """A text of a system: the `rank`-th best (from 1) that it wrote for the record `id`."""

    system: str
    id: str
    rank: int = 1


class Item(Strict):
    """What a rater answers the questions of the protocol about: a text, a pair or a set of texts.

    Attributes:
        number: from 1, in an order that says nothing of the systems.
        screen: items of one screen are shown together.
        input: the input that the texts are written for; "" for a check.
        given: (label, text) of what is shown above the texts.
        texts: one for a scale, two for a pair, more for a set.
        sources: systems of each text; several if they wrote the same. Empty for a check.
        repeats: the item of which this one is a copy; None for none.
        expected: answer to each question of an attention check; empty for others.
    """

    number: int
    screen: int
    input: str
    given: tuple[tuple[str, str], ...]
    texts: tuple[str, ...]
    sources: tuple[tuple[Source, ...], ...] = ()
    repeats: int | None = None
    expected: dict[str, str] = Field(default_factory=dict)


class Sample(Strict):
    """The items of a protocol, and the raters' parts of them.

    Attributes:
        name: key of the protocol.
        outputs: SHA-256 of the outputs of each run when the sample was drawn.
        items: in the order of their numbers.
        orders: numbers of the items of each rater, in the order of display.
        empty: number of texts without words of each system, which are not rated.
    """

    name: str
    profile: str
    language: Language
    protocol: Protocol
    outputs: dict[str, str]
    items: tuple[Item, ...]
    orders: dict[str, tuple[int, ...]]
    empty: dict[str, int] = Field(default_factory=dict)

    @field_validator("items")
    @classmethod
    def _numbered(cls, items: tuple[Item, ...]) -> tuple[Item, ...]:
        if [item.number for item in items] != list(range(1, len(items) + 1)):
            raise ValueError("items are not numbered from 1")
        return items

    @cached_property
    def hash(self) -> str:
        """The hash of what raters are shown."""
        return digest(self.name, self.questions_shown, [self.shown(item) for item in self.items])[:HASH]

    @property
    def questions_shown(self) -> list[dict[str, object]]:
        """The questions as raters see them: name, words, and levels with their meanings."""
        return [
            {"name": question, "criterion": name, "end": end, "words": criterion.question, "levels": criterion.named}
            for question, (name, end) in self.protocol.questions.items()
            for criterion in (self.protocol.criteria[name],)
        ]

    def shown(self, item: Item) -> dict[str, object]:
        """What a rater sees of an item: nothing of its systems, and not that it is a copy or a check."""
        return {"item": item.number, "screen": item.screen, "given": list(item.given), "texts": list(item.texts)}

    def item(self, number: int) -> Item:
        """An item by its number."""
        return self.items[number - 1]

    def asked(self, rater: str) -> dict[tuple[int, str], list[str]]:
        """The questions put to a rater, (item, question), with their possible answers."""
        return {
            (number, question): self.protocol.answers(question, len(self.item(number).texts))
            for number in self.orders[rater]
            for question in self.protocol.questions
        }


def in_words(question: str, answer: str, protocol: Protocol) -> str:
    """An answer as the page calls it: "fluency: 3", "relevance: the first", "fluency, best: text 2"."""
    criterion, end = protocol.questions[question]
    if protocol.design == "scale":
        return f"{criterion}: {answer}"
    if protocol.design == "pairs":
        return f"{criterion}: {PAIR_WORDS[answer]}"
    return f"{criterion}, {end}: text {answer}"
