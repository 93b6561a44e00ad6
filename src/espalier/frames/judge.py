"""What the rules of a frame say, judged of a text or compiled to an automaton."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from espalier.frames.alternatives import grammar_of_any
from espalier.frames.automaton import Automaton
from espalier.frames.check_lines import check_lines
from espalier.frames.check_places import check_places, second_stanza
from espalier.frames.check_words import check_words
from espalier.frames.chosen import alternatives
from espalier.frames.compiled import Said, compiled, needed
from espalier.frames.forms import form_of
from espalier.frames.grammars import NOTATIONS, Notation, grammar_of
from espalier.frames.line_automaton import LineAutomaton
from espalier.frames.lines import lines_of
from espalier.frames.parallelism import with_parallelism
from espalier.frames.places import PlaceAutomaton
from espalier.frames.report import Report
from espalier.frames.script import NOTE, read_as, require_script, require_words
from espalier.frames.trees import check_tree
from espalier.io.errors import ConfigError
from espalier.syntax.parsers.parser import Parser
from espalier.verse.ci_books import CiBooks
from espalier.verse.tunes import tune
from espalier.verse.variants import Variant

#: What English frames say.
ENGLISH: Final = {"syllables", "meter"}
#: What a text to a tune is told, and need not keep: no tune forbids a rhyme word that comes twice.
TOLD_OF_TUNES: Final = ("rhyme words",)


def automaton(said: Said, books: CiBooks | None) -> Automaton[Any]:
    """The automaton of a frame."""
    said = kinds_of(said)[0]
    _require_characters(said)
    if is_english(said):
        return LineAutomaton(lines_of(said))
    return PlaceAutomaton(compiled(_simple(said), books))


@dataclass(frozen=True)
class Grammar:
    """A grammar, and what was chosen for it.

    Attributes:
        groups: the rhyme group of each letter, in the first of the alternatives.
        repeated: the words that are repeated, in the first of the alternatives.
        alternatives: for each letter, its rhyme group in each of the alternatives.
    """

    text: str
    groups: Mapping[str, str]
    repeated: str
    alternatives: Mapping[str, tuple[str, ...]]


def grammar(
    said: Said,
    books: CiBooks | None,
    notation: Notation,
    groups: Sequence[str] = (),
    repeated: str = "",
    count: int = 1,
) -> Grammar:
    """The grammar of a frame."""
    if notation not in NOTATIONS:
        raise ConfigError.unknown("notation", notation, NOTATIONS, where="notation")
    said = kinds_of(said)[0]
    _require_characters(said)
    if is_english(said):
        what = "the words of the dictionary are too many for a grammar of English lines"
        raise ConfigError(what, where="grammar", remedy="write them with Frame.processor")
    chose = alternatives(compiled(_simple(said), books), count, groups, repeated)
    groups_of = {name: tuple(dict.fromkeys(each.groups[name] for each in chose)) for name in chose[0].groups}
    if len(chose) == 1:
        text = grammar_of(PlaceAutomaton(chose[0].plan), notation)
    else:
        text = grammar_of_any([each.plan for each in chose], notation)
    return Grammar(text, chose[0].groups, chose[0].repeated, groups_of)


def check(said: Said, text: str, books: CiBooks | None, parser: Parser | None = None) -> Report:
    """The report on a text: by its characters, and by its tree if a template is given."""
    others = {name: value for name, value in said.items() if name != "template"}
    if "template" not in said:
        return _check_characters(others, text, books)
    require_words(text, "one sentence")
    of_tree = check_tree(said["template"], text, parser)
    report = _check_characters(others, text, books) if others else Report(text, (), ())
    return report.with_rule(*of_tree)


def _check_characters(said: Said, text: str, books: CiBooks | None) -> Report:
    """The report by the kind of a form that fits best. Traditional characters are read as Simplified."""
    reports = [(kind, _check(kind, text, books)) for kind in kinds_of(said)]
    kind, report = min(reports, key=lambda pair: (not pair[1].kept, pair[1].faults))
    parallel = kind.get("parallel")
    return with_parallelism(report, compiled(_simple(kind), books), parallel) if parallel else report


def kinds_of(said: Said) -> list[Said]:
    """What the rules say, in each kind of their form.

    Raises:
        ConfigError: the form is unknown, has no such kind, or another rule says something else.
    """
    if "form" not in said:
        return [said]
    kinds = form_of(said["form"])
    number, others = said.get("opening"), {name: said[name] for name in said.keys() - {"form", "opening"}}
    if number is not None and not 1 <= number <= len(kinds):
        remedy = f"there are {len(kinds)}, from 1"
        raise ConfigError(f"no opening {number} of {said['form']}", where="opening", remedy=remedy)
    if twice := next((name for name in ("format", "tones", "tune", "syllables", "meter") if name in others), None):
        what = f"rules contradict each other: {twice} beside the form {said['form']}"
        raise ConfigError(what, where=twice, remedy="leave out one of them")
    chosen = kinds if number is None else [kinds[number - 1]]
    return [{**kind, **({"rhymes": True} if "rhyme" in kind else {}), **others} for kind in chosen]


def _check(said: Said, text: str, books: CiBooks | None) -> Report:
    if is_english(said) or said.get("language") == "en":
        require_script(text, "en")
        return check_lines(said, text) if is_english(said) else check_words(said, text)
    require_script(text, "zh")
    said, notes = _simple(said), () if read_as(text) == text else (NOTE,)
    report = _check_tune(said, text, books) if "tune" in said else check_places(compiled(said, books), text)
    return replace(report, notes=notes)


def _simple(said: Said) -> Said:
    """What the rules say, in Simplified characters."""
    written = {name: read_as(said[name]) for name in ("format", "acrostic", "tune") if name in said}
    words = {"words": tuple(map(read_as, said["words"]))} if "words" in said else {}
    return {**said, **written, **words}


def is_english(said: Said) -> bool:
    """Whether a frame is of English lines: of syllables, of a meter."""
    return bool(ENGLISH & said.keys())


def _require_characters(said: Said) -> None:
    """Raise a ConfigError for a frame that characters, words and readings do not decide."""
    if "template" in said:
        remedy = "`espalier paraphrase` writes by templates, and check tells whether a text keeps one"
        raise ConfigError("only a parser sees trees, not what writes by characters", where="template", remedy=remedy)
    if said.get("language") == "en":
        remedy = "take Syllables('8/8') or Meter('iambic tetrameter'); check tells whether a text keeps one"
        raise ConfigError("formats of English count words, not their characters", where="format", remedy=remedy)


def _check_tune(said: Said, text: str, books: CiBooks | None) -> Report:
    """The report by the variant that fits best, and the scores by the others."""
    books = needed(said, books)
    if books is None:
        plan, named = compiled(said, None), tune(said["tune"])
        words = sum(count for unit in named.units[: named.stanza] for count, _ in unit)
        return replace(check_places(plan, text, TOLD_OF_TUNES), stanza=second_stanza(plan, text, words) if words else 0)
    variants = [books.tunes.variant(said["tune"], said["variant"])] if "variant" in said else []
    variants = variants or list(books.tunes.called(said["tune"]))
    reports = []
    for variant in variants:
        try:
            report = check_places(compiled(said, books, variant), text, TOLD_OF_TUNES)
        except ConfigError:
            if len(variants) == 1:
                raise
            continue  # another rule does not go with this variant
        reports.append((variant, report))
    if not reports:
        compiled(said, books)  # says why the commonest variant does not go with the other rules
    reports.sort(key=lambda pair: (-pair[1].score, -books.tunes.count(pair[0])))
    (variant, report), *others = reports
    scores = tuple((_name(other), each.score) for other, each in others)
    words = sum(variant.sentences[: books.tunes.stanza(variant)])
    stanza = second_stanza(compiled(said, books, variant), text, words) if words else 0
    return replace(report, variant=_name(variant), others=scores, stanza=stanza)


def _name(variant: Variant) -> str:
    return f"{variant.tune} {variant.number}"
