"""Small talk: short Chinese posts and replies with gold dependency trees, generated from a seed.

A model has to learn the same as for microblogs: a reply mentions the topic of the post (a dish, a film, a town), reacts
to it (answers a question, accepts or declines an invitation, consoles or congratulates), and is a grammatical sentence;
and every post has many such replies.
"""

import random
from collections.abc import Sequence
from functools import cache

from espalier.corpora.records import Pair
from espalier.nursery.grammar_zh import Bound, Grammar, grow_phrase, recognises
from espalier.nursery.patterns_zh import Script, read_grammar
from espalier.nursery.sampling import exhausted, pick, seeded
from espalier.syntax.parse import Parse, columns_of

#: The maximum of answers to a post, and the bounds of the words of a post or an answer.
_ANSWERS = 4
SHORTEST, LONGEST = 3, 20
#: Attempts to make a new post before `grow` raises an error, or a new answer before the post gets no more.
_TRIES = 1000


def grow(count: int = 5000, seed: int = 1) -> list[Pair]:
    """Generate `count` distinct pairs. A post has one to four replies, and no reply occurs twice in the corpus.

    Args:
        seed: the same seed gives the same pairs on every machine; a larger count only adds pairs.

    Returns:
        Records of origin "nursery", ids "dialogue-000001-1" and so on; `group` identifies the post, "dialogue-000001";
        sides have words, tags, heads and labels (Universal Dependencies), 3 to 20 words each.

    Raises:
        ConfigError: the count is negative, or more than the grammar generates.
    """
    rng = seeded(seed, count, "pairs", "dialogue_zh")
    grammar, _ = _grammar()
    posts: set[tuple[str, ...]] = set()
    answers: set[tuple[str, ...]] = set()
    pairs: list[Pair] = []
    while len(pairs) < count:
        script, bound, post = _post(rng, posts, len(pairs), count)
        group = f"dialogue-{len(posts):06d}"
        targets = 1 + int(rng.random() * _ANSWERS)
        for number in range(1, targets + 1):
            for _ in range(_TRIES):
                # Phrases that this answer binds do not bind the next answers.
                answer = grow_phrase(rng, grammar, script.reply, dict(bound))
                if _fits(answer, answers):
                    break
            else:
                break
            answers.add(answer.words)
            pairs.append(_record(f"{group}-{number}", group, post, answer))
    return pairs[:count]


def is_grammatical(words: Sequence[str]) -> bool:
    """Whether the words, including the final mark, form a reply of the grammar to any post.

    The grammar accepts every reply of its corpora, and many more.
    """
    return SHORTEST <= len(words) <= LONGEST and recognises(_grammar()[0], "Reply", words)


def _post(rng: random.Random, posts: set[tuple[str, ...]], grown: int, count: int) -> tuple[Script, Bound, Parse]:
    grammar, scripts = _grammar()
    for _ in range(_TRIES):
        script = pick(rng, pick(rng, scripts))
        bound: Bound = {}
        post = grow_phrase(rng, grammar, script.post, bound)
        if _fits(post, posts):
            posts.add(post.words)
            return script, bound, post
    raise exhausted(grown, count, "pairs", "dialogue_zh")


@cache
def _grammar() -> tuple[Grammar, tuple[tuple[Script, ...], ...]]:
    """The grammar, and the scripts grouped by name; all names are equally likely."""
    grammar, scripts = read_grammar("lexicon_zh_dialogue.yaml", "scripts_zh_dialogue.yaml")
    names = dict.fromkeys(script.name for script in scripts)
    return grammar, tuple(tuple(script for script in scripts if script.name == name) for name in names)


def _fits(phrase: Parse, said: set[tuple[str, ...]]) -> bool:
    # Where two phrases meet, a word may be repeated by chance.
    pairs = zip(phrase.words, phrase.words[1:], strict=False)
    return SHORTEST <= len(phrase.words) <= LONGEST and phrase.words not in said and all(a != b for a, b in pairs)


def _record(name: str, group: str, post: Parse, answer: Parse) -> Pair:
    return Pair(
        id=name,
        origin="nursery",
        language="zh",
        group=group,
        source="".join(post.words),
        target="".join(answer.words),
        **columns_of(post, "source"),
        **columns_of(answer, "target"),
    )
