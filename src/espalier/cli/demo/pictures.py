"""Results as HTML for the page: what a colour says, a sign or a number says too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from espalier.report.alignment import lines_of
from espalier.report.trees import constituents_html, dependencies_html
from espalier.text.language import Language, is_mark, mostly
from espalier.text.written import as_written
from espalier.verse.mandarin import mandarin_tones
from espalier.verse.text import rhyme_place, tokens_by_unit

if TYPE_CHECKING:
    from espalier.frames.report import Report
    from espalier.inference.results import Composition, Paraphrase, Poem, Reply, TextGranularity

#: The traditional signs of tones: level, oblique, and a character that has both.
SIGNS: Final = {frozenset("平"): "○", frozenset("仄"): "●", frozenset("平仄"): "◐"}
#: A place of a template that a model fills.
BLANK: Final = "_"
_HUES: Final = "abcdefg"


def style() -> str:
    """The style sheet of the pictures."""
    folder = files("espalier.report") / "templates"
    own = files("espalier.cli.demo") / "demo.css"
    return (folder / "trees.css.jinja").read_text(encoding="utf-8") + own.read_text(encoding="utf-8")


def problem(message: str) -> str:
    """What is wrong with a request."""
    return f'<p class="problem" role="alert">{escape(message)}</p>'


def typed(command: str) -> str:
    """A command, as one types it."""
    return f"<code>{escape(command)}</code>"


def page(parts: Iterable[str], notes: Sequence[str] = ()) -> str:
    """Pictures below each other, and notes below them."""
    said = "".join(f'<p class="note">note: {escape(note)}</p>' for note in notes)
    return f'<div class="espalier">{"".join(parts)}{said}</div>'


def verse(poem: Poem) -> str:
    """A verse: below its rhyme letters the groups; over each Chinese character its tone, ○ level and ● oblique."""
    chinese = mostly(poem.text, "zh")
    language: Language = "zh" if chinese else "en"
    units = tokens_by_unit(poem.text if chinese else as_written(poem.text), language)
    lines = []
    for place, unit in enumerate(units):
        letter = poem.rhyme[place].replace(".", "") if place < len(poem.rhyme) else ""
        rhyming = rhyme_place(unit) if letter else None
        hue = f"hue-{_HUES[(ord(letter.lower()) - ord('a')) % len(_HUES)]}" if letter else ""
        words = [_word(word, f"rhyme {hue}" if at == rhyming else "", chinese) for at, word in enumerate(unit)]
        group = poem.rhyme_groups[place] if place < len(poem.rhyme_groups) else ""
        gap = ' class="stanza"' if place and place == poem.stanza else ""
        text = "".join(words) if chinese else " ".join(words)
        lines.append(f'<li{gap}><span>{text}</span><b class="{hue}">{letter} <small>{escape(group)}</small></b></li>')
    title = escape(poem.tune or poem.format.replace("\n", "/"))
    lang = "zh-Hans" if chinese else "en"
    return f'<article class="verse" lang="{lang}"><h3>{title}</h3><ol>{"".join(lines)}</ol></article>'


def _word(word: str, kind: str, chinese: bool) -> str:
    if is_mark(word) or not chinese:
        return f'<span class="{kind}">{escape(word)}</span>'
    sign = SIGNS.get(mandarin_tones(word), "")
    return f'<ruby class="{kind}">{escape(word)}<rt>{sign}</rt></ruby>'


def places(template: str) -> str:
    """A verse whose characters can be clicked; those that are to be written anew are blanks."""
    found = []
    for place, word in enumerate(template):
        if (is_mark(word) and word != BLANK) or word.isspace():
            found.append(f"<span>{escape(word)}</span>")
            continue
        blank = word == BLANK
        said = f"place {place + 1}, to be written" if blank else f"{word}, keep"
        found.append(
            f'<button type="button" data-place="{place}" aria-pressed="{str(blank).lower()}" '
            f'aria-label="{escape(said)}">{"　" if blank else escape(word)}</button>'
        )
    return f'<div class="espalier places" lang="zh-Hans">{"".join(found)}</div>'


def turned(template: str, verse: str, place: int) -> str:
    """The template in which a place is a blank, or, if it was one, has the character of the verse again."""
    if not 0 <= place < min(len(template), len(verse)):
        return template
    word = verse[place] if template[place] == BLANK else BLANK
    return template[:place] + word + template[place + 1 :]


def paraphrase(result: Paraphrase, source_tree: str) -> str:
    """A paraphrase, with the tree of its source beside the tree that guided it."""
    trees = _tree("tree of the source", source_tree) + _tree("tree that guided the text", result.tree)
    return _said(result.text, trees)


def reply(result: Reply) -> str:
    """A reply with its tree: a head stands between its dependents on the left and on the right."""
    drawn = str(dependencies_html(result.words, result.heads)) if result.heads else ""
    if not drawn and result.tree:
        drawn = f"<code>{escape(result.tree)}</code>"
    return _said(result.text, f'<figure class="drawn" tabindex="0">{drawn}</figure>' if drawn else "")


def shades(result: TextGranularity) -> str:
    """Each word piece in its shade, from light (a template) to dark (a detail), with its number."""
    rows = []
    for side, text, pieces, layers in result.sides:
        rows.append(f"<h3>{escape(side)}: {escape(text)}</h3>")
        for layer, values in reversed([*layers.items()]):
            cells = "".join(
                f'<li style="--share: {value:.0%}"><b>{escape(piece)}</b><small>{value:.2f}</small></li>'
                for piece, value in zip(pieces, values, strict=True)
            )
            rows.append(f'<p class="label">layer {layer}</p><ol class="shades">{cells}</ol>')
    return "".join(rows)


def structures(result: Composition) -> str:
    """A text aligned with its template: tokens and symbols; a symbol that differs is underlined."""
    rows = []
    for line in lines_of(result.template_structure, result.text_structure):
        kind = ' class="tokens"' if line.tokens else ""
        differs = line.differs or (False,) * len(line.cells)
        cells = "".join(
            f"<td><u>{escape(cell)}</u></td>" if other else f"<td>{escape(cell)}</td>"
            for cell, other in zip(line.cells, differs, strict=False)
        )
        rows.append(f'<tr{kind}><th scope="row">{escape(line.label)}</th>{cells}</tr>')
    return _said(result.text, f'<div class="drawn" tabindex="0"><table>{"".join(rows)}</table></div>')


def checked(report: Report) -> str:
    """A text with its faults marked, and the scores of the rules."""
    marked, at = [], 0
    for fault in sorted(report.violations, key=lambda each: (each.start, each.end)):
        if fault.start < at:
            continue
        found = report.text[fault.start : fault.end] or "∅"
        what = escape(f"{fault.rule}: {fault.wanted}", quote=True)
        marked += [escape(report.text[at : fault.start]), f'<mark title="{what}">{escape(found)}</mark>']
        at = fault.end
    text = "".join([*marked, escape(report.text[at:])]).replace("\n", "<br>")
    scores = "".join(
        f"<tr><th scope='row'>{escape(each.rule)}</th><td>{each.kept}/{each.of}</td>"
        f"<td>{'' if each.binding else 'does not count'}</td></tr>"
        for each in report.scores
    )
    faults = "".join(
        f"<li>{escape(each.found) or 'nothing'} ({escape(each.rule)}): {escape(each.wanted)}</li>"
        for each in report.violations
    )
    heading = f"{report.score:.3f} · {'kept' if report.kept else 'not kept'} {escape(report.variant)}"
    notes = "".join(f'<p class="note">note: {escape(note)}</p>' for note in report.notes)
    return f'<h3>{heading}</h3><p class="text">{text}</p><table>{scores}</table><ul>{faults}</ul>{notes}'


def _tree(caption: str, text: str) -> str:
    if not text:
        return ""
    drawn = constituents_html(text)
    return f'<figure class="drawn" tabindex="0"><figcaption>{escape(caption)}</figcaption>{drawn}</figure>'


def _said(text: str, below: str) -> str:
    return f'<article><p class="text">{escape(text)}</p><div class="trees">{below}</div></article>'
