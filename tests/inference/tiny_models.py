"""Tiny models that were never trained, and parsers by rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from espalier.datasets.pairs.encode import PairSettings
from espalier.datasets.pairs.tree_symbols import TreeSymbols
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.structure.encode import StructureSettings
from espalier.datasets.structure.vocabulary import StructureVocabulary
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import EOS, WordVocabulary
from espalier.inference.folder import save_system
from espalier.models.registry import ARCHITECTURES
from espalier.models.serialization import save_model
from espalier.syntax.constituency import read_tree, tags, words, write_tree
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.parser import Refused
from espalier.text.language import Language

TREES = {
    "the cook peels an onion .": "(S (NP (DT the) (NN cook)) (VP (VBZ peels) (NP (DT an) (NN onion))) (. .))",
    "now , i sleep .": "(S (ADVP (RB now)) (, ,) (NP (PRP i)) (VP (VBP sleep)) (. .))",
}
TEMPLATES = ["(S (NP (DT) (NN)) (VP (VBZ) (NP)) (.))", "(S (ADVP (RB)) (,) (NP (PRP)) (VP (VBP)) (.))"]
ENGLISH = ["a", "the", "dog", "cat", "room", "runs", "sleeps", "in"]
SAT = {"encoder_layers": 1, "layers": 1, "width": 8, "heads": 2, "inner": 8, "positions": 40}
CHINESE = [*"灯人山前明天在船头真好你我也吗了伞带，。？", "今天", "天气", "喜欢"]
PAIRS: dict[str, Any] = {"layers": 1, "heads": 2, "width": 16, "inner": 16, "head_width": 8, "positions": 32}
TEXT = {"reads": ["source"], "layers": 1, "heads": 2, "cross_heads": 1}
TREE = {"reads": ["target_tree"], "layers": 1, "heads": 2, "cross_heads": 1}
DIALOGUE = {"width": 8, "word": 6, "readout": 8, "positions": 13}


class Words:
    """Splits at spaces and before full stops; knows the trees of `TREES`; refuses "zzz"."""

    signature = "words"

    def parse(self, sentences: Sequence[Any]) -> list[Parse | Refused]:
        return [self._one(str(sentence)) for sentence in sentences]

    def _one(self, text: str) -> Parse | Refused:
        if "zzz" in text:
            return Refused("no tree")
        if not text.isascii():
            return Parse(tuple("".join(text.split())))
        spaced = " ".join(text.replace(".", " .").replace(",", " ,").split())
        leaves = " ".join(f"(NN {word})" for word in spaced.split())
        tree = read_tree(TREES.get(spaced, f"(S (NP {leaves}))"))
        return Parse(words(tree), tags(tree), write_tree(tree))


class Tagger:
    """Words of two characters, or between spaces, which are n if their length is even, else v; refuses "zzz".

    What it has parsed is in `seen`. 空 and "void" are x, which training never has.
    """

    signature = "tagger"

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def parse(self, sentences: Sequence[Any]) -> list[Parse | Refused]:
        self.seen += sentences
        return [self._one(each) for each in sentences]

    def _one(self, sentence: Any) -> Parse | Refused:
        if not sentence or "zzz" in sentence:
            return Refused("empty")
        if not isinstance(sentence, str):
            words = list(sentence)
        elif sentence.isascii():
            words = sentence.split()
        else:
            text = "".join(sentence.split())
            words = [text[place : place + 2] for place in range(0, len(text), 2)]
        tags = ["x" if word in ("空", "空空", "void") else "n" if len(word) % 2 == 0 else "v" for word in words]
        return Parse(tuple(words), tuple(tags))


def load_words(model: str | Path | None = None) -> Words:
    """A parser backend: `Words`. A model, if it needs one, is a file or a folder."""
    if model is not None and not Path(model).exists():
        raise FileNotFoundError(model)
    return Words()


def build(folder: Path, arch: str, network: dict[str, Any], vocabulary: Any, *, seeds: Sequence[int] = (1,)) -> Path:
    """A model's folder without `system.json`."""
    kind = ARCHITECTURES[arch]
    folder.mkdir(parents=True)
    for seed in seeds:
        torch.manual_seed(seed)
        model: Any = kind.build(kind.config.model_validate(network), vocabulary)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.normal_(std=0.5 if arch in ("x2tree", "rnn_seq2seq") else 0.3)
                if arch in ("x2tree", "rnn_seq2seq") and name.endswith("bias") and "readout" in name:
                    parameter[EOS] = 3.0
        save_model(folder, arch, model, vocabulary, seed)
    return folder


def structure_vocabulary(language: Language) -> StructureVocabulary:
    """Of Chinese characters with two structures, or of English words with parts of speech."""
    tokens = [token for word in CHINESE for token in word] if language == "zh" else ENGLISH
    pos = {"pos": ["n", "v"]}
    symbols: dict[str, list[str]] = {"pc": ["S", "B", "E"], **pos} if language == "zh" else pos
    return StructureVocabulary.build(tokens, symbols, language, min_count=1)


def pair_vocabulary(depth: int = 8, more_labels: Sequence[str] = (), trees: bool = True) -> PairVocabulary:
    parsed = [read_tree(tree) for tree in TREES.values()]
    symbols = TreeSymbols.build(parsed, depth)
    more = tuple(more_labels)
    symbols = replace(symbols, labels=symbols.labels + more, opens=symbols.opens + (True,) * len(more),
                      ends=symbols.ends + (False,) * len(more))  # fmt: skip
    texts = [*TREES, "abcdefghijklmnopqrstuvwxyz"]
    return PairVocabulary.build(texts, symbols if trees else None, "en", pieces=90, lower=True)


def make_models(root: Path) -> None:
    """Systems in folders beside each other; none names a parser."""
    verse = VerseVocabulary(tuple(CHINESE), "zh", 8, 16)
    sizes = {"layers": 1, "width": 8, "heads": 1, "inner": 8, "positions": 64}
    build(root / "verse", "songnet", sizes, verse, seeds=(3, 11))
    save_system(root / "verse", {"units": 8, "length": 16, "max_tokens": 60})

    pairs = PairSettings(max_length=20).model_dump(mode="json")
    known = [{"template": text, "count": 9 - place} for place, text in enumerate(TEMPLATES)]
    for name, network in {
        "writer": {"encoders": [TEXT, {**TREE, "attention": "path"}]},
        "unguided": {"encoders": [TEXT]},
        "expander": {
            "writes": "tree",
            "encoders": [{**TREE, "reads": ["source_tree"]}, {**TREE, "reads": ["template"]}],
        },
    }.items():
        build(root / name, "guig", {**PAIRS, **network}, pair_vocabulary())
        expander = root / "expander" if name == "writer" else None
        save_system(root / name, pairs, expander=expander, templates=known)
    deep = build(root / "other_depth", "guig", {**PAIRS, "writes": "tree", "encoders": [
        {**TREE, "reads": ["source_tree"]}]}, pair_vocabulary(6))  # fmt: skip
    save_system(deep, pairs)

    plain = {"encoder_layers": 2, "layers": 2, "width": 12, "heads": 2, "inner": 12, "positions": 32}
    for name, arch, network in (
        ("plain", "cdnpg", {"granularity": "product"}),
        ("transformer", "cdnpg", {"granularity": "none"}),
        ("levels", "dnpg", {}),
    ):
        build(root / name, arch, {**plain, **network}, pair_vocabulary(trees=False))
        save_system(root / name, PairSettings(max_length=20, trees=False).model_dump(mode="json"))

    for name, language, structures, topics in (
        ("lines", "zh", ["pc", "pos"], 0), ("topics", "zh", ["pc"], 2), ("news", "en", ["pos"], 0),
        ("gpt2", "en", [], 0),
    ):  # fmt: skip
        network = {"structures": structures, "topic": topics > 0}
        build(root / name, "sat", {**SAT, **network}, structure_vocabulary(language))
        own = ["pc", "pos"] if language == "zh" else ["pos"]
        settings = StructureSettings(structures=tuple(own), max_length=12, topics=topics)
        save_system(root / name, settings.model_dump(mode="json"))

    for name, arch in (("tree", "x2tree"), ("chain", "rnn_seq2seq")):
        build(root / name, arch, DIALOGUE, WordVocabulary(tuple(CHINESE), "zh"))
        save_system(root / name, {"max_words": 10})
