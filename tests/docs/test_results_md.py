"""What docs/results.md says in words of claims and of training: as the files of the profile have it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from espalier.io.files import read_json
from pipeline import layout

sys.path.insert(0, str(Path(__file__).parent))
from markdown_page import Page

TEXT = " ".join(Page("docs/results.md").prose.split())
SMALL = layout.PROFILES["small"]
EXACT = "perplexity_exact_per_word"
#: The models of X2Tree's first table.
WEIBO = [f"x2tree{name}" for name in ("", "_line", "_encdec", "_seq2seq", "_att", "_nrm", "_linear")]


def details(group: str, key: str) -> dict[str, Any]:
    found: dict[str, Any] = read_json(SMALL / layout.details(group, key), dict[str, Any])
    return found


def verdicts(paper: str) -> Counter[str]:
    return Counter(claim["verdict"] for claim in details("orderings", paper)["orderings"] if claim["p"] is not None)


def test_as_many_claims_are_decided_as_the_page_says() -> None:
    assert "Ten claims hold: GuiG.TG follows the given parse better than SCPN, at both sizes" in TEXT
    assert verdicts("guig")["holds"] == 10
    guig = {each["claim"]: each["verdict"] for each in details("orderings", "guig")["orderings"]}
    for size in ("Under the same parse GuiG follows it", "At the paper's sizes: GuiG follows the parse"):
        assert guig[f"{size} better than SCPN."] == "holds"
    assert "The claim that path attention improves the meaning is undecided at both sizes" in TEXT
    assert "does not make the syntax worse holds at the smaller size and is undecided at the paper's" in TEXT
    attention = [verdict for claim, verdict in guig.items() if "ath attention" in claim and "expander" not in claim]
    assert attention == ["undecided", "holds", "undecided", "undecided"]
    assert [verdict for claim, verdict in guig.items() if "copying" in claim] == ["undecided"] * 3
    assert "The claim is undecided: the intervals of BLEU and METEOR contain 0" in TEXT
    last = details("orderings", "guig")["orderings"][-1]
    assert [each["metric"] for each in last["measures"] if each["interval"][0] < 0] == ["bleu", "meteor"]
    assert "copying, re-ranked" in last["claim"] and all(each["effect"] > 0 for each in last["measures"])
    assert "Three claims are decided, against X2Tree: Att, of both sizes, and X2Tree with K = 1 have the lower" in TEXT
    assert (verdicts("x2tree")["holds"], verdicts("x2tree")["reversed"]) == (0, 3)
    reversed_claims = [each for each in details("orderings", "x2tree")["orderings"] if each["verdict"] == "reversed"]
    assert [each["claim"] for each in reversed_claims] == [
        "Ours: X2Tree has a lower exact perplexity than Att.",
        "Ours: The larger X2Tree has a lower exact perplexity than the larger Att.",
        "Ours: K = 3 has a lower exact perplexity than K = 1.",
    ]
    assert (
        "Two claims on structures are not interpretable" in TEXT
        and "The claim on length is not interpretable either" in TEXT
    )
    assert verdicts("sat")["not interpretable"] == 3


def values(group: str, metric: str, runs: Iterable[str]) -> list[float]:
    return [details(group, run)["scores"][metric] for run in runs]


def test_chains_are_below_the_trigram_and_ternary_trees_are_not() -> None:
    assert "all chains are better on dev than the trigram" in TEXT
    assert "The two models of ternary trees are worse" in TEXT
    assert "is again between the chains and the ternary trees" in TEXT
    names = ("_line", "_encdec", "_seq2seq", "_nrm")
    dev = [f"x2tree{name}_dev" for name in names] + ["x2tree_att_power_075"]
    trees = ["x2tree_power_075", "x2tree_linear_dev"]
    (trigram,) = values("x2tree", EXACT, ["baselines/weibo_dev/ngram"])
    assert max(values("x2tree", EXACT, dev)) < trigram < min(values("x2tree", EXACT, trees))
    test = [f"x2tree{name}" for name in (*names, "_att")]
    trigram, tree, linear = values("x2tree", EXACT, ["baselines/weibo/ngram", "x2tree", "x2tree_linear"])
    assert max(values("x2tree", EXACT, test)) < trigram < min(tree, linear)
    assert tree == pytest.approx(trigram, rel=0.01)  # as good
    assert "both larger models are worse than the trigram on dev; on test, Att is better than the trigram" in TEXT
    larger = [f"x2tree{name}_full{split}" for split in ("_dev", "") for name in ("", "_att")]
    tree_dev, chain_dev, tree, chain = values("x2tree", EXACT, larger)
    assert min(tree_dev, chain_dev) > values("x2tree", EXACT, ["baselines/weibo_dev/ngram"])[0]
    assert tree > trigram > chain


@pytest.mark.parametrize(("corpus", "run"), [("weibo_dev", "x2tree_power_075"), ("weibo", "x2tree")])
def test_a_trigram_over_trees_is_worse_than_both_x2tree_and_the_trigram(corpus: str, run: str) -> None:
    assert "is worse than the trigram, which predicts it from the two words before it" in TEXT
    assert "and the earlier siblings, is better than the trigram over trees" in TEXT
    runs = (run, f"baselines/{corpus}/ngram", f"baselines/{corpus}/ngram_tree")
    tree, trigram, over_trees = values("x2tree", EXACT, runs)
    assert max(tree, trigram) < over_trees


@pytest.mark.parametrize(
    ("run", "corpus"), [("dialogues", "weibo_dialogues"), ("daily", "xdailydialog"), ("both", "weibo_daily")]
)
def test_on_three_more_corpora_trees_are_below_the_trigram_too(run: str, corpus: str) -> None:
    assert "On each, X2Tree and EncDec have a lower exact perplexity than the trigram." in TEXT
    runs = (f"x2tree_{run}_encdec", f"x2tree_{run}", f"baselines/{corpus}/ngram")
    chain, tree, trigram = values("x2tree", EXACT, runs)
    assert max(chain, tree) < trigram


def test_every_model_of_x2tree_has_a_lower_bleu_than_copying_the_post() -> None:
    assert "every model has a lower BLEU than copying the post" in TEXT
    (copied,) = values("x2tree", "bleu", ["baselines/weibo/copy"])
    others = [f"x2tree{name}" for name in ("_mmi", "_encdec_mmi", "_searched", "_encdec_searched")]
    assert max(values("x2tree", "bleu", WEIBO + others)) < copied


def test_other_heads_than_the_parser_s_are_as_good_and_the_trigram_is_better_as_the_page_says() -> None:
    assert (
        "all of these models are worse than the trigram, so the claim below is not interpretable. Right chains" in TEXT
    )
    heads = [f"x2tree_heads{name}" for name in ("", "_chain", "_noise", "_certain")]
    parsed, right_chains, *others, trigram = values("x2tree", EXACT, [*heads, "baselines/weibo/ngram"])
    assert trigram < right_chains < parsed and trigram < min(others)
    claims = read_json(SMALL / layout.details("orderings", "x2tree"), dict[str, Any])["orderings"]
    assert [claim["verdict"] for claim in claims if claim["better"] == "x2tree_heads"] == ["not interpretable"]


def test_x2tree_s_models_have_converged_as_the_page_says() -> None:
    assert "In the last 500 steps the dev loss of each training changed by less than 0.5 %" in TEXT
    trainings: dict[str, list[dict[str, Any]]] = {}
    for path in (SMALL / layout.details("x2tree", "x2tree")).parent.glob("*.json"):
        settings = read_json(path, dict[str, Any])["settings"]
        other = settings["model"].endswith("_full") or settings["model"].startswith("x2tree_heads")
        if settings["dataset"] == "weibo" and not other:
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


def test_guig_stands_to_copying_and_to_no_path_attention_as_the_page_says() -> None:
    assert "SE + TG has lower BLEU, ROUGE-L and METEOR than copying the source, and a lower (better) TED-f" in TEXT
    for metric in ("bleu", "rouge_l", "meteor", "ted_full"):
        both, copied = values("guig", metric, ["guig_se_tg", "baselines/guig/copy"])
        assert both < copied
    assert "At both sizes GuiG.TG has a lower BLEU, ROUGE-L and METEOR and a higher TED-f" in TEXT
    for size in ("", "_full"):
        for metric, sign in (("bleu", 1), ("rouge_l", 1), ("meteor", 1), ("ted_full", -1)):
            whole, without = values("guig", metric, [f"guig_tg{size}", f"guig_no_pa{size}"])
            assert sign * (without - whole) > 0


def test_a_length_penalty_makes_texts_of_guig_longer_and_leaves_their_bleu_below_copying() -> None:
    assert "A length penalty makes the texts of SE + TG longer on dev, but their BLEU is below that of copying" in TEXT
    runs = [f"guig_se_tg_{name}" for name in ("dev", "power_1", "power_125", "power_15")]
    assert values("guig", "length_ratio", runs) == sorted(values("guig", "length_ratio", runs))
    *texts, copied = values("guig", "bleu", [*runs, "baselines/guig_dev/copy"])
    assert max(texts) < copied


def test_all_models_of_c_dnpg_that_do_not_copy_but_three_are_above_copying_and_look_up_on_all_and_joined_pairs() -> (
    None
):
    assert (
        "the models without a copy mechanism have a higher iBLEU than copying the source and than look-up, except"
        in TEXT
    )
    trivial = [f"baselines/quora_pairs/{row}" for row in ("copy", "look_up")]
    plain = ("transformer", "r", "s", "rs", "released", "r_plus_s")
    copying = ("pointer_generator", "transformer_copy", "dnpg", "rs_copy")
    others = ("residual_lstm", "rs_unshared", "transformer_unshared", *copying)
    for part in ("", "_joined"):
        metric = f"paper_ibleu_80{part}"
        line = max(values("cdnpg", metric, trivial))
        assert min(values("cdnpg", metric, [f"cdnpg_{name}" for name in plain])) > line
        assert max(values("cdnpg", metric, [f"cdnpg_{name}" for name in others])) < line


def test_the_models_that_copy_and_the_released_form_are_first_on_unseen_pairs() -> None:
    assert "The models with a copy mechanism and the released form have the highest scores there." in TEXT
    first = [f"cdnpg_{name}" for name in ("pointer_generator", "transformer_copy", "rs_copy", "dnpg", "released")]
    others = [f"cdnpg_{name}" for name in ("residual_lstm", "transformer", "r", "s", "rs", "r_plus_s")]
    metric = "paper_ibleu_80_unseen"
    assert min(values("cdnpg", metric, first)) > max(values("cdnpg", metric, others))


def test_models_without_shared_questions_lose_half_of_their_ibleu_on_joined_pairs() -> None:
    assert "On joined pairs it is less than half" in TEXT
    for name in ("transformer", "rs"):
        without, whole = values("cdnpg", "paper_ibleu_80_joined", [f"cdnpg_{name}_unshared", f"cdnpg_{name}"])
        assert without < whole / 2


def test_fine_tuning_raises_the_ibleu_of_every_model_of_tweets() -> None:
    assert "Fine-tuning raises the iBLEU of every model" in TEXT
    tuned = sorted(path.stem for path in (SMALL / layout.details("cdnpg", "x")).parent.glob("cdnpg_tuned_*.json"))
    assert len(tuned) == 9
    after = values("cdnpg", "paper_ibleu_80", tuned)
    before = values("cdnpg", "paper_ibleu_80", [run.replace("tuned", "twitter") for run in tuned])
    assert all(one > other for one, other in zip(after, before, strict=True))


def test_models_of_sat_are_below_the_n_grams_that_read_the_same() -> None:
    assert "Each model has a lower perplexity than the n-gram that reads the same structures" in TEXT
    pairs = {"gpt2": "lyrics/ngram", "pc": "lyrics/ngram_pc", "pos": "lyrics/ngram_pos", "p2": "lyrics/ngram_pc_pos",
             "ptb_gpt2": "ptb/ngram", "ptb_pos": "ptb/ngram_pos"}  # fmt: skip
    for metric in ("perplexity", "perplexity_tokens"):
        for model, row in pairs.items():
            own, counted = values("sat", metric, [f"sat_{model}", f"baselines/{row}"])
            assert own < counted, (metric, model)
