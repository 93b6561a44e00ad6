"""Grammars in which the rhymes may be of one group or another: the texts part where the first rhyme word stands.

Servers follow a choice between rules, and not one within a regular expression as long as a poem: the parts are rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from espalier.frames.grammars import END, Notation, Writer, explored, with_rules
from espalier.frames.places import PlaceAutomaton
from espalier.frames.plan import Plan
from espalier.frames.points import points_of


def grammar_of_any(plans: Sequence[Plan], notation: Notation) -> str:
    """A grammar of the texts of any of several plans, each of which has one rhyme group for each letter.

    Raises:
        ConfigError: there is no grammar of a reasonable size.
    """
    rules = dict[str, str]()
    apart = next(at for at in count() if len({plan.places[at] for plan in plans}) > 1)
    head, texts, ways = "", dict[str, str](), list[str]()
    for number, plan in enumerate(plans, start=1):
        automaton = PlaceAutomaton(plan)
        writer = Writer(explored(automaton), notation, rules)
        before, after = _state(automaton, apart), _state(automaton, apart + 1)
        head = head or writer.between(automaton.start, before)
        parts = {f"FIRST{number}": writer.between(before, after), f"REST{number}": writer.between(after, END)}
        parts = {name: text for name, text in parts.items() if text}
        ways.append("".join(parts.values()) if notation == "regex" else " ".join(parts))
        texts |= parts
    if notation == "regex":
        return f"{head}(?:{'|'.join(ways)})"
    choice = f"({' | '.join(ways)})"
    return with_rules({"HEAD": head, **texts} if head else texts, f"HEAD {choice}" if head else choice, rules, notation)


def _state(automaton: PlaceAutomaton, place: int) -> object:
    """The state before a place. A plan without rhymes, repetitions or words to come has one for each."""
    state = automaton.start
    for _ in range(place):
        after = automaton.step(state, chr(points_of(automaton.allowed(state))[0]))
        assert after is not None
        state = after
    return state
