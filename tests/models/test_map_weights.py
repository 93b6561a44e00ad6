"""A trained model's weights in a model with another vocabulary: which rows move, which stay, what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from espalier.datasets.structure.vocabulary import SYMBOL_SPECIALS, StructureVocabulary
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import SPECIALS
from espalier.io.errors import ArtifactError, ConfigError
from espalier.io.files import read_json, write_json
from espalier.models.registry import ARCHITECTURES
from espalier.models.sat import SAT
from espalier.models.sat_config import SATConfig
from espalier.models.serialization import map_weights, save_model
from espalier.models.songnet import SongNet
from espalier.models.songnet_config import SongNetConfig

SMALL = {"layers": 1, "width": 8, "heads": 2, "inner": 12, "positions": 20}
OLD = VerseVocabulary(tuple("山雨灯，。"), "zh", units=3, length=4)
#: Another order, two words less, three more; one unit more, two places less; tones.
NEW = VerseVocabulary(tuple("。风雨舟山月"), "zh", units=4, length=2, tones=True)


def songnet(vocabulary: VerseVocabulary, seed: int, **changes: Any) -> SongNet:
    torch.manual_seed(seed)
    model = SongNet(SongNetConfig.model_validate(SMALL | changes), vocabulary)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_()
    return model


def saved(folder: Path, model: SongNet) -> SongNet:
    save_model(folder, "songnet", model, model.vocabulary, 1)
    return model


def by_name(vocabulary: VerseVocabulary) -> dict[str, int]:
    """Ids by hand: the contract of `VerseVocabulary`'s docstring, without `meanings`."""
    names = [*SPECIALS, *vocabulary.words, "c0", "c1", "c2", "title"]
    names += [f"s{n}" for n in range(vocabulary.units)] + [f"p{n}" for n in range(vocabulary.length)]
    names += ["either", "level", "oblique"] if vocabulary.tones else []
    assert len(names) == vocabulary.size
    return {name: row for row, name in enumerate(names)}


@pytest.mark.parametrize("head", ["tied", "released"])
def test_rows_move_by_meaning_and_new_ones_stay_as_initialised(tmp_path: Path, head: str) -> None:
    first = saved(tmp_path, songnet(OLD, 1, head=head))
    fresh, model = songnet(NEW, 2, head=head), songnet(NEW, 2, head=head)
    assert map_weights(model, NEW, tmp_path) == {"copied": 5 + 3 + 4 + 3 + 2, "new": 3 + 1 + 3}
    old, new = by_name(OLD), by_name(NEW)
    for name, row in new.items():
        wanted = first.table.weight[old[name]] if name in old else fresh.table.weight[row]
        assert torch.equal(model.table.weight[row], wanted), name
        if row < NEW.text_size:
            bias, sources = (m.head.bias if m.head else m.head_bias for m in (model, first)), (old.get(name), row)
            own, theirs = bias
            start = fresh.head.bias if fresh.head else fresh.head_bias
            assert own[row] == (theirs[sources[0]] if sources[0] is not None else start[row]), name
    others = {name for name, _ in model.named_parameters()} - {"table.weight", "head.weight", "head.bias", "head_bias"}
    mine, theirs = dict(model.named_parameters()), dict(first.named_parameters())
    assert others and all(torch.equal(mine[name], theirs[name]) for name in others)


def test_an_equal_vocabulary_gives_all_weights_as_they_are(tmp_path: Path) -> None:
    first, model = saved(tmp_path, songnet(OLD, 1)), songnet(OLD, 2)
    assert map_weights(model, OLD, tmp_path) == {"copied": OLD.size, "new": 0}
    state: dict[str, Tensor] = first.state_dict()
    assert all(torch.equal(tensor, state[name]) for name, tensor in model.state_dict().items())


def test_a_word_that_is_spelled_like_a_symbol_is_no_symbol(tmp_path: Path) -> None:
    words = VerseVocabulary(("p0", "a"), "en", units=1, length=1)
    first = saved(tmp_path, songnet(words, 1))
    model, without = songnet(replace(words, words=("a",)), 2), replace(words, words=("a",))
    assert map_weights(model, without, tmp_path)["new"] == 0
    assert torch.equal(model.table.weight[without.position(0)], first.table.weight[words.position(0)])


@pytest.mark.parametrize("arch", ["songnet", "verse_seq2seq", "rnn_seq2seq"])
def test_all_that_an_architecture_names_are_tensors_of_it_and_no_other_depends_on_the_vocabulary(arch: str) -> None:
    kind = ARCHITECTURES[arch]
    network = SMALL if arch == "songnet" else {"width": 4, "word": 3, "readout": 5}
    shapes = []
    for vocabulary in (OLD, replace(NEW, units=7)):
        models = [kind.build(kind.config.model_validate(network), vocabulary)]
        if arch == "songnet":
            models.append(kind.build(kind.config.model_validate(network | {"head": "linear"}), vocabulary))
        shapes.append({name: tuple(tensor.shape) for model in models for name, tensor in model.state_dict().items()})
    moved = {name for name in shapes[0] if shapes[0][name] != shapes[1][name]}
    named = set(models[0].vocabulary_rows)  # type: ignore[arg-type]
    assert moved <= named and named - moved <= {"head_bias"}


def sat(words: str, symbols: dict[str, tuple[str, ...]], seed: int, structures: tuple[str, ...] = ("pos",)) -> SAT:
    torch.manual_seed(seed)
    config = SATConfig(structures=structures, encoder_layers=1, dropout=0.0, **SMALL)  # type: ignore[arg-type]
    return SAT(config, StructureVocabulary(tuple(words), "zh", symbols))


def test_tables_of_symbols_move_by_the_names_of_symbols(tmp_path: Path) -> None:
    """Both have three tags, in another order: rows moved by their numbers would be those of other tags."""
    first = sat("山雨灯", {"pos": ("n", "v", "r")}, 1)
    save_model(tmp_path, "sat", first, first.vocabulary, 1)
    fresh, model = (sat("灯舟", {"pos": ("v", "x", "n")}, 2) for _ in range(2))
    shared = len(SPECIALS) + 1 + len(SYMBOL_SPECIALS) + 2
    assert map_weights(model, model.vocabulary, tmp_path) == {"copied": shared, "new": 2}
    own, theirs, start = (each.symbols["pos"].weight for each in (model, first, fresh))
    assert torch.equal(own[:2], theirs[:2])
    for row, other in ((2, 3), (4, 2)):  # v, n
        assert torch.equal(own[row], theirs[other])
    assert torch.equal(own[3], start[3])
    assert torch.equal(model.table.weight[len(SPECIALS)], first.table.weight[len(SPECIALS) + 2])


def test_a_structure_that_the_first_model_does_not_read_is_one_line(tmp_path: Path) -> None:
    tables = {"pc": ("S",), "pos": ("n",)}
    first = sat("山", tables, 1)
    save_model(tmp_path, "sat", first, first.vocabulary, 1)
    model = sat("山", tables, 2, ("pc", "pos"))
    with pytest.raises(ArtifactError, match=r"weights of another architecture: symbols\.pc\.weight is missing there"):
        map_weights(model, model.vocabulary, tmp_path)


def test_what_cannot_be_mapped_is_one_line(tmp_path: Path) -> None:
    saved(tmp_path, songnet(OLD, 1))
    with pytest.raises(ArtifactError, match="its vocabulary has no word of this one; another init"):
        other = replace(OLD, words=("火", "星"))
        map_weights(songnet(other, 2), other, tmp_path)
    with pytest.raises(ArtifactError, match="its vocabulary has no word of this one"):
        other = replace(OLD, language="en")
        map_weights(songnet(other, 2), other, tmp_path)
    with pytest.raises(ArtifactError, match=r"weights of another architecture: layers\.1\S+ is missing there"):
        map_weights(songnet(NEW, 2, layers=2), NEW, tmp_path)
    with pytest.raises(ArtifactError, match=r"weights of another architecture: \S+ is \(.*8.*\) there, \(.*16"):
        map_weights(songnet(NEW, 2, width=16), NEW, tmp_path)
    write_json(tmp_path / "vocabulary.json", read_json(tmp_path / "vocabulary.json") | {"words": list("雨山灯，。")})
    with pytest.raises(ArtifactError, match="not the file that the weights were written with"):
        map_weights(songnet(NEW, 2), NEW, tmp_path)


def test_a_model_that_does_not_name_its_rows_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path, songnet(OLD, 1))
    monkeypatch.setattr(SongNet, "vocabulary_rows", ())
    with pytest.raises(ConfigError, match=r"^training\.init_vocab: SongNet does not say which of its weights belong"):
        map_weights(songnet(NEW, 2), NEW, tmp_path)
