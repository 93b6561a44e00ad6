"""Sentences parsed a second: benepar through our backend against the usual `nlp.pipe` with benepar's spaCy component.

    python benchmarks/parse_sentences.py [rounds] [model] [file with a sentence a line, words apart by spaces]

The same model, the same words, one machine; the trees must be identical. Without a model, one of the small profile's
size is trained for a moment on made-up trees: how well it parses does not matter here. Without a file the sentences are
made up too: 5 to 40 words, of which few are frequent and many rare, as in any text.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import benepar  # noqa: F401  # registers its component with spaCy
import numpy as np
import spacy
import torch
from measuring import Record, rate_table, rounds, timed, words
from spacy.tokens import Doc

from espalier.syntax.constituency import tags, write_tree
from espalier.syntax.constituency import words as words_of
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.benepar_backend import TRAINED, load
from espalier.syntax.parsers.benepar_compat import removed_tokenizer_methods
from espalier.syntax.parsers.benepar_training import BeneparTraining, train_benepar
from espalier.syntax.parsers.parser import Parser
from espalier.syntax.tree import Tree

SENTENCES = 300
LABELS = (
    *("ADJP", "ADVP", "CONJP", "FRAG", "INTJ", "LST", "NAC", "NP", "NX", "PP", "PRN", "PRT", "QP", "RRC", "S", "SBAR"),
    *("SBARQ", "SINV", "SQ", "UCP", "VP", "WHADVP", "WHNP", "WHPP", "X"),
)
TAGS = (
    *("CC", "CD", "DT", "EX", "IN", "JJ", "JJR", "JJS", "MD", "NN", "NNP", "NNS", "PDT", "POS", "PRP", "RB", "RBR"),
    *("RP", "TO", "UH", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "WDT", "WP"),
)


def made_up(count: int, draw: np.random.Generator) -> list[list[str]]:
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(draw.choice(letters, draw.integers(2, 11))) for _ in range(8000)]
    share = 1 / (np.arange(len(words)) + 2.7)
    lengths = np.clip(draw.normal(22, 8, count), 5, 40).astype(int)
    return [[words[i] for i in draw.choice(len(words), size, p=share / share.sum())] for size in lengths]


def made_up_tree(words: list[str], draw: np.random.Generator) -> Tree:
    label = str(draw.choice(LABELS))
    if len(words) == 1:
        leaf = Tree(str(draw.choice(TAGS)), words)
        return Tree(label, [leaf]) if draw.random() < 0.3 else leaf
    split = int(draw.integers(1, len(words)))
    node = Tree(label, [made_up_tree(words[:split], draw), made_up_tree(words[split:], draw)])
    return Tree(str(draw.choice(LABELS)), [node]) if draw.random() < 0.05 else node


def made_up_model(folder: Path, draw: np.random.Generator) -> Path:
    trees = [made_up_tree(words, draw) for words in made_up(200, draw)]
    parses = [Parse(words_of(tree), tags(tree), write_tree(tree)) for tree in trees]
    train_benepar(parses, parses[:8], BeneparTraining(epochs=1), folder, folder / "scratch", seed=1)
    return folder / TRAINED


def ours(parser: Parser, sentences: list[list[str]]) -> list[str]:
    return [each.tree if isinstance(each, Parse) else each.reason for each in parser.parse(sentences)]


def usual(nlp: spacy.Language, sentences: list[list[str]]) -> list[str]:
    docs = (Doc(nlp.vocab, words=words, sent_starts=[place == 0 for place in range(len(words))]) for words in sentences)
    return [sentence._.parse_string for doc in nlp.pipe(docs) for sentence in doc.sents]


def contestant(parse: Callable[[list[list[str]]], list[str]], sentences: list[list[str]]) -> Callable[[], float]:
    return timed(lambda: len(parse(sentences)))


def main() -> None:
    given = words()
    count = int(given[0]) if given else 5
    draw = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        model = given[1] if len(given) > 1 else str(made_up_model(Path(folder), draw))
        parser = load(model)
        nlp = spacy.blank("en")
        with removed_tokenizer_methods():
            nlp.add_pipe("benepar", config={"model": model})
    if len(given) > 2:
        lines = Path(given[2]).read_text(encoding="utf-8").splitlines()
        sentences = [line.split() for line in lines if line.strip()]
    else:
        sentences = made_up(SENTENCES, draw)
    pairs = list(zip(ours(parser, sentences), usual(nlp, sentences), strict=True))
    same = sum(one == other for one, other in pairs)
    title = f"{len(sentences)} sentences, {same} trees identical; {torch.get_num_threads()} threads"
    runs = {
        "Espalier": contestant(lambda each: ours(parser, each), sentences),
        "spaCy's `nlp.pipe` with benepar": contestant(lambda each: usual(nlp, each), sentences),
    }
    with Record(__file__) as record:
        record.add(rate_table(title, rounds(runs, count, warm_up=1), "Espalier", "sentences/s"))
    if same < len(sentences):
        sys.exit("the trees are not identical")


if __name__ == "__main__":
    main()
