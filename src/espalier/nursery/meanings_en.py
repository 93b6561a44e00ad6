"""Meanings of the English paraphrases: who does what to whom, where and when, independent of the form.

A meaning maps names to events, referents, or words in trees. Synonyms share a leaf, "car|automobile"; `say` selects
one.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from espalier.nursery.brackets_en import expand
from espalier.nursery.inflect_en import comparative
from espalier.nursery.lexicon_en_paraphrase import lexicon
from espalier.nursery.referents_en import Referent, leaf, named, np, referent
from espalier.nursery.sampling import chance, pick, weighted
from espalier.nursery.verbs_en import Mood
from espalier.syntax.tree import Tree

Trees = Sequence[Tree | str]


@dataclass(frozen=True, slots=True)
class Event:
    """An event or a state.

    Attributes:
        verb: the base form. `particle`: its preposition or particle, (IN for) or (RP up).
        theme: the object; for "be", the predicate.
        place, time: trees; empty if absent.
    """

    verb: str
    mood: Mood
    agent: Referent
    theme: Referent | None = None
    receiver: Referent | None = None
    particle: Tree | None = None
    place: Trees = ()
    time: Trees = ()


#: The values of a form's slots, by name.
Meaning = dict[str, Event | Referent | Trees]

_MOODS: Final = {
    "past": Mood(),
    "present": Mood(past=False),
    "future": Mood(helpers=("will",)),
    "perfect": Mood(past=False, helpers=("have",)),
    "progressive": Mood(past=False, helpers=("be",)),
    "can": Mood(helpers=("can",)),
    "should": Mood(helpers=("should",)),
    "must": Mood(helpers=("must",)),
    "might": Mood(helpers=("might",)),
    "regret": Mood(helpers=("should", "have")),
}
#: Moods and their weights, for descriptions without moods.
_ANY: Final = (
    *(("past", 8), ("present", 3), ("future", 3), ("perfect", 2)),
    *((name, 1) for name in ("can", "should", "must", "might", "regret")),
)


def draw_meaning(rng: random.Random, things: dict[str, str]) -> Meaning:
    """A random meaning with the parts described in forms_en.yaml: {"e": "frames past", "x": "person"}.

    A description is one of: the name of frames, with the allowed moods (any if none is given) and the options
    "affirmed" (never "not"), "named" (the agent has a name), "seen" (all referents are new: "a", not "the") and "bare"
    (no place or time); "state" with moods; "goal"; "phrase" or "word" with the name of a list; or kinds of nouns.
    """
    meaning: Meaning = {}
    for name, description in things.items():
        if name == "together":
            meaning |= _TOGETHER[description](rng, meaning)
        else:
            first, *rest = description.split()
            meaning[name] = _thing(rng, first, rest)
    return meaning


def _thing(rng: random.Random, first: str, rest: list[str]) -> Event | Referent | Trees:
    words = lexicon()
    match first:
        case "state":
            noun, states = pick(rng, words.states)
            how = Referent(Tree("ADJP", [leaf(f"JJ {pick(rng, states)}")]))
            return Event("be", _mood(rng, rest), Referent(np("DT the", f"NN {noun}"), pronoun="it"), how)
        case "goal":
            frame = pick(rng, words.frames["goals"])
            verb, particle = _verb(rng, frame.verbs, "IN")
            you = Referent(np("PRP you"), many=True, person=True)
            theme = referent(rng, frame.kinds[0], new=True)
            return Event(verb, Mood(past=False), you, theme, particle=particle)
        case "phrase":
            return expand(rng, words.phrases, rest[0])
        case "word":
            return [pick(rng, words.lists[rest[0]])]
        case _:
            return _event(rng, first, rest) if first in words.frames else referent(rng, [first, *rest])


# --- Events ----------------------------------------------------------------------------------------------------------


def _event(rng: random.Random, frames: str, told: Sequence[str]) -> Event:
    words = lexicon()
    frame = pick(rng, words.frames[frames])
    new = "seen" in told
    agent = referent(rng, ["named"] if "named" in told else frame.kinds[0], new=new)
    others = [referent(rng, kinds, new=new, final=True) for kinds in frame.kinds[1:]]
    verb, particle = _verb(rng, frame.verbs, "RP" if frames == "particles" else "IN")
    mood = _mood(rng, told)
    bare = "bare" in told
    when = _times(mood)
    return Event(
        verb=verb,
        mood=mood,
        agent=agent,
        theme=others[0] if others else None,
        receiver=others[1] if len(others) > 1 else None,
        particle=particle,
        place=expand(rng, words.phrases, "places") if not bare and chance(rng, 0.4) else (),
        time=expand(rng, words.phrases, when) if not bare and when and chance(rng, 0.5) else (),
    )


def _verb(rng: random.Random, verbs: Sequence[str], tag: str) -> tuple[str, Tree | None]:
    verb, _, particle = pick(rng, verbs).partition("+")
    return verb, Tree(tag, [particle]) if particle else None


def _mood(rng: random.Random, told: Sequence[str]) -> Mood:
    moods = [(name, 1) for name in told if name in _MOODS]
    mood = _MOODS[weighted(rng, moods or _ANY)]
    return replace(mood, negative="affirmed" not in told and chance(rng, 0.2), negation=_negation(rng))


def _negation(rng: random.Random) -> str:
    """The spelling of a negation: one side of the pair has the short form, the other the full form."""
    return "not|n't" if chance(rng, 0.5) else "n't|not"


def _times(mood: Mood) -> str:
    """Time phrases that suit a mood; none suits the perfect or the progressive."""
    if not mood.helpers:
        return "past" if mood.past else "present"
    return "future" if mood.helpers in (("will",), ("should",), ("must",), ("might",)) else ""


# --- Things drawn together -------------------------------------------------------------------------------------------


def _stance(rng: random.Random, _: Meaning) -> Meaning:
    """How likely or welcome an event is: an adverb such as "surely", and an adjective such as "sure"."""
    surely, sure = pick(rng, lexicon().lists["stances"]).split(":")
    return {"surely": [surely], "sure": [sure]}


def _later(rng: random.Random, meaning: Meaning) -> Meaning:
    """The next event of the agent of "e"."""
    first, other = meaning["e"], _event(rng, "frames", ["named", "past", "affirmed", "bare"])
    if not isinstance(first, Event):
        raise TypeError("what comes later needs an event 'e' before it")
    return {"later": replace(other, agent=first.agent)}


def _feeling(rng: random.Random, _: Meaning) -> Meaning:
    """A person "x", and "f", how this person will feel."""
    someone = named(rng)
    theme = Referent(Tree("ADJP", [leaf(f"JJ {pick(rng, lexicon().lists['feelings'])}")]))
    return {"x": someone, "f": Event("be", _MOODS["future"], someone, theme)}


def _located(rng: random.Random, _: Meaning) -> Meaning:
    """A building "x", and "where", its location."""
    words = lexicon()
    noun, other = pick(rng, words.nouns["building"]), pick(rng, words.nouns["building"])
    adjective = pick(rng, words.adjectives["building"])
    where = Tree("PP", [leaf(f"IN {pick(rng, words.lists['beside'])}"), np("DT the", f"NN {other}")])
    return {"x": Referent(np("DT a", f"JJ {adjective}", f"NN {noun}"), pronoun="it"), "where": [where]}


def _compared(rng: random.Random, _: Meaning) -> Meaning:
    """Two things of a kind: "x" is "more" "adjective" than "y"; "y" is "less", that is, more of the opposite."""
    kind, pairs = pick(rng, lexicon().opposites)
    x, y = referent(rng, [kind]), referent(rng, [kind])
    adjective, opposite = pick(rng, pairs).split(":")
    return {
        "x": x,
        "y": y,
        "adjective": [adjective],
        "more": _higher(adjective),
        "less": _higher(opposite),
        "not": [leaf(f"RB {_negation(rng)}")],
    }


def _higher(adjective: str) -> Trees:
    words = comparative(adjective)
    return [Tree(tag, [word]) for tag, word in zip(("JJR",) if len(words) == 1 else ("RBR", "JJ"), words, strict=True)]


_TOGETHER: Final[dict[str, Callable[[random.Random, Meaning], Meaning]]] = {
    "stance": _stance,
    "later": _later,
    "feeling": _feeling,
    "located": _located,
    "compared": _compared,
}
