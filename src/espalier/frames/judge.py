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
from espalier.frames.chosen import Chosen, alternatives
from espalier.frames.compiled import Said, compiled, needed, without_format
from espalier.frames.grammars import NOTATIONS, Notation, grammar_of
from espalier.frames.kinds import by_faults, kinds_of, of_kinds, tone_faults, written_kinds
from espalier.frames.line_automaton import LineAutomaton
from espalier.frames.lines import lines_of
from espalier.frames.parallelism import with_parallelism
from espalier.frames.places import PlaceAutomaton
from espalier.frames.plan import Plan
from espalier.frames.report import Report
from espalier.frames.script import NOTE, read_as, require_script, require_words
from espalier.frames.trees import check_tree
from espalier.frames.tune_names import is_tune
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
    """The automaton of a frame: of a form, that of the first kind that goes with the other rules."""

    def of_kind(kind: Said) -> Automaton[Any]:
        _require_characters(kind)
        return LineAutomaton(lines_of(kind)) if is_english(kind) else PlaceAutomaton(_plan(kind, books))

    _, found = next(of_kinds(said, written_kinds(said), of_kind))
    return found


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

    def of_kind(kind: Said) -> tuple[list[Chosen], PlaceAutomaton]:
        _require_characters(kind)
        if is_english(kind):
            what = "the words of the dictionary are too many for a grammar of English lines"
            raise ConfigError(what, where="grammar", remedy="write them with Frame.processor")
        chose = alternatives(_plan(kind, books), count, groups, read_as(repeated))
        return chose, PlaceAutomaton(chose[0].plan)

    _, (chose, first) = next(of_kinds(said, written_kinds(said), of_kind))
    groups_of = {name: tuple(dict.fromkeys(each.groups[name] for each in chose)) for name in chose[0].groups}
    plans = [each.plan for each in chose]
    text = grammar_of(first, notation) if len(plans) == 1 else grammar_of_any(plans, notation)
    return Grammar(text, chose[0].groups, chose[0].repeated, groups_of)


def check(said: Said, text: str, books: CiBooks | None, parser: Parser | None = None) -> Report:
    """The report on a text: by its characters, and by its tree if a template is given."""
    others = {name: value for name, value in said.items() if name != "template"}
    if said.keys() & {"tune", "form"}:  # editions have other marks than the book
        others = {"marks": False, **others}
    if "template" not in said:
        return _check_characters(others, text, books)
    require_words(text, "one sentence")
    of_tree = check_tree(said["template"], text, parser)
    report = _check_characters(others, text, books) if others else Report(text, (), ())
    return report.with_rule(*of_tree)


def _check_characters(said: Said, text: str, books: CiBooks | None) -> Report:
    """The report by the kind of a form that fits best, its lines in the ways that fit best.

    Of kinds with as many faults, the one with the fewest at the places that are never free is taken, so that the word
    that is blamed is the one that deviates.
    """
    if "form" not in said:
        return _check(said, text, books)
    kinds = [by_faults(kind, text, books) for kind in kinds_of(said)]
    reports = of_kinds(said, kinds, lambda kind: _check(kind, text, books))
    kind, report = min(
        reports, key=lambda pair: (not pair[1].kept, pair[1].faults, tone_faults(pair[0], text, books, fixed=True))
    )
    parallel = kind.get("parallel")
    return with_parallelism(report, _plan(kind, books), parallel) if parallel else report


def kind_to_write(said: Said, books: CiBooks | None) -> Said:
    """What the rules of a form of regulated verse say, in its first kind and ways that go with the other rules.

    Raises:
        ConfigError: none does.
    """
    kind, _ = next(of_kinds(said, written_kinds(said), lambda kind: PlaceAutomaton(_plan(kind, books))))
    return kind


def _check(said: Said, text: str, books: CiBooks | None) -> Report:
    if is_english(said) or said.get("language") == "en":
        require_script(text, "en")
        return check_lines(said, text) if is_english(said) else check_words(said, text)
    if not said.keys() & {"format", "tones", "tune"}:
        raise without_format()  # before the script of the text, since the rules say no language
    require_script(text, "zh")
    written, said = said, _simple(said, books)
    notes = () if (said, read_as(text)) == (written, text) else (NOTE,)
    report = _check_tune(said, text, books) if "tune" in said else check_places(compiled(said, books), text)
    return replace(report, notes=notes)


def _plan(said: Said, books: CiBooks | None) -> Plan:
    return compiled(_simple(said, books), books)


def _simple(said: Said, books: CiBooks | None) -> Said:
    """What the rules say, in Simplified characters, but for a tune that the book has under its name as it is given."""
    written = {name: read_as(said[name]) for name in ("format", "acrostic") if name in said}
    if "tune" in said:
        simple = read_as(said["tune"])
        written["tune"] = simple if is_tune(simple, books.tunes if books else None) else said["tune"]
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
    reports.sort(key=lambda pair: (-pair[1].score, -_repeated(pair[1]), -books.tunes.count(pair[0])))
    (variant, report), *others = reports
    scores = tuple((_name(other), each.score) for other, each in others)
    words = sum(variant.sentences[: books.tunes.stanza(variant)])
    stanza = second_stanza(compiled(said, books, variant), text, words) if words else 0
    return replace(report, variant=_name(variant), others=scores, stanza=stanza)


def _repeated(report: Report) -> int:
    """How many words are repeated as the variant repeats them, which explains more of a text than the same words do."""
    return sum(score.kept for score in report.scores if score.rule == "repetition")


def _name(variant: Variant) -> str:
    return f"{variant.tune} {variant.number}"
