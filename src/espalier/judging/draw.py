"""Drawing a sample: inputs that all systems have, blinded and shuffled, with copies and attention checks among them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Final, TypeVar

from espalier.io.errors import ConfigError
from espalier.judging.lists import Row, best_of, column_of
from espalier.judging.protocol import REFERENCE, Protocol
from espalier.judging.sample import Item, Sample, Source, in_words
from espalier.text.language import Language
from espalier.text.words import join_words

Kind = TypeVar("Kind")
#: The texts of a system for each input, the best first.
Lists = Mapping[str, Sequence[Row]]
#: What an attention check says, before the answers that it asks for.
CHECK: Final[dict[Language, str]] = {
    "en": "This is a check of attention and no text to judge. Please answer {answers}.",
    "zh": "这是注意力检查，不是要评判的文本。请这样回答：{answers}。",
}


def draw(
    name: str,
    protocol: Protocol,
    runs: Mapping[str, Sequence[Row]],
    language: Language,
    *,
    profile: str = "",
    outputs: Mapping[str, str] | None = None,
) -> Sample:
    """Draw a sample. Equal seeds give equal samples, whatever the order of the rows.

    Args:
        name: key of the protocol.
        runs: output rows of each run of the protocol, as text by column.
        language: language of the texts.
        profile: profile of the runs.
        outputs: hash of the outputs of each run, by which a later decoding is recognized.

    Raises:
        ConfigError: a column is missing, a run has no outputs, the runs share too few inputs or differ in what is
            given, no text has words, or a rater would have fewer items than are to be repeated.
    """
    where = f"protocols.{name}"
    lists = {run: best_of(rows, protocol.one, protocol.best, where) for run, rows in runs.items()}
    inputs = _inputs(where, protocol, lists)
    if protocol.reference:
        first = lists[protocol.runs[0]]
        lists[REFERENCE] = {one: [_reference(first[one][0], where)] for one in inputs}
    screens, empty = _screens(protocol, lists, inputs, language, where)
    if not any(screens):
        raise ConfigError("no text has words", where=where, remedy="look at the outputs of its runs")
    items = _numbered(screens)
    raters = [f"rater_{number}" for number in range(1, protocol.raters + 1)]
    orders = _orders(protocol, items, inputs, raters, language, where)
    items, orders = _renumbered(items, orders, protocol.seed)
    return Sample(
        name=name,
        profile=profile,
        language=language,
        protocol=protocol,
        outputs=dict(outputs or {}),
        items=tuple(items),
        orders=orders,
        empty={system: empty[system] for system in protocol.systems},
    )


def written(text: str, language: Language) -> str:
    """A text as people write it, line by line."""
    lines = (join_words(line.split(), language) for line in text.strip().split("\n"))
    return "\n".join(lines)


def _reference(row: Row, where: str) -> Row:
    return {**row, "text": column_of(row, "reference", where)}


def _inputs(where: str, protocol: Protocol, lists: Mapping[str, Lists]) -> list[str]:
    """The inputs of the sample, in random order."""
    lacking = [run for run in protocol.runs if not lists.get(run)]
    if lacking:
        raise ConfigError(f"run {lacking[0]} has no outputs", where=where, remedy=f"dvc repro score@{lacking[0]}")
    shared = set.intersection(*(set(inputs) for inputs in lists.values()))
    if len(shared) < protocol.inputs:
        known = ", ".join(f"{run} {len(inputs)}" for run, inputs in lists.items())
        raise ConfigError(
            f"{len(shared)} inputs that all runs have, and {protocol.inputs} asked for ({known})",
            where=where,
            remedy="name runs of one dataset" if len(shared) < 2 else f"ask for {len(shared)} at most",
        )
    ordered = _shuffled(sorted(shared), protocol.seed, "inputs")
    if not protocol.spread:
        return ordered[: protocol.inputs]
    first = next(iter(lists.values()))
    groups: dict[str, list[str]] = {}
    for one in ordered:
        groups.setdefault(column_of(first[one][0], protocol.spread, where), []).append(one)
    rounds = zip_longest(*(groups[value] for value in _shuffled(sorted(groups), protocol.seed, "spread")))
    return [one for turn in rounds for one in turn if one is not None][: protocol.inputs]


def _screens(
    protocol: Protocol, lists: Mapping[str, Lists], inputs: Sequence[str], language: Language, where: str
) -> tuple[list[list[Item]], Counter[str]]:
    """The items of each screen, not yet numbered, and the number of empty texts of each system."""
    empty = Counter[str]()
    screens: list[list[Item]] = []
    sides = {
        system: _shuffled([place % 2 == 0 for place in range(len(inputs))], protocol.seed, "sides", system)
        for system in protocol.systems
    }
    for place, one in enumerate(inputs):
        shown = lists[protocol.runs[0]][one][0]
        given = tuple(
            (label, written(column_of(shown, column, where), language)) for label, column in protocol.given.items()
        )
        _same_given(protocol, lists, one, where)
        texts = {
            system: [
                (written(row["text"], language), Source(system=system, id=row.get("id", one), rank=rank))
                for rank, row in enumerate(lists[system][one], start=1)
            ]
            for system in protocol.systems
        }
        if protocol.design == "scale":
            sources: dict[str, list[Source]] = {}
            for system, ranked in texts.items():
                for text, source in ranked:
                    if text.strip():
                        sources.setdefault(text, []).append(source)
                    else:
                        empty[system] += 1
            order = _shuffled(sorted(sources), protocol.seed, one)
            rated = [_item(one, given, [(text, sources[text])]) for text in order]
            screens += [rated] if protocol.together else [[item] for item in rated]
            continue
        firsts = {system: (ranked[0][0], [ranked[0][1]]) for system, ranked in texts.items()}
        if protocol.design == "pairs":
            ours, *others = protocol.systems
            for other in others:
                pair = [firsts[ours], firsts[other]]
                screens.append([_item(one, given, pair if sides[other][place] else pair[::-1])])
        else:
            some = _shuffled(sorted(firsts), protocol.seed, one)[: protocol.size]
            screens.append([_item(one, given, [firsts[system] for system in some])])
    return _shuffled([screen for screen in screens if screen], protocol.seed, "screens"), empty


def _same_given(protocol: Protocol, lists: Mapping[str, Lists], one: str, where: str) -> None:
    """Refuse runs that wrote for other conditions than those that are shown above their texts."""
    first, *others = protocol.runs
    for run in others:
        for column in protocol.given.values():
            if column_of(lists[run][one][0], column, where) != column_of(lists[first][one][0], column, where):
                raise ConfigError(
                    f"runs {first} and {run} have another {column} for input {one}",
                    where=where,
                    remedy="name runs of one dataset, or show what they share",
                )


def _item(one: str, given: tuple[tuple[str, str], ...], texts: Sequence[tuple[str, Sequence[Source]]]) -> Item:
    return Item(
        number=0,
        screen=0,
        input=one,
        given=given,
        texts=tuple(text for text, _ in texts),
        sources=tuple(tuple(sources) for _, sources in texts),
    )


def _numbered(screens: Sequence[Sequence[Item]]) -> list[Item]:
    items: list[Item] = []
    for number, screen in enumerate(screens, start=1):
        for item in screen:
            items.append(item.model_copy(update={"number": len(items) + 1, "screen": number}))
    return items


def _orders(
    protocol: Protocol,
    items: list[Item],
    inputs: Sequence[str],
    raters: Sequence[str],
    language: Language,
    where: str,
) -> dict[str, tuple[int, ...]]:
    """The order of each rater's items. Adds copies and checks to `items`."""
    each = protocol.per_input or len(raters)
    owners = {one: {raters[(place + turn) % len(raters)] for turn in range(each)} for place, one in enumerate(inputs)}
    own = {rater: [item for item in items if rater in owners[item.input]] for rater in raters}
    if short := [rater for rater, rated in own.items() if len(rated) < max(1, protocol.repeated)]:
        raise ConfigError(
            f"{len(own[short[0]])} items for {short[0]}, and {protocol.repeated} to be repeated",
            where=where,
            remedy="ask for more inputs, fewer raters or fewer copies",
        )
    extra: dict[str, list[Item]] = {rater: [] for rater in raters}
    for item in _shuffled(list(items), protocol.seed, "copies"):
        wanting = [rater for rater in raters if rater in owners[item.input] and len(extra[rater]) < protocol.repeated]
        if wanting:
            copy = item.model_copy(update=_next(items) | {"repeats": item.number})
            items.append(copy)
            for rater in wanting:
                extra[rater].append(copy)
    for number in range(protocol.checks):
        check = _check(protocol, number, language).model_copy(update=_next(items))
        items.append(check)
        for rater in raters:
            extra[rater].append(check)
    return {rater: _order(protocol, own[rater], extra[rater], rater) for rater in raters}


def _next(items: Sequence[Item]) -> dict[str, int]:
    """The numbers of one more item, on a screen of its own."""
    return {"number": len(items) + 1, "screen": max(item.screen for item in items) + 1}


def _check(protocol: Protocol, number: int, language: Language) -> Item:
    """An item whose text says how to answer."""
    generator = random.Random(f"{protocol.seed} check {number}")
    texts = {"scale": 1, "pairs": 2, "best_worst": min(protocol.size, len(protocol.systems))}[protocol.design]
    expected: dict[str, str] = {}
    for question in protocol.questions:
        expected[question] = generator.choice(protocol.left(question, texts, expected))
    says = CHECK[language].format(
        answers="; ".join(in_words(name, answer, protocol) for name, answer in expected.items())
    )
    return Item(number=0, screen=0, input="", given=(), texts=(says,) * texts, expected=expected)


def _order(protocol: Protocol, own: Sequence[Item], extra: Sequence[Item], rater: str) -> tuple[int, ...]:
    """A rater's items: screens in random order, copies at random places after what they are copies of."""
    screens: dict[int, list[int]] = {}
    for item in own:
        screens.setdefault(item.screen, []).append(item.number)
    order = [_shuffled(numbers, protocol.seed, rater, screen) for screen, numbers in screens.items()]
    order = _shuffled(order, protocol.seed, rater)
    generator = random.Random(f"{protocol.seed} extra {rater}")
    for item in extra:
        after = next((place for place, screen in enumerate(order) if item.repeats in screen), -1) + 1
        order.insert(generator.randint(min(after + 1, len(order)), len(order)), [item.number])
    return tuple(number for screen in order for number in screen)


def _renumbered(
    items: Sequence[Item], orders: Mapping[str, Sequence[int]], seed: int
) -> tuple[list[Item], dict[str, tuple[int, ...]]]:
    """The items under random numbers, by which a copy or a check looks like any other."""
    number = dict(enumerate(_shuffled(range(1, len(items) + 1), seed, "numbers"), start=1))
    screens = max(item.screen for item in items)
    screen = dict(enumerate(_shuffled(range(1, screens + 1), seed, "screen numbers"), start=1))
    renumbered = [
        item.model_copy(
            update={
                "number": number[item.number],
                "screen": screen[item.screen],
                "repeats": item.repeats and number[item.repeats],
            }
        )
        for item in items
    ]
    by_number = sorted(renumbered, key=lambda item: item.number)
    return by_number, {rater: tuple(number[item] for item in order) for rater, order in orders.items()}


def _shuffled(values: Sequence[Kind], seed: int, *what: object) -> list[Kind]:
    """The values in an order that the seed and `what` decide."""
    values = list(values)
    random.Random(" ".join(map(str, (seed, *what)))).shuffle(values)
    return values
