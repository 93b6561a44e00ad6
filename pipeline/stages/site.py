"""site: the page over all papers, from the summaries of their reports."""

from typing import Any

from espalier.io.files import atomic_file, read_json
from espalier.report.html import render_index
from espalier.report.links import Links
from espalier.report.summary import read_summary
from pipeline import layout
from pipeline.params.read import load_params


def run() -> None:
    """Write `reports/index.html`. For a paper without a report it names the command that makes the report."""
    params = load_params()
    found = {key: layout.report_summary(key) for key in params.reports}
    summaries = [read_summary(read_json(path, dict[str, Any]), str(path)) for path in found.values() if path.exists()]
    missing = [key for key, path in found.items() if not path.exists()]
    page = render_index(summaries, missing, Links.below(params.root, reports="", profile="../"))
    with atomic_file(layout.SITE) as part:
        part.write_text(page, encoding="utf-8")
