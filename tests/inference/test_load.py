"""espalier.load: which folders it reads, and how it refuses the others in one line."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_models import PAIRS, TEXT, Words, build, pair_vocabulary

import espalier
from espalier.inference.export import export_system
from espalier.inference.folder import read_system, save_system
from espalier.inference.registry import SERVICES, Service
from espalier.io.errors import ArtifactError, ConfigError, EspalierError
from espalier.layers.linear import has_bfloat16


@pytest.fixture
def folder(models: Path, tmp_path: Path) -> Path:
    """A copy of a model of verse, to spoil."""
    return Path(shutil.copytree(models / "verse", tmp_path / "verse"))


def spoil(file: Path, **changes: Any) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text(encoding="utf-8")), **changes}), encoding="utf-8")


def refused(folder: Path, **options: Any) -> str:
    with pytest.raises(EspalierError) as caught:
        espalier.load(folder, device="cpu", **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_importing_espalier_imports_nothing_heavy() -> None:
    heavy = "[name for name in ('torch', 'numpy', 'pandas', 'pydantic', 'pyarrow', 'rich') if name in sys.modules]"
    done = subprocess.run(
        [sys.executable, "-c", f"import espalier, sys; print({heavy})"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_the_lowest_seed_is_taken_unless_another_is_given(models: Path) -> None:
    def weights(seed: int | None) -> torch.Tensor:
        return next(espalier.load(models / "verse", seed=seed, device="cpu").model.parameters())

    assert torch.equal(weights(None), weights(3)) and not torch.equal(weights(3), weights(11))
    assert "no weights of seed 4" in refused(models / "verse", seed=4)


@pytest.mark.skipif(not has_bfloat16(), reason="this CPU has no instructions for bfloat16")
@pytest.mark.parametrize("bfloat16", [False, True])
def test_products_are_in_bfloat16_where_it_is_asked_for(
    models: Path, monkeypatch: pytest.MonkeyPatch, bfloat16: bool
) -> None:
    types, packed = set[torch.dtype](), torch.ops.mkldnn._linear_pointwise

    def noted(x: torch.Tensor, *rest: Any) -> torch.Tensor:
        types.add(x.dtype)
        return packed(x, *rest)

    monkeypatch.setattr(torch.ops.mkldnn, "_linear_pointwise", noted)
    system = espalier.load(models / "verse", device="cpu", bfloat16=bfloat16)
    assert len(system.generate(["3,3。"], n=2)) == 2
    assert types == {torch.bfloat16 if bfloat16 else torch.float32}


def test_a_loaded_model_is_in_evaluation_mode_and_named_as_its_folder(models: Path) -> None:
    system = espalier.load(str(models / "verse"), device="cpu")
    assert system.name == "verse" and not system.model.training and system.language == "zh"
    assert system.device == torch.device("cpu")


@pytest.mark.parametrize("name", ["model.json", "vocabulary.json", "system.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert f"verse/{name}: no such file" in refused(folder)


def test_missing_weights_and_a_missing_folder_are_named(folder: Path) -> None:
    for file in folder.glob("*.safetensors"):
        file.unlink()
    assert "verse: no weights; train the model" in refused(folder)
    assert "nosuch: no such folder; give the folder of a trained model" in refused(folder / "nosuch")
    (folder / "other").mkdir()
    assert "other: not a trained model; give the folder of a trained model" in refused(folder / "other")


@pytest.mark.parametrize("version", [0, 1, "2", None])
def test_another_version_is_named(folder: Path, version: object) -> None:
    spoil(folder / "model.json", format=version)
    assert f"model.json: format {version}, where this version of Espalier reads 2; train it again" in refused(folder)


def test_weights_of_another_shape_are_named(folder: Path) -> None:
    config = json.loads((folder / "model.json").read_text(encoding="utf-8"))["config"]
    spoil(folder / "model.json", config={**config, "inner": 32})
    assert "seed3.safetensors: weights of another architecture: " in refused(folder)


@pytest.mark.parametrize(
    ("file", "changes", "message"),
    [
        ("model.json", {"arch": "moon"}, "model.json: unknown arch 'moon'; allowed: "),
        ("model.json", {"config": {"width": 0}}, "model.json: not the shape of a model"),
        ("system.json", {"settings": None}, "system.json: not what training writes"),
        (
            "system.json",
            {"settings": {}},
            "system.json: settings.units: Field required; train or export the model again",
        ),
        ("system.json", {"settings": {"unit": 3}}, "system.json: settings."),
        ("system.json", {"options": [3]}, "system.json: not what training writes"),
        ("system.json", {"options": {"write": {}}}, "system.json: options: unknown service 'write'; allowed: "),
        (
            "system.json",
            {"options": {"generate": {"top": 3}}},
            "system.json: options.generate: unknown option 'top'; allowed: beam, book, ",
        ),
        ("system.json", {"options": {"polish": {"n": "3"}}}, "system.json: options.polish: n: "),
        ("vocabulary.json", {"words": None}, "vocabulary.json: not a vocabulary"),
    ],
)
def test_a_file_with_other_content_is_named(folder: Path, file: str, changes: dict[str, Any], message: str) -> None:
    spoil(folder / file, **changes)
    assert message in refused(folder)


def test_a_damaged_list_of_templates_is_named(models: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(models / "writer", tmp_path / "writer"))
    (copy / "templates.json").write_text('[{"count": 3}]', encoding="utf-8")
    assert "templates.json: not what training writes (KeyError('template'))" in refused(copy)


def test_parts_are_found_beside_the_model_wherever_the_folders_are_moved(tmp_path: Path) -> None:
    models, parsers = tmp_path / "here/models", tmp_path / "here/parsers"
    (models / "writer").mkdir(parents=True)
    save_system(models / "writer", {}, parser=parsers / "own", expander=models / "expander")
    written = json.loads((models / "writer/system.json").read_text(encoding="utf-8"))
    assert (written["parser"], written["expander"]) == ("../../parsers/own", "../expander")
    (tmp_path / "here").rename(tmp_path / "there")
    found = read_system(tmp_path / "there/models/writer")
    assert found.parser == tmp_path / "there/parsers/own"
    assert found.expander == tmp_path / "there/models/expander"


def test_an_explicit_expander_and_parser_come_before_those_of_the_folder(models: Path) -> None:
    system = espalier.load(models / "writer", parser=Words(), device="cpu")
    assert system.expander.name == "expander"
    other = espalier.load(models / "writer", parser=Words(), expander=models / "other_depth", device="cpu")
    assert other.expander.name == "other_depth"
    given = espalier.load(models / "writer", parser=Words(), expander=system.expander, device="cpu")
    assert given.expander is system.expander


@pytest.mark.parametrize(
    ("name", "method", "message"),
    [
        ("verse", "paraphrase", "model verse serves generate and polish; paraphrase needs a model of pairs that writes "
         "text"),
        ("verse", "reply", "model verse serves generate and polish; reply needs a model of dialogue"),
        ("transformer", "granularities", "model transformer serves paraphrase; granularity needs a model with "
         "granularity heads (arch: cdnpg), or with levels (arch: dnpg)"),
        ("plain", "expand", "model plain serves paraphrase and granularity; expand needs"),
        ("unguided", "expand", "model unguided serves paraphrase; expand needs a model of pairs that writes trees"),
        ("expander", "paraphrase", "model expander serves expand; paraphrase needs"),
        ("writer", "expand", "model writer serves paraphrase; expand needs a model of pairs that writes trees"),
        ("tree", "generate", "model tree serves reply; generate needs a model of verse"),
    ],
)  # fmt: skip
def test_a_method_that_the_model_cannot_serve_says_what_it_needs(
    models: Path, name: str, method: str, message: str
) -> None:
    system = espalier.load(models / name, device="cpu")
    with pytest.raises(ConfigError) as caught:
        getattr(system, method)(["x"])
    assert str(caught.value).startswith(message)


def test_a_service_from_outside_needs_no_edit(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Echo:
        def __init__(self, system: Any, times: int = 1) -> None:
            self.name, self.times = system.name, times

        def answers(self, inputs: list[str]) -> list[str]:
            return [f"{self.name}: {text * self.times}" for text in inputs]

    monkeypatch.setitem(SERVICES, "echo", Service("verse", "a model of verse", Echo))
    assert espalier.load(models / "verse", device="cpu").answer("echo", ["a"], times=2) == ["verse: aa"]
    with pytest.raises(ConfigError, match="model tree serves reply; echo needs a model of verse"):
        espalier.load(models / "tree", device="cpu").answer("echo", ["a"])
    with pytest.raises(ConfigError, match="unknown service 'moon'; allowed: compose, echo"):
        espalier.load(models / "tree", device="cpu").answer("moon", ["a"])


def test_a_model_has_its_own_defaults_before_which_given_options_come(models: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(models / "tree", tmp_path / "tree"))
    save_system(folder, {"max_words": 10}, options={"reply": {"length_power": 0.75, "beam": 9}})
    export_system(folder, tmp_path / "out")
    for place in (folder, tmp_path / "out"):
        system = espalier.load(place, parser=Words(), device="cpu")
        own, given = (system.writer("reply", **options).decoder for options in ({}, {"beam": 4}))  # type: ignore[attr-defined]
        assert (own.length_power, own.beam, given.length_power, given.beam) == (0.75, 9, 0.75, 4)
    assert "options" not in json.loads((models / "tree/system.json").read_text(encoding="utf-8"))


def test_an_own_default_that_cannot_be_is_named_with_its_file_and_a_given_option_without(
    models: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(models / "plain", tmp_path / "plain"))
    settings = json.loads((folder / "system.json").read_text(encoding="utf-8"))["settings"]
    for own, given, message in (
        ({"beam": 0}, {}, f"{folder}/system.json: options.paraphrase.beam: 0 is too small; at least 1"),
        ({"like": "a"}, {}, f"{folder}/system.json: options.paraphrase.like: model plain reads no tree; leave it out"),
        ({"beam": 4}, {"n": 5}, "plain.paraphrase, n: 5 texts of 4 beams; raise the beam to 5, or lower n"),
        ({"beam": 4}, {"beam": 0}, "plain.paraphrase, beam: 0 is too small; at least 1"),
    ):
        save_system(folder, settings, options={"paraphrase": own})
        with pytest.raises(ConfigError) as caught:
            espalier.load(folder, parser=Words(), device="cpu").paraphrase(["a"], **given)
        assert str(caught.value) == message


def test_the_remedy_for_a_damaged_model_is_git_where_git_has_it(folder: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)

    weights = folder / "seed3.safetensors"
    whole = weights.read_bytes()
    git("init")
    weights.write_bytes(whole[:-4])
    assert refused(folder).endswith("; train or export the model again")  # git does not have it
    weights.write_bytes(whole)
    git("add", ".")
    weights.write_bytes(whole[:-4])
    assert refused(folder).endswith(f"; git restore {folder}")
    git("restore", ".")
    assert espalier.load(folder, device="cpu").name == "verse"
    spoil(folder / "model.json", format=1)
    git("add", ".")
    assert refused(folder).endswith("; train it again")  # git has no other


def test_git_restores_no_folder_that_is_no_model(tmp_path: Path) -> None:
    for arguments in (["init"], ["add", "."]):
        (tmp_path / "notes.txt").write_text("a note", encoding="utf-8")
        subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True, capture_output=True)
    (tmp_path / "notes.txt").write_text("a better note", encoding="utf-8")
    assert "git restore" not in refused(tmp_path)


def test_a_model_without_a_parser_says_so_when_it_needs_one(models: Path) -> None:
    for name, method, text, options in (
        ("writer", "paraphrase", "the cook peels an onion.", {"templates": ["(S (NP) (VP))"]}),
        ("tree", "reply", "今天", {}),
    ):
        with pytest.raises(ConfigError) as caught:
            getattr(espalier.load(models / name, device="cpu"), method)([text], **options)
        assert str(caught.value) == f"model {name} has no parser; give one: load(folder, parser=...)"


def test_a_parser_s_folder_that_is_not_there_is_named(models: Path, tmp_path: Path) -> None:
    system = espalier.load(models / "tree", parser=tmp_path / "own", device="cpu")
    with pytest.raises(ArtifactError, match=r"own/parser\.json: no such file"):
        system.reply(["今天"])


def test_pairs_without_trees_load_and_measure(tmp_path: Path) -> None:
    vocabulary = pair_vocabulary(trees=False)
    folder = build(tmp_path / "plain", "guig", {**PAIRS, "encoders": [TEXT]}, vocabulary)
    save_system(folder, {"trees": False, "min_length": 1})
    found = [
        espalier.load(folder, parser=parser, device="cpu").likelihood([{"source": "i sleep .", "target": text}])
        for parser, text in ((Words(), "now, i sleep."), (None, "now , i sleep ."))
    ]
    assert found[0] == found[1] and found[0][0].tokens > 3 and found[0][0].nll > 0


@pytest.mark.parametrize("named", ["model.json", "config.json"])
def test_a_plugin_s_model_names_the_module_to_import(models: Path, tmp_path: Path, named: str) -> None:
    shutil.copytree(models / "news", tmp_path / "news")
    shape, system = (tmp_path / "news" / name for name in (named, "system.json"))
    (tmp_path / "news/model.json").rename(shape)  # config.json, as the Hub calls it
    shape.write_text(shape.read_text().replace('"sat"', '"mine"'), encoding="utf-8")
    with pytest.raises(ConfigError, match="unknown arch 'mine'; allowed: "):
        espalier.load(tmp_path / "news")
    described = json.loads(system.read_text(encoding="utf-8"))
    system.write_text(json.dumps({**described, "plugins": ["mine.sat"]}), encoding="utf-8")
    remedy = "import mine.sat first; in a clone, name it below plugins in params.yaml$"
    with pytest.raises(ConfigError, match=f"news: its architecture mine is of the module mine.sat; {remedy}"):
        espalier.load(tmp_path / "news")
