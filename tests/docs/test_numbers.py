"""The numbers of README, docs and benchmarks/README.md are those of the details in git."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.io.errors import ArtifactError
from espalier.report.pages import BEGIN
from pipeline import layout
from pipeline.commands.pages import PAGES, pages, rendered


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """The text of each page."""
    return rendered()


@pytest.mark.parametrize("page", PAGES.values())
def test_a_page_is_what_its_template_and_the_details_give(page: str, texts: dict[str, str]) -> None:
    assert (layout.ROOT / page).read_text(encoding="utf-8") == texts[page], "run espalier pages"


@pytest.mark.parametrize("function", ["score", "count", "claims", "table", "verdicts", "training_costs", "without_dev"])
def test_a_template_that_asks_for_a_number_of_the_nursery_is_refused(
    function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = {
        "score": '"nursery/guig/guig_tg", "bleu"', "count": '"nursery/corpora/verse_zh", "rows.test"',
        "claims": '"nursery", "guig"', "table": '"nursery/guig", {"guig_tg": "GuiG.TG"}, {"BLEU": "bleu"}',
    }.get(function, '"nursery"')  # fmt: skip
    for name in PAGES:
        (tmp_path / name).write_text(f"# Page\n\n{{{{ {function}({call}) }}}}\n", encoding="utf-8")
    monkeypatch.setattr("pipeline.commands.pages.TEMPLATES", tmp_path)
    with pytest.raises(ArtifactError, match=r"^nursery: no page shows its numbers, which depend on the processor; "):
        rendered()


def test_a_page_that_differs_is_named_and_then_written_and_one_without_its_parts_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, page in PAGES.items():
        for path in (f"papers/pages/{name}", page):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text((layout.ROOT / path).read_text(encoding="utf-8"), encoding="utf-8")
    for path in ("papers/printed", "papers/tried.yaml", "benchmarks/results"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).symlink_to(layout.ROOT / path)
    monkeypatch.setattr(layout, "ROOT", tmp_path)
    pages(check=True)
    results = tmp_path / "docs/results.md"
    whole = results.read_text(encoding="utf-8")
    results.write_text(whole.replace("## SongNet", "## Songnet"), encoding="utf-8")
    with pytest.raises(
        ArtifactError, match=r"^docs/results.md: the numbers are not those of the details; espalier pages$"
    ):
        pages(check=True)
    pages(check=False)
    assert results.read_text(encoding="utf-8") == whole
    sat = tmp_path / "docs/sat.md"
    sat.write_text(sat.read_text(encoding="utf-8").replace(BEGIN, ""), encoding="utf-8")
    with pytest.raises(ArtifactError, match=r"^docs/sat.md: the parts .* put the lines back$"):
        pages(check=False)
