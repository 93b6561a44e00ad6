"""What the rows of a JSON file are: dialogues, or objects with fields; and where in the file they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Any, Final

from espalier.corpora.guess.fields import NAMES, Fields, fields_of, plain, words_in
from espalier.io.errors import DataError

#: Keys of lists of turns, of the text of a turn, and of its speaker, written as in `fields.NAMES`.
TURNS: Final = words_in("dialog dialogue turns conversation conversations messages utterances log history")
SAID: Final = words_in("text utterance content value message sentence")
SPEAKERS: Final = words_in("speaker role from user agent by who name")
#: Speakers who take no part.
ASIDE: Final = words_in("system tool function")


def place_of(value: object, path: Sequence[str] = ()) -> tuple[str, ...] | None:
    """The keys at which the longest list of rows is; () if the file is the list, or maps ids to rows."""
    if isinstance(value, list):
        return tuple(path)
    if not isinstance(value, Mapping) or len(path) > 2:
        return None
    found = [(key, each) for key, each in value.items() if isinstance(each, list | Mapping)]
    if len(found) > 2 and len(found) == len(value) and len({type(each) for _, each in found}) == 1:
        return tuple(path)  # ids
    lists = [place for key, each in found if (place := place_of(each, (*path, key))) is not None]
    return max(lists, key=lambda place: _size(value, place[len(path) :]), default=None)


def guess_rows(rows: Sequence[Any]) -> Fields:
    """The reader of rows of JSON, and its options.

    Raises:
        DataError: they are none that a reader takes.
    """
    if rows and all(isinstance(row, list) for row in rows):
        return _dialogues("", rows)
    objects = [row for row in rows if isinstance(row, Mapping)]
    if not objects:
        remedy = 'give objects, {"text": "..."}, or lists of turns'
        raise DataError("its rows are neither objects nor lists", file="new corpus", remedy=remedy)
    names = list(dict.fromkeys(name for row in objects for name in row))
    for name in names:
        lists = [row[name] for row in objects if isinstance(row.get(name), list)]
        of_objects = any(isinstance(turn, Mapping) for turns in lists for turn in turns)
        if lists and (plain(name) in TURNS or (of_objects and plain(name) not in NAMES["verse"])):
            return _dialogues(name, lists)
    return fields_of(_columns(objects))


def _columns(objects: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """What stands at each key, and at each key inside of one."""
    found: dict[str, list[Any]] = {}
    for name in dict.fromkeys(name for row in objects for name in row):
        values = [row.get(name) for row in objects]
        inside = [value for value in values if isinstance(value, Mapping)]
        found |= {f"{name}.{key}": column for key, column in _columns(inside).items()} if inside else {name: values}
    return found


def _dialogues(turns: str, lists: Sequence[Sequence[Any]]) -> Fields:
    options: dict[str, Any] = {"turns": turns} if turns else {}
    objects = [turn for row in lists for turn in row if isinstance(turn, Mapping)]
    if objects:
        names = list(objects[0])
        text = next((name for name in names if plain(name) in SAID), None)
        if text is None:
            remedy = "say it: --reader dialogues -S options.turns=KEY -S options.text=KEY"
            raise DataError(f"which of {', '.join(names)[:120]} is a turn's text", file="new corpus", remedy=remedy)
        options["text"] = text
        speaker = next((name for name in names if plain(name) in SPEAKERS and name != text), None)
        if speaker is not None:
            options["speaker"] = speaker
            heard = {str(turn.get(speaker)) for turn in objects}
            if aside := sorted(heard & ASIDE):
                options["without"] = aside
    return Fields("dialogues", {}, options)


def _size(value: object, keys: Sequence[str]) -> int:
    """The length of the list at these keys."""
    for key in keys:
        value = value[key] if isinstance(value, Mapping) else None
    return len(value) if isinstance(value, Sized) else 0
