"""A parser's own scores: of all gold sentences, and of the short ones again."""

from __future__ import annotations

from collections.abc import Sequence

from espalier.syntax.parse import Parse
from espalier.syntax.parsers.parser import Refused, Sentence
from pipeline.stages.train_parser import SHORT, scored


def sentence(words: int) -> Parse:
    return Parse(
        tuple(f"w{n}" for n in range(words)),
        ("X",) * words,
        "",
        tuple(range(words)),
        ("root",) + ("dep",) * (words - 1),
    )


class Half:
    """Right about the short, and at a loss with the long."""

    signature = "half"

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse | Refused]:
        return [sentence(len(words)) if len(words) <= SHORT else Refused("too long") for words in sentences]


def test_what_is_refused_is_wrong_and_the_short_have_their_own_scores() -> None:
    details = scored(Half(), [sentence(10), sentence(SHORT), sentence(50)])
    assert details["scores"]["uas"] == 50 and details[f"up_to_{SHORT}_words"]["uas"] == 100
    assert details["counts"] == {"sentences": 3, "up_to_40_words": 2, "refused": 1}


class Tagger:
    """Right about all tags but the first of each sentence."""

    signature = "tagger"

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse | Refused]:
        return [Parse(tuple(words), ("Y",) + ("X",) * (len(words) - 1)) for words in sentences]


def test_a_tagger_is_scored_on_tags_where_the_treebank_has_heads_too() -> None:
    details = scored(Tagger(), [sentence(4), sentence(6)])
    assert details["scores"] == {"tag_accuracy": 80.0}
