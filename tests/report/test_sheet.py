from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import replace

import pytest

from espalier.io.errors import ConfigError
from espalier.report.build import build
from espalier.report.html import render_html
from espalier.report.printed import Printed, PrintedSheet
from espalier.report.results import RunResult
from espalier.report.sheet import Sheet, sheet_of


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
