"""Golden values of SAT, and of texts under templates: what is written, how it is scored, rows without a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from espalier.datasets.structure.data import StructureData
from espalier.datasets.structure.vocabulary import TOPIC, StructureVocabulary
from espalier.metrics.family import family_scores
from espalier.metrics.metric import details_json
from espalier.metrics.structure import Likelihood, structure_families
from espalier.metrics.texts import CorpusLikelihood, Structured
from espalier.models.sat import SAT
from espalier.models.sat_config import SATConfig
from espalier.tasks.compose_decoder import ComposeDecoder
from espalier.tasks.data import Ready
from espalier.tasks.registry import TASKS

VOC = StructureVocabulary(tuple("灯山桥雨石令舟"), "zh", {"pc": tuple("SBEM"), "pos": ("n", "v", "r", "d", "p")})
TEXTS = [("灯山桥", "SBE", "nvv"), ("雨石令舟灯", "BESBE", "nnrdd"), ("山", "S", "p"), ("舟雨桥灯", "BMME", "vvvv")]


def data() -> StructureData:
    columns = {
        "target": [VOC.encode(text) for text, _, _ in TEXTS],
        "topic": [[], [6, TOPIC], [5, 7, 8, TOPIC], [9, TOPIC]],
        "prompt": [[1], [2], [0], [2]],
        "pc": [VOC.encode_symbols("pc", pc) for _, pc, _ in TEXTS],
        "pos": [VOC.encode_symbols("pos", pos) for _, _, pos in TEXTS],
    }
    return StructureData.of([str(place) for place in range(len(TEXTS))], columns, VOC)


def waved(**changes: Any) -> SAT:
    """A model whose weights are waves, so that no random generator matters."""
    small = {"encoder_layers": 1, "layers": 2, "width": 12, "heads": 3, "inner": 16, "positions": 40}
    model = SAT(SATConfig(**{**small, "dropout": 0.0, "attention_dropout": 0.0, **changes}), VOC).eval()
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters()):
            count = torch.arange(parameter.numel(), dtype=torch.float64)
            parameter.copy_(0.5 * torch.sin(count * 1.7 + number).float().reshape(parameter.shape))
    return model


VARIANTS: list[dict[str, Any]] = [
    {"structures": ("pc", "pos")},
    {"norm": "pre", "places": "shared", "structure": "biased"},
    {"structures": ("pc",), "structure": "add", "topic": True},
    {"places": "sinusoid", "topic": True, "activation": "gelu"},
    {"structures": ()},
]


def sat(_: Path) -> Any:
    found = []
    for changes in VARIANTS:
        model = waved(**changes)
        batch = data().batch(np.arange(len(TEXTS)), model.config.view)
        with torch.inference_mode():
            losses, smoothed, weights = model.token_losses(batch), model(batch, 0.1), model.own_weights(batch)
            state = model.start(batch)
            _, state = model.step(batch.inputs[:, 0], state)
            logs, _ = model.step(batch.inputs[:, 1], state)
        found.append([losses.tolist(), smoothed.total.item(), weights.tolist(), logs.tolist()])
    return [found, SATConfig().model_dump(mode="json")]


def decoding(_: Path) -> Any:
    settings: list[dict[str, Any]] = [
        {"top_k": 3},
        {"top_k": 3, "prompt": "none", "temperature": 0.7, "slack": 2},
        {"method": "beam", "beam": 3, "frame": True},
        {"method": "beam", "beam": 2, "length_power": 1.0, "slack": 4},
    ]
    model, found = waved(structures=("pc", "pos"), topic=True), []
    batch = data().batch(np.arange(len(TEXTS)), model.config.view)
    for each in settings:
        decoder = ComposeDecoder.model_validate(each)
        with torch.inference_mode():
            rows = TASKS["compose"].generate(model, batch, decoder, [1, 2, 3, 4])
        found.append([[hypothesis.tokens for hypothesis in row] for row in rows])
    with torch.inference_mode():
        likelihood = TASKS["compose"].likelihood(model, batch)
    return [found, {name: value.tolist() for name, value in likelihood.items()}, ComposeDecoder().model_dump()]


def metrics(_: Path) -> Any:
    references = [list(text) for text, _, _ in TEXTS]
    hypotheses = [list(text) for text in ("灯山雨", "雨石令桥山舟", "", "舟雨桥灯")]
    symbols = {
        "pc": ([list(pc) for _, pc, _ in TEXTS], [list("BES"), list("BESBME"), [], list("BMME")]),
        "pos": ([list(pos) for _, _, pos in TEXTS], [list("nnv"), list("nnrddd"), [], list("vvvn")]),
    }
    texts = Structured(
        references, hypotheses, [1, 2, 0, 2], symbols,
        likelihood=CorpusLikelihood([9.5, 12.0, 3.0, 8.25], [4, 6, 2, 5], [9.0, 10.0, 2.5, 8.0], [3, 5, 1, 4]),
        own_weights=[0.5, 0.0, 0.25, 0.75], draws=[0, 0, 1, 1], training={tuple("舟雨桥灯")},
    )  # fmt: skip
    statistics = {family: family.statistics(texts) for family in structure_families(texts, places=8)}
    scores = family_scores(statistics, seed=1, groups=list("abcb"), resamples=20)
    dev = {Likelihood(8, "dev"): statistics[Likelihood(8)][:2]}
    scores |= family_scores(dev, seed=1, groups=list("ab"), resamples=20)
    found = details_json(scores)
    # Signatures name the versions of what is compared with, which are not ours.
    return {key: found[key] for key in ("scores", "intervals", "undefined")}


def baselines(_: Path) -> Any:
    table = pd.DataFrame(
        [{"id": str(n), "sample": sample, "reference": text, "prompt": len(text) // 2}
         for n, (text, _, _) in enumerate(TEXTS) for sample in range(2)]
    )  # fmt: skip
    rows = TASKS["compose"].baselines(table, Ready([], data()), data(), 1)
    return {name: [row.columns["text"], row.trivial, list(row.given), list(row.reads)] for name, row in rows.items()}


COMPONENTS = {
    "baselines.compose": baselines,
    "models.sat": sat,
    "decoding.compose": decoding,
    "metrics.compose": metrics,
}
