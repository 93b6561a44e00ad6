"""The command `pages`: write numbers and tables of README and docs from the committed details and benchmarks.

The pages show no numbers of the nursery.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from espalier.cli.progress import say
from espalier.io.errors import ArtifactError
from espalier.io.files import atomic_file, read_json
from espalier.io.yaml_files import load_yaml
from espalier.report.benchmarks import load_benchmark
from espalier.report.page_judged import Scores
from espalier.report.page_numbers import PageNumbers, Training
from espalier.report.pages import render_page, with_numbers
from espalier.report.printed import load_printed
from pipeline import layout
from pipeline.graph.written import require_written
from pipeline.params.entries import Params, reads_of
from pipeline.params.read import load_params
from pipeline.records.artifacts import read_measurement
from pipeline.records.baseline_rows import place_of, row_folder, row_names
from pipeline.records.dev_scores import without_dev_score
from pipeline.records.studies import read_studies

#: The folder of the templates, below the root.
TEMPLATES = "papers/pages"
#: The templates, each with its page. A template with a title is the whole page, any other the parts of its page between
#: the lines `BEGIN` and `END`.
PAGES = {
    "readme.md": "README.md",
    "results.md": "docs/results.md",
    "cdnpg.md": "docs/cdnpg.md",
    "prosody.md": "docs/prosody.md",
    "songnet.md": "docs/songnet.md",
    "metrics.md": "docs/metrics.md",
    "guig.md": "docs/guig.md",
    "sat.md": "docs/sat.md",
    "syntax.md": "docs/syntax.md",
    "x2tree.md": "docs/x2tree.md",
    "judging.md": "docs/judging.md",
    "faults.md": "docs/faults.md",
    "scale.md": "docs/scale.md",
    "benchmarks.md": "benchmarks/README.md",
}
#: A group of details beside the profiles': what benchmarks measured of published texts.
BENCHMARKS = "benchmarks"


def pages(check: bool) -> None:
    """Write the pages; with `check`, name the pages that would change.

    Raises:
        ArtifactError: with `check`, a page differs from the details; or a template asks for a missing number.
    """
    stale = {page: text for page, text in rendered().items() if _read(layout.ROOT / page) != text}
    if check and stale:
        raise ArtifactError("the numbers are not those of the details", where=", ".join(stale), remedy="espalier pages")
    for page, text in stale.items():
        with atomic_file(layout.ROOT / page) as part:
            part.write_text(text, encoding="utf-8")
        say(f"{page}: written")


def rendered() -> dict[str, str]:
    """The text of each page, by its path from the root.

    Raises:
        ArtifactError: details are not those that their stages wrote.
    """
    for profile in layout.PROFILES:
        if profile != "nursery":
            require_written([layout.details("", "").parent], _folder(profile))
    measured = sorted((layout.ROOT / "benchmarks" / "results").glob("*.json"))
    numbers = PageNumbers(
        details=_details,
        params=_params,
        printed={path.stem: load_printed(path) for path in sorted(layout.PRINTED.glob("*.yaml"))},
        tried=load_yaml(layout.ROOT / "papers" / "tried.yaml")["tried"],
        on_test=_on_test,
        reads=_reads,
        baselines=_baselines,
        trainings=_trainings,
        benchmarks={path.stem: load_benchmark(path) for path in measured},
        judged=_judged,
    )
    texts = {}
    for name, page in PAGES.items():
        source = (layout.ROOT / TEMPLATES / name).read_text(encoding="utf-8")
        text = render_page(source, f"{TEMPLATES}/{name}", numbers)
        known = _read(layout.ROOT / page)
        texts[page] = text if source.startswith("# ") else with_numbers(known, text, page)
    return texts


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


@cache
def _params(profile: str) -> Mapping[str, Any]:
    tree: dict[str, Any] = load_yaml(layout.PROFILES[profile] / layout.PARAMS)
    return tree


@cache
def _checked(profile: str) -> Params:
    return load_params(layout.PROFILES[profile] / layout.PARAMS)


def _reads(profile: str, model: str) -> Sequence[str]:
    return reads_of(_checked(profile).models[model].network.view)


@cache
def _baselines(profile: str, group: str) -> Sequence[str]:
    entries = sorted(key for key, row in _checked(profile).baselines.items() if row.paper == group)
    folders = {key: _folder(profile) / row_folder(layout.details, group, key) for key in entries}
    return [place_of(key, name) for key, folder in folders.items() for name in row_names(folder)]


@cache
def _trainings(profile: str) -> Mapping[str, Training]:
    found = dict[str, Training]()
    for key, model in _checked(profile).models.items():
        if took := read_measurement(key, _folder(profile)):
            hours = {"gpu_hours": took.hours} if took.on_gpu else {"core_hours": took.hours * took.threads}
            found[key] = Training(model.paper, len(took.seeds), **hours)
    return found


@cache
def _on_test(profile: str) -> Mapping[str, tuple[int, int]]:
    folder = _folder(profile)
    runs = _checked(profile).runs
    scored = {key for key, run in runs.items() if (folder / layout.details(run.paper, key)).exists()}
    tested = Counter(runs[key].paper for key in runs if runs[key].split == "test" and key in scored)
    untried = Counter(runs[key].paper for key in without_dev_score(runs, scored))
    return {paper: (tested[paper], untried[paper]) for paper in _checked(profile).reports if tested[paper]}


@cache
def _judged(paper: str) -> Scores:
    found: dict[tuple[str, str], Mapping[str, float | None]] = {}
    for profile in layout.PROFILES:
        if profile != "nursery":
            for study in read_studies(paper, _folder(profile)):
                found |= {(profile, run): scores.scores for run, scores in study.systems.items()}
    return found


@cache
def _details(profile: str, group: str, key: str) -> Mapping[str, Any]:
    if profile == BENCHMARKS:
        path = layout.ROOT / BENCHMARKS / "details" / group / f"{key}.json"
    else:
        path = _folder(profile) / layout.details(group, key)
    details: dict[str, Any] = read_json(path, dict[str, Any])
    return details


def _folder(profile: str) -> Path:
    """The folder of a profile whose numbers pages may show.

    Raises:
        ArtifactError: the profile is the nursery. Its numbers depend on the processor, and `make repro` rewrites them.
    """
    if profile == "nursery":
        raise ArtifactError(
            "no page shows its numbers, which depend on the processor",
            where=profile,
            remedy=f"use those of another profile in {TEMPLATES}",
        )
    return layout.PROFILES[profile]
