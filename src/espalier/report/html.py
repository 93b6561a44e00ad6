"""Reports and drawings as HTML pages: no external resources, everything escaped, equal bytes for equal input.

Trees are nested lists, drawn by the style sheet and readable without it.
"""

import json
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

from markupsafe import Markup, escape

from espalier.io.html import html_environment
from espalier.report.build import Report
from espalier.report.figures import loss_figures, study_figure
from espalier.report.folding import fold, letter_of, notes_of
from espalier.report.items import OUTPUT_TREES, Items, Output, spread, trees_of
from espalier.report.links import Links
from espalier.report.results import CorpusResult, in_words
from espalier.report.summary import Summary
from espalier.report.tables import BLANK, KEY, NURSERY, arrow, margin, number, value_of
from espalier.report.trees import constituents_html, dependencies_html
from espalier.report.verdicts import SEEDS, SIGNIFICANT, probability

#: Rhyme letters beyond these share their colours.
_HUES = "abcdefg"
#: A table of more columns than this is turned: a row for each column.
WIDEST = 12
#: So many items a page shows without a script, and so many have their trees drawn on the page of the paper.
FIRST, DRAWN = 20, 3


def render_html(report: Report, items: Items | None = None, links: Links | None = None) -> str:
    """The page of a paper. It has no scripts, and can be mailed, printed, and read in light and dark themes."""
    items = items or Items()
    return _render(
        "report.html.jinja",
        report=report,
        items=items,
        links=links or Links(),
        tables=[fold(table) for table in report.tables],
        drawn=spread([place for place in range(len(items.ids)) if _has_trees(items, place)], DRAWN),
        losses=[(profile, Markup(svg)) for profile, svg in loss_figures(report.curves)],
        studies=[(study, Markup(study_figure(study))) for study in report.studies],
        drawings=[(each, [(profile, Markup(svg)) for profile, svg in each.figures]) for each in report.drawings],
    )


def render_drawing(svg: str, title: str) -> str:
    """A drawing as a separate page, in light and dark themes."""
    return _render("drawing.html.jinja", title=title, svg=Markup(svg))


def render_items(report: Report, items: Items, links: Links | None = None) -> dict[str, str]:
    """The page of all test items, with its scripts, by file name."""
    return {
        "items.html": _render(
            "items.html.jinja",
            paper=report.paper,
            profile=", ".join(name for name, _ in report.profiles),
            items=items,
            links=links or Links(),
            first=range(min(FIRST, len(items.ids))),
        ),
        "items.js": items_js(items),
        "browse.js": (files("espalier.report") / "templates" / "browse.js").read_text(encoding="utf-8"),
    }


def render_index(summaries: Sequence[Summary], missing: Sequence[str], links: Links) -> str:
    """The page over all papers.

    Args:
        summaries: summaries of the papers with a page, in the order of display.
        missing: keys of the papers without a page.
        links: links relative to the folder of this page.
    """
    return _render("index.html.jinja", summaries=summaries, missing=missing, links=links)


def _render(template: str, **values: object) -> str:
    environment = html_environment("espalier.report")
    environment.globals.update(
        number=number, value_of=value_of, margin=margin, arrow=arrow, letter_of=letter_of, notes_of=notes_of,
        hue=_hue, share=_share, probability=probability, constituents=constituents_html, dependencies=_dependencies,
        trees_of=trees_of, in_words=in_words, blank=BLANK, key=KEY, nursery=NURSERY, widest=WIDEST,
        significant=SIGNIFICANT, needed=SEEDS, breakable=_breakable,
    )  # fmt: skip
    return environment.get_template(template).render(values).lstrip()


def _breakable(name: str) -> Markup:
    """A name that a line may break after its underscores and slashes, and nowhere else."""
    return Markup(re.sub(r"([_/])(?=.)", r"\1<wbr>", str(escape(name))))


def _has_trees(items: Items, place: int) -> bool:
    outputs = (outputs[place] for outputs in items.outputs)
    return any(output and (output.trees or output.heads) for output in outputs)


def _dependencies(pairs: str) -> Markup:
    """The drawing of `Output.heads`."""
    words, heads = zip(*(pair.rsplit("/", 1) for pair in pairs.split(" ")), strict=True)
    return dependencies_html(words, [int(head) for head in heads])


def _hue(letter: str) -> str:
    """The colour class of a rhyme letter. Any character gives a safe name."""
    return f"hue-{_HUES[(ord(letter.lower()) - ord('a')) % len(_HUES)]}" if letter else ""


def _share(count: int, corpus: CorpusResult, split: int) -> str:
    """The percentage of `count` among the rows of one split."""
    total = sum(rows[split] for rows in corpus.sources.values())
    return f"{100 * count / total:.1f} %" if total else BLANK


def items_js(items: Items) -> str:
    """A script that sets `items`: columns in which texts are replaced by numbers.

    The distinct texts are listed in `strings`, the first of which is empty.
    """
    strings = {"": 0}

    def numbers(texts: Iterable[str]) -> list[int]:
        return [strings.setdefault(text, len(strings)) for text in texts]

    def run(key: str, title: str, outputs: tuple[Output | None, ...]) -> dict[str, Any]:
        trees = {
            label: numbers(output.trees.get(label, "") if output else "" for output in outputs)
            for label in OUTPUT_TREES.values()
        }
        heads = numbers(output.heads if output else "" for output in outputs)
        return {
            "key": key,
            "title": title,
            "texts": [numbers(output.texts) if output else None for output in outputs],
            "trees": {label: column for label, column in trees.items() if any(column)},
            "heads": heads if any(heads) else None,
            "scores": [
                [output.scores[place] if output else None for output in outputs] for place in range(len(items.scores))
            ],
        }

    data = {
        "ids": items.ids,
        "given": {label: numbers(texts) for label, texts in items.given.items()},
        "trees": {label: numbers(texts) for label, texts in items.trees.items()},
        "scores": [
            {"name": column.heading, "better": column.better, "digits": column.digits} for column in items.scores
        ],
        "runs": [run(*named, outputs) for named, outputs in zip(items.runs, items.outputs, strict=True)],
        "strings": list(strings),
    }
    return f"const items = {json.dumps(data, ensure_ascii=False, separators=(',', ':'), allow_nan=False)};\n"
