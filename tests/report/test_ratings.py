"""Filled-in sheets: levels and agreement worked out by hand, and one line for each mistake."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from espalier.io.errors import ConfigError, DataError
from espalier.report.build import build
from espalier.report.html import render_html
from espalier.report.printed import Printed, PrintedSheet
from espalier.report.ratings import Ratings, Sheet, fleiss_kappa, ratings_of, sheet_of
from espalier.report.results import RunResult

KEY = "item,one,run,rank\n1,p1,tree,1\n2,p1,tree,2\n1,p1,chain,1\n3,p2,chain,1\n0,p2,tree,1\n"


def sheet(*levels: object) -> str:
    return "item,given,text,level\n" + "".join(f'{n},"a, b",c,{level}\n' for n, level in enumerate(levels, start=1))


def judged(*sheets: str, key: str = KEY) -> Ratings:
    return ratings_of({f"{n}.csv": text for n, text in enumerate(sheets, start=1)}, key, "key.csv")


def test_kappa_is_that_of_a_worked_example() -> None:
    # P = (1 + 1/3 + 1 + 0) / 4 = 7/12; of 12 levels 4, 3 and 5: P_e = (16 + 9 + 25) / 144 = 50/144.
    counts = np.array([[3, 0, 0], [0, 2, 1], [0, 0, 3], [1, 1, 1]])
    assert fleiss_kappa(counts, "abcd")[0] == pytest.approx((84 - 50) / (144 - 50))
    assert fleiss_kappa(np.array([[2, 0, 0], [0, 2, 0]]), "ab")[0] == pytest.approx(1.0)
    assert fleiss_kappa(np.array([[1, 1, 0], [1, 1, 0]]), "ab")[0] == pytest.approx(-1.0)


def test_the_interval_of_kappa_covers_the_true_one_and_draws_the_texts_of_an_input_together() -> None:
    generator = np.random.default_rng(3)

    def texts(inputs: int) -> np.ndarray:
        """Two raters, two texts for an input: alike in whether they agree, 70 % of the inputs do. Kappa is 0.4."""
        first = generator.integers(0, 2, inputs)
        second = np.where(generator.random(inputs) < 0.7, first, 1 - first)
        one = np.stack([(first == level).astype(int) + (second == level) for level in range(3)], axis=1)
        return np.repeat(one, 2, axis=0)

    covered, alone = 0, 0
    for _ in range(200):
        counts = texts(60)
        low, high = fleiss_kappa(counts, np.repeat(np.arange(60), 2).astype(str).tolist())[1] or (0.0, 0.0)
        covered += low <= 0.4 <= high
        low, high = fleiss_kappa(counts, np.arange(120).astype(str).tolist())[1] or (0.0, 0.0)
        alone += low <= 0.4 <= high
    assert covered > 180 > alone


@pytest.mark.parametrize("counts", [[[1, 0, 0], [0, 1, 0]], [[3, 0, 0], [3, 0, 0]], []])
def test_kappa_of_one_rater_of_one_level_or_of_nothing_is_not_defined(counts: list[list[int]]) -> None:
    assert fleiss_kappa(np.array(counts).reshape(-1, 3), "ab"[: len(counts)]) == (None, None)


def test_each_run_has_the_shares_of_its_own_texts() -> None:
    found = judged(sheet(3, 1, 2), sheet(3, 2, 2))
    tree, chain = found.runs
    assert (found.raters, found.items, tree.run, chain.run) == (2, 3, "tree", "chain")
    # Of the tree's items 1 and 2: 3, 3, 1, 2; its third reply has no words. Of the chain's 1 and 3: 3, 3, 2, 2.
    assert (tree.texts, tree.empty, tree.shares) == (2, 1, (25.0, 25.0, 50.0))
    assert (chain.texts, chain.empty, chain.shares) == (2, 0, (0.0, 50.0, 50.0))
    assert chain.kappa == pytest.approx(1.0)
    # All three items: P = (1 + 0 + 1) / 3; of six levels 1, 3 and 2: P_e = 14/36.
    assert found.kappa == pytest.approx((2 / 3 - 14 / 36) / (1 - 14 / 36))
    assert (judged(sheet(3, 1, 2)).kappa, judged(sheet(3, 1, 2)).interval) == (None, None)
    one_post = judged(sheet(3, 1), sheet(3, 2), key="item,one,run,rank\n1,p1,tree,1\n2,p1,tree,2\n")
    assert one_post.kappa is not None and one_post.interval is None


def test_a_sheet_of_a_report_is_read_back(talk: Printed, talk_runs: list[RunResult]) -> None:
    assert talk.sheet is not None
    files = sheet_of(talk.sheet, talk_runs).files()
    head, *rows = files["nbest.csv"].splitlines()
    filled = "\r\n".join([head, *(f"{row}3" for row in rows)])  # as spreadsheets write it
    found = ratings_of({"a.csv": "\ufeff" + filled}, files["nbest_key.csv"], "key.csv")
    assert {run.run for run in found.runs} == {"chain", "tree"}
    assert all(run.shares == (0.0, 0.0, 100.0) for run in found.runs)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (sheet(3, "", 2), "1.csv, row 3: no level for item 2; give 1, 2 or 3"),
        (sheet(3, 4, 2), "1.csv, row 3: the level '4' of item 2; give 1, 2 or 3"),
        (sheet(3, "good", 2), "1.csv, row 3: the level 'good' of item 2; give 1, 2 or 3"),
        (sheet(3, 2), "1.csv: no row for item 3; fill in the whole sheet"),
        (sheet(3, 2, 1, 1), "1.csv, row 5: item 4 is not in key.csv; use the sheet's own key"),
        (sheet(3, 2, 1) + "2,a,b,1\n", "1.csv, row 5: item 2 a second time; keep one"),
        (sheet(3) + "two,a,b,1\n", "1.csv, row 3: the item 'two' is no number"),
        (sheet(3) + f"{'7' * 5000},a,b,1\n", f"1.csv, row 3: the item '{'7' * 80}' is no number"),
        (
            sheet(3) + f'2,"{"a" * 200_000},b,1\n',
            "1.csv: no CSV (field larger than field limit (131072)); look for a quote that is not closed",
        ),
        (sheet(3) + "2,a,1\n", "1.csv, row 3: 3 columns; expected 4"),
        ("", "1.csv, row 1: not the columns of the sheet; expected item,given,text,level"),
        (KEY, "1.csv, row 1: not the columns of the sheet; expected item,given,text,level"),
    ],
)
def test_a_mistake_in_a_sheet_is_one_line_with_its_file_and_row(text: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        judged(text)
    assert str(caught.value) == message


def test_a_mistake_in_the_key_is_one_line() -> None:
    with pytest.raises(DataError, match=r"^key\.csv, row 2: the rank 'first' is no number$"):
        judged(sheet(1), key="item,one,run,rank\n1,p1,tree,first\n")


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
    command = [sys.executable, str(root / "pipeline"), "ratings", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_command_prints_the_levels_and_a_mistake_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "nbest_key.csv").write_text(KEY)
    (tmp_path / "ann.csv").write_text(sheet(3, 1, 2))
    (tmp_path / "bob.csv").write_text(sheet(3, 2, 2))
    shown = run("ann.csv", "bob.csv", folder=tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "tree       2      1   25.00%   25.00%   50.00%  0.2000" in shown.stdout
    assert "2 raters, 3 items, kappa over all items 0.4545" in shown.stdout
    told = json.loads(run("ann.csv", "bob.csv", "--json", folder=tmp_path).stdout)
    assert told["runs"][0]["shares"] == [25.0, 25.0, 50.0]
    (tmp_path / "bob.csv").write_text(sheet(3, "", 2))
    for arguments, line in (
        (("ann.csv", "bob.csv"), "espalier: bob.csv, row 3: no level for item 2; give 1, 2 or 3\n"),
        (("ann.csv", "ann.csv"), "espalier: ratings: a sheet is named twice; give one file for each rater\n"),
        (("eve.csv",), "espalier: eve.csv: cannot be read (No such file or directory)\n"),
    ):
        failed = run(*arguments, folder=tmp_path)
        assert (failed.returncode, failed.stdout, failed.stderr) == (1, "", line)


@pytest.fixture
def wanted(talk: Printed) -> PrintedSheet:
    assert talk.sheet is not None
    return talk.sheet


def _texts(sheet: Sheet, given: str) -> list[str]:
    return [item.text for item in sheet.items if item.given == given]


def test_each_post_has_all_its_texts_once_and_numbers_run_through(
    wanted: PrintedSheet, talk_runs: list[RunResult]
) -> None:
    sheet = sheet_of(wanted, talk_runs)
    assert [item.item for item in sheet.items] == [1, 2, 3, 4, 5, 6]
    assert list(dict.fromkeys(item.given for item in sheet.items)) == ["今天p1吗", "今天p2吗", "今天p4吗"]
    for given in ("今天p1吗", "今天p2吗", "今天p4吗"):
        assert sorted(_texts(sheet, given)) == ["不好。", "好。"]  # as people write them, unsegmented
    assert {item.level for item in sheet.items} == {""}


def test_the_key_knows_whose_each_text_is_and_the_sheet_does_not(
    wanted: PrintedSheet, talk_runs: list[RunResult]
) -> None:
    sheet = sheet_of(wanted, talk_runs)
    text = {item.item: item.text for item in sheet.items} | {0: ""}
    of_p2 = {(author.run, author.rank): text[author.item] for author in sheet.key if author.one == "p2"}
    assert of_p2 == {("chain", 1): "好。", ("chain", 2): "不好。", ("tree", 1): "好。", ("tree", 2): ""}
    assert len(sheet.key) == 3 * 2 * 2
    assert not {"chain", "tree"} & set(sheet.files()["nbest.csv"].replace("\n", ",").split(","))


def test_the_order_says_nothing_of_the_run_and_is_the_seeds(wanted: PrintedSheet) -> None:
    runs = [
        RunResult(key=key, model=key, profile="nursery", language="en", rows=[
            {"id": f"p{post}", "cluster": f"p{post}", "seed": "1", "source": f"post {post}", "text": f"{key} {post}"}
            for post in range(200)
        ]) for key in ("chain", "tree")
    ]  # fmt: skip
    sheet = sheet_of(wanted, runs)
    first = Counter(_texts(sheet, f"post {post}")[0].split()[0] for post in range(200))
    assert min(first.values()) > 70
    assert sheet_of(wanted, runs) == sheet == sheet_of(wanted, runs[::-1])
    assert sheet_of(wanted.model_copy(update={"seed": 4}), runs).items != sheet.items
    # A post keeps its order when others are gone.
    fewer = sheet_of(wanted, [replace(run, rows=run.rows[7:]) for run in runs])
    assert _texts(fewer, "post 9") == _texts(sheet, "post 9")


@pytest.mark.parametrize("key", ["one", "given"])
def test_a_column_that_the_outputs_lack_is_one_line(wanted: PrintedSheet, talk_runs: list[RunResult], key: str) -> None:
    with pytest.raises(ConfigError, match=r"^papers/printed: unknown column of the outputs 'prompt'; allowed: "):
        sheet_of(wanted.model_copy(update={key: "prompt"}), talk_runs)


def test_only_what_all_made_runs_have_answered_is_judged(wanted: PrintedSheet, talk_runs: list[RunResult]) -> None:
    chain, tree = talk_runs
    some = replace(chain, rows=[row for row in chain.rows if row["cluster"] == "p2"])
    assert {author.one for author in sheet_of(wanted, [some, tree]).key} == {"p2"}
    alone = sheet_of(wanted, [tree])
    assert ({author.run for author in alone.key}, alone.missing) == ({"tree"}, ("chain",))
    assert sheet_of(wanted, []) == Sheet(wanted.note, (), (), ("chain", "tree"))


def test_the_files_can_be_read_back_and_no_cell_is_a_formula(wanted: PrintedSheet) -> None:
    rows = [{"id": "p1", "cluster": "p1", "seed": "1", "source": '+1 , "好"', "text": "= ="}]
    runs = [RunResult(key="tree", model="tree", profile="nursery", language="zh", rows=rows)]
    files = sheet_of(wanted, runs).files()
    items, key = (list(csv.DictReader(io.StringIO(files[name]))) for name in ("nbest.csv", "nbest_key.csv"))
    assert items == [{"item": "1", "given": ' +1,"好"', "text": " ==", "level": ""}]
    assert key == [{"item": "1", "one": "p1", "run": "tree", "rank": "1"}]


def test_the_page_leads_to_the_files_where_there_are_any(talk: Printed, talk_runs: list[RunResult]) -> None:
    html = render_html(build(talk, talk_runs))
    assert 'href="nbest.csv"' in html and "Say how good each is." in html and 'href="#sheet"' in html
    assert "nbest.csv" not in render_html(build(talk, []))
