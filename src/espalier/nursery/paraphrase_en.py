"""Paraphrases: one meaning in two forms, with gold constituency trees, grown from a seed by a synchronous grammar.

What a model has to learn here: given a sentence and the top of its paraphrase's tree, how the same words are put
otherwise (voice, dative shift, fronting, clefts, relative clauses, questions), with agreement and tense; the two sides
differ in every word for which the lexicon has another. The form is free: without the tree it can only be guessed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import accumulate, pairwise

from espalier.corpora.records import Pair
from espalier.nursery.brackets_en import Unfit, text_of
from espalier.nursery.forms_en import Family, families, say
from espalier.nursery.meanings_en import Event, Meaning, draw_meaning
from espalier.nursery.referents_en import Referent
from espalier.nursery.sampling import exhausted, seeded, weighted
from espalier.syntax.constituency import tags, words
from espalier.syntax.parse import Parse, columns_of
from espalier.syntax.tree import Tree

#: The bounds of a sentence's words, its last mark included.
SHORTEST, LONGEST = 5, 30
#: The maximum depth of its tree, without the words.
DEEPEST = 12
#: The maximum of targets for one source.
_TARGETS = 3
#: Failed attempts in a row before `grow` raises an error.
_TRIES = 1000


def grow(count: int = 4000, seed: int = 1) -> list[Pair]:
    """Grow `count` pairs, all different; no sentence belongs to two meanings.

    Args:
        count: how many pairs.
        seed: the same seed gives the same pairs on every machine; a larger count only adds pairs.

    Returns:
        Records of origin "nursery", ids "paraphrase-000001" and on; `group` is the meaning, "meaning-000001", which one
        to three pairs share: one source, several targets. Both sides have words, tags and a tree, 5 to 30 words each,
        and at most 12 levels in the tree.

    Raises:
        ConfigError: the count is negative, or more than the grammar generates.
    """
    rng = seeded(seed, count, "pairs", "paraphrase_en")
    pairs: list[Pair] = []
    said: set[tuple[str, ...]] = set()
    meanings = vain = 0
    while len(pairs) < count:
        sentences = _sentences(rng)
        if not sentences or any(sentence.words in said for sentence in sentences):
            vain += 1
            if vain == _TRIES:
                raise exhausted(len(pairs), count, "pairs", "paraphrase_en")
            continue
        vain = 0
        meanings += 1
        said.update(sentence.words for sentence in sentences)
        source, *targets = sentences
        pairs += [
            _record(len(pairs) + number, f"meaning-{meanings:06d}", source, target)
            for number, target in enumerate(targets, start=1)
        ]
    return pairs[:count]


def _sentences(rng: random.Random) -> list[Parse]:
    """One meaning as a source and one to three targets; empty if it has no two good forms."""
    family = weighted(rng, [(family, family.weight) for family in families().values()])
    meaning = draw_meaning(rng, family.things)
    side = int(rng.random() * 2)
    targets = 1 + int(rng.random() * _TARGETS)
    if _repeats(meaning):
        return []
    sentences: list[Parse] = []
    for form in _shuffled(rng, family):
        try:
            sentence = say(form, meaning, side if not sentences else 1 - side)
        except Unfit:
            continue
        if _fits(sentence):
            sentences.append(sentence)
        if len(sentences) > targets:
            break
    return sentences if len(sentences) > 1 else []


def _shuffled(rng: random.Random, family: Family) -> Iterator[Tree]:
    left = list(family.forms.values())
    while left:
        yield left.pop(int(rng.random() * len(left)))


def _repeats(meaning: Meaning) -> bool:
    """Whether two things have a word in common: no teacher helps a teacher."""
    trees: list[Tree | str] = []
    for thing in meaning.values():
        if isinstance(thing, Event):
            ones = {id(one): one for one in (thing.agent, thing.theme, thing.receiver) if one is not None}
            trees += [*(one.tree for one in ones.values()), *thing.place, *thing.time]
        elif isinstance(thing, Referent):
            trees.append(thing.tree)
        else:
            trees += thing
    unique = {id(tree): tree for tree in trees if isinstance(tree, Tree)}
    content = list[str]()
    for tree in unique.values():
        tagged = zip(words(tree), tags(tree), strict=True)
        content += [word for word, tag in tagged if tag[0] in "NJC" and tag != "CC"]
    return len(content) != len(set(content))


def _fits(sentence: Parse) -> bool:
    # Where two phrases meet, a word may be repeated by chance.
    depth = max(accumulate((sign == "(") - (sign == ")") for sign in sentence.tree))
    return (
        SHORTEST <= len(sentence.words) <= LONGEST
        and depth <= DEEPEST
        and all(a != b for a, b in pairwise(sentence.words))
    )


def _record(number: int, group: str, source: Parse, target: Parse) -> Pair:
    return Pair(
        id=f"paraphrase-{number:06d}",
        origin="nursery",
        language="en",
        group=group,
        source=text_of(source.words),
        target=text_of(target.words),
        **columns_of(source, "source"),
        **columns_of(target, "target"),
    )
