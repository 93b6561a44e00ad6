"""What docs/results.md says in words of claims and of training: as the files of the profile have it."""

from __future__ import annotations

import re
import sys
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

from espalier.io.files import read_json
from pipeline import layout

sys.path.insert(0, str(Path(__file__).parent))
from markdown_page import Page

TEXT = " ".join(Page("docs/results.md").prose.split())
SMALL = layout.PROFILES["small"]
#: The models of X2Tree's first table.
WEIBO = [f"x2tree{name}" for name in ("", "_line", "_encdec", "_seq2seq", "_att", "_nrm", "_linear")]


def details(group: str, key: str) -> dict[str, Any]:
    found: dict[str, Any] = read_json(SMALL / layout.details(group, key), dict[str, Any])
    return found


def verdicts(paper: str) -> Counter[str]:
    return Counter(claim["verdict"] for claim in details("orderings", paper)["orderings"] if claim["p"] is not None)


def test_as_many_claims_are_decided_as_the_page_says() -> None:
    assert "Two of the paper's claims hold: GuiG.TG follows" in TEXT
    assert verdicts("guig")["holds"] == 2
    assert "One claim with three seeds is decided, against X2Tree: K = 1 has the lower exact perplexity" in TEXT
    assert (verdicts("x2tree")["holds"], verdicts("x2tree")["reversed"]) == (0, 1)
    reversed_claims = [each for each in details("orderings", "x2tree")["orderings"] if each["verdict"] == "reversed"]
    assert [each["claim"] for each in reversed_claims] == ["Ours: K = 3 has a lower exact perplexity than K = 1."]
    assert "Two claims on structures are not interpretable" in TEXT
    assert verdicts("sat")["not interpretable"] == 2


def test_on_dev_att_and_encdec_are_below_the_trigram_and_x2tree_is_not() -> None:
    assert "On test, all models are better than the trigram" in TEXT
    assert re.search(r"On dev, Att \([\d.]+\) and EncDec \([\d.]+\) are better than the trigram", TEXT)
    att, encdec, trigram, x2tree = (
        details("x2tree", run)["scores"]["perplexity_exact_per_word"]
        for run in ("x2tree_att_power_05", "x2tree_encdec_dev", "baselines/weibo_dev/ngram", "x2tree_power_05")
    )
    assert max(att, encdec) < trigram < x2tree
    trigram, *models = (
        details("x2tree", run)["scores"]["perplexity_exact_per_word"] for run in ("baselines/weibo/ngram", *WEIBO)
    )
    assert max(models) < trigram


def test_x2tree_s_models_have_converged_as_the_page_says() -> None:
    assert "In the last 500 steps the dev loss of each training changed by less than 0.5 %" in TEXT
    trainings: dict[str, list[dict[str, Any]]] = {}
    for path in (SMALL / layout.details("x2tree", "x2tree")).parent.glob("*.json"):
        settings = read_json(path, dict[str, Any])["settings"]
        if settings["dataset"] == "weibo":
            trainings[settings["model"]] = list(settings["training"].values())
    assert set(trainings) == set(WEIBO)
    for training in chain.from_iterable(trainings.values()):
        loss = dict(zip(training["curve"]["step"], training["curve"]["dev_loss"], strict=True))
        last = max(loss)
        assert abs(loss[last] / loss[last - 500] - 1) < 0.005
    assert "one seed of X2Tree, one of X2Tree with K = 1, and EncDec over trees, and earlier for all other" in TEXT
    best_at_last = Counter(
        key for key, seeds in trainings.items() for seed in seeds if seed["best_step"] == max(seed["curve"]["step"])
    )
    assert best_at_last == {"x2tree": 1, "x2tree_line": 1, "x2tree_linear": 1}
