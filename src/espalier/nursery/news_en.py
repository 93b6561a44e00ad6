"""News: plain sentences about firms, markets and city halls, with Penn tags and trees, generated from a seed.

A model has to learn to follow a template of tags word by word (SAT, section 3). No template occurs twice, but all
consist of frequent phrases, so that a model can also follow new templates.
"""

import random
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

from espalier.corpora.records import Sentence
from espalier.nursery.brackets_en import Rules, Unfit, fill, finished, read_rules, text_of
from espalier.nursery.data import load
from espalier.nursery.inflect_en import verb_form
from espalier.nursery.sampling import chance, exhausted, pick, seeded
from espalier.syntax.parse import Parse, columns_of
from espalier.syntax.tree import Tree

#: The bounds of a sentence's words, its last mark included.
SHORTEST, LONGEST = 6, 35
#: Failed attempts in a row before `grow` raises an error.
_TRIES = 1000
#: Phrases that occur at most once in a sentence.
_ONCE = frozenset(["When"])
#: Words that may be repeated in a sentence.
_COMMON = frozenset(["million", "billion", "%", "year"])


def grow(count: int = 4000, seed: int = 1) -> list[Sentence]:
    """Generate `count` sentences with distinct templates of tags.

    Args:
        seed: the same seed gives the same sentences on every machine; a larger count only adds sentences.

    Returns:
        Records of origin "nursery", ids "news-000001" and so on, with words, tags and a tree, 6 to 35 words each.

    Raises:
        ConfigError: the count is negative, or more than the grammar generates.
    """
    rng = seeded(seed, count, "sentences", "news_en")
    told: set[tuple[str, ...]] = set()
    sentences: list[Sentence] = []
    while len(sentences) < count:
        sentence = _new(rng, told)
        if sentence is None:
            raise exhausted(len(sentences), count, "sentences", "news_en")
        told.add(sentence.tags)
        sentences.append(
            Sentence(
                id=f"news-{len(sentences) + 1:06d}",
                origin="nursery",
                language="en",
                target=text_of(sentence.words),
                **columns_of(sentence, "target"),
            )
        )
    return sentences


def _new(rng: random.Random, told: set[tuple[str, ...]]) -> Parse | None:
    for _ in range(_TRIES):
        try:
            sentence = finished(_expand(rng, "Sentence", "", set())[0])
        except Unfit:
            continue
        if SHORTEST <= len(sentence.words) <= LONGEST and sentence.tags not in told and not _repeats(sentence):
            return sentence
    return None


def _repeats(sentence: Parse) -> bool:
    """Whether a name, a thing or a number occurs twice, or a word twice in a row."""
    words, tags = sentence.words, sentence.tags
    content = [word for word, tag in zip(words, tags, strict=True) if tag[0] in "NJ" or tag in ("CD", "RB", "VBD")]
    content = [word for word in content if word not in _COMMON]
    beside = any(a.lower() == b.lower() for a, b in pairwise(words))
    return beside or len(content) != len(set(content))


def _expand(rng: random.Random, slot: str, tag: str, once: set[str]) -> list[Any]:
    """Expand a slot as described in news_en.yaml.

    Args:
        tag: form of the verbs, which determines the suitable times.
        once: slots of `_ONCE` already used in the sentence.
    """
    if slot.startswith("#"):
        return [_NUMBERS[slot[1:]](rng)]
    if slot.startswith("="):
        return [Tree(tag, [verb_form(str(pick(rng, _rules()[slot[1:]])), tag)])]
    name, _, inner = slot.partition(":")
    tag = inner or tag
    if name in _ONCE and name in once:
        raise Unfit(name)
    once.add(name)
    rules = _rules()
    form = pick(rng, rules.get(f"{name}:{tag}") or rules[name])
    return fill(form, lambda following: _expand(rng, following, tag, once))


@cache
def _rules() -> Rules:
    return read_rules(load("news_en.yaml"))


# --- Numbers ---------------------------------------------------------------------------------------------------------


def _percent(rng: random.Random) -> str:
    whole = 1 + int(rng.random() * 39)
    return f"{whole}.{1 + int(rng.random() * 9)}" if chance(rng, 0.5) else str(whole)


def _between(rng: random.Random, low: int, high: int, step: int = 1) -> int:
    return low + step * int(rng.random() * ((high - low) // step + 1))


_NUMBERS: dict[str, Callable[[random.Random], str]] = {
    "percent": _percent,
    "amount": lambda rng: f"{_between(rng, 11, 999) / 10:.1f}" if chance(rng, 0.5) else str(_between(rng, 2, 900)),
    "few": lambda rng: f"{_between(rng, 11, 99) / 10:.1f}",
    "price": lambda rng: f"{_between(rng, 200, 9999) / 100:.2f}",
    "points": lambda rng: f"{_between(rng, 11, 899) / 10:.1f}",
    "level": lambda rng: f"{_between(rng, 10000, 98000) / 10:,.1f}",
    "hundreds": lambda rng: f"{_between(rng, 100, 4900, 50):,}",
    "thousands": lambda rng: f"{_between(rng, 1000, 48000, 500):,}",
    "year": lambda rng: str(_between(rng, 1961, 2019)),
    "day": lambda rng: str(_between(rng, 1, 28)),
    "ten": lambda rng: pick(rng, ("ten", "eleven", "twelve", "thirteen")),
}
