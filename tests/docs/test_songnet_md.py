"""The page on SongNet: its settings are the code's, its rows of symbols are those that a frame has."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel

from espalier.datasets.verse.encode import VerseSettings
from espalier.datasets.verse.frames import frame_of
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.models.songnet_config import SongNetConfig, VerseSeq2SeqConfig
from espalier.tasks.verse_search import VerseDecoder
from espalier.training.config import TrainingConfig
from espalier.verse.grammar import parse_format

sys.path.insert(0, str(Path(__file__).parent))
from markdown_page import Page, key_of, profile

PAGE = Page("docs/songnet.md")
#: The types of settings that the page may show, and what each needs besides the one that is shown.
KINDS: dict[type[BaseModel], dict[str, int]] = {
    SongNetConfig: {},
    VerseSeq2SeqConfig: {},
    VerseDecoder: {},
    VerseSettings: {"units": 8, "length": 8, "max_tokens": 32},
    TrainingConfig: {"steps": 1},
}
SETTINGS = re.findall(r"`(\w+): ([\w.]+|\[[\w, ]*\])`", PAGE.prose)


def test_every_setting_that_the_page_shows_is_one() -> None:
    assert len(SETTINGS) > 25
    for name, value in SETTINGS:
        kinds = [kind for kind in KINDS if name in kind.model_fields]
        assert any(_accepts(kind, name, value) for kind in kinds), f"{name}: {value}"


def _accepts(kind: type[BaseModel], name: str, value: str) -> bool:
    values = yaml.safe_load(f"{{{name}: {value}}}")
    extra = {"global_attention": False} if values.get("symbols") == [] else {}
    try:
        kind.model_validate({**KINDS[kind], **values, **extra})
    except ValueError:
        return False
    return True


def test_numbers_that_the_page_calls_defaults_are() -> None:
    config, decoder = SongNetConfig(), VerseDecoder()
    assert (config.layers, config.width, config.heads, config.inner, config.dropout) == (12, 768, 12, 3072, 0.2)
    assert (config.activation, config.block, config.norm, config.marks, config.head) == (
        "gelu", "text", "post", "each", "tied",
    )  # fmt: skip
    assert (decoder.top_k, decoder.beam, decoder.slack) == (32, 5, 8)


@pytest.mark.parametrize("row", PAGE.table("row"), ids=lambda row: row["row"])
def test_the_rows_of_symbols_are_those_of_the_format(row: dict[str, str]) -> None:
    vocabulary = VerseVocabulary.build([",", "."], "en", min_count=1, units=4, length=16)
    frame = frame_of(parse_format("4,/6.", "en"), vocabulary)
    names = {vocabulary.c_word: "c0", vocabulary.c_rhyme: "c2"}
    names |= {vocabulary.position(place): f"p{place}" for place in range(16)}
    names |= {vocabulary.segment(unit): f"s{unit}" for unit in range(4)}
    ids = {"C": frame.c, "P": frame.p, "S": frame.s}[row["row"]].tolist()
    symbols = " ".join(names.get(identity) or vocabulary.token(identity) for identity in ids)
    assert symbols == f"{key_of(row['unit 1'])} {key_of(row['unit 2'])}"


@pytest.mark.parametrize("name", ["small", "paper"])
def test_the_runs_by_the_book_have_all_constraints_and_the_books(name: str) -> None:
    params = profile(name)
    table = PAGE.table("constraint", "`decoder` of a run")
    asked = {key: value for row in table for key, value in re.findall(r"`(\w+): (\w+)`", row["`decoder` of a run"])}
    assert asked.keys() == {"mode", "marks", "rhyme", "book", "tone"}
    for key in ("songnet_book", "songnet_tone_book"):
        run = params.runs[key]
        corpus = params.corpora[params.datasets.every[run.dataset].corpus]
        assert run.lexicon == "forms/couyun" and corpus.also_1 == "raw/forms"
        assert run.decoder.model_dump().items() >= {
            "mode": "frame", "marks": True, "rhyme": True, "book": "cilin", "tone": True
        }.items()  # fmt: skip


def test_the_ablations_of_the_table_are_those_of_the_profiles() -> None:
    models = {model.title: model for model in profile("paper").models.values() if model.paper == "songnet"}
    for row in PAGE.table("in the paper", "network"):
        model = next(model for title, model in models.items() if title.endswith(row["in the paper"]))
        name, value = next(iter(yaml.safe_load(key_of(row["network"])).items()))
        assert model.written["network"][name] == value
    assert {"songnet", "songnet_no_p"} <= profile("nursery").models.keys()
    assert {"songnet", "songnet_no_p", "sonnet"} <= profile("small").models.keys()


@pytest.mark.parametrize("name", ["small", "paper"])
def test_the_models_of_ci_that_are_compared_have_one_budget(name: str) -> None:
    models = {
        key: model
        for key, model in profile(name).models.items()
        if model.paper == "songnet" and model.dataset in ("songci", "songci_authors")
        if not key.startswith("judge") and not key.endswith("_long")
    }
    assert {"songnet", "songnet_plain", "songnet_gru", "songnet_s2s", "songnet_no_p", "songnet_tone"} <= models.keys()
    budgets = {(model.training.steps, model.training.batch_tokens) for model in models.values()}
    assert len(budgets) == 1
    assert models["songnet"].seeds == models["songnet_plain"].seeds == (1, 2, 3)


def test_the_baselines_of_the_table_are_those_of_the_profiles() -> None:
    for row in PAGE.table("baseline", "entry"):
        for name in ("small", "paper"):
            model = profile(name).models[key_of(row["entry"])]
            assert model.arch == key_of(row["architecture"])
            for setting, value in yaml.safe_load(f"{{{row['settings'].replace('`', '')}}}").items():
                shown = getattr(model.network, setting)
                assert (list(shown) if isinstance(shown, tuple) else shown) == value
