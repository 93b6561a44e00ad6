"""The result of a panel by hand, and on simulated raters: the order of systems, and careless raters, are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from toy_judging import BEST_WORST, PAIRS, SCALE

from espalier.judging.answers import Answers, merged
from espalier.judging.sample import Item, Sample
from espalier.judging.score import Judged, Panel, SystemLine, judged
from espalier.judging.simulate import Spread, simulated, true_mean

Make = Callable[..., Sample]
QUALITY = {"chain": 1.6, "tree": 2.4, "reference": 2.8}


def system_of(item: Item) -> str:
    return item.sources[0][0].system


def answered(sample: Sample, rater: str, answer: Callable[[Item, str], str]) -> Answers:
    asked = sample.asked(rater)
    return Answers(rater, f"{rater}.json", {(n, question): answer(sample.item(n), question) for n, question in asked})


def line(panel: Panel, system: str) -> SystemLine:
    return next(each for each in panel.systems if each.system == system)


def of_simulated(sample: Sample, **options: Any) -> Judged:
    files = simulated(sample, QUALITY, seed=1, **options)
    return judged(sample, merged({f"{rater}.json": text for rater, text in files.items()}, sample))


def test_means_and_shares_of_a_scale_are_those_worked_out_by_hand(make_sample: Make) -> None:
    sample = make_sample(inputs=2)

    def answer(severe: bool) -> Callable[[Item, str], str]:
        return lambda item, question: (
            "1" if question == "style" else str((3 if system_of(item) == "tree" else 2) - severe)
        )

    found = judged(sample, [answered(sample, "rater_1", answer(False)), answered(sample, "rater_2", answer(True))])
    tree, chain = (line(found.everyone, system).measures for system in ("tree", "chain"))
    assert (tree["fluency"].value, chain["fluency"].value) == (2.5, 1.5)
    assert [tree[f"fluency_{level}"].value for level in (1, 2, 3)] == [0, 50, 50]
    assert [chain[f"style_{level}"].value for level in (0, 1)] == [0, 100]
    assert {each.p for each in tree.values()} == {None}  # no mean is tested against 0
    assert tree["fluency"].ratings == 4 and line(found.everyone, "tree").texts == 2
    assert (tree["fluency"].low, tree["fluency"].high) == (1, 3)  # two raters tell little, but no mean is above 3
    # The raters never agree on fluency and always on style, where one answer leaves kappa undefined.
    kappa, alpha = (
        next(each for each in found.everyone.agreement["fluency"] if each.coefficient == name)
        for name in ("kappa", "alpha")
    )
    # Of eight answers 2, 4 and 2: e = (4 + 16 + 4) / 64, a = 0.
    assert kappa.value == pytest.approx(-0.375 / 0.625) and alpha.units == 4
    assert [each.value for each in found.everyone.agreement["style"]] == [None, 1.0, None]
    (claim,) = found.everyone.claims
    assert (claim.gain.value, claim.p_holm) == (1.0, 0.5)  # the same sign in two inputs
    assert claim.verdict == "undecided" and found.passed is None


def test_win_tie_and_loss_count_the_first_system_on_either_side(make_sample: Make) -> None:
    sample = make_sample(PAIRS)

    def answer(item: Item, question: str) -> str:
        systems = [each[0].system for each in item.sources]
        if "reference" in systems:
            return "0"
        return str(systems.index("tree") + 1)

    found = judged(sample, [answered(sample, rater, answer) for rater in sample.orders])
    assert {each.system for each in found.everyone.systems} == {"tree", "reference"}
    tree, human = (line(found.everyone, system).measures for system in ("tree", "reference"))
    assert [tree[f"relevance_{name}"].value for name in ("win", "tie", "loss")] == [0, 0, 100]
    assert [human[f"relevance_{name}"].value for name in ("win", "tie", "loss")] == [0, 100, 0]
    (claim,) = found.everyone.claims  # that the chain is better
    assert (claim.gain.value, claim.verdict) == (-100, "reversed")


def test_no_gain_has_an_interval_beyond_what_a_gain_can_be(make_sample: Make) -> None:
    for design, most in ((PAIRS, 100.0), (BEST_WORST, 2.0), (SCALE, 2.0)):
        sample = make_sample(design, inputs=4, raters=2)
        systems = dict(zip(sample.protocol.systems, (2.9, 1.2, 3.3), strict=False))
        if design is BEST_WORST:
            systems = {"chain": 1.0, "tree": 2.0, "reference": 3.0}
        if design is SCALE:
            systems = {"chain": 1.0, "tree": 3.0}
        for seed in range(8):
            files = simulated(sample, systems, seed=seed)
            (claim,) = judged(sample, merged(files, sample), resamples=0).everyone.claims
            if claim.gain.interval is not None:
                assert -most <= claim.gain.interval[0] <= claim.gain.interval[1] <= most


def test_best_and_worst_are_counted_by_system(make_sample: Make) -> None:
    sample = make_sample(BEST_WORST)

    def answer(item: Item, question: str) -> str:
        systems = [each[0].system for each in item.sources]
        return str(systems.index("reference" if question.endswith("best") else "chain") + 1)

    found = judged(sample, [answered(sample, rater, answer) for rater in sample.orders])
    assert {each.system: each.measures["fluency"].value for each in found.everyone.systems} == {
        "chain": -1, "tree": 0, "reference": 1
    }  # fmt: skip
    assert found.everyone.claims[0].gain.value == 2
    assert next(each.value for each in found.everyone.agreement["fluency"] if each.coefficient == "ac1") == 1


def test_p_is_adjusted_over_all_claims_and_a_level_compares_shares(make_sample: Make) -> None:
    claims = [
        {"better": "tree", "worse": "chain", "criteria": ["fluency", "style"]},
        {"better": "tree", "worse": "chain", "criteria": ["fluency"], "level": 3},
    ]
    found = of_simulated(make_sample(inputs=20, claims=claims)).everyone
    p = sorted((each.gain.p or 0) for each in found.claims)
    adjusted = sorted((each.p_holm or 0) for each in found.claims)
    assert adjusted[0] == pytest.approx(min(1, 3 * p[0]))
    share = {each.system: each.measures["fluency_3"].value for each in found.systems}
    assert found.claims[2].gain.value == pytest.approx(share["tree"] - share["chain"])  # type: ignore[operator]


def test_a_claim_is_undecided_where_every_pair_is_a_tie(make_sample: Make) -> None:
    sample = make_sample(PAIRS)
    found = judged(sample, [answered(sample, rater, lambda item, question: "0") for rater in sample.orders]).everyone
    assert [(each.gain.value, each.p_holm, each.verdict) for each in found.claims] == [(0, 1, "undecided")]
    assert line(found, "tree").measures["relevance_tie"].low is not None


def test_copies_and_checks_are_counted_for_the_rater_and_not_for_the_systems(make_sample: Make) -> None:
    sample = make_sample(repeated=5, checks=4)
    found = of_simulated(sample, careless=["rater_2"], spread=Spread(noise=0.1))
    careful, careless, other = found.raters
    assert (careful.checks, careful.wrong, careful.failed, other.failed) == (4, 0, False, False)
    assert careless.failed and careless.wrong >= 2
    assert careful.again == 10 and careful.same > careless.same
    assert careful.with_others is not None and abs(careless.with_others or 0) < careful.with_others
    assert line(found.everyone, "tree").measures["fluency"].ratings == 3 * 12
    assert found.passed is not None and found.passed.raters == ("rater_1", "rater_3")
    assert line(found.passed, "tree").measures["fluency"].ratings == 2 * 12


def test_a_rater_who_stopped_early_has_not_failed_the_checks_that_are_open(make_sample: Make) -> None:
    sample = make_sample(checks=4)
    (one, *_) = merged(simulated(sample, QUALITY, seed=1), sample)
    reached = [item.number for item in sample.items if item.expected][:1]
    answers = {place: answer for place, answer in one.answers.items()
               if not sample.item(place[0]).expected or place[0] in reached}  # fmt: skip
    (found,) = judged(sample, [Answers("rater_1", "a.json", answers)]).raters
    assert (found.checks, found.wrong, found.failed) == (1, 0, False)


def test_a_text_of_two_runs_counts_for_both(make_sample: Make) -> None:
    rows = {run: [{"id": f"r{n}", "source": "s", "text": "same"} for n in range(12)] for run in ("chain", "tree")}
    sample = make_sample(rows=rows)
    found = judged(sample, [answered(sample, rater, lambda item, question: "1") for rater in sample.orders]).everyone
    assert [(each.texts, each.measures["fluency"].ratings) for each in found.systems] == [(12, 36), (12, 36)]
    assert found.agreement["style"][1].units == 12


@pytest.mark.parametrize("design", [SCALE, PAIRS, BEST_WORST], ids=["scale", "pairs", "best_worst"])
def test_the_planted_order_is_recovered(make_sample: Make, design: dict[str, Any]) -> None:
    sample = make_sample(design, inputs=20, reference=True)
    found = of_simulated(sample, spread=Spread(texts=0.3, noise=0.3)).everyone
    if sample.protocol.design == "pairs":
        tree, human = (line(found, system).measures for system in ("tree", "reference"))
        assert human["relevance_loss"].value > tree["relevance_loss"].value > tree["relevance_win"].value  # type: ignore[operator]
    else:
        means = [line(found, system).measures["fluency"].value or 0 for system in ("chain", "tree", "reference")]
        assert means == sorted(means)


def test_an_interval_holds_the_planted_mean_and_a_careless_rater_fails(make_sample: Make) -> None:
    """A small form of benchmarks/judging_panels.py: 60 panels of four raters, one of them careless."""
    spread = Spread(inputs=0.5, texts=0.4, raters=0.4, noise=0.5)
    sample = make_sample(inputs=20, raters=4, checks=6)
    truth = true_mean(QUALITY["tree"], spread, (1, 2, 3))
    covered, caught, blamed = 0, 0, 0
    for seed in range(60):
        files = simulated(sample, QUALITY, seed=seed, spread=spread, careless=["rater_4"])
        found = judged(sample, merged(files, sample), resamples=0)
        assert found.passed is not None
        estimate = line(found.passed, "tree").measures["fluency"]
        covered += estimate.low <= truth <= estimate.high  # type: ignore[operator]
        failed = [each.rater for each in found.raters if each.failed]
        caught += "rater_4" in failed
        blamed += len(set(failed) - {"rater_4"})
    assert covered >= 53  # fewer has probability .02 if 95 % are covered
    assert (caught, blamed) == (60, 0)


def test_the_true_mean_is_the_mean_of_very_many_ratings() -> None:
    spread, generator = Spread(), np.random.default_rng(4)
    drawn = np.clip(np.floor(generator.normal(2.2, spread.total, 400_000) + 0.5), 1, 3)
    assert true_mean(2.2, spread, (1, 2, 3)) == pytest.approx(drawn.mean(), abs=0.005)


def test_simulated_files_say_so(make_sample: Make) -> None:
    sample = make_sample()
    read = merged(simulated(sample, QUALITY, seed=1), sample)
    assert len(read) == 3 and all(one.simulated for one in read)
    assert (
        simulated(sample, QUALITY, seed=1) == simulated(sample, QUALITY, seed=1) != simulated(sample, QUALITY, seed=2)
    )
