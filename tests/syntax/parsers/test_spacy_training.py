from __future__ import annotations

import multiprocessing
import os
import random
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy

from espalier.io.errors import DataError
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.parser import Refused, Sentence
from espalier.syntax.parsers.spacy_backend import load
from espalier.syntax.parsers.spacy_training import SpacyTraining, attachment, train_spacy

SMALL = SpacyTraining(
    epochs=3, batch=24, rate=1e-2, warmup=4, width=16, depth=1, rows=200, pieces=2, hidden=8, min_frequency=1
)


def treebank() -> list[Parse]:
    """Who does what to whom, with or without an adverb, in one of two orders."""
    parses = []
    for number, subject in enumerate(("dog", "cat", "girl", "boy", "bird", "man")):
        what = "box" if number < 3 else "car"
        for verb in ("sees", "calls", "helps", "sends"):
            words: tuple[str, ...] = ("The", subject, verb, "a", what, ".")
            tags: tuple[str, ...] = ("DET", "NOUN", "VERB", "DET", "NOUN", "PUNCT")
            heads: tuple[int, ...] = (2, 3, 0, 5, 3, 3)
            labels: tuple[str, ...] = ("det", "nsubj", "root", "det", "obj", "punct")
            if number % 2:
                words, tags = ("Often", *words), ("ADV", *tags)
                heads, labels = (4, *(head and head + 1 for head in heads)), ("advmod", *labels)
            parses.append(Parse(words, tags, "", heads, labels))
    return parses


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_grammar_is_learnt_and_unseen_sentences_get_their_trees(tmp_path: Path) -> None:
    bank = treebank()
    dev, train = bank[::5], [parse for number, parse in enumerate(bank) if number % 5]
    config = SMALL.model_copy(update={"epochs": 30, "dropout": 0.0, "rate": 2e-2})
    notes: list[tuple[int, int, str]] = []
    scores = train_spacy(
        train, dev, config, tmp_path / "model", tmp_path / "scratch", seed=1, watch=lambda *note: notes.append(note)
    )
    assert min(scores["uas"], scores["las"], scores["tags"]) > 95
    assert attachment(dev, load(tmp_path / "model")).items() <= scores.items()
    total = notes[0][1]
    assert [done for done, _, _ in notes] == list(range(1, total + 1))
    assert {steps for _, steps, _ in notes} == {total}
    assert notes[-1][2].startswith("epoch 30, ")


def test_spacy_alone_loads_what_was_trained_here(tmp_path: Path) -> None:
    bank = treebank()
    config = SMALL.model_copy(update={"epochs": 30, "dropout": 0.0, "rate": 2e-2})
    train_spacy(bank, bank[:4], config, tmp_path / "model", tmp_path / "scratch", seed=1)
    doc = spacy.load(tmp_path / "model")(" ".join(bank[0].words))
    (answer,) = load(tmp_path / "model").parse([bank[0].words])
    assert isinstance(answer, Parse)
    assert [token.tag_ for token in doc] == list(answer.tags)
    assert [0 if token.head == token else token.head.i + 1 for token in doc] == list(answer.heads)
    assert [token.dep_.lower() for token in doc] == list(answer.labels)


def test_the_seed_decides_and_nothing_else_does(tmp_path: Path) -> None:
    bank = treebank()
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        random.seed(name)  # the caller's own randomness
        np.random.seed(len(name))
        states = random.getstate(), np.random.get_state()[1].tolist()
        train_spacy(bank, bank[:4], SMALL, tmp_path / name, tmp_path / f"{name} scratch", seed=seed)
        assert (random.getstate(), np.random.get_state()[1].tolist()) == states
    assert files(tmp_path / "one") == files(tmp_path / "again")
    assert files(tmp_path / "one") != files(tmp_path / "other")


def _killed_at(step: int, arguments: tuple[Any, ...]) -> None:
    def watch(done: int, total: int, note: str) -> None:
        if done == step:
            os.kill(os.getpid(), signal.SIGKILL)

    train_spacy(*arguments, seed=1, watch=watch)


def test_a_killed_training_goes_on_to_the_same_model(tmp_path: Path) -> None:
    bank = treebank()
    arguments = (bank, bank[:4], SMALL)
    steps: list[int] = []
    whole = train_spacy(
        *arguments, tmp_path / "whole", tmp_path / "whole scratch", seed=1, watch=lambda done, *_: steps.append(done)
    )
    steps_an_epoch = len(steps) // SMALL.epochs
    for step in (steps_an_epoch + 2, 2 * steps_an_epoch + 2):  # in the second and in the third epoch
        process = multiprocessing.get_context("fork").Process(
            target=_killed_at, args=(step, (*arguments, tmp_path / "model", tmp_path / "scratch"))
        )
        process.start()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        assert not (tmp_path / "model").exists()
    steps.clear()
    again = train_spacy(
        *arguments, tmp_path / "model", tmp_path / "scratch", seed=1, watch=lambda done, *_: steps.append(done)
    )
    assert steps == list(range(2 * steps_an_epoch + 1, 3 * steps_an_epoch + 1))
    assert again == whole
    assert files(tmp_path / "model") == files(tmp_path / "whole")
    steps.clear()
    train_spacy(*arguments, tmp_path / "twice", tmp_path / "scratch", seed=1, watch=lambda done, *_: steps.append(done))
    assert not steps
    assert files(tmp_path / "twice") == files(tmp_path / "whole")


def test_a_damaged_checkpoint_is_passed_over(tmp_path: Path) -> None:
    bank = treebank()
    scratch = tmp_path / "scratch"
    train_spacy(bank, bank[:4], SMALL, tmp_path / "whole", scratch, seed=1)
    checkpoint = scratch / "checkpoint.npz"
    checkpoint.write_bytes(checkpoint.read_bytes()[:2000])
    with pytest.warns(UserWarning, match="checkpoint is damaged"):
        train_spacy(bank, bank[:4], SMALL, tmp_path / "model", scratch, seed=1)
    assert files(tmp_path / "model") == files(tmp_path / "whole")


def test_a_tree_that_is_not_projective_is_learnt_and_found_again(tmp_path: Path) -> None:
    # "A hearing is scheduled on it": the phrase "on it" belongs to the hearing, across the verb.
    crossed = Parse(
        ("A", "hearing", "is", "scheduled", "on", "it"),
        ("DET", "NOUN", "AUX", "VERB", "ADP", "PRON"),
        "",
        (2, 4, 4, 0, 6, 2),
        ("det", "nsubj:pass", "aux:pass", "root", "case", "nmod"),
    )
    config = SMALL.model_copy(update={"epochs": 20, "dropout": 0.0, "rate": 2e-2})
    scores = train_spacy([crossed] * 20, [crossed], config, tmp_path / "model", tmp_path / "scratch", seed=1)
    assert scores["las"] == 100
    assert load(tmp_path / "model").parse([crossed.words]) == [crossed]


def test_heads_that_are_all_on_one_side_are_learnt(tmp_path: Path) -> None:
    config = SMALL.model_copy(update={"epochs": 10, "dropout": 0.0, "rate": 2e-2, "min_frequency": 5})
    words, tags = ("We", "often", "sing"), ("PRON", "ADV", "VERB")
    for heads, labels in (
        ((3, 3, 0), ("nsubj", "advmod", "root")),
        ((0, 1, 1), ("root", "advmod", "ccomp")),
    ):
        bank = [Parse(words, tags, "", heads, labels), Parse(("Yes",), ("INTJ",), "", (0,), ("root",))] * 10
        folder = tmp_path / labels[0]
        assert train_spacy(bank, bank[:2], config, folder / "model", folder, seed=1)["las"] == 100


def test_a_treebank_without_heads_or_tags_is_refused(tmp_path: Path) -> None:
    bank = treebank()
    untagged = [Parse(parse.words, (), "", parse.heads, parse.labels) for parse in bank]
    bare = [Parse(parse.words, parse.tags) for parse in bank]
    for train, dev, what in ((untagged, bank, "training"), (bank, bare, "dev"), ([], bank, "training")):
        with pytest.raises(DataError, match=f"no {what} sentence has tags and heads"):
            train_spacy(train, dev, SMALL, tmp_path / "model", tmp_path / "scratch", seed=1)


def test_tags_alone_are_learnt_from_sentences_without_heads_and_words_are_those_between_spaces(tmp_path: Path) -> None:
    bank = [Parse(parse.words, parse.tags) for parse in treebank()]
    bank += [Parse((*parse.words, "<unk>"), (*parse.tags, "X")) for parse in bank]
    config = SMALL.model_copy(update={"trees": False, "epochs": 6})
    scores = train_spacy(bank, bank, config, tmp_path / "model", tmp_path / "scratch", seed=1)
    assert scores["tags"] > 90 and scores["las"] == 0
    parser = load(tmp_path / "model", words="spaces")
    (parse,) = parser.parse(["The dog sees a  do n't <unk>"])
    assert isinstance(parse, Parse) and parse.words == ("The", "dog", "sees", "a", "do", "n't", "<unk>")
    assert parse.tags[:3] == ("DET", "NOUN", "VERB") and parse.tags[-1] == "X" and not parse.heads
    (parse,) = load(tmp_path / "model", words="penn").parse(['The "dog" doesn\'t see  a cat.'])
    assert isinstance(parse, Parse)
    assert parse.words == ("The", "``", "dog", "''", "does", "n't", "see", "a", "cat", ".")
    untagged = [Parse(parse.words) for parse in bank]
    with pytest.raises(DataError, match="no training sentence has tags;"):
        train_spacy(untagged, bank, config, tmp_path / "other", tmp_path / "scratch", seed=1)


def test_a_tagger_of_a_treebank_with_heads_is_judged_by_its_tags(tmp_path: Path) -> None:
    config = SMALL.model_copy(update={"trees": False, "epochs": 1})
    scores = train_spacy(treebank(), treebank(), config, tmp_path / "model", tmp_path / "scratch", seed=1)
    assert scores["tags"] > 0 and scores["las"] == scores["uas"] == 0


class Fixed:
    """A parser that always answers the same."""

    signature = "fixed"

    def __init__(self, *answers: Parse | Refused) -> None:
        self.answers = answers

    def parse(self, sentences: list[Sentence]) -> list[Parse | Refused]:
        return list(self.answers)


def test_attachment_by_hand() -> None:
    words = ("a", "b", "c", "d")
    gold = Parse(words, ("A", "B", "C", "D"), "", (2, 0, 2, 3), ("k", "root", "l", "m"))
    answer = Parse(words, ("A", "B", "C", "X"), "", (2, 0, 4, 2), ("x", "root", "l", "m"))
    refused = Parse(("e",), ("E",), "", (0,), ("root",))
    # Of 5 words 2 have the right head, 1 the right relation as well, 3 the right tag.
    assert attachment([gold, refused], Fixed(answer, Refused("too long"))) == pytest.approx(
        {"uas": 40.0, "las": 20.0, "tags": 60.0}
    )
