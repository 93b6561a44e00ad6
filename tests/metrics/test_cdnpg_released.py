"""What C-DNPG's own test pairs give without a model: their sources, a look-up, noise. The paper prints less.

The pairs lie in the mirror that `ESPALIER_MIRROR` names, and are no part of this project. Without it the sums of their
statistics, which `benchmarks/rows_without_model.py` wrote, are held against the same scores.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from espalier.io.files import read_json

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from rows_without_model import FOLDER, Sums, files, measured, scores_of

#: The scores that were to be met, by file.
SCORES: dict[str, dict[str, float]] = {
    "quora_copy": {
        "released_bleu_2": 57.92, "released_bleu_4": 37.96, "released_ibleu": 29.91, "released_rouge_l": 54.76,
        "released_meteor": 53.54, "paper_bleu_2": 48.19, "paper_bleu_4": 31.22, "paper_ibleu_80": 4.98,
        "paper_ibleu_90": 18.10, "paper_ibleu_80_unseen": 10.84, "paper_ibleu_80_joined": 1.35, "copied": 100,
    },
    "quora_look_up": {
        "released_bleu_2": 57.30, "released_bleu_4": 37.67, "released_ibleu": 29.67, "released_rouge_l": 53.44,
        "paper_bleu_2": 47.04, "paper_bleu_4": 30.36, "paper_ibleu_80": 11.84, "paper_ibleu_90": 21.10,
        "paper_ibleu_80_joined": 15.10,
    },
    "quora_noise": {
        "released_bleu_2": 44.1, "released_bleu_4": 27.9, "released_ibleu": 21.8, "released_rouge_l": 34.6,
        "paper_ibleu_80": 1.8,
    },
    "twitter_copy": {
        "released_bleu_2": 52.72, "released_bleu_4": 36.83, "released_ibleu": 28.62, "released_rouge_l": 43.24,
        "released_meteor": 43.85, "paper_bleu_2": 37.89, "paper_bleu_4": 26.91, "paper_ibleu_80": 1.53,
        "paper_ibleu_90": 14.22,
    },
}  # fmt: skip
#: The released BLEU-2, BLEU-4 and iBLEU of copied questions, by NLTK's formula; those of tweets have BLEU-4 alone.
BY_FORMULA = {
    "nltk_3_4": (57.92, 37.96, 29.91), "nltk_3_5": (63.13, 56.96, 44.78), "nltk_3_6": (55.01, 31.43, 25.00),
}  # fmt: skip
#: The best values that the paper prints for Quora, each of whatever row.
PRINTED = {
    "released_bleu_2": 51.03, "released_bleu_4": 34.05, "released_ibleu": 26.94, "released_rouge_l": 46.22,
    "released_meteor": 46.66,
}  # fmt: skip


def read(name: str) -> dict[str, dict[str, float | None]]:
    found: dict[str, dict[str, float | None]] = read_json(FOLDER / f"{name}.json", dict)
    return found


@pytest.mark.parametrize("name", files())
def test_the_scores_in_a_file_are_those_of_its_sums(name: str) -> None:
    kept = read(name)
    assert {*kept["scores"]} == {*(found := scores_of(kept["sums"]))}  # type: ignore[arg-type]
    assert kept["scores"] == pytest.approx(found, abs=1e-5)


@pytest.mark.parametrize("name", SCORES)
def test_the_scores_are_what_was_to_be_met(name: str) -> None:
    # Noise is drawn at random, and others draw otherwise.
    within = 0.1 if name == "quora_noise" else 0.05
    found = read(name)["scores"]
    assert {key: found[key] for key in SCORES[name]} == pytest.approx(SCORES[name], abs=within)


@pytest.mark.parametrize("formula", BY_FORMULA)
def test_the_formulas_of_method_7_give_their_own_values(formula: str) -> None:
    found = read("quora_copy" if formula == "nltk_3_4" else f"quora_copy_{formula}")["scores"]
    values = [found[key] for key in ("released_bleu_2", "released_bleu_4", "released_ibleu")]
    assert values == pytest.approx(BY_FORMULA[formula], abs=0.05)


def test_no_printed_row_reaches_copying() -> None:
    found = read("quora_copy")["scores"]
    assert all((found[key] or 0) > value for key, value in PRINTED.items())


# --- From the mirror's bytes ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sums() -> dict[str, Sums]:
    return dict(measured(Path(os.environ["ESPALIER_MIRROR"])))


@pytest.mark.skipif(not os.environ.get("ESPALIER_MIRROR"), reason="the released pairs are not at hand")
@pytest.mark.parametrize("name", files())
def test_the_released_pairs_have_these_sums(sums: dict[str, Sums], name: str) -> None:
    kept = read(name)["sums"]
    assert {*sums[name]} == {*kept}
    for family, values in kept.items():
        assert sums[name][family] == pytest.approx(values, rel=1e-6, abs=1e-3), family


def test_the_committed_corpora_have_the_pairs_that_the_page_says() -> None:
    details = Path(__file__).parents[2] / "profiles/small/metrics/details"
    rows = {key: read_json(details / f"datasets/{key}.json", dict)["rows"] for key in ("quora_pairs", "quora_unshared")}
    assert [rows["quora_pairs"][name] for name in ("train", "dev", "test", "pieces")] == [68_869, 1_553, 20_000, 14_725]
    assert rows["quora_unshared"]["train"] == 36_823
    tweets = read_json(details / "datasets/twitter_pairs.json", dict)["rows"]
    assert tweets["train"] + tweets["dev"] == 1_576 and tweets["test"] == 5_000
    counts = read_json(details / "cdnpg/cdnpg_rs.json", dict)["counts"]
    assert (counts["unseen"], counts["joined"], counts["clusters"]) == (7_834, 8_572, 13_144)
