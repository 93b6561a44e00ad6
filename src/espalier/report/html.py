"""A report or a drawing as an HTML page: no script, nothing fetched, all escaped, the same bytes for the same input."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from espalier.report.build import CorpusLine, Report
from espalier.report.figures import loss_figures, study_figure
from espalier.report.granularity import granularity_figure
from espalier.report.tables import BLANK, arrow, margin, number, value_of
from espalier.report.verdicts import SEEDS, SIGNIFICANT, probability

#: Rhyme letters beyond these share their colours.
_HUES = "abcdefg"


def render_html(report: Report) -> str:
    """The page. It can be opened from disk, mailed, printed, and read in light and in dark."""
    page = _environment().get_template("report.html.jinja")
    return page.render(
        report=report,
        losses=[(profile, Markup(svg)) for profile, svg in loss_figures(report.curves)],
        studies=[(study, Markup(study_figure(study))) for study in report.studies],
        heatmaps=[
            (
                each,
                [
                    (group.profile, Markup(granularity_figure(group.texts, f"{each.id}-{group.profile}")))
                    for group in each.groups
                ],
            )
            for each in report.heatmaps
        ],
    )


def render_drawing(svg: str, title: str) -> str:
    """A drawing as a page of its own, in light and in dark."""
    return _environment().get_template("drawing.html.jinja").render(title=title, svg=Markup(svg))


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("espalier.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(
        number=number, value_of=value_of, margin=margin, arrow=arrow, hue=_hue, share=_share, blank=BLANK
    )
    environment.globals.update(probability=probability, significant=SIGNIFICANT, needed=SEEDS)
    return environment


def _hue(letter: str) -> str:
    """The colour class of a rhyme letter; any character gives a safe name."""
    return f"hue-{_HUES[(ord(letter.lower()) - ord('a')) % len(_HUES)]}" if letter else ""


def _share(count: int, corpus: CorpusLine, split: int) -> str:
    """Of the rows of one split, in percent."""
    total = sum(rows[split] for _, rows in corpus.origins)
    return f"{100 * count / total:.1f} %" if total else BLANK
