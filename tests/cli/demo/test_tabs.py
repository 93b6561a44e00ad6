from __future__ import annotations

from pathlib import Path

import pytest

from espalier.cli.demo.asking import command_line
from espalier.cli.demo.tabs import CHECK, GRANULARITY, PARAPHRASE, POLISH, TABS, TEMPLATE, VERSE, Tab


@pytest.mark.parametrize("tab", TABS, ids=lambda tab: tab.title)
def test_every_control_is_an_option_of_the_command(tab: Tab) -> None:
    """`options` raises a KeyError for a name that no option has; the command line refuses one that it lacks."""
    names = [name for name, *_ in tab.options()]
    assert len(set(names)) == len(names) == len(tab.first) + len(tab.others)
    assert {each.name for each in tab.command.parameters()} >= set(names)
    assert command_line(tab.command, tab.first).startswith(f"espalier {tab.command.__name__.lower()} ")


@pytest.mark.parametrize(
    ("tab", "model", "values", "sign"),
    [
        (VERSE, "verse", {"format": "3。3。", "rhyme": "AA"}, '<article class="verse"'),
        (POLISH, "verse", {"template": "_灯。"}, "灯<rt>"),
        (PARAPHRASE, "plain", {"text": "the cook peels an onion .", "like": ""}, '<p class="text">'),
        (GRANULARITY, "plain", {"text": "the cook peels an onion ."}, 'class="shades"'),
        (CHECK, "", {"text": "江上一灯明，/照我过长桥。", "format": "5,5。"}, "kept"),
        (VERSE, "verse", {"format": "3。", "n": 0}, '<p class="problem" role="alert">--n: 0 is too small'),
        (CHECK, "", {"text": "江。", "tune": "无此调"}, "problem"),
        (CHECK, "", {"text": "", "format": "5,5。"}, 'role="alert">nothing is asked for; give text'),
        (VERSE, "verse", {"format": "", "n": 1}, 'role="alert">nothing is asked for; give --format'),
        (TEMPLATE, "", {"template": "", "n": 2}, 'role="alert">nothing is asked for; give --template'),
    ],
)  # fmt: skip
def test_a_tab_draws_an_answer_or_says_what_is_wrong(
    models: Path, tab: Tab, model: str, values: dict[str, object], sign: str
) -> None:
    html = tab.answer({**values, **({"model": str(models / model)} if model else {}), "profile": None})
    assert sign in html
