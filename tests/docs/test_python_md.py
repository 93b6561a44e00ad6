"""docs/python.md: every example runs, on tiny models."""

from __future__ import annotations

import doctest
import sys
from pathlib import Path
from typing import Any

import pytest

from espalier.datasets.pairs.encode import PairSettings
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import WordVocabulary
from espalier.inference.folder import save_system
from espalier.io.errors import ArtifactError
from espalier.syntax.parsers.registry import BACKENDS, Backend, save_parser

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "inference"))
from markdown_page import ROOT, Page
from tiny_models import CHINESE, DIALOGUE, PAIRS, TEMPLATES, TEXT, TREE, build, pair_vocabulary

PAGE = Page("docs/python.md")


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with `data/models/` of the names that the page uses, none of them trained."""
    monkeypatch.setitem(BACKENDS, "words", Backend("tiny_models:load_words", needs_model=False))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    (tmp_path / "data/parsers/words").mkdir(parents=True)
    parser, models = tmp_path / "data/parsers/words", tmp_path / "data/models"
    save_parser(parser, "words", None, {})
    sizes = {"layers": 1, "width": 8, "heads": 1, "inner": 8, "positions": 64}
    build(models / "songnet", "songnet", sizes, VerseVocabulary((*CHINESE, *"江月雨到中东风空"), "zh", 8, 16))
    save_system(models / "songnet", {"units": 8, "length": 16, "max_tokens": 60})
    pieces = pair_vocabulary(more_labels=["VBD"])
    guided = {"encoders": [TEXT, {**TREE, "attention": "path"}]}
    expands = {"writes": "tree", "encoders": [{**TREE, "reads": ["source_tree"]}, {**TREE, "reads": ["template"]}]}
    settings = PairSettings(max_length=30).model_dump(mode="json")
    for name, network in (("guig_tg", guided), ("guig_se", expands)):
        build(models / name, "guig", {**PAIRS, "positions": 64, **network}, pieces)
        save_system(
            models / name, settings, parser=parser, expander=models / "guig_se" if name == "guig_tg" else None,
            templates=[{"template": text, "count": 1} for text in TEMPLATES],
        )  # fmt: skip
    plain = {"encoder_layers": 2, "layers": 2, "width": 12, "heads": 2, "inner": 12, "positions": 64}
    build(models / "cdnpg_rs", "cdnpg", {**plain, "granularity": "product"}, pair_vocabulary(trees=False))
    unguided = PairSettings(max_length=40, trees=False, min_length=1).model_dump(mode="json")
    save_system(models / "cdnpg_rs", unguided, parser=parser)
    build(models / "x2tree", "x2tree", DIALOGUE, WordVocabulary((*CHINESE, "什", "么", "吃"), "zh"))
    save_system(models / "x2tree", {"max_words": 10}, parser=parser)
    return tmp_path


def test_every_example_runs(tiny: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tiny)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    examples = [(each.lineno, each) for each in doctest.DocTestParser().get_examples(PAGE.only("pycon"))]
    scripts = PAGE.blocks("python")
    assert len(examples) > 40 and len(scripts) == 2
    session = dict[str, Any]()
    for line, example in sorted([*examples, *scripts], key=lambda each: each[0]):
        where = f"{PAGE.name}, line {line + 1}"
        if isinstance(example, doctest.Example):
            exec(compile(example.source, where, "single"), session)
            assert bool(capsys.readouterr().out) == bool(example.want), f"{where}: {example.source}"
            continue
        script = compile("\n".join(example), where, "exec")
        if "push_to_hub" not in script.co_names:
            exec(script, session)
            assert session["by_the_book"].tune == "卜算子"
            continue
        with pytest.raises(ArtifactError, match="not uploaded to the Hugging Face Hub"):  # no test asks the network
            exec(script, session)


def test_every_name_and_file_of_the_page_exists() -> None:
    assert not PAGE.dead_links()
    assert all((ROOT / name).exists() for name in PAGE.files())


def test_the_table_of_an_export_has_its_files(tiny: Path, tmp_path: Path) -> None:
    from espalier.inference.export import export_system

    export_system(tiny / "data/models/guig_tg", tmp_path / "out", "# Card\n")
    cells = [
        row["file"].replace("`", "").rstrip("/").replace("seed*", "seed1") for row in PAGE.table("file", "content")
    ]
    listed = {name.strip().rstrip("/") for cell in cells for name in cell.split(",")}
    # Training alone writes training.json, and this is no model of ci.
    assert {path.name for path in (tmp_path / "out").iterdir()} == listed - {"training.json", "books.zip"}
