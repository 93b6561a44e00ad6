"""A handful of verses, and SongNets whose weights are large enough to tell one formula from another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from espalier.datasets.pairs.data import PairData
from espalier.datasets.pairs.tree_symbols import TreeSymbols
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.verse.data import VerseData
from espalier.datasets.verse.frames import frame_of, target_of
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.models.songnet import SongNet
from espalier.models.songnet_config import SongNetConfig
from espalier.syntax.constituency import read_tree
from espalier.verse.format import format_of

VOC = VerseVocabulary(tuple("，。！灯山桥雨石令舟"), units=4, length=12, language="zh")
VERSES = [
    ("灯山，桥雨。\n山石！", "A.", "石桥令"),
    ("雨。", "A", "山"),
    ("桥，灯。\n灯桥山，舟。\n石。", "AB.", "灯令"),
    ("石山桥。", "A", ""),
]


@pytest.fixture
def data() -> VerseData:
    frames = [frame_of(format_of(text, "zh", rhyme), VOC) for text, rhyme, _ in VERSES]
    targets = [target_of(text, VOC) for text, _, _ in VERSES]
    titles = [VOC.encode(title) for _, _, title in VERSES]
    return VerseData.of([str(i) for i in range(len(VERSES))], frames, VOC, targets=targets, titles=titles)


@pytest.fixture
def build() -> Callable[..., SongNet]:
    def built(seed: int = 1, **changes: Any) -> SongNet:
        small = {"layers": 2, "width": 12, "heads": 3, "inner": 20, "dropout": 0.0, "positions": 40}
        torch.manual_seed(seed)
        model = SongNet(SongNetConfig(**(small | changes)), VOC).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.normal_(std=0.4)
        return model

    return built


@pytest.fixture(scope="session")
def linearized() -> Callable[..., PairData]:
    """Pairs of (source, its tree, target, its tree), under a vocabulary of their own."""

    def made(rows: list[tuple[str, str, str, str]], *, depth: int, pieces: int) -> PairData:
        trees = [[read_tree(row[place], words=False) for row in rows] for place in (1, 3)]
        symbols = TreeSymbols.build([tree for both in zip(*trees, strict=True) for tree in both], depth)
        texts = [text for row in rows for text in (row[0], row[2])]
        voc = PairVocabulary.build(texts, symbols, "en", pieces=pieces, lower=True)
        columns = {
            "source": voc.encode_texts([row[0] for row in rows]),
            "source_tree": [symbols.encode(tree) for tree in trees[0]],
            "target": voc.encode_texts([row[2] for row in rows]),
            "target_tree": [symbols.encode(tree) for tree in trees[1]],
        }
        return PairData.of([str(place) for place in range(len(rows))], columns, voc)

    return made


@pytest.fixture(scope="session")
def untreed() -> Callable[..., PairData]:
    """Pairs of (source, target) without trees, under a vocabulary of their own."""

    def made(rows: list[tuple[str, str]], *, pieces: int) -> PairData:
        voc = PairVocabulary.build([text for row in rows for text in row], None, "en", pieces=pieces, lower=True)
        source, target = (voc.encode_texts(list(side)) for side in zip(*rows, strict=True))
        columns = {"source": source, "target": target} | dict.fromkeys(("source_tree", "target_tree"), [[]] * len(rows))
        return PairData.of([str(place) for place in range(len(rows))], columns, voc)

    return made
