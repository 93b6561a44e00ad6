"""Reads the grammars of the nursery's Chinese: YAML patterns of words and phrases.

A pattern lists the parts of a phrase in order, separated by spaces: words, and names of phrases in ASCII letters. A
part is followed by ":" and its relation to the head of the phrase, then "?" if it is optional. The head has no
relation. Other parts may omit it if the file's `labels` give one for the word, its tag or the phrase ("!" then marks a
head that would also get one). `( ... )` is a phrase without a name:

    2 我 很? 喜欢 ( ( 妈妈 做 的/PART:mark ):acl Dish ):obj 。

`Dish@` is a dish of the field of the sentence, `Dish@fruit` one of the field fruit, and `Dish@*` one of any field, the
same field in the whole pattern. All occurrences of `$Dish@` in a post and its reply are the same dish; `$2Dish@` is a
second one; dishes without "$" differ from these. A number before the parts is the weight of the pattern. A phrase may
also be a list of words with one tag:

    Kin: NOUN 妈妈 爸爸 姐姐
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

from espalier.io.errors import EspalierError
from espalier.nursery.data import load
from espalier.nursery.grammar_zh import Grammar, Part, Pattern

_REST = r"(?P<rest>(:[^:?!()][^?!()]*|!)?\??)"
_PART = re.compile(rf"(?P<name>[^:?!()]+){_REST}")
_CLOSING = re.compile(rf"\){_REST}")
_OF_FIELD = re.compile(r"([A-Za-z]\w*@)(\w*)(\S*)")

#: Phrases by name, as the file writes them.
_Raw = Mapping[str, str | list[str]]
#: A file's sections: `labels`, `words` by tag, `phrases`, and where there are any `fields` and `scripts`.
Sections = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Script:
    """Names of phrases for a post about one field, and for its replies."""

    name: str
    post: str
    reply: str


@cache
def read_grammar(*files: str) -> tuple[Grammar, tuple[Script, ...]]:
    """The grammar of several of the nursery's YAML files, and its scripts, if any.

    Raises:
        EspalierError: a file is not YAML, two files define the same entry, or the result is not a grammar (see
            `grammar_of`).
    """
    sections: dict[str, dict[str, Any]] = {}
    for file in files:
        try:
            content = load(file)
        except yaml.YAMLError as error:
            raise EspalierError(f"not YAML: {error}", where=file) from None
        for section, entries in content.items():
            known = sections.setdefault(section, {})
            if twice := sorted(known.keys() & entries.keys()):
                raise EspalierError(
                    f"{section} has {twice[0]} already", where=file, remedy="say it in one of the files"
                )
            known.update(entries)
    return grammar_of(sections)


def grammar_of(sections: Sections) -> tuple[Grammar, tuple[Script, ...]]:
    """The grammar described by the sections of a file. If there are scripts, "Reply" stands for any reply.

    Raises:
        EspalierError: brackets do not match, a word does not have exactly one tag, a phrase does not have exactly one
            head, refers to an unknown phrase, or contains itself. The message names the pattern.
    """
    general, fields = _fields(sections["phrases"], sections.get("fields", {}))
    reader = _Reader(_tags(sections["words"], (general, *fields.values())), sections["labels"], fields)
    reader.add(general, "")
    for field, phrases in fields.items():
        reader.add(phrases, field)
    scripts: list[Script] = []
    for name, script in sections.get("scripts", {}).items():
        for field, phrases in fields.items():
            if field not in script.get("fields", field).split():
                continue
            posts, replies = (_usable(script[side], phrases) for side in ("posts", "replies"))
            if posts and replies:
                scripts.append(Script(name, f"Post {name} {field}", f"Reply {name} {field}"))
                reader.add({scripts[-1].post: posts, scripts[-1].reply: replies}, field)
    if scripts:
        reader.phrases["Reply"] = tuple(((Part(script.reply),), 1) for script in scripts)
    return Grammar(reader.phrases), tuple(scripts)


# --- Fields ----------------------------------------------------------------------------------------------------------


def _fields(phrases: _Raw, fields: Mapping[str, _Raw]) -> tuple[_Raw, dict[str, _Raw]]:
    """The phrases without a field, and for each field its own phrases and the shared ones for which it has words."""
    shared = {name: patterns for name, patterns in phrases.items() if name.endswith("@")}
    filled: dict[str, _Raw] = {}
    for field, own in fields.items():
        have: dict[str, str | list[str]] = {f"{name}@": patterns for name, patterns in own.items()}
        grown = True
        while grown:
            grown = False
            for name, patterns in shared.items():
                usable = patterns if isinstance(patterns, str) else _usable(patterns, have)
                if name[:-1] not in own and usable and usable != have.get(name):
                    have[name], grown = usable, True
        filled[field] = have
    return {name: patterns for name, patterns in phrases.items() if name not in shared}, filled


def _usable(patterns: Iterable[str], have: _Raw) -> list[str]:
    """The patterns whose phrases the field has. Optional phrases that it lacks are left out."""
    usable = []
    for pattern in patterns:
        missing = {
            token: match[3].endswith("?")
            for token in pattern.split()
            if (match := _OF_FIELD.fullmatch(token.lstrip("$0123456789"))) and not match[2] and match[1] not in have
            if not match[3].startswith("*")
        }
        if all(missing.values()):
            usable.append(" ".join(token for token in pattern.split() if token not in missing))
    return usable


def _tags(words: Mapping[str, str], phrases: Iterable[_Raw]) -> dict[str, str]:
    tags: dict[str, str] = {}
    lists = [f"{tag} {text}" for tag, text in words.items()]
    lists += [text for group in phrases for text in group.values() if isinstance(text, str)]
    for text in lists:
        tag, *named = text.split()
        for word in named:
            if tags.setdefault(word, tag) != tag:
                raise EspalierError(
                    f"the word {word} is {tags[word]} and {tag}",
                    where="nursery's Chinese",
                    remedy=f"list it once, and where it is the other say {word}/{tag} in the pattern",
                )
    return tags


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
                self.phrases[full] = tuple(self._of_any_field(pattern, field) for pattern in patterns)

    def _of_any_field(self, text: str, field: str) -> Pattern:
        """The pattern; for a phrase of any field, one pattern per field that has it, with the same total weight."""
        match = re.search(r"([A-Za-z]\w*@)\*", text)
        if match is None:
            return self._pattern(text, field)
        weight, pattern = _weighed(text)
        having = [name for name, phrases in self._fields.items() if match[1] in phrases]
        name = f"{pattern} {field}"
        self.phrases[name] = tuple(self._pattern(pattern.replace("@*", f"@{other}"), field) for other in having)
        return (Part(name),), weight

    def _pattern(self, text: str, field: str) -> Pattern:
        weight, pattern = _weighed(text)
        tokens = pattern.split()
        levels: list[list[Part]] = [[]]
        for token in tokens:
            if token == "(":
                levels.append([])
            elif match := _CLOSING.fullmatch(token):
                if len(levels) == 1:
                    raise _refusal("a bracket closes that none opened", text)
                parts = _headed(levels.pop(), text)
                name = f"({' '.join(map(_text, parts))})"
                self.phrases[name] = ((parts, 1),)
                levels[-1].append(self._part(name, match["rest"]))
            elif match := _PART.fullmatch(token):
                levels[-1].append(self._named(match["name"], match["rest"], field, len(tokens) == 1, text))
            else:
                raise _refusal(f"{token} is no part of a pattern", text, "write the name, :relation or !, then ?")
        if len(levels) > 1:
            raise _refusal("a bracket is never closed", text)
        return _headed(levels[0], text), weight

    def _named(self, name: str, rest: str, field: str, alone: bool, text: str) -> Part:
        word = not re.match(r"\$?\d?[A-Za-z]", name)
        tag, bound = "", ""
        if word:
            name, _, tag = name.partition("/")
            if not (tag := tag or self._tags.get(name, "")):
                raise _refusal(f"no tag for the word {name}", text, f"list it under words, or say {name}/TAG")
        elif name[0] == "$":
            bound = "$" + name[1] if name[1].isdigit() else "$"
            name = name[len(bound) :]
        label = self._labels.get(name, self._labels.get(tag, ""))
        if ":" not in rest and "!" not in rest and label and not alone:
            rest = f":{label}{rest}"
        return self._part(name + field if name.endswith("@") else name, rest.replace("!", ""), tag, bound)

    def _part(self, name: str, rest: str, tag: str = "", bound: str = "") -> Part:
        return Part(name, tag, rest.removesuffix("?").removeprefix(":"), rest.endswith("?"), bound)


def _weighed(text: str) -> tuple[int, str]:
    weight, _, pattern = text.partition(" ")
    return (int(weight), pattern) if weight.isdigit() else (1, text)


def _headed(parts: Sequence[Part], text: str) -> tuple[Part, ...]:
    heads = [part for part in parts if not part.label]
    if len(heads) != 1:
        remedy = "give every part but one a relation (! takes it away)"
        raise _refusal(f"a phrase has one head, this one {len(heads)}", text, remedy)
    if heads[0].optional:
        raise _refusal(f"the head {heads[0].name} may be missing", text, "take the ? away")
    return tuple(parts)


def _refusal(what: str, text: str, remedy: str | None = None) -> EspalierError:
    return EspalierError(what, where=f"pattern '{text}'", remedy=remedy)


def _text(part: Part) -> str:
    return f"{part.bound}{part.name}/{part.tag}:{part.label}{'?' * part.optional}"
