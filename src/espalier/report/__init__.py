"""Reports: every run beside the row that its paper prints, as a page, in the terminal, as Markdown.

`load_printed` reads what a paper prints; `build` puts runs beside it; `render_html`, `render_console`,
`render_markdown` and `render_csv` write the same report down. `items_of` has all test items, `summary_of` what the page
over all papers shows. `comparisons_of` compares runs by the statistics of their
segments, and `orderings_json` has the numbers behind each claim of the paper. Nothing here looks for files or
computes a score.
"""

from espalier.report.benchmarks import load_benchmark
from espalier.report.build import Report, build
from espalier.report.comparisons import RunSegments, comparisons_of
from espalier.report.console import render_console
from espalier.report.html import render_html, render_index, render_items
from espalier.report.hyperparameters import hyperparameters_of
from espalier.report.items import Items, RunTexts, items_of
from espalier.report.links import Links
from espalier.report.markdown import render_markdown
from espalier.report.orderings_json import orderings_json
from espalier.report.page_numbers import PageNumbers, Training
from espalier.report.pages import BEGIN, render_page, with_numbers
from espalier.report.printed import Printed, load_printed
from espalier.report.results import Comparison, CorpusResult, Curve, Provenance, RunResult, Sample, TrainingResult
from espalier.report.summary import Summary, read_summary, summary_json, summary_of
from espalier.report.tables_csv import render_csv

__all__ = [
    "BEGIN",
    "Comparison",
    "CorpusResult",
    "Curve",
    "Items",
    "Links",
    "PageNumbers",
    "Printed",
    "Provenance",
    "Report",
    "RunResult",
    "RunSegments",
    "RunTexts",
    "Sample",
    "Summary",
    "Training",
    "TrainingResult",
    "build",
    "comparisons_of",
    "hyperparameters_of",
    "items_of",
    "load_benchmark",
    "load_printed",
    "orderings_json",
    "read_summary",
    "render_console",
    "render_csv",
    "render_html",
    "render_index",
    "render_items",
    "render_markdown",
    "render_page",
    "summary_json",
    "summary_of",
    "with_numbers",
]
