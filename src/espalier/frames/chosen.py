"""Plans without what a grammar cannot remember: one rhyme group for each letter, and given words where they repeat.

The rhyme words of a letter must differ, which no small grammar can say. Each place has its own share of the group's
words, so that they do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from espalier.frames.automaton import OPEN
from espalier.frames.plan import Letter, Plan
from espalier.io.errors import ConfigError

#: The most alternatives of a grammar that llguidance takes under its default limits.
MOST: Final = 13
#: Words that are repeated if none are given: the first that suits its place.
_REPEATED: Final = "春风花月云山江水人天夜雨秋梦心烟柳愁明清东西归何不无来去"


@dataclass(frozen=True)
class Chosen:
    """A plan whose rhyme words are of one group for each letter. Every text that keeps it keeps the first plan.

    Attributes:
        groups: the rhyme group of each letter.
        repeated: the words at the places that others repeat, in order.
    """

    plan: Plan
    groups: Mapping[str, str]
    repeated: str


def alternatives(plan: Plan, count: int, groups: Sequence[str] = (), repeated: str = "") -> list[Chosen]:
    """At most so many choices, the best first: each letter has another group in each, but for letters of given groups.

    Args and errors as in `chosen`; also, if the count is not from 1 to `MOST`.
    """
    if not 1 <= count <= MOST:
        raise ConfigError(f"{count} alternatives", where="alternatives", remedy=f"give a number from 1 to {MOST}")
    if plan.words and count > 1:
        what, remedy = "alternatives beside words that must occur", "leave out one of them"
        raise ConfigError(what, where="alternatives", remedy=remedy)
    found = [chosen(plan, groups, repeated)]
    while len(found) < count and len(plan.letters) > len(groups):
        spent = {name: {each.groups[name] for each in found} for name in found[0].groups}
        try:
            found.append(chosen(plan, groups, repeated, spent))
        except ConfigError:  # a letter has no other group
            break
    return found


def chosen(
    plan: Plan,
    groups: Sequence[str] = (),
    repeated: str = "",
    spent: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> Chosen:
    """A plan with one rhyme group for each letter, and with given words where words are repeated.

    Args:
        groups: those of the letters, in the order in which these begin. The others have the groups with the most words,
            different ones where possible.
        repeated: the words at the places that others repeat, in order; some that suit, if there are none.
        spent: groups that letters do not have, unless they are given.

    Raises:
        ConfigError: a group is unknown or has too few words, there are more groups than letters, or the repeated words
            are too few or too many, or do not suit their places.
    """
    names = sorted(plan.letters, key=lambda name: plan.letters[name].places[:1])
    if len(groups) > len(names):
        what, remedy = f"{len(groups)} groups for {len(names)} rhyme letters", f"at most {len(names)}"
        raise ConfigError(what, where="group", remedy=remedy)
    sources = sorted({place.source for place in plan.places} - {-1})
    sources = [source for source in sources if not plan.places[source].given]
    if repeated and len(repeated) != len(sources):
        what, remedy = f"{len(repeated)} words where {len(sources)} are repeated", "one for each"
        raise ConfigError(what, where="repeated", remedy=remedy)
    if foreign := next((word for word in repeated if not OPEN["han"].match(word)), None):
        raise ConfigError(f"'{foreign}' is no Chinese character", where="repeated", remedy="repeat another word")
    wanted = dict(zip(sources, repeated, strict=False)) if repeated else dict.fromkeys(sources, "")
    given, found = dict[int, str](), dict[str, str]()
    for number, name in enumerate(names):
        letter = plan.letters[name]
        keys = _by_words(plan, letter, {*found.values()})
        if number < len(groups):
            if groups[number] not in keys:
                raise ConfigError.unknown("rhyme group", groups[number], keys, where="group")
            keys = [groups[number]]
        else:
            keys = [key for key in keys if key not in spent.get(name, ())]
        shares = next(filter(None, (_shares(plan, letter, key, wanted) for key in keys)), None)
        if shares is None:
            own_words = "".join(wanted.get(place, "") for place in letter.places)
            if own_words and any(_shares(plan, letter, key, dict.fromkeys(wanted, "")) for key in keys):
                group = f"group {keys[0]}" if number < len(groups) else "any rhyme group"
                what = f"'{own_words}' does not suit the places of letter {name} in {group}"
                raise ConfigError(what, where="repeated", remedy="repeat another word, or choose another group")
            what = f"no {len(letter.places)} different words of {keys[0]}" if number < len(groups) else "no words"
            raise ConfigError(f"{what} suit the places of letter {name}", where="group", remedy="choose another group")
        found[name], own = shares
        given |= own
    for source, word in wanted.items():
        if source not in given:
            tone = plan.places[source].tone
            suits = plan.readings.toned[tone] if tone else frozenset(_REPEATED)
            given[source] = word or min(suits, key=lambda each: (each not in _REPEATED, _REPEATED.find(each), each))
            if tone and given[source] not in suits:
                raise ConfigError(f"'{word}' has no tone {tone}", where="repeated", remedy="repeat another word")
    places = tuple(
        place._replace(given=given.get(index, place.given), letter="") for index, place in enumerate(plan.places)
    )
    return Chosen(replace(plan, places=places, letters={}), found, "".join(given[source] for source in sources))


def _by_words(plan: Plan, letter: Letter, taken: set[str]) -> list[str]:
    """The groups of a letter: those that no letter has yet, then those with the most words, first."""
    words = plan.readings.words(letter.mixed, "")
    keys = words if letter.keys is None else letter.keys
    return sorted(keys, key=lambda key: (key in taken, -len(words.get(key, ())), key))


def _shares(plan: Plan, letter: Letter, key: str, wanted: Mapping[int, str]) -> tuple[str, dict[int, str]] | None:
    """A group, and its words dealt to the places of a letter, each to one that has few; None if one gets none.

    A place that others repeat keeps a single word.
    """
    suit = {place: plan.readings.words(letter.mixed, plan.sign(place)).get(key, frozenset()) for place in letter.places}
    shares: dict[int, list[str]] = {place: [wanted[place]] if wanted.get(place) else [] for place in letter.places}
    taken = letter.given | {word for words in shares.values() for word in words}
    if any(word not in suit[place] for place, words in shares.items() for word in words):
        return None
    left, common = frozenset().union(*suit.values()) - taken, frozenset(plan.readings.common)
    for word in sorted(left, key=lambda word: (word not in _REPEATED, word not in common, word)):
        open_ = [place for place in shares if word in suit[place] and not (place in wanted and shares[place])]
        if open_:
            shares[min(open_, key=lambda place: len(shares[place]))].append(word)
    return (key, {place: "".join(words) for place, words in shares.items()}) if all(shares.values()) else None
