"""Reads the grammars of the nursery's Chinese: patterns of words and phrases, as their YAML files write them.

A pattern is the parts of a phrase in their order, with spaces between them: words, and names of phrases in ASCII
letters. After a part stands ":" and its relation to the head of the phrase, then "?" if it may be missing. The head has
no relation; other parts may go without where the file's `labels` have one for the word, its tag or the phrase (then
"!" marks a head that would have one too). `( ... )` is a phrase without a name:

    2 我 很? 喜欢 ( ( 妈妈 做 的/PART:mark ):acl Dish ):obj 。

`Dish@` is the dish of the field that the sentence is about, `Dish@fruit` that of one field, `Dish@*` that of any.
`$Dish@` is one and the same wherever a text and its answer say it, `$2Dish@` a second one; those without "$" are others
than these. A number before the parts is the pattern's weight. A phrase may also be just words of one tag:

    Kin: NOUN 妈妈 爸爸 姐姐
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml

from espalier.nursery.grammar_zh import Grammar, Part, Pattern

_PART = re.compile(r"(?P<name>[^:?!]+)(?::(?P<label>[^?!]+))?(?P<head>!)?(?P<optional>\?)?")
_OF_FIELD = re.compile(r"([A-Za-z]\w*@)(\w*)(\S*)")

#: Phrases by name, as the file writes them.
_Raw = dict[str, str | list[str]]


@dataclass(frozen=True, slots=True)
class Script:
    """What one post can say about one field, and how it is answered: names of phrases."""

    name: str
    field: str
    post: str
    reply: str


@cache
def read_grammar(*files: str) -> tuple[Grammar, tuple[Script, ...]]:
    """The grammar in some of the nursery's own YAML files, and its scripts, if any, with "Reply" for any answer.

    Raises:
        ValueError: a word has no tag or two, a phrase not just one head, brackets do not match.
    """
    raw: dict[str, dict[str, Any]] = {}
    for file in files:
        text = resources.files("espalier.nursery").joinpath(file).read_text(encoding="utf-8")
        for key, value in yaml.safe_load(text).items():
            raw.setdefault(key, {}).update(value)
    general, fields = _fields(raw["phrases"], raw["fields"])
    reader = _Reader(_tags(raw, (general, *fields.values())), raw["labels"], fields)
    reader.add(general, "")
    for field, phrases in fields.items():
        reader.add(phrases, field)
    scripts: list[Script] = []
    for name, script in raw.get("scripts", {}).items():
        for field, phrases in fields.items():
            if field not in script.get("fields", field).split():
                continue
            posts, replies = (_usable(script[side], phrases) for side in ("posts", "replies"))
            if posts and replies:
                scripts.append(Script(name, field, f"Post {name} {field}", f"Reply {name} {field}"))
                reader.add({scripts[-1].post: posts, scripts[-1].reply: replies}, field)
    if scripts:
        reader.phrases["Reply"] = tuple(((Part(script.reply),), 1) for script in scripts)
    return Grammar(reader.phrases), tuple(scripts)


# --- Fields ----------------------------------------------------------------------------------------------------------


def _fields(phrases: _Raw, fields: dict[str, _Raw]) -> tuple[_Raw, dict[str, _Raw]]:
    """The phrases of no field, and those of each: its own and, as far as it has the words, those of every field."""
    shared = {name: patterns for name, patterns in phrases.items() if name.endswith("@")}
    found: dict[str, _Raw] = {}
    for field, own in fields.items():
        have: _Raw = {f"{name}@": patterns for name, patterns in own.items()}
        grown = True
        while grown:
            grown = False
            for name, patterns in shared.items():
                usable = patterns if isinstance(patterns, str) else _usable(patterns, have)
                if name[:-1] not in own and usable and usable != have.get(name):
                    have[name], grown = usable, True
        found[field] = have
    return {name: patterns for name, patterns in phrases.items() if name not in shared}, found


def _usable(patterns: Iterable[str], have: _Raw) -> list[str]:
    """The patterns whose phrases the field has; those that may be missing are left out where it has not."""
    found = []
    for pattern in patterns:
        missing = {
            token: match[3].endswith("?")
            for token in pattern.split()
            if (match := _OF_FIELD.fullmatch(token.lstrip("$0123456789"))) and not match[2] and match[1] not in have
            if not match[3].startswith("*")
        }
        if all(missing.values()):
            found.append(" ".join(token for token in pattern.split() if token not in missing))
    return found


def _tags(raw: dict[str, dict[str, Any]], phrases: Iterable[_Raw]) -> dict[str, str]:
    found: dict[str, str] = {}
    lists = [f"{tag} {words}" for tag, words in raw["words"].items()]
    lists += [words for group in phrases for words in group.values() if isinstance(words, str)]
    for text in lists:
        tag, *words = text.split()
        for word in words:
            if found.setdefault(word, tag) != tag:
                raise ValueError(f"{word} is {found[word]} and {tag}: one of them should say {word}/{tag} in a pattern")
    return found


# --- Patterns --------------------------------------------------------------------------------------------------------


class _Reader:
    def __init__(self, tags: Mapping[str, str], labels: Mapping[str, str], fields: Mapping[str, _Raw]) -> None:
        self.phrases: dict[str, tuple[Pattern, ...]] = {}
        self._tags, self._labels, self._fields = tags, labels, fields

    def add(self, phrases: Mapping[str, str | list[str]], field: str) -> None:
        for name, patterns in phrases.items():
            full = name + field if name.endswith("@") else name
            if isinstance(patterns, str):
                tag, *words = patterns.split()
                self.phrases[full] = tuple(((Part(word, tag),), 1) for word in words)
            else:
                self.phrases[full] = tuple(
                    self._pattern(text, field) for pattern in patterns for text in self._of_any_field(pattern)
                )

    def _of_any_field(self, pattern: str) -> list[str]:
        """The pattern once for each field that has the phrase of any field that it asks for."""
        match = re.search(r"([A-Za-z]\w*@)\*", pattern)
        if match is None:
            return [pattern]
        return [pattern.replace("@*", f"@{field}") for field, phrases in self._fields.items() if match[1] in phrases]

    def _pattern(self, text: str, field: str) -> Pattern:
        tokens = text.split()
        weight = int(tokens.pop(0)) if tokens[0].isdigit() else 1
        if sum({"(": 1, ")": -1}.get(token[0], 0) for token in tokens):
            raise ValueError(f"brackets do not match: {text}")
        levels: list[list[Part]] = [[]]
        for token in tokens:
            if token == "(":
                levels.append([])
            elif token.startswith(")"):
                parts = _headed(levels.pop(), text)
                name = f"({' '.join(map(_text, parts))})"
                self.phrases[name] = ((parts, 1),)
                levels[-1].append(self._part(name, token[1:]))
            else:
                match = _PART.fullmatch(token)
                if match is None:
                    raise ValueError(f"not a part of a pattern: {token}")
                levels[-1].append(self._named(match["name"], token[match.end("name") :], field, len(tokens) == 1))
        return _headed(levels[0], text), weight

    def _named(self, name: str, rest: str, field: str, alone: bool) -> Part:
        word = not re.match(r"\$?\d?[A-Za-z]", name)
        tag, bound = "", ""
        if word:
            name, _, tag = name.partition("/")
            if not (tag := tag or self._tags.get(name, "")):
                raise ValueError(f"no tag for the word {name}")
        elif name[0] == "$":
            bound = "$" + name[1] if name[1].isdigit() else "$"
            name = name[len(bound) :]
        label = self._labels.get(name, self._labels.get(tag, ""))
        if ":" not in rest and "!" not in rest and label and not alone:
            rest = f":{label}{rest}"
        return self._part(name + field if name.endswith("@") else name, rest.replace("!", ""), tag, bound)

    def _part(self, name: str, rest: str, tag: str = "", bound: str = "") -> Part:
        return Part(name, tag, rest.removesuffix("?").removeprefix(":"), rest.endswith("?"), bound)


def _headed(parts: Sequence[Part], text: str) -> tuple[Part, ...]:
    heads = [part for part in parts if not part.label]
    if len(heads) != 1 or heads[0].optional:
        raise ValueError(f"a phrase has one head, which is always said: {text}")
    return tuple(parts)


def _text(part: Part) -> str:
    return f"{part.bound}{part.name}/{part.tag}:{part.label}{'?' * part.optional}"
