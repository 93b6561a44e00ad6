"""A small site of made-up results in which everything occurs that a page can show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from espalier.metrics.metric import Metric, ratio
from espalier.report.build import build
from espalier.report.comparisons import RunSegments
from espalier.report.html import render_html, render_index, render_items
from espalier.report.items import RunTexts, items_of
from espalier.report.links import Links
from espalier.report.printed import load_printed
from espalier.report.results import CorpusResult, Curve, Provenance, RunResult, Sample
from espalier.report.summary import summary_of

COLUMNS = [f"m{place}" for place in range(24)]
PAPER: dict[str, Any] = {
    "paper": {
        "key": "made", "name": "Made", "docs": "made.md", "shown": ["made_two"],
        "authors": "A. Nobody, B. Nobody", "venue": "Nowhere 2020",
        "title": "A made-up paper: with a title that is long enough for two lines", "url": "https://example.org/made",
    },
    "profiles": {"nursery": "grown here"},
    "protocols": {"free": "everything is predicted"},
    "columns": {
        "ppl": {"group": "PPL", "name": "Test", "better": "lower", "ours": [{"metric": "ppl"}]},
        **{
            name: {"group": f"G {place // 5}", "name": f"Score {place}", "better": "higher", "ours": [{"metric": name}]}
            for place, name in enumerate(COLUMNS)
        },
    },
    "tables": [
        {
            "id": "table-1", "title": "Table 1", "caption": "Scores", "columns": ["ppl", *COLUMNS[:11]],
            "note": "A note of the table.",
            "rows": [
                {"label": "Baseline", "printed": {"ppl": 20.5}, "note": "A note that is much longer than its label."},
                {"label": "System", "printed": {"ppl": [12.5, 0.25]}, "runs": [{"run": "made_one"}, {"run": "absent"}]},
            ],
        },
        {
            "id": "table-2", "title": "Table 2", "caption": "More", "columns": COLUMNS,
            "rows": [{"label": "System", "printed": {"m0": 99.0}, "runs": [{"run": "made_one"}, {"run": "made_two"}]}],
        },
        {
            "id": "table-3", "title": "Table 3", "caption": "Never run", "columns": ["ppl"],
            "rows": [{"label": "Other", "printed": {"ppl": 3.0}, "runs": [{"run": "never"}]}],
        },
    ],
    "orderings": [
        {"better": "made_one", "worse": "made_two", "column": ["ppl", "m0"], "claim": "The one is better."},
        {"better": "made_one", "worse": "never", "column": "m0", "claim": "The one is better than what was never run."},
    ],
    "figures": [
        {"id": "figure-1", "title": "Figure 1", "caption": "A study", "setting": "k", "panels": ["m0"],
         "runs": ["made_one", "made_two"]},
    ],
    "examples": [
        {"id": "table-4", "title": "Table 4", "caption": "Side by side", "given": {"source": "source"},
         "written": {"made_one": "One", "made_two": "Two"}, "count": 2},
    ],
}  # fmt: skip
TREE = "(S (NP (DT a) (JJ white) (NN cow)) (VP (VBG sleeping) (PP (IN in) (NP (DT the) (NN yard)))) (. .))"
#: Markup in a text; a page that let it in would log an error.
HOSTILE = "<script>throw Error('let in')</script><img src=x onerror=\"throw Error('let in')\">"
ITEMS = 45


def write_site(folder: Path) -> None:
    """Write the pages of one paper, and the page over all papers with a second one that has no report."""
    import yaml

    path = folder / "made.yaml"
    path.write_text(yaml.safe_dump(PAPER), encoding="utf-8")
    printed = load_printed(path)
    points = [(step, 5 - step / 100, 5.1 - step / 100) for step in range(200)]
    curve = Curve(model="made", profile="nursery", points=points)
    corpus = CorpusResult(key="made", profile="nursery", counts={"train": 90}, quarantined={"too long": 2})
    report = build(printed, [_run("made_one", 32), _run("made_two", 64), _row()], [curve], [corpus])
    items = items_of(printed, [_texts("made_one", "One"), _texts("made_two", "Two", heads="2 0 2")])
    links = Links()
    pages = {"index.html": render_html(report, items, links), **render_items(report, items, links)}
    (folder / "made").mkdir()
    for name, text in pages.items():
        (folder / "made" / name).write_text(text, encoding="utf-8")
    above = Links(reports="", profile="../", root="../")
    index = render_index([summary_of(report, items)], ["other"], above)
    (folder / "index.html").write_text(index, encoding="utf-8")


def _run(key: str, k: int) -> RunResult:
    scores = {name: 50.0 + place for place, name in enumerate(COLUMNS[:20])}
    return RunResult(
        key=key,
        model="made",
        profile="nursery",
        title=f"Model of {key}",
        dataset="made",
        ids=frozenset("ab"),
        settings={"protocol": "free", "k": k},
        metrics={
            "scores": {"ppl": 4.5, **scores, **dict.fromkeys(("m20", "m21"), None if k == 32 else 7.5)},
            "intervals": {name: [value - 1.5, value + 1.5] for name, value in scores.items()},
            "undefined": {"m20": "no reference rhymes", "m21": HOSTILE},
            "signatures": {"ppl": "ppl|n:400"},
        },
        samples=[
            Sample(
                id="p1", text="灯烟。\n山有云，水有烟。", reference="桥烟。\n雨后山，月在天。", tune="灯词",
                format="2。3，3。",
                rhyme="AA", variant="灯词 2", tones="仄平平仄平中仄平", letters=".A.....A", kept="t.......",
            )
        ],
        rows=[{"id": f"r{place}", "source": "a source", "text": HOSTILE} for place in range(3)],
        provenance=Provenance(hardware="one GPU", hours=1.5, steps=4000, steps_asked=10000, commit="0123456789abcdef"),
    )  # fmt: skip


def _row() -> RunResult:
    return RunResult(
        key="made/copy", model="", profile="nursery", title="the source itself", dataset="made", ids=frozenset("ab"),
        row="copy", trivial=True, settings={"protocol": "baseline"}, metrics={"scores": {"ppl": 4.0, "m0": 51.0}},
    )  # fmt: skip


class MadeSegments(RunSegments):
    """Segments with a score of no registered family."""

    @property
    def metrics(self) -> list[tuple[Metric, list[str]]]:
        """One metric, m0."""
        return [(Metric("m0", ratio(0, 1), "m0"), ["m0.0", "m0.1"])]


def _texts(key: str, title: str, heads: str = "") -> RunTexts:
    """Items whose scores rise with their number; the text of item 7 is hostile."""
    places = range(ITEMS)
    texts = [HOSTILE if place == 7 else "cows sleep ." if heads else f"{key} text {place} ." for place in places]
    outputs = pd.DataFrame(
        {
            "id": [f"item-{place:03d}" for place in places], "seed": 1, "sample": 0, "source": "a white cow sleeps",
            "reference": [f"reference {place}" for place in places], "text": texts, "source_tree": TREE,
            "guide": "" if heads else TREE.replace("yard", "field"), "heads": heads,
        }
    )  # fmt: skip
    table = outputs[["id", "seed", "sample"]].assign(**{"m0.0": [float(place) for place in places], "m0.1": 1.0})
    return RunTexts(key, title, "en", outputs, MadeSegments(table, "made"))
