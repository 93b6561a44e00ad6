"""Texts of GPT2, through the library: `sample`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tiny_models import SAT, build, structure_vocabulary

import espalier
from espalier.datasets.structure.encode import StructureSettings
from espalier.inference.folder import save_system
from espalier.inference.requests import SampleRequest
from espalier.inference.system import System
from espalier.inference.writer import InferenceWarning
from espalier.io.errors import ConfigError, DataError


@pytest.fixture(scope="module")
def gpt2(models: Path) -> System:
    return espalier.load(models / "gpt2", device="cpu")


def test_texts_begin_with_their_prompt_and_differ_from_each_other(gpt2: System) -> None:
    found = gpt2.sample(["a dog", ""], n=4, seed=3)
    assert [(each.prompt, each.sample, each.seed) for each in found] == [
        *(("a dog", sample, 3) for sample in range(4)), *(("", sample, 3) for sample in range(4)),
    ]  # fmt: skip
    assert all(each.text.startswith("a dog") for each in found[:4])
    assert len({each.text for each in found}) > 4
    assert gpt2.sample(["a dog", ""], n=4, seed=3) == found
    assert all(len(each.text.split()) <= 12 for each in found)  # as in training


def test_a_beam_finds_the_most_probable_text_that_enumeration_finds(gpt2: System) -> None:
    """Among the texts of a wide beam, none has a higher likelihood than the first; sampling is no better."""
    best, *others = gpt2.sample([""], beam=40, n=40)
    drawn = {each.text for each in gpt2.sample([""], n=200)} - {""}
    texts = [best.text, *(each.text for each in others), *sorted(drawn)]
    records = [{"target": text, "target_words": text, "target_tags": " ".join(["n"] * len(text.split()))}
               for text in texts if text]  # fmt: skip
    nats = [each.nll for each in gpt2.likelihood(records)]
    if best.text:
        assert int(np.argmin(nats)) == 0 or nats[0] == pytest.approx(min(nats), abs=1e-4)


def test_a_prompt_longer_than_the_positions_of_the_model_is_named(tmp_path: Path) -> None:
    """A dataset may allow longer texts than its longest, and a model needs positions for that one alone."""
    network = {**SAT, "structures": [], "topic": False, "positions": 8}
    folder = build(tmp_path / "few", "sat", network, structure_vocabulary("en"))
    save_system(folder, StructureSettings(structures=("pos",), max_length=12, topics=0).model_dump(mode="json"))
    few = espalier.load(folder, device="cpu")
    [found] = few.sample(["a " * 7])
    assert found.text.startswith("a a a a a a a")
    with pytest.raises(DataError, match=r"prompts\[0\]: 8 tokens; fewer than 8"):
        few.sample(["a " * 8])


def test_a_prompt_that_cannot_be_read_is_named(gpt2: System) -> None:
    with pytest.raises(DataError, match=r"prompts\[0\]: 12 tokens; fewer than 12"):
        gpt2.sample(["a " * 12])
    with pytest.warns(InferenceWarning, match="does not know zebra"):
        [found] = gpt2.sample([SampleRequest("zebra")])
    assert found.text.startswith("zebra")


def test_a_model_that_reads_structures_does_not_write_freely(models: Path) -> None:
    with pytest.raises(ConfigError, match="sample needs a model that reads nothing but its own words"):
        espalier.load(models / "lines", device="cpu").sample()
    with pytest.raises(ConfigError, match="serves sample"):
        espalier.load(models / "gpt2", device="cpu").compose(["a dog"])
