"""The corpora of SAT in profile small, on the published files that `ESPALIER_MIRROR` names."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from espalier.corpora.download import fetch
from espalier.corpora.filters import screen
from espalier.corpora.readers.lyrics import read as read_lyrics
from espalier.corpora.readers.penn import read_ptb
from espalier.corpora.records import Sentence
from espalier.datasets.structure.data import StructureView
from espalier.datasets.structure.encode import StructureEncoding, StructureSettings
from espalier.datasets.vocabulary import EOS
from espalier.models.ngram import NGram, NGramConfig
from pipeline import layout
from pipeline.params.read import load_catalogue, load_params
from tests.corpora.whole_tables import split_of, table_of

MIRROR = os.environ.get("ESPALIER_MIRROR", "")
SMALL = layout.PROFILES["small"]
needs_mirror = pytest.mark.skipif(not MIRROR, reason="the published files are not at hand")


def fetched(folder: Path, *names: str) -> dict[str, Path]:
    catalogue = load_catalogue(load_params(SMALL / layout.PARAMS), SMALL)
    for name in names:
        fetch(catalogue[name], folder / name, mirror=Path(MIRROR), scratch=folder / ".scratch")
    return {name: folder / name for name in names}


@needs_mirror
def test_the_treebanks_text_has_its_sizes_and_the_published_perplexity_of_five_grams(tmp_path: Path) -> None:
    corpus = load_params(SMALL / layout.PARAMS).corpora["ptb"]
    rows = [row for row in read_ptb(fetched(tmp_path, "ptb")) if isinstance(row, Sentence)]
    split = split_of(table_of(rows, Sentence), corpus.split)
    parts = {
        name: [row for row, part in zip(rows, split, strict=True) if part == name] for name in ("train", "dev", "test")
    }
    assert {name: (len(part), sum(len(row.target.split()) for row in part)) for name, part in parts.items()} == {
        "train": (42_068, 887_521), "dev": (3_370, 70_390), "test": (3_761, 78_669),
    }  # fmt: skip

    encoding, settings = StructureEncoding(), StructureSettings(structures=(), max_length=200)
    tagged = {
        name: [replace(row, target_tags=" ".join("X" for _ in row.target.split())) for row in parts[name]]
        for name in ("train", "test")
    }
    vocabulary = encoding.build_vocabulary(tagged["train"], settings, "en")
    data = {name: encoding.encode(part, vocabulary, settings).split for name, part in tagged.items()}
    batches = {name: [split.batch(np.arange(len(split)), StructureView())] for name, split in data.items()}
    model = NGram.fit(NGramConfig(StructureView(), 5, discounts=3), vocabulary, batches["train"], vocabulary.text_size)
    losses = model.token_losses(batches["test"][0]).double()
    # 141.2 in Mikolov et al. (2011), "Empirical evaluation and combination of advanced language modeling techniques".
    tokens = 78_669 + 3_761
    assert math.exp(float(losses.sum()) / tokens) == pytest.approx(141.17, abs=0.01)
    ends = losses[batches["test"][0].target == EOS].sum()
    assert math.exp(float(losses.sum() - ends) / 78_669) == pytest.approx(160.42, abs=0.01)


@needs_mirror
def test_lyrics_are_paired_once_in_all_collections(tmp_path: Path) -> None:
    corpus = load_params(SMALL / layout.PARAMS).corpora["lyrics"]
    folders = fetched(tmp_path, "lyrics_songs", "lyrics_netease", "lyrics_ptt")
    pairs = [row for row in read_lyrics(folders) if isinstance(row, Sentence)]
    lines = [line for pair in pairs for line in pair.target.split("，")]
    assert len(pairs) == 89_194 and len(lines) == len(set(lines)) == 2 * 89_194
    assert all(2 <= len(line) <= 20 for line in lines)
    table = table_of(screen(pairs, corpus.filters)[0], Sentence)
    split = split_of(table, corpus.split)
    groups = {name: set(table[split == name]["group"]) for name in ("train", "dev", "test")}
    assert not groups["train"] & groups["dev"] and not groups["train"] & groups["test"]
    assert [round(float((split == name).mean()), 2) for name in groups] == [0.9, 0.05, 0.05]
