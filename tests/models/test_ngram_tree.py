"""The n-gram baseline of trees against numbers worked out by hand and against a plain dictionary of counts."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from espalier.datasets.dialogue.data import DialogueBatch, DialogueData, DialogueView
from espalier.datasets.vocabulary import BOS, EOS, PAD, WordVocabulary
from espalier.decoding.tree_beam import tree_beam
from espalier.io.errors import ConfigError
from espalier.models.ngram import NGramConfig
from espalier.models.ngram_tree import NGramTree
from espalier.syntax.ternary import EOB, ternary
from espalier.tasks.dialogue_likelihood import exact_nats, with_all_trees

VOC = WordVocabulary(("a", "b", "c"), "en")
A, B, C = VOC.encode(["a", "b", "c"])
SIZE = VOC.text_size
VIEWS = {k: DialogueView("tree", k) for k in (1, 3)}
VIEW = VIEWS[3]
#: A response: its words, and their heads from 1.
Reply = tuple[list[int], list[int]]
#: A decision: the place, the words above it from the nearest, and the word that is chosen.
Choice = tuple[int | tuple[int, tuple[bool, ...], int], tuple[int, ...], int]


def data(replies: list[Reply]) -> DialogueData:
    columns: dict[str, list[object]] = {name: [] for name in DialogueData.COLUMNS}
    for words, heads in replies:
        tree = ternary(heads)
        for name, values in zip(columns, ([A], words, tree.words, tree.children.ravel()), strict=True):
            columns[name].append(values)
    return DialogueData.of([str(n) for n in range(len(replies))], columns, VOC)  # type: ignore[arg-type]


def batch_of(replies: list[Reply], k: int = 3) -> DialogueBatch:
    return data(replies).batch(np.arange(len(replies)), VIEWS[k])


def fitted(replies: list[Reply], order: int = 3, k: int = 3) -> NGramTree:
    return NGramTree.fit(NGramConfig(VIEWS[k], order), VOC, [batch_of(replies, k)], SIZE)


def tree_of(reply: Reply, k: int) -> tuple[list[int], list[list[int]]]:
    """The words of the nodes, the root's first, and the children of each."""
    words, heads = reply
    if k == 1:
        return words, [[node + 1] for node in range(len(words) - 1)] + [[EOB]]
    tree = ternary(heads)
    return [words[word] for word in tree.words], tree.children.tolist()


def choices(reply: Reply, order: int, k: int) -> list[Choice]:
    """The decisions of one tree, as a reader would list them."""
    token, children_of = tree_of(reply, k)
    found: list[Choice] = [(-1, (BOS,) * (order - 1), token[0])]

    def below(node: int, slot: int, above: tuple[int, ...]) -> None:
        history = (token[node], *above)[: order - 1]
        children = children_of[node]
        for place, child in enumerate(children):
            there = tuple(other != EOB for other in children[:place])
            found.append(((place, there, slot), history, EOS if child == EOB else token[child]))
            if child != EOB:
                below(child, place, (token[node], *above))

    below(0, k, (BOS,) * order)
    return found


def plain(training: list[Choice], choice: Choice) -> float:
    """Interpolated Kneser-Ney as its definition reads: the farthest word is left out first, the place last."""

    def probability(counts: Counter[tuple[object, ...]], history: tuple[object, ...], word: int) -> float:
        once, twice = (sum(count == n for count in counts.values()) for n in (1, 2))
        discount = once / (once + 2 * twice) if once and twice else 0.5
        if history:
            shorter = Counter((*gram[:-2], gram[-1]) for gram in counts)
            lower = probability(shorter, history[:-1], word)
        else:
            lower = 1 / (SIZE - 2)
        following = {gram[-1]: count for gram, count in counts.items() if gram[:-1] == history}
        if not following:
            return lower
        total = sum(following.values())
        return max(following.get(word, 0) - discount, 0) / total + discount * len(following) / total * lower

    grams = Counter[tuple[object, ...]]((place, *above, word) for place, above, word in training)
    place, above, word = choice
    return probability(grams, (place, *above), word)


def test_a_bigram_of_trees_has_the_probabilities_worked_out_by_hand() -> None:
    # Both trees are b over a on its left. Each of their 7 choices was made twice, so that none came once: D = 1/2.
    # The places of the root, of b's three children, and of a's: each has one word, whatever is above.
    model = fitted([([A, B], [2, 0])] * 2, order=2)
    # Place and parent, counted: (2 - 1/2) / 2 = 3/4 and 1/4 for the place alone. There, counted once with its one
    # parent: (1 - 1/2) / 1 = 1/2 and 1/2 for the word. Of 7 places a, b come in one each, the end mark in five:
    # one / (one + 2 two) with two words of one place and none of two: D = 1/2.
    word_a = (1 - 1 / 2) / 7 + 3 * (1 / 2) / 7 / (SIZE - 2)
    end = (5 - 1 / 2) / 7 + 3 * (1 / 2) / 7 / (SIZE - 2)
    state = model.start(batch_of([([A, B], [2, 0])]))
    seen = 3 / 4 + 1 / 4 * (1 / 2 + 1 / 2 * word_a)
    ended = 3 / 4 + 1 / 4 * (1 / 2 + 1 / 2 * end)
    assert model.roots(state)[0, B].exp().item() == pytest.approx(seen)
    nodes = model.nodes(torch.tensor([B]), None, state)
    none = torch.zeros((1, 0), dtype=torch.long)
    assert model.child(0, nodes, none)[0, A].exp().item() == pytest.approx(seen)
    assert model.child(1, nodes, torch.tensor([[A]]))[0, EOS].exp().item() == pytest.approx(ended)
    # Without a left child the place of the middle one is new: only the words tell.
    assert model.child(1, nodes, torch.tensor([[EOS]]))[0, EOS].exp().item() == pytest.approx(end)
    (nats,) = model.tree_losses(batch_of([([A, B], [2, 0])])).tolist()
    assert nats == pytest.approx(-2 * np.log(seen) - 5 * np.log(ended))
    loss = model.forward(batch_of([([A, B], [2, 0])] * 3))
    assert loss.total.item() == pytest.approx(3 * nats) and int(loss.targets) == 3 * 7


@st.composite
def replies(draw: st.DrawFn) -> Reply:
    """One of all projective trees of up to five words, with any words."""
    from espalier.syntax.ternary import heads_of, trees_of

    words = draw(st.lists(st.sampled_from([A, B, C]), min_size=1, max_size=5))
    tree = draw(st.sampled_from(trees_of(len(words))))
    return words, list(heads_of(tree.children))


@pytest.mark.parametrize("k", [1, 3])
@given(st.lists(replies(), min_size=1, max_size=6), st.lists(replies(), min_size=1, max_size=4), st.integers(2, 4))
def test_likelihoods_and_distributions_are_those_of_plain_counts(
    k: int, training: list[Reply], others: list[Reply], order: int
) -> None:
    model, batch = fitted(training, order, k), batch_of(others, k)
    counted = [choice for reply in training for choice in choices(reply, order, k)]
    wanted = [sum(-np.log(plain(counted, choice)) for choice in choices(reply, order, k)) for reply in others]
    assert model.tree_losses(batch).tolist() == pytest.approx(wanted)
    # What the search asks for, one node at a time, is the same.
    state = model.start(batch)
    for row, reply in enumerate(others):
        (token, children_of), own = tree_of(reply, k), state.select(torch.tensor([row]))
        total, todo = model.roots(own)[0, token[0]].item(), [(0, None)]
        for node, hidden in todo:  # the list grows as it is read
            nodes = model.nodes(torch.tensor([token[node]]), hidden, own)
            below = torch.tensor([[EOS if child == EOB else token[child] for child in children_of[node]]])
            for place, child in enumerate(children_of[node]):
                logs = model.child(place, nodes.select(torch.tensor([0])), below[:, :place])
                assert logs.exp().sum().item() == pytest.approx(1, abs=1e-5)
                assert (logs[:, [PAD, BOS]] == -torch.inf).all()
                total += logs[0, below[0, place]].item()
                if child != EOB:
                    todo.append((child, nodes.child_hidden[:, place]))  # type: ignore[arg-type]
        assert total == pytest.approx(-wanted[row], abs=1e-4)


def test_the_search_finds_the_trees_that_it_has_read_with_their_likelihoods() -> None:
    read: Reply = ([A, B, C, A], [2, 0, 2, 3])
    model = fitted([read] * 50)
    found = tree_beam(model, batch_of([read, read]), beam=3, local=3, end=EOS, never=(PAD, BOS), depth=6, max_words=6,
                      max_rounds=6)  # type: ignore[arg-type]  # fmt: skip
    tree = ternary(read[1])
    for row in found:
        assert row[0].tokens == [read[0][word] for word in tree.words]
        assert row[0].log_probability == pytest.approx(-model.tree_losses(batch_of([read]))[0].item(), abs=1e-4)


def test_the_sum_over_all_trees_of_a_reply_is_that_of_each_alone() -> None:
    model = fitted([([A, B, C], [2, 0, 2]), ([B, C], [0, 1]), ([A], [0])])
    rows = data([([A, B, C], [2, 0, 2]), ([C, B], [0, 1])])
    for place, count in ((0, 3), (1, 2)):
        trees = with_all_trees(rows, np.array([place]), count)
        each = [model.tree_losses(trees.batch(np.array([n]), VIEW))[0].item() for n in range(len(trees))]
        assert exact_nats(model, rows, np.array([place]))[0] == pytest.approx(-np.logaddexp.reduce(-np.array(each)))


def test_a_model_of_no_trees_writes_every_word_alike() -> None:
    model = NGramTree.fit(NGramConfig(VIEW), VOC, [], SIZE)
    (probabilities,) = model.roots(model.start(batch_of([([A], [0])]))).exp().tolist()
    assert [len([*group]) for _, group in groupby(sorted(probabilities))] == [2, SIZE - 2]


def test_an_order_without_a_parent_is_one_line() -> None:
    with pytest.raises(ConfigError, match=r"^order: is 1; 2 or more"):
        fitted([([A], [0])], order=1)
