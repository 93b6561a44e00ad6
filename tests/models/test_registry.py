"""Models on disk."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from espalier.datasets.verse.data import VerseData
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.io.errors import ArtifactError, ConfigError, EspalierError
from espalier.io.files import read_json, write_json
from espalier.models.registry import ARCHITECTURES, Architecture
from espalier.models.serialization import load_model, load_weights, save_model
from espalier.models.songnet import SongNet
from espalier.models.songnet_config import SongNetConfig

Build = Callable[..., SongNet]


@pytest.fixture
def saved(build: Build, tmp_path: Path) -> Path:
    for seed in (1, 2):
        model = build(seed, title=True)
        save_model(tmp_path, "songnet", model, model.vocabulary, seed)
    return tmp_path


@pytest.mark.parametrize("head", ["tied", "linear", "released"])
def test_a_loaded_model_gives_the_same_bits(build: Build, data: VerseData, tmp_path: Path, head: str) -> None:
    model = build(head=head, embedding_norm=True)
    save_model(tmp_path, "songnet", model, model.vocabulary, 3)
    again, vocabulary = load_model(tmp_path)
    assert isinstance(again, SongNet) and not again.training
    assert vocabulary == model.vocabulary and again.config == model.config
    batch = data.batch(np.arange(4), model.config.view)
    assert torch.equal(again.token_losses(batch), model.token_losses(batch))


def test_each_seed_has_its_own_weights(saved: Path) -> None:
    first, one, two = (load_model(saved, seed)[0] for seed in (None, 1, 2))
    assert isinstance(first, SongNet) and isinstance(one, SongNet) and isinstance(two, SongNet)
    assert torch.equal(first.table.weight, one.table.weight)
    assert not torch.equal(one.table.weight, two.table.weight)


def fails(folder: Path, message: str, seed: int | None = 1) -> None:
    with pytest.raises(ArtifactError, match=message) as caught:
        load_model(folder, seed)
    assert "\n" not in str(caught.value)


def test_missing_files_are_named(saved: Path) -> None:
    fails(saved, "no weights of seed 7; train the model", seed=7)
    fails(saved / "elsewhere", r"model\.json: no such file; run the stage")
    (saved / "vocabulary.json").unlink()
    fails(saved, r"vocabulary\.json: no such file")


@pytest.mark.parametrize("size", [0, 4, 100, 2000])
def test_a_truncated_file_is_named(saved: Path, size: int) -> None:
    file = saved / "seed1.safetensors"
    file.write_bytes(file.read_bytes()[:size])
    fails(saved, r"seed1\.safetensors: not readable as weights")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 24}, r"weights of another architecture: .* is \(.*12.*\) there, \(.*24.*\) here"),
        ({"layers": 3}, r"layers\.2\.\S+ is missing there"),
        ({"head": "linear"}, "weights of another architecture"),
        ({"layers": 0}, "not the shape of a model"),
        ({"colour": "red"}, "not the shape of a model"),
    ],
)
def test_weights_of_another_architecture_are_refused(saved: Path, change: dict[str, object], message: str) -> None:
    value = read_json(saved / "model.json")
    write_json(saved / "model.json", value | {"config": value["config"] | change})
    fails(saved, message)


@pytest.mark.parametrize("value", [{"format": 2}, {"format": 2, "arch": "songnet"}])
def test_a_shape_without_its_keys_is_refused(saved: Path, value: object) -> None:
    write_json(saved / "model.json", value)
    fails(saved, "not the shape of a model")


def test_no_flipped_bit_of_a_model_passes(saved: Path) -> None:
    rng = random.Random(1)
    for name in ("seed1.safetensors", "model.json", "vocabulary.json"):
        whole = (saved / name).read_bytes()
        bits = range(8 * len(whole))
        for bit in {*rng.sample(bits, 60), *bits[:8000:97]}:
            flipped = bytearray(whole)
            flipped[bit // 8] ^= 1 << bit % 8
            (saved / name).write_bytes(flipped)
            with pytest.raises(EspalierError) as caught:
                load_model(saved, 1)
            assert "\n" not in str(caught.value)
        (saved / name).write_bytes(whole)
    load_model(saved, 1)


def test_weights_that_are_not_finite_are_named(build: Build, tmp_path: Path) -> None:
    model = build()
    model.table.weight.data[0, 0] = float("nan")
    save_model(tmp_path, "songnet", model, model.vocabulary, 1)
    fails(tmp_path, r"seed1\.safetensors: table\.weight has values that are not finite; train the model again")


def test_a_model_of_an_older_version_is_to_be_trained_again(saved: Path) -> None:
    write_json(saved / "model.json", read_json(saved / "model.json") | {"format": 1})
    fails(saved, r"format 1, where this version of Espalier reads 2; train it again")


def test_weights_of_another_vocabulary_are_refused(saved: Path) -> None:
    value = read_json(saved / "vocabulary.json")
    write_json(saved / "vocabulary.json", value | {"words": value["words"][:-1]})
    fails(saved, "weights of another architecture")


def test_an_unknown_architecture_is_named_with_those_there_are() -> None:
    with pytest.raises(
        ConfigError,
        match=r"^models\.x\.arch: unknown arch 'gru'; allowed: "
        "cdnpg, dnpg, guig, pair_seq2seq, rnn_seq2seq, sat, scpn, songnet, verse_seq2seq, x2tree",
    ):
        ARCHITECTURES.find("gru", where="models.x.arch")
    assert set(ARCHITECTURES) == {
        "cdnpg",
        "dnpg",
        "guig",
        "pair_seq2seq",
        "rnn_seq2seq",
        "sat",
        "scpn",
        "songnet",
        "verse_seq2seq",
        "x2tree",
    }


class Toy(torch.nn.Module):
    """A model that is registered from outside."""

    def __init__(self, config: SongNetConfig, vocabulary: VerseVocabulary) -> None:
        super().__init__()
        self.config, self.vocabulary = config, vocabulary
        self.weight = torch.nn.Parameter(torch.full((config.width,), float(vocabulary.text_size)))


@pytest.mark.parametrize("model", [Toy, f"{__name__}:Toy"])
def test_an_architecture_registered_from_outside_is_built_saved_and_loaded(
    model: str | type, data: VerseData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ARCHITECTURES, "toy", Architecture(SongNetConfig, "verse", model))
    vocabulary = data.vocabulary
    toy = ARCHITECTURES["toy"].build(SongNetConfig(width=12), vocabulary)
    save_model(tmp_path, "toy", toy, vocabulary, 1)
    loaded, _ = load_model(tmp_path)
    assert type(loaded) is Toy and loaded.weight.tolist() == [vocabulary.text_size] * 12


@pytest.mark.parametrize("model", ["espalier.models.gru:GRU", "espalier.models.songnet:GRU", "no colon"])
def test_a_model_that_cannot_be_imported_is_named(model: str, data: VerseData) -> None:
    with pytest.raises(ConfigError, match=rf"^ARCHITECTURES: cannot import the model {model} \(") as caught:
        Architecture(SongNetConfig, "verse", model).build(SongNetConfig(), data.vocabulary)
    assert "\n" not in str(caught.value)


def test_weights_load_into_a_model_of_their_shape_alone(saved: Path, build: Build) -> None:
    model = build(9, title=True)
    load_weights(model, saved / "seed1.safetensors")
    assert torch.equal(model.table.weight, build(1, title=True).table.weight)


def test_a_file_system_that_refuses_is_one_line(build: Build, tmp_path: Path) -> None:
    (tmp_path / "seed1.safetensors").mkdir()
    model = build()
    with pytest.raises(ArtifactError, match=r"seed1\.safetensors: cannot write") as caught:
        save_model(tmp_path, "songnet", model, model.vocabulary, 1)
    assert "\n" not in str(caught.value)
