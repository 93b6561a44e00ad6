"""Golden values of the metrics and of the report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from espalier.metrics.family import family_scores, statistics_of
from espalier.metrics.integrity import Integrity
from espalier.metrics.metric import details_json
from espalier.metrics.texts import CorpusLikelihood, MarkLikelihoods, Verses
from espalier.metrics.verse import verse_families
from espalier.report.build import build
from espalier.report.html import render_html
from espalier.report.markdown import render_markdown
from espalier.report.numbers_files import orderings_json
from espalier.report.printed import load_printed
from espalier.report.results import Comparison, CorpusResult, Curve, RunResult, Sample

PAPER = """
paper: {key: made, title: A made-up paper, authors: A. Nobody, venue: Nowhere 2020, url: "https://example.org/made"}
profiles: {nursery: grown here}
protocols: {free: everything is predicted, as released: by the released code}
columns:
  ppl: {group: PPL, name: Test, better: lower, ours: [{metric: ppl_released}]}
  format: {group: Format, name: Ma-F1, better: higher,
           ours: [{metric: format_f1}, {metric: format_released_f1, name: as released}]}
tables:
  - id: table-1
    title: Table 1
    caption: Scores
    columns: [ppl, format]
    rows:
      - {label: Baseline, printed: {ppl: 20.5}}
      - {label: System, printed: {ppl: [12.50, 0.25], format: 99.0}, runs: [{run: made_free}, {run: made_frame}]}
orderings: [{better: made_free, worse: made_further, column: [ppl, format], claim: The one is better.}]
"""


def verse(_: Path) -> Any:
    zh = Verses(
        ["灯山，桥风。\n山石，令明！", "雨。\n主故，天。", "桥遥。\n高高，明。"],
        ["灯山，桥灯。\n山石明令！", "雨主。", "桥高，遥。\n明明，明。\n风。"],
        ["AA", "A.", ""],
        language="zh",
        likelihood=CorpusLikelihood([12.0, 7.5, 9.25], [11, 8, 10], [8.0, 4.0, 6.5], [7, 4, 6]),
    )
    en = Verses(
        ["the lamp on stone ,\na moss so deep .\nit stood alone ,\nand fell asleep ."],
        ["the stone so deep ,\na lamp asleep\nit stood and fell alone ,\nand moss on stone ."],
        ["ABAB"],
        language="en",
    )
    marks = MarkLikelihoods([2.0, 3.5, 0.0, 6.0], [2, 1, 0, 3], [2, 2, 1, 3], [1.0, 1.5, 2.0, 2.5], [2, 2, 2, 3])
    marked = Verses(*(["山。"] * 4,) * 2, [""] * 4, "zh", marks=marks, seeds=[1, 1, 1, 1], samples=[0, 0, 1, 1])
    judged = family_scores(statistics_of((Integrity(), Integrity(1, 2)), marked), seed=1, resamples=20)
    # Signatures name the lexica's versions, which are not ours.
    parts = [{key: details_json(judged)[key] for key in ("scores", "intervals", "undefined")}]
    for verses, rules in ((zh, "songci"), (en, "sonnet")):
        statistics = statistics_of(verse_families(verses, rules=rules, seed=1), verses)  # type: ignore[arg-type]
        # Each text is a group of its own.
        groups = range(len(verses.references))
        scores = family_scores(statistics, seed=1, resamples=20, groups=groups)
        parts.append({key: details_json(scores)[key] for key in ("scores", "intervals", "undefined")})
    return parts


def report(folder: Path) -> Any:
    printed = folder / "made.yaml"
    printed.write_text(PAPER, encoding="utf-8")
    sample = Sample(
        id="p1",
        tune="石桥令",
        format="3，3。3。",
        rhyme="AA",
        text="山有灯，水有风。\n月在灯。",
        reference="灯影绿，一枝桥。\n夜山高。",
    )
    metrics = {
        "scores": {"ppl_released": 21.25, "format_f1": 98.5, "format_released_f1": 99.125, "rhyme": 40.5},
        "intervals": {"ppl_released": None, "format_f1": [97.25, 99.5]},
        "signatures": {"format_f1": "format|delta:0"},
    }
    run = RunResult(
        key="made_free", model="made", profile="nursery", settings={"protocol": "free", "k": 32}, metrics=metrics,
        samples=[sample],
    )  # fmt: skip
    further = RunResult(key="made_further", model="made", profile="nursery", title="Unnamed", metrics=metrics)
    curve = Curve(model="made", profile="nursery", points=[(10, 5.0, None), (20, 4.5, 4.75), (30, 4.25, 4.5)])
    corpus = CorpusResult(key="made", profile="nursery", counts={"train": 9, "dev": 1}, quarantined={"too short": 2})
    compared = [
        Comparison(
            one="made_free", other="made_further", metric=metric, profile="nursery", difference=gain, low=gain - 1,
            high=gain + 1, p=0.01, seeds=(3, 3), clusters=9, segments=10,
        )
        for metric, gain in (("ppl_released", -2.0), ("format_f1", 1.5))
    ]  # fmt: skip
    row = RunResult(
        key="made/copy", model="", profile="nursery", title="the source itself", row="copy", trivial=True,
        settings={"protocol": "baseline"}, metrics={**metrics, "scores": {"ppl_released": 20.5, "format_f1": 98.0}},
    )  # fmt: skip
    made = build(load_printed(printed), [run, further, row], [curve], [corpus], compared)
    # Drawings are matplotlib's, to the letter's outline.
    page = re.sub(r"<svg.*?</svg>", "<svg/>", render_html(made), flags=re.DOTALL)
    return [page, render_markdown(made), orderings_json(made)]


COMPONENTS = {"metrics.verse": verse, "report": report}
