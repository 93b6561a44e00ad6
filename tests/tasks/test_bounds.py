"""Every number in the settings of params.yaml has a largest value, which the error names."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from pydantic import BaseModel, ValidationError

from espalier.datasets.registry import ENCODINGS
from espalier.models.guig_config import EncoderConfig
from espalier.models.registry import ARCHITECTURES
from espalier.syntax.parsers.registry import BACKENDS
from espalier.tasks.registry import TASKS
from espalier.training.config import TrainingConfig

NEEDED = {
    "steps": 1,
    "units": 8,
    "length": 8,
    "max_tokens": 9,
    "reads": ["source"],
    "rules": "songci",
    "language": "zh",
}


def numbers() -> Iterator[tuple[type[BaseModel], str]]:
    """Each setting of the project's own that is a number."""
    kinds = [TrainingConfig, EncoderConfig]
    kinds += [ENCODINGS[key].settings for key in ("verse", "pairs", "dialogue")]
    kinds += [
        ARCHITECTURES[key].config
        for key in ("songnet", "guig", "scpn", "cdnpg", "x2tree", "rnn_seq2seq", "verse_seq2seq")
    ]
    kinds += [kind for key in ("verse", "paraphrase", "dialogue") for kind in (TASKS[key].decoder, TASKS[key].scoring)]
    kinds += [BACKENDS[key].settings() for key in ("benepar", "spacy")]
    for kind in kinds:
        for name, field in kind.model_fields.items():
            if field.annotation in (int, float):
                yield kind, name


@pytest.mark.parametrize(("kind", "name"), list(numbers()))
@pytest.mark.parametrize("value", [10**18, math.inf, math.nan])
def test_a_number_beyond_all_use_is_refused(kind: type[BaseModel], name: str, value: float) -> None:
    needed = {key: NEEDED[key] for key, field in kind.model_fields.items() if field.is_required()}
    with pytest.raises(ValidationError) as caught:
        kind.model_validate(needed | {name: value})
    (error,) = [each for each in caught.value.errors() if each["loc"] == (name,)]
    assert "less than" in error["msg"] or "finite" in error["msg"]


@pytest.mark.parametrize("betas", [(0.9, 1.0), (0.9, math.nan), (0.9, -1)])
def test_decays_of_averages_are_below_1(betas: tuple[float, float]) -> None:
    with pytest.raises(ValidationError, match="betas"):
        TrainingConfig(steps=1, betas=betas)
