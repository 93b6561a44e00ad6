"""The generated parts of a page."""

from __future__ import annotations

import pytest

from espalier.io.errors import ArtifactError
from espalier.report.pages import BEGIN, END, NEXT, with_numbers


def test_the_generated_parts_of_a_page_are_replaced_and_the_rest_kept() -> None:
    page = f"one\n{BEGIN}\nold\n{END}\ntwo\n"
    assert with_numbers(page, "new\n\n", "README.md") == f"one\n{BEGIN}\nnew\n{END}\ntwo\n"
    both = with_numbers(page + page, f"new\n\n{NEXT}\n\nnewer\n", "README.md")
    assert both == f"one\n{BEGIN}\nnew\n{END}\ntwo\none\n{BEGIN}\nnewer\n{END}\ntwo\n"
    for broken in ("one\n", f"{BEGIN}\n", page + page, f"{END}\n{page}"):
        with pytest.raises(ArtifactError, match=r"^README.md: the parts between .* are not 1; "):
            with_numbers(broken, "new", "README.md")
