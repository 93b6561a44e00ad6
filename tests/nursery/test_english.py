"""What holds of every English sentence that the nursery grows with a tree."""

import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.tokenize import NLTKWordTokenizer
from nltk.tree import Tree

from espalier.nursery import news_en, paraphrase_en
from espalier.nursery.lexicon_en import begins_with_vowel
from espalier.syntax.constituency import clean, linearize, read_tree, tags, words, write_tree
from espalier.syntax.parse import Parse, parse_of

#: A sentence as its record has it: the text, and its grammar.
Said = tuple[str, Parse]

SEEDS = st.integers(0, 2**32)
#: What the treebank calls phrases, and words.
LABELS = "S SBAR SBARQ SQ SINV NP VP PP ADJP ADVP QP PRT PRN WHNP WHPP WHADVP WHADJP"
TAGS = (
    "CC CD DT EX IN JJ JJR JJS MD NN NNS NNP POS PRP PRP$ RB RBR RP TO VB VBD VBG VBN VBP VBZ WDT WP WRB . , : `` '' $"
)


def paraphrases(count: int, seed: int) -> Iterator[Said]:
    for pair in paraphrase_en.grow(count, seed):
        row = {name: getattr(pair, name) for name in pair.__dataclass_fields__}
        yield pair.source, parse_of(row, "source")
        yield pair.target, parse_of(row, "target")


def news(count: int, seed: int) -> Iterator[Said]:
    for sentence in news_en.grow(count, seed):
        row = {name: getattr(sentence, name) for name in sentence.__dataclass_fields__}
        yield sentence.target, parse_of(row, "target")


@pytest.fixture(scope="module", params=[paraphrases, news])
def said(request: pytest.FixtureRequest) -> list[Said]:
    return list(request.param(1000, 5))


@pytest.mark.parametrize("grow", [paraphrases, news])
@settings(max_examples=10, deadline=None)
@given(seed=SEEDS)
def test_trees_are_clean_and_have_the_words_and_the_tags(grow: type, seed: int) -> None:
    for _, parse in grow(15, seed):
        tree = read_tree(parse.tree)
        assert write_tree(tree) == parse.tree
        assert clean(tree) == tree
        assert words(tree) == parse.words
        assert tags(tree) == parse.tags


@pytest.mark.parametrize("grow", [paraphrases, news])
@settings(max_examples=10, deadline=None)
@given(seed=SEEDS)
def test_the_treebank_tokenizer_gives_the_words_back(grow: type, seed: int) -> None:
    tokenizer = NLTKWordTokenizer()
    for text, parse in grow(15, seed):
        assert tuple(tokenizer.tokenize(text)) == parse.words


def test_labels_and_tags_are_the_treebank_s(said: list[Said]) -> None:
    for _, parse in said:
        labels = set(linearize(read_tree(parse.tree))[0])
        assert set(parse.tags) <= set(TAGS.split(" "))
        assert labels - set(parse.tags) <= set(LABELS.split(" "))


def test_no_slot_and_no_choice_is_left(said: list[Said]) -> None:
    for text, parse in said:
        assert not re.search(r"[<>|=#+_]", text + parse.tree)


def test_sentences_begin_with_a_capital_and_end_with_a_mark(said: list[Said]) -> None:
    for text, _ in said:
        assert re.fullmatch(r'"?[A-Z].*[.?]', text), text


def test_a_and_an_agree_with_the_next_sound(said: list[Said]) -> None:
    for text, parse in said:
        for word, following in pairwise(parse.words):
            if word.lower() in ("a", "an"):
                assert (word.lower() == "an") == begins_with_vowel(following.lower()), text


def test_no_word_stands_beside_itself(said: list[Said]) -> None:
    for text, parse in said:
        assert all(one.lower() != other.lower() for one, other in pairwise(parse.words)), text


def test_verbs_agree_with_their_subjects(said: list[Said]) -> None:
    seen = 0
    for text, parse in said:
        for subject, verb in _clauses(Tree.fromstring(parse.tree)):
            seen += 1
            assert _is_many(subject) == (verb == "VBP"), (text, subject, verb)
    assert seen > 100


def _clauses(tree: Tree) -> Iterator[tuple[Tree, str]]:
    """The subjects of verbs in the present tense, and the tags of these."""
    for node in tree.subtrees(lambda node: node.label() == "S"):
        for one, other in pairwise(node):
            if one.label() == "NP" and one[0].label() != "EX" and other.label() == "VP":
                while other.label() == "VP":
                    other = other[0]
                if other.label() in ("VBZ", "VBP"):
                    yield one, other.label()


def _is_many(subject: Tree) -> bool:
    while subject[0].label() == "NP" and subject[0][-1].label() != "POS":
        subject = subject[0]
    if any(node.label() in ("CC", "QP") for node in subject):
        # "Harlan & Novak" is one firm.
        return "&" not in subject.leaves()
    head = [node for node in subject if node.label() in ("NN", "NNS", "NNP", "PRP", "DT", "CD")][-1]
    return head.label() == "NNS" or head[0].lower() in ("i", "you", "we", "they")
