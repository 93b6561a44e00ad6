"""The JSON lines of `espalier check --file`: a text, and rules of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Final, get_args

from espalier.cli.command import flag_of, is_repeated
from espalier.inference import requests as asked
from espalier.inference import results
from espalier.io.errors import ConfigError

#: The type of each rule. A line can have all rules that are options.
RULES: Final[Mapping[str, Any]] = {
    field.name: kind
    for rules in (asked.CheckRequest, asked.CheckOptions)
    for field, kind, _ in asked.described(rules)
    if field.name != "text"
}
#: Rules of several values, by the name of their option, which gives one of them: "word" for "words".
ONE: Final = {flag_of(name, repeated=True).removeprefix("--"): name for name in RULES if is_repeated(RULES[name])}


@cache
def printed() -> frozenset[str]:
    """What commands print beside a text, the reports of `check` too."""
    from espalier.frames.report import Report  # not for `espalier --help`

    kinds = (kind for kind in (Report, *vars(results).values()) if is_dataclass(kind))
    return frozenset({"model", "expander", "line"}).union(*({field.name for field in fields(kind)} for kind in kinds))


def request_of(line: str, name: str) -> asked.CheckRequest:
    """The text of a JSON object and its rules. Other keys that commands print are left out.

    Args:
        name: the name of the line, for errors.

    Raises:
        ConfigError: it is no object with a text, has an unknown key, or a value has not the type of its rule.
    """
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict) or "text" not in row:
        raise ConfigError("no JSON object with a text", where=name, remedy='{"text": "..."}')
    if isinstance(row.get("rules"), dict):  # a poem, which says beside its format and tune what it was to keep
        row = {**row["rules"], "text": row["text"]}
    if unknown := next((key for key in row if key not in {"text", *RULES, *ONE, *printed()}), None):
        raise ConfigError.unknown("key", unknown, ["text", *RULES], where=name)
    if "kept" in row:  # a report, whose variant is the one that the text follows
        row.pop("variant", None)
    if "log_probability" in row:  # what a model wrote, with its tokens as words
        row.pop("words", None)
    rules = {key: value for key, value in row.items() if key in {*RULES, *ONE} and value not in (None, "")}
    for key, value in {**rules, "text": row["text"]}.items():
        if remedy := _mistaken(value, RULES.get(key, str)):
            raise ConfigError(f"{key} is {json.dumps(value, ensure_ascii=False)[:40]}", where=name, remedy=remedy)
    for one, several in ONE.items():
        if one in rules:
            rules[several] = [*rules.get(several, []), rules.pop(one)]
    rules = {key: tuple(value) if isinstance(value, list) else value for key, value in rules.items()}
    if not str(rules.get("template", "")).lstrip().startswith("("):  # that of `espalier compose` is no tree
        rules.pop("template", None)
    return asked.CheckRequest(row["text"], **rules, name=name)


def _mistaken(value: object, kind: object) -> str:
    """What to give instead of a value of JSON that has not the type of a field; "" if it has."""
    if is_repeated(kind):
        right = isinstance(value, list) and all(isinstance(each, str) for each in value)
        return "" if right else "give a list of texts"
    types = (kind, *get_args(kind))
    if bool in types:
        return "" if isinstance(value, bool) else "give true or false"
    if int in types:
        return "" if type(value) is int else "give a number"
    return "" if isinstance(value, str) else "give a text"
