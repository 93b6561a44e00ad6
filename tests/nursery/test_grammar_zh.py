import itertools
import random
from collections import Counter
from collections.abc import Sequence

import pytest

from espalier.io.errors import EspalierError
from espalier.nursery.grammar_zh import Bound, Grammar, Part, Pattern, grow_phrase, recognises
from espalier.syntax.parse import Parse


def grammar(**phrases: Sequence[tuple[Part, ...]]) -> Grammar:
    return Grammar({name: tuple((parts, 1) for parts in patterns) for name, patterns in phrases.items()})


#: 猫 很? (喜欢 鱼|虾 | 睡), with 小? before an animal.
SMALL = grammar(
    Animal=[(Part("小", "ADJ", "amod", optional=True), Part("猫", "NOUN")), (Part("狗", "NOUN"),)],
    Likes=[(Part("很", "ADV", "advmod", optional=True), Part("喜欢", "VERB"), Part("Animal", label="obj"))],
    Sleeps=[(Part("睡", "VERB"),), (Part("睡", "VERB"), Part("了", "AUX", "aux"))],
    Says=[(Part("Animal", label="nsubj"), Part("Likes")), (Part("Animal", label="nsubj"), Part("Sleeps"))],
)


def language() -> set[tuple[str, ...]]:
    """All that SMALL can say, put together by hand."""
    animals = [["猫"], ["小", "猫"], ["狗"]]
    likes = [[*very, "喜欢", *animal] for very in ([], ["很"]) for animal in animals]
    return {(*who, *does) for who in animals for does in (*likes, ["睡"], ["睡", "了"])}


def test_a_phrase_is_put_together_with_its_heads() -> None:
    only = grammar(
        Noun=[(Part("小", "ADJ", "amod"), Part("猫", "NOUN"))],
        Fish=[(Part("鱼", "NOUN"),)],
        Eats=[(Part("在", "ADV", "advmod"), Part("吃", "VERB"), Part("Fish", label="obj"))],
        Text=[(Part("Noun", label="nsubj"), Part("Eats"), Part("。", "PUNCT", "punct"))],
    )
    assert grow_phrase(random.Random(0), only, "Text", {}) == Parse(
        words=("小", "猫", "在", "吃", "鱼", "。"),
        tags=("ADJ", "NOUN", "ADV", "VERB", "NOUN", "PUNCT"),
        heads=(2, 4, 4, 0, 4, 4),
        labels=("amod", "nsubj", "advmod", "root", "obj", "punct"),
    )


def test_all_that_a_grammar_can_say_is_said_and_nothing_else() -> None:
    rng = random.Random(0)
    assert {grow_phrase(rng, SMALL, "Says", {}).words for _ in range(2000)} == language()


def test_what_is_recognised_is_what_can_be_said() -> None:
    vocabulary = sorted({word for words in language() for word in words})
    sentences = language()
    assert max(map(len, sentences)) == 6
    for size in range(5):
        for words in itertools.product(vocabulary, repeat=size):
            assert recognises(SMALL, "Says", words) == (words in sentences), words
    assert all(recognises(SMALL, "Says", words) for words in sentences)
    assert not any(recognises(SMALL, "Says", (*words, "睡")) for words in sentences)


def test_an_unknown_word_is_not_recognised() -> None:
    assert not recognises(SMALL, "Says", ("狗", "跳"))


def test_a_bound_phrase_is_said_again_and_the_others_are_different() -> None:
    words = [(Part(word, "NOUN"),) for word in "甲乙丙丁"]
    bound_once = grammar(
        Word=words,
        Post=[(Part("Word", bound="$"), Part("Word", label="conj", bound="$2"))],
        Reply=[(Part("Word", bound="$2"), Part("Word", label="conj"), Part("Word", label="conj", bound="$"))],
    )
    rng = random.Random(0)
    for _ in range(50):
        bound: Bound = {}
        first, second = grow_phrase(rng, bound_once, "Post", bound).words
        assert first != second
        again, other, back = grow_phrase(rng, bound_once, "Reply", bound).words
        assert (again, back) == (second, first)
        assert other not in (first, second)


def test_where_there_is_nothing_else_to_say_the_same_is_said_again() -> None:
    single = grammar(Word=[(Part("甲", "NOUN"),)], Text=[(Part("Word", bound="$"), Part("Word", label="conj"))])
    assert grow_phrase(random.Random(0), single, "Text", {}).words == ("甲", "甲")


def test_weights_and_options_are_drawn_as_often_as_they_should() -> None:
    often: tuple[Pattern, ...] = (((Part("常", "ADV"),), 3), ((Part("稀", "ADV"), Part("了", "PART", "aux", True)), 1))
    rng = random.Random(0)
    drawn = Counter("".join(grow_phrase(rng, Grammar({"Text": often}), "Text", {}).words) for _ in range(4000))
    assert drawn["常"] == pytest.approx(3000, rel=0.05)
    assert drawn["稀了"] == pytest.approx(500, rel=0.15)
    assert drawn["稀"] == pytest.approx(500, rel=0.15)


def test_a_phrase_that_is_not_there_is_refused() -> None:
    with pytest.raises(EspalierError, match="phrase Text: there is no phrase Noun"):
        grammar(Text=[(Part("Noun"),)])


def test_a_phrase_that_contains_itself_is_refused_with_its_circle() -> None:
    with pytest.raises(EspalierError, match=r"it contains itself \((A in B in A|B in A in B)\)"):
        grammar(A=[(Part("B"),)], B=[(Part("词", "NOUN"),), (Part("词", "NOUN"), Part("A", label="obj"))])


def test_a_phrase_without_a_pattern_or_a_weight_is_refused() -> None:
    with pytest.raises(EspalierError, match="phrase Text: no pattern is ever drawn; give one a weight"):
        Grammar({"Text": ()})
    with pytest.raises(EspalierError, match="no pattern is ever drawn"):
        Grammar({"Text": (((Part("词", "NOUN"),), 0),)})
