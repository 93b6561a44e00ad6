"""What a rater gets: a page that works without network, and the same questions as CSV."""

from __future__ import annotations

import csv
import json
from io import StringIO
from typing import Final

from markupsafe import Markup

from espalier.io.html import html_environment
from espalier.judging.sample import PAIR_WORDS, Item, Sample

#: Columns of a CSV file: `asks` is the question in words, `answers` says what each means. A rater fills in the last.
COLUMNS: Final = ("sample", "rater", "item", "given", "texts", "question", "asks", "answers", "answer")
#: Spreadsheets read a cell that begins with one of these as a formula.
_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r")


def page(sample: Sample, rater: str) -> str:
    """The page of a rater: one file without external resources. Texts are data, never markup."""
    screens: dict[int, list[Item]] = {}
    for number in sample.orders[rater]:
        screens.setdefault(sample.item(number).screen, []).append(sample.item(number))
    data = {
        "sample": sample.hash,
        "protocol": sample.name,
        "rater": rater,
        "design": sample.protocol.design,
        "questions": sample.questions_shown,
        "screens": [[sample.shown(item) for item in items] for items in screens.values()],
    }
    return (
        html_environment("espalier.judging")
        .get_template("page.html.jinja")
        .render(
            title=sample.protocol.title,
            note=sample.protocol.note,
            language=sample.language,
            data=Markup(_in_script(data)),
        )
    )


def sheet(sample: Sample, rater: str) -> str:
    """The questions to a rater as CSV, one row for each answer, in the rater's order."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for (number, question), answers in sample.asked(rater).items():
        criterion, end = sample.protocol.questions[question]
        asks = sample.protocol.criteria[criterion].question + (f" The {end}." if end else "")
        item = sample.item(number)
        given = "\n".join(f"{label}: {text}" for label, text in item.given)
        texts = "\n".join(
            text if len(item.texts) == 1 else f"{place}: {text}" for place, text in enumerate(item.texts, start=1)
        )
        writer.writerow(
            [
                *(sample.hash, rater, number, _plain(given), _plain(texts), question, _plain(asks)),
                _plain("; ".join(_meant(sample, criterion, answer) for answer in answers)),
                "",
            ]
        )
    return out.getvalue()


def _meant(sample: Sample, criterion: str, answer: str) -> str:
    """An answer with its meaning: "1 = bad"."""
    if sample.protocol.design == "best_worst":
        return answer
    known = PAIR_WORDS if sample.protocol.design == "pairs" else dict(sample.protocol.criteria[criterion].named)
    return f"{answer} = {known[answer]}" if known[answer] else answer


def _in_script(data: object) -> str:
    """JSON that can stand in a script element: no character in it ends the element or begins a comment."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _plain(text: str) -> str:
    """The text, with a space before a character that spreadsheets take for a formula ("= =" is a face on Weibo)."""
    return f" {text}" if text.startswith(_FORMULAS) else text
