from __future__ import annotations

import os

import pytest

pytest.importorskip("gradio", reason="the extra demo is not installed: make demo")

from espalier.cli.demo.page import THEME, build
from espalier.cli.demo.tabs import TABS


def test_every_option_of_every_tab_has_a_control_with_its_name() -> None:
    config = build().get_config_file()
    labels = [each["props"].get("label") for each in config["components"] if each["props"].get("info")]
    assert len(labels) == sum(len([*tab.options()]) for tab in TABS)
    assert all(label.startswith("--") or label.endswith("(argument)") for label in labels)


def test_the_page_tells_nobody_that_it_runs_and_fetches_no_fonts() -> None:
    assert os.environ["GRADIO_ANALYTICS_ENABLED"] == "False" and not build().analytics_enabled
    assert THEME._stylesheets == []
