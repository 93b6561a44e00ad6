"""Reports: every run beside the row printed in its paper, as a web page, as Markdown or as CSV.

`load_printed` reads the printed numbers of a paper, and `build` puts runs beside them. `render_html`, `render_markdown`
and `render_csv` write the same report in different formats. `items_of` collects all test items, and `summary_of` the
overview for the page over all papers. `comparisons_of` compares runs by the statistics of their segments, and
`orderings_json` gives the numbers behind each claim of the paper. This package neither searches for files nor computes
scores.
"""

from espalier.report.benchmarks import load_benchmark
from espalier.report.build import Report, build
from espalier.report.comparisons import RunSegments, comparisons_of
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
