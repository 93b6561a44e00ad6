"""Synthetic sources: the readers of each profile read them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from espalier.corpora.readers import reader
from espalier.corpora.records import Record
from espalier.metrics.wordnet import WordNet
from pipeline.graph.rehearsal.synthetic_sources import write_synthetic
from pipeline.layout import PROFILES
from pipeline.params.read import load_params


def read_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those that do not choose among the rows."""
    return {name: value for name, value in options.items() if name not in ("count", "shares")}


PARAMS = {name: load_params(PROFILES[name] / "params.yaml") for name in ("small", "paper")}


def made_of(profile: str, key: str) -> str:
    """What decides of the rows of a corpus."""
    params, corpus = PARAMS[profile], PARAMS[profile].corpora[key]
    folders = [params.sources.folders(shelf) for shelf in corpus.shelves]
    return repr((corpus.reader, corpus.language, folders, read_options(corpus.options)))


CORPORA = [
    (profile, key)
    for profile, params in PARAMS.items()
    for key, corpus in params.corpora.items()
    if corpus.shelves and not corpus.corpora
]
#: Without those that another profile has with the same rows.
DIFFERENT = {made_of(*corpus): corpus for corpus in CORPORA}.values()


@pytest.mark.parametrize(("profile", "key"), DIFFERENT)
def test_the_readers_of_a_profile_read_64_rows_of_every_corpus(tmp_path: Path, profile: str, key: str) -> None:
    params = PARAMS[profile]
    corpus = params.corpora[key]
    folders = {}
    for shelf in corpus.shelves:
        for source in params.sources.folders(shelf):
            folders[source] = tmp_path / source
            assert write_synthetic(source, folders[source]), f"nothing is known of {source}"
    options = read_options(corpus.options)
    rows = reader(corpus.reader, where=key).rows(folders, options, language=corpus.language, where=key)
    assert sum(isinstance(row, Record) for row in rows) >= 64


def test_wordnet_has_a_synset(tmp_path: Path) -> None:
    write_synthetic("wordnet", tmp_path)
    assert WordNet(tmp_path).synonyms("film") == {"film", "movie"}


def test_an_unknown_source_is_not_written(tmp_path: Path) -> None:
    assert not write_synthetic("nothing", tmp_path)
    assert not list(tmp_path.iterdir())
