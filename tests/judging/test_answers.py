"""A mistake in a rater's file is one line with its file and row."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from toy_judging import BEST_WORST

from espalier.io.errors import DataError
from espalier.judging.answers import merged
from espalier.judging.sample import Sample
from espalier.judging.sheets import sheet

Make, Fill = Callable[..., Sample], Callable[..., str]


def good(item: Any, question: str) -> str:
    return "1" if question != "fluency_worst" else "2"


def filled_sheet(sample: Sample, answer: str = "1") -> str:
    """As spreadsheets write it: a byte order mark, and CR LF."""
    lines = sheet(sample, "rater_1").replace("\n", "\r\n").split("\r\n")
    return "\ufeff" + "\r\n".join([lines[0], *(f"{line}{answer}" for line in lines[1:-1]), ""])


def test_json_of_a_page_and_csv_give_the_same_answers(make_sample: Make, fill: Fill) -> None:
    sample = make_sample(given={})
    (one,) = merged({"a.json": fill(sample, "rater_1", good)}, sample)
    (other,) = merged({"a.csv": filled_sheet(sample)}, sample)
    assert one.answers == other.answers and len(one.answers) == 2 * 24
    assert one.rater == "rater_1" and not one.simulated


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_csv_with_the_separator_of_another_country_is_read(make_sample: Make, delimiter: str) -> None:
    sample = make_sample(given={})
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(csv.reader(io.StringIO(filled_sheet(sample))))
    (one,), (other,) = (merged({"a.csv": text}, sample) for text in (out.getvalue(), filled_sheet(sample)))
    assert one.answers == other.answers


def test_raters_come_in_the_order_of_the_sample(make_sample: Make, fill: Fill) -> None:
    sample = make_sample()
    files = {f"{rater}.json": fill(sample, rater, good) for rater in ("rater_3", "rater_1")}
    assert [one.rater for one in merged(files, sample)] == ["rater_1", "rater_3"]
    with pytest.raises(
        DataError, match=r"^b\.json: a second file of rater_1, after a\.json; keep one file of each rater$"
    ):
        merged({"a.json": fill(sample, "rater_1", good), "b.json": fill(sample, "rater_1", good)}, sample)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": ""}, "a.json, row 3: no answer to fluency of item {item}; give one of 1, 2, 3, or "
                         "allow --incomplete files"),
        ({"answer": "4"}, "a.json, row 3: the answer '4' to fluency of item {item}; one of 1, 2, 3"),
        ({"answer": None}, "a.json, row 3: no answer to fluency of item {item}; give one of 1, 2, 3, or allow "
                           "--incomplete files"),
        ({"answer": "tree"}, "a.json, row 3: unblinded: it names the run tree; raters must not know the systems; "
                             "ask anew"),
        ({"run": "tree"}, "a.json, row 3: unblinded: it has 'run'; raters must not know the systems; ask anew"),
        ({"item": 99}, "a.json, row 3: item 99 is not one of rater_1's; give the rater's own file"),
        ({"item": "x"}, "a.json, row 3: the item 'x' is no number"),
        ({"question": "taste"}, "a.json, row 3: unknown question 'taste'; one of fluency, style"),
    ],
)  # fmt: skip
def test_a_mistake_in_an_answer_names_file_and_row(make_sample: Make, fill: Fill, change: dict, message: str) -> None:  # type: ignore[type-arg]
    sample = make_sample()
    value = json.loads(fill(sample, "rater_1", good))
    item = value["answers"][2]["item"]
    value["answers"][2] |= change
    with pytest.raises(DataError) as caught:
        merged({"a.json": json.dumps(value)}, sample)
    assert str(caught.value) == message.format(item=item)


def test_missing_and_double_answers_and_files_of_others_are_named(make_sample: Make, fill: Fill) -> None:
    sample = make_sample()
    value = json.loads(fill(sample, "rater_1", good))
    first, *rest = value["answers"]

    def fails(head: dict[str, Any], line: str, **options: Any) -> None:
        with pytest.raises(DataError) as caught:
            merged({"a.json": json.dumps(value | head)}, sample, **options)
        assert str(caught.value) == line

    fails({"answers": rest[1:]}, f"a.json: no answer to fluency of item {first['item']}, and 1 more answers are "
                                 "missing; give one of 1, 2, 3, or allow --incomplete files")  # fmt: skip
    fails({"answers": [first, *rest, first]}, f"a.json, row 49: a second answer to fluency of item {first['item']}, "
                                              "after row 1; keep one")  # fmt: skip
    fails(
        {"sample": "0" * 16},
        f"a.json, row 1: of sample '{'0' * 16}', not {sample.hash}; give the key of its own sample",
    )
    fails({"rater": "eve"}, "a.json, row 1: unknown rater 'eve'; one of rater_1, rater_2, rater_3")
    fails({"answers": []}, "a.json: no answers; answer the questions, and save the file again", incomplete=True)
    fails({"answers": ["3"]}, "a.json, row 1: no item, question and answer; save it again from the page")
    (some,) = merged({"a.json": json.dumps(value | {"answers": rest})}, sample, incomplete=True)
    assert len(some.answers) == 47


def test_the_best_and_the_worst_are_two_texts(make_sample: Make, fill: Fill) -> None:
    sample = make_sample(BEST_WORST)
    merged({"a.json": fill(sample, "rater_1", good)}, sample)
    first = sample.orders["rater_1"][0]
    with pytest.raises(DataError) as caught:
        merged({"a.json": fill(sample, "rater_1", lambda item, question: "1")}, sample)
    line = f"a.json, row 2: text 1 of item {first} is both best and worst in fluency; name two texts"
    assert str(caught.value) == line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a.csv, row 1: not the columns of a rater's file; expected "
             "sample,rater,item,given,texts,question,asks,answers,answer"),
        ("sample,rater,item,given,texts,question,asks,answers,answer,system\n",
         "a.csv, row 1: unblinded: it has 'system'; raters must not know the systems; ask anew"),
        ("sample,rater,item,given,texts,question,asks,answers,answer\n1,2\n", "a.csv, row 2: 2 columns; expected 9"),
        (f'sample,rater,item,given,texts,question,asks,answers,answer\n"{"a" * 200_000}"',
         "a.csv: no CSV (field larger than field limit (131072)); look for a quote that is not closed"),
        ("<!DOCTYPE html>\n<html>", "a.csv: the page and not its answers, which are in the rater's browser; press "
                                    "'Save the answers to a file' there"),
        ('{"orders": {}}', "a.csv: the key of a sample; give what a page saved, or a filled-in CSV"),
        ('{"answers": 3}', "a.csv: no file of a rater; give what a page saved, or a filled-in CSV"),
        ('{"answers": [NaN]}', "a.csv: no JSON (NaN is no number); save it again from the page"),
        ('{"answers": [], "models": 1}', "a.csv: unblinded: it has 'models'; raters must not know the systems; ask "
                                       "anew"),
    ],
)  # fmt: skip
def test_a_file_that_is_none_is_one_line(make_sample: Make, text: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        merged({"a.csv": text}, make_sample())
    assert str(caught.value) == message
