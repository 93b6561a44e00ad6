"""The granularity beside a decoded text, against that of each text alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from espalier.datasets.pairs.data import PairData
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.vocabulary import BOS
from espalier.decoding.beam import Hypothesis
from espalier.decoding.granularity import GradedHypothesis, graded, granularities
from espalier.models.cdnpg import CDNPG
from espalier.models.cdnpg_config import CDNPGConfig, DNPGConfig
from espalier.models.dnpg import DNPG

TEXTS = ["how far is the island", "the ferry", "is it"]
VOC = PairVocabulary.build(TEXTS, None, "en", pieces=40, lower=True)
NONE: list[list[int]] = [[] for _ in TEXTS]
IDS = [[*row] for row in VOC.encode_texts(TEXTS)]
DATA = PairData.of(
    list("abc"), {"source": IDS, "target": IDS, "source_tree": NONE, "target_tree": NONE}, VOC
)  # fmt: skip
SIZES: dict[str, Any] = {"encoder_layers": 2, "layers": 3, "width": 12, "heads": 2, "inner": 8}


@pytest.fixture(scope="module", params=["cdnpg", "dnpg"])
def model(request: pytest.FixtureRequest) -> Any:
    torch.manual_seed(1)
    made: Any = CDNPG(CDNPGConfig(**SIZES), VOC) if request.param == "cdnpg" else DNPG(DNPGConfig(**SIZES), VOC)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_(std=0.4)
    return made.eval()


def test_padding_of_a_batch_changes_no_value_and_adds_none(model: Any) -> None:
    texts = [IDS[1], [], IDS[0]]
    found = granularities(model, DATA.batch(np.arange(3), model.config.view), texts)
    for place, (text, own) in enumerate(zip(texts, found, strict=True)):
        (alone,) = granularities(model, DATA.batch(np.array([place]), model.config.view), [text])
        assert own.source_pieces == alone.source_pieces == tuple(VOC.pieces_of(IDS[place]))
        assert own.text_pieces == tuple(VOC.pieces_of([BOS, *text]))
        for layers, wanted, pieces in (
            (own.encoder, alone.encoder, own.source_pieces),
            (own.decoder, alone.decoder, own.text_pieces),
        ):
            assert {*layers} == {*wanted} and all(len(values) == len(pieces) for values in layers.values())
            for layer, values in layers.items():
                assert values == pytest.approx(wanted[layer], abs=1e-5)


def test_the_best_hypothesis_of_each_row_has_the_granularity_of_its_own_text(model: Any) -> None:
    best, other = Hypothesis(IDS[2], -1.5, -0.5), Hypothesis([], -2.0, -2.0)
    batch = DATA.batch(np.arange(2), model.config.view)
    first, second = graded(model, batch, [[best, other], []])
    assert second == [] and first[1] is other
    assert isinstance(first[0], GradedHypothesis)
    assert (first[0].tokens, first[0].log_probability, first[0].score) == (best.tokens, -1.5, -0.5)
    assert first[0].granularity == granularities(model, batch, [best.tokens, []])[0]
