"""What docs/results.md says in words of claims and of training: as the files of the profile have it."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

from espalier.io.files import read_json
from pipeline import layout

sys.path.insert(0, str(Path(__file__).parent))
from markdown_page import Page

TEXT = " ".join(Page("docs/results.md").prose.split())
SMALL = layout.PROFILES["small"]


def details(group: str, key: str) -> dict[str, Any]:
    found: dict[str, Any] = read_json(SMALL / layout.details(group, key), dict[str, Any])
    return found


def verdicts(paper: str) -> Counter[str]:
    return Counter(claim["verdict"] for claim in details("orderings", paper)["orderings"] if claim["p"] is not None)


def test_as_many_claims_are_decided_as_the_page_says() -> None:
    assert "Two of the paper's claims hold: GuiG.TG follows" in TEXT
    assert verdicts("guig")["holds"] == 2
    assert "One claim with three seeds is decided, against X2Tree" in TEXT
    assert (verdicts("x2tree")["holds"], verdicts("x2tree")["reversed"]) == (0, 1)
    assert "Two claims on structures are not interpretable" in TEXT
    assert verdicts("sat")["not interpretable"] == 2


def test_converged_att_is_below_the_trigram_on_dev_and_x2tree_is_not() -> None:
    assert "trained longer 524.9) is worse than the trigram" in TEXT and "better if it is trained longer" in TEXT
    scores = [
        details("x2tree", run)["scores"]["perplexity_exact_per_word"]
        for run in ("x2tree_att_long_dev", "baselines/weibo_dev/ngram", "x2tree_long_dev")
    ]
    assert scores == sorted(scores)


def test_x2tree_s_models_have_converged_or_not_as_the_page_says() -> None:
    assert "so these models have converged" in TEXT
    assert "The dev loss of all other models of this section was lowest at their last step" in TEXT
    for path in (SMALL / layout.details("x2tree", "x2tree")).parent.glob("*.json"):
        settings = read_json(path, dict[str, Any])["settings"]
        for seed, training in settings["training"].items():
            rises = training["best_step"] < settings["steps"][seed]
            assert rises is path.stem.startswith(("x2tree_long", "x2tree_att_long")), path.stem
