"""The page: a tab for each service. Each control names the option that it is on the command line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, get_args, get_origin

from espalier.cli.command import flag_of, is_repeated
from espalier.cli.demo import pictures
from espalier.cli.demo.asking import command_line
from espalier.cli.demo.tabs import POLISH, TABS, VERSE, Tab
from espalier.inference.requests import Option
from espalier.io.imports import of_extra

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # read when gradio is imported
with of_extra("demo"):
    import gradio

if TYPE_CHECKING:
    from gradio.components import Component

#: A system's own fonts: the themes of gradio fetch theirs.
_FONTS: Final = ["system-ui", "Noto Sans", "Arial", "Noto Sans CJK SC", "sans-serif"]
_MONO: Final = ["ui-monospace", "Noto Sans Mono", "Menlo", "monospace"]
#: Its colours have the contrast that small text needs.
THEME: Final = gradio.themes.Base(primary_hue="green", neutral_hue="stone", font=_FONTS, font_mono=_MONO).set(
    body_text_color_subdued="#5c5a55",
    body_text_color_subdued_dark="#a8a29e",
    block_info_text_color="#5c5a55",
    block_info_text_color_dark="#a8a29e",
    block_title_text_color="#292524",
    block_title_text_color_dark="#e7e5e4",
    button_primary_background_fill="#25664a",
    button_primary_background_fill_hover="#1d523b",
    button_primary_background_fill_dark="#25664a",
    button_primary_background_fill_hover_dark="#2f7d5b",
    button_primary_text_color="white",
    button_primary_text_color_dark="white",
    checkbox_label_text_color_selected="#292524",
)
#: A click or a key on a character tells its place; the new picture gets the focus back.
CLICKS: Final = """
element.addEventListener('click', event => {
  const button = event.target.closest('button[data-place]')
  if (button) { element.dataset.last = button.dataset.place; trigger('click', { place: Number(button.dataset.place) }) }
})
watch('value', () => {
  const button = element.querySelector(`button[data-place="${element.dataset.last}"]`)
  if (button) button.focus()
})
"""


def build(profile: str | None = None) -> gradio.Blocks:
    """The page. `profile` is that of the models, as `--profile` says; None takes released models first."""
    with gradio.Blocks(title="Espalier", analytics_enabled=False) as page:
        gradio.Markdown("# Espalier\nText generators that follow a given structure, on this machine alone.")
        with gradio.Tabs():
            for tab in TABS:
                with gradio.Tab(tab.title):
                    event = _service(tab, profile)
                if tab is VERSE:
                    page.load(**event)
    return page


def _service(tab: Tab, profile: str | None) -> dict[str, Any]:
    """The controls and the answer of a tab; returns what a press of its button runs. Enter in a line presses it."""
    gradio.Markdown(tab.about)
    options = [*tab.options()]
    with gradio.Row():
        controls = [_control(tab, *option) for option in options[: len(tab.first)]]
    with gradio.Accordion("More options", open=False), gradio.Row():
        controls += [_control(tab, *option) for option in options[len(tab.first) :]]
    if tab is POLISH:
        _clicked(controls[0], str(tab.first["template"]))
    button = gradio.Button(tab.verb, variant="primary")
    answer = gradio.HTML(elem_classes=["answer"], apply_default_css=False)
    typed = gradio.HTML(elem_classes=["typed"], apply_default_css=False)

    def answered(*values: object) -> tuple[str, str]:
        asked = {**_values(tab, values), "profile": profile}
        return tab.answer(asked), pictures.typed(command_line(tab.command, asked))

    event = {"fn": answered, "inputs": controls, "outputs": [answer, typed], "api_visibility": "private"}
    button.click(**event)
    for control in controls:
        if isinstance(control, gradio.Textbox):
            control.submit(**event)
    return event


def _clicked(template: Component, verse: str) -> None:
    """A verse whose characters become blanks by a click, and characters again by another."""
    kept = gradio.State(verse)
    shown = gradio.HTML(pictures.places(verse), js_on_load=CLICKS, apply_default_css=False)

    def turned(now: str, before: str, event: gradio.EventData) -> tuple[str, str]:
        changed = pictures.turned(now, before, int(event.place))
        return changed, pictures.places(changed)

    def typed(now: str, before: str) -> tuple[str, str]:
        same = len(now) == len(before) and pictures.BLANK in now
        return before if same else now, pictures.places(now)

    quiet = {"show_progress": "hidden", "api_visibility": "private"}
    shown.click(turned, [template, kept], [template, shown], **quiet)
    template.input(typed, [template, kept], [kept, shown], **quiet)


def _control(tab: Tab, name: str, kind: object, option: Option) -> Component:
    """A control whose label is its option, and whose empty value leaves the option out."""
    command, value = tab.command, tab.first.get(name)
    label = f"{name} (argument)" if name == command.argument else flag_of(name, repeated=is_repeated(kind))
    # Between two signs _ gradio writes in italics; formats may have the wide sign as well.
    about = {"label": label, "info": option.help.replace("_", "＿"), "min_width": 110}
    kinds = (kind, *get_args(kind))
    if literal := next((each for each in kinds if get_origin(each) is Literal), None):
        return gradio.Dropdown(["", *get_args(literal)], value="", **about)
    if bool in kinds:
        return gradio.Checkbox(False, **about)
    if int in kinds or float in kinds:
        return gradio.Number(value, precision=0 if int in kinds else None, minimum=option.least, **about)
    return gradio.Textbox(value or "", lines=1, max_lines=6, scale=2, **about)


def _values(tab: Tab, values: Sequence[Any]) -> dict[str, Any]:
    """The values of the controls by name; of a repeated option, the words between spaces."""
    return {
        name: str(value or "").split() if is_repeated(kind) else value
        for (name, kind, _), value in zip(tab.options(), values, strict=True)
    }
