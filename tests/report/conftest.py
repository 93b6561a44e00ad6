"""A small paper, some runs beside it, and the real printed numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from espalier.report.printed import Printed, load_printed
from espalier.report.results import CorpusResult, Curve, Provenance, RunResult, Sample

SONGNET = Path(__file__).parents[2] / "papers" / "printed" / "songnet.yaml"
GUIG = SONGNET.with_name("guig.yaml")
X2TREE = SONGNET.with_name("x2tree.yaml")

TOY = """
paper: {key: toy, title: A toy paper, authors: A. Nobody, venue: Nowhere 2020, url: "https://example.org/toy"}
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
      - {label: System, printed: {ppl: [12.50, 0.25], format: 99.0}, runs: [{run: toy_free}, {run: toy_frame}]}
figures:
  - {id: figure-1, title: Figure 1, caption: A study,
     setting: k, panels: [format], runs: [toy_k1, toy_free], beside: toy_beam}
"""

PAIRS = """
paper: {key: pairs, title: A paper of pairs, authors: A. Nobody, venue: Nowhere 2021, url: "https://example.org/pairs"}
columns:
  bleu: {group: "", name: BLEU, better: higher, ours: [{metric: bleu}]}
  ted: {group: TED, name: f, better: lower, ours: [{metric: ted_full}]}
  human: {group: Human, name: Score}
tables:
  - id: table-1
    title: Table 1
    caption: Scores
    columns: [bleu, ted, human]
    rows:
      - {label: Plain, printed: {bleu: 20.5, ted: 7.5}, runs: [{run: plain}]}
      - {label: Guided, printed: {bleu: 30.5, ted: 6.5, human: 4.5}, runs: [{run: guided}]}
  - {id: ours, title: Ours, caption: More, columns: [ted], rows: [{label: Both, runs: [{run: guided}, {run: plain}]}]}
orderings:
  - {better: guided, worse: plain, column: bleu, claim: Guiding serves the meaning.}
  - {better: guided, worse: plain, column: ted, claim: Guiding serves the syntax.}
figures:
  - id: figure-1
    title: Figure 1
    caption: By level
    setting: levels
    points: [{name: TED, better: lower, metrics: {"3": ted_3, "4": ted_4, full: ted_full}}]
    runs: [plain, guided]
examples:
  - {id: table-2, title: Table 2, caption: Side by side, given: {source: src, reference: tgt},
     written: {plain: Plain, guided: Guided}, count: 2}
  - {id: table-3, title: Table 3, caption: By template, given: {source: src}, written: {frequent: gen}, by: template}
"""


REPLIES = """
paper: {key: replies, title: A paper of replies, authors: A. Nobody, venue: Nowhere 2022, url: "https://example.org/talk"}
columns: {human: {group: Human, name: Level}, bleu: {group: "", name: BLEU, better: higher, ours: [{metric: bleu}]}}
tables: [{id: table-1, title: Table 1, caption: A, columns: [human, bleu], rows: [{label: Tree, runs: [{run: tree}]}]}]
figures:
  - id: figure-1
    title: Figure 1
    caption: By length
    setting: words
    measured: {name: depths, lines: {chain: a chain, tree: a tree}, count: sentences}
examples:
  - {id: lists, title: Lists, caption: Side by side, given: {source: post}, written: {chain: Chain, tree: Tree},
     one: cluster, best: 2, count: 1}

"""


@pytest.fixture(scope="session")
def songnet() -> Printed:
    return load_printed(SONGNET)


@pytest.fixture(scope="session")
def guig() -> Printed:
    return load_printed(GUIG)


@pytest.fixture(scope="session")
def x2tree() -> Printed:
    return load_printed(X2TREE)


@pytest.fixture(scope="session")
def printed_number() -> Callable[[Printed, str, str, str], float]:
    """The number of a table's row in a column: `printed_number(sat, "table-1-ptb", "SAT-pos", "ptb_ppl_test")`."""

    def number(printed: Printed, table: str, row: str, column: str) -> float:
        rows = next(entry for entry in printed.tables if entry.id == table).rows
        return next(entry for entry in rows if entry.label == row).printed[column].value

    return number


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def written(text: str) -> Path:
        path = tmp_path / "toy.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return written


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Printed:
    path = tmp_path_factory.mktemp("printed") / "toy.yaml"
    path.write_text(TOY, encoding="utf-8")
    return load_printed(path)


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Printed:
    path = tmp_path_factory.mktemp("printed") / "pairs.yaml"
    path.write_text(PAIRS, encoding="utf-8")
    return load_printed(path)


@pytest.fixture(scope="session")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Printed:
    path = tmp_path_factory.mktemp("printed") / "toy.yaml"
    path.write_text(REPLIES, encoding="utf-8")
    return load_printed(path)


@pytest.fixture(scope="session")
def talk_text() -> str:
    return REPLIES


@pytest.fixture(scope="session")
def talk_runs() -> list[RunResult]:
    return [_talk_run("chain", ["好 。", "不 好 。", "走"]), _talk_run("tree", ["好 。", "", "来"])]


@pytest.fixture(scope="session")
def pairs_text() -> str:
    return PAIRS


@pytest.fixture(scope="session")
def pair_runs() -> list[RunResult]:
    return [_pair_run("plain", 0.0), _pair_run("guided", 2.0), _pair_run("frequent", 1.0, [LONG, SHORT])]


@pytest.fixture(scope="session")
def toy_text() -> str:
    return TOY


@pytest.fixture(scope="session")
def a_run() -> Callable[..., RunResult]:
    return _run


@pytest.fixture(scope="session")
def full_set() -> tuple[list[RunResult], list[Curve], list[CorpusResult]]:
    sample = Sample(
        id="p1",
        tune="卜算子",
        format="3，3。3。",
        rhyme="AA",
        text="山有云，水有烟。\n月在天。",
        reference="春水绿，一枝桃。\n夜潮高。",
    )
    elsewhere = Provenance(hardware="one GPU", hours=1.5, steps=4000, steps_asked=10000, commit="0123456789abcdef")
    runs = [
        _run(samples=[sample]),
        _run("toy_k1", settings={"protocol": "free", "k": 1}),
        _run("toy_beam", settings={"protocol": "free", "decoder": "beam"}),
        _run("toy_free", "paper", provenance=elsewhere),
    ]
    points = [(step, 5.0 - step / 100, 5.1 - step / 100 if step % 50 == 0 else None) for step in range(0, 200, 10)]
    return runs, [Curve(model="toy", profile="nursery", points=points)], [CorpusResult(key="verse", profile="nursery")]


def _run(key: str = "toy_free", profile: str = "nursery", **changes: Any) -> RunResult:
    values: dict[str, Any] = {
        "model": "toy",
        "settings": {"protocol": "free", "decoder": "top-k", "k": 32},
        "metrics": {
            "scores": {"ppl_released": 21.25, "format_f1": 98.5, "format_released_f1": 99.125},
            "intervals": {"ppl_released": None, "format_f1": [97.25, 99.5]},
            "signatures": {"format_f1": "format|delta:0"},
        },
    }
    return RunResult(key=key, profile=profile, **(values | changes))


#: Two templates; the first is not the first of the alphabet.
LONG, SHORT = "(S (NP (PRP)) (VP (MD) (VP)) (.))", "(NP (DT) (NN))"


def _pair_run(key: str, shift: float, templates: list[str] | None = None) -> RunResult:
    scores = {"bleu": 20 + shift, "ted_full": 8 - shift, "ted_3": 2 - shift / 2, "ted_4": 4 - shift}
    rows = [
        {"id": f"r{i}", "source": f"source {i}", "reference": f"target {i}", "text": f"{key} {i}", "template": tree}
        for tree in templates or [""]
        for i in range(5)
    ]
    return RunResult(
        key=key,
        model=key,
        profile="nursery",
        language="en",
        metrics={"scores": scores, "intervals": {name: [value - 1, value + 1] for name, value in scores.items()}},
        rows=rows,
    )


def _talk_run(key: str, replies: list[str]) -> RunResult:
    """Three posts, the second of which two pairs share, each under two seeds; the first seed's lists are `replies`."""
    rows = [
        {"id": id_, "cluster": cluster, "seed": seed, "sample": str(rank), "source": f"今天 {cluster} 吗", "text": text}
        for id_, cluster in (("p1", "p1"), ("p2", "p2"), ("p3", "p2"), ("p4", "p4"))
        for seed in ("1", "2")
        for rank, text in enumerate(replies if seed == "1" else ["又"] * len(replies))
    ]
    return RunResult(key=key, model=key, profile="nursery", language="zh", rows=rows)
