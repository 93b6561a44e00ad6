from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path
from typing import Any

import benepar
import pytest
import torch

from espalier.io.errors import DataError
from espalier.syntax.constituency import read_tree, tags, words, write_tree
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.benepar_backend import load
from espalier.syntax.parsers.benepar_training import BeneparTraining, bracket_f1, train_benepar
from espalier.syntax.parsers.parser import Refused, Sentence

SMALL = BeneparTraining(
    epochs=3, batch=4, rate=3e-3, warmup=4, width=32, layers=1, heads=2, key=8, inner=32, character=8, hidden=16,
    positions=40,
)  # fmt: skip


def parse_of(text: str) -> Parse:
    tree = read_tree(text)
    return Parse(words(tree), tags(tree), write_tree(tree))


def treebank() -> list[Parse]:
    """Who does what to whom, with or without an adverb."""
    parses = []
    for number, subject in enumerate(("dog", "cat", "girl", "boy", "bird", "old man")):
        nouns = " ".join(f"({'JJ' if word == 'old' else 'NN'} {word})" for word in subject.split())
        what = "box" if number < 3 else "car"
        for verb, particle in (("sees", ""), ("calls", "up"), ("helps", ""), ("sends", "away")):
            last = f"(PRT (RP {particle}))" if particle else "(ADVP (RB often))" * (number % 2)
            phrase = f"(VP (VBZ {verb}) (NP (DT a) (NN {what})) {last})"
            parses.append(parse_of(f"(S (NP (DT The) {nouns}) {phrase} (. .))"))
    return parses


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_grammar_is_learnt_and_unseen_sentences_get_their_trees(tmp_path: Path) -> None:
    bank = treebank()
    dev, train = bank[::5], [parse for number, parse in enumerate(bank) if number % 5]
    dropouts = {name: 0.0 for name in BeneparTraining.model_fields if name.endswith("dropout")}
    config = SMALL.model_copy(update={"epochs": 30, "rate": 1e-2, **dropouts})
    notes: list[tuple[int, int, str]] = []
    scores = train_benepar(
        train, dev, config, tmp_path / "model", tmp_path / "scratch", seed=1, watch=lambda *note: notes.append(note)
    )
    parser = load(tmp_path / "model")
    assert scores["f1"] > 95
    assert scores["f1"] == bracket_f1(dev, parser)
    answers = parser.parse([parse.words for parse in dev])
    right = sum(
        one == other
        for gold, answer in zip(dev, answers, strict=True)
        if isinstance(answer, Parse)
        for one, other in zip(gold.tags, answer.tags, strict=True)
    )
    assert right > 0.9 * sum(len(parse.tags) for parse in dev)
    assert [done for done, _, _ in notes] == list(range(1, 151))
    assert {total for _, total, _ in notes} == {150}
    assert notes[-1][2].startswith("epoch 30, ")


def test_benepar_loads_what_was_trained_here(tmp_path: Path) -> None:
    bank = treebank()
    train_benepar(bank, bank[:4], SMALL, tmp_path / "model", tmp_path / "scratch", seed=1)
    theirs = benepar.Parser(str(tmp_path / "model" / "benepar.pt"))
    (answer,) = load(tmp_path / "model").parse([bank[0].words])
    assert isinstance(answer, Parse)
    assert write_tree(theirs.parse(list(bank[0].words))[0]) == answer.tree


def test_the_seed_decides_and_nothing_else_does(tmp_path: Path) -> None:
    bank = treebank()
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        torch.rand(seed + len(name))  # the caller's own randomness
        state = torch.get_rng_state()
        train_benepar(bank, bank[:4], SMALL, tmp_path / name, tmp_path / f"{name} scratch", seed=seed)
        assert torch.equal(torch.get_rng_state(), state)
    assert files(tmp_path / "one") == files(tmp_path / "again")
    assert files(tmp_path / "one") != files(tmp_path / "other")


def _killed_at(step: int, arguments: tuple[Any, ...]) -> None:
    def watch(done: int, total: int, note: str) -> None:
        if done == step:
            os.kill(os.getpid(), signal.SIGKILL)

    train_benepar(*arguments, seed=1, watch=watch)


def test_a_killed_training_goes_on_to_the_same_model(tmp_path: Path) -> None:
    bank = treebank()
    arguments = (bank, bank[:4], SMALL)
    whole = train_benepar(*arguments, tmp_path / "whole", tmp_path / "whole scratch", seed=1)
    for step in (8, 14):  # in the second and in the third epoch of six steps each
        process = multiprocessing.get_context("fork").Process(
            target=_killed_at, args=(step, (*arguments, tmp_path / "model", tmp_path / "scratch"))
        )
        process.start()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        assert not (tmp_path / "model").exists()
    steps: list[int] = []
    again = train_benepar(
        *arguments, tmp_path / "model", tmp_path / "scratch", seed=1, watch=lambda done, total, note: steps.append(done)
    )
    assert steps == list(range(13, 19))
    assert again == whole
    assert files(tmp_path / "model") == files(tmp_path / "whole")


@pytest.mark.parametrize("part", [None, "best", "optimizer"])
def test_a_damaged_checkpoint_is_passed_over(part: str | None, tmp_path: Path) -> None:
    bank = treebank()
    scratch = tmp_path / "scratch"
    train_benepar(bank, bank[:4], SMALL, tmp_path / "whole", scratch, seed=1)
    checkpoint = scratch / "checkpoint.pt"
    if part is None:
        checkpoint.write_bytes(checkpoint.read_bytes()[:2000])
    else:  # what is read before it is not to be kept
        state = torch.load(checkpoint, weights_only=True)
        state["epochs"] = 1
        state.pop(part)
        torch.save(state, checkpoint)
    with pytest.warns(UserWarning, match="checkpoint is damaged"):
        train_benepar(bank, bank[:4], SMALL, tmp_path / "model", scratch, seed=1)
    assert files(tmp_path / "model") == files(tmp_path / "whole")


def test_trees_without_a_common_root_or_tags_are_learnt_too(tmp_path: Path) -> None:
    bank = [*treebank(), Parse(("Oh",), ("UH",), "(UH Oh)")]
    bare = [Parse(parse.words, (), parse.tree) for parse in bank]
    for name, parses in (("tagged", bank), ("bare", bare)):
        train_benepar(parses, parses[-4:], SMALL, tmp_path / name, tmp_path / f"{name} scratch", seed=1)
        (answer,) = load(tmp_path / name).parse([bank[0].words])
        assert isinstance(answer, Refused) or bool(answer.tags) == (name == "tagged")


def test_a_batch_of_words_without_brackets_is_learnt_too(tmp_path: Path) -> None:
    bank = [*treebank(), *[Parse((word,), ("UH",), f"(UH {word})") for word in ("Oh", "Well", "No", "Yes")]]
    config = SMALL.model_copy(update={"batch": 1})
    train_benepar(bank, bank[:4], config, tmp_path / "model", tmp_path / "scratch", seed=1)
    (answer,) = load(tmp_path / "model").parse([bank[0].words])
    assert isinstance(answer, Parse)


def test_a_treebank_without_trees_is_refused(tmp_path: Path) -> None:
    bank = treebank()
    none = [Parse(parse.words, parse.tags) for parse in bank]
    for train, dev, what in ((none, bank, "training"), (bank, none, "dev"), ([], bank, "training")):
        with pytest.raises(DataError, match=f"no {what} sentence has a tree"):
            train_benepar(train, dev, SMALL, tmp_path / "model", tmp_path / "scratch", seed=1)


class Fixed:
    """A parser that always answers the same."""

    signature = "fixed"

    def __init__(self, *answers: str) -> None:
        self.answers = answers

    def parse(self, sentences: list[Sentence]) -> list[Parse | Refused]:
        return [parse_of(text) if text else Refused("too long") for text in self.answers]


def test_bracket_f1_by_hand() -> None:
    gold = [parse_of("(S (NP (DT a) (NN b)) (VP (VBZ c)))"), parse_of("(NP (NN d))")]
    # Of 4 gold brackets 2 are found; 3 are found in all.
    assert bracket_f1(gold, Fixed("(S (NP (DT a)) (VP (NN b) (VBZ c)))", "(NP (NN d))")) == pytest.approx(100 * 4 / 8)
    assert bracket_f1(gold, Fixed("(S (NP (DT a) (NN b)) (VP (VBZ c)))", "")) == pytest.approx(100 * 6 / 7)
