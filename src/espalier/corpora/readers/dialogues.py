"""One's own dialogues as lists of turns, in JSON or JSON Lines; a turn is a text, or an object with a text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from espalier.corpora.readers.framing import Framing, lines_at, own_rows, value_at
from espalier.corpora.readers.rows import adjacent, quarantined
from espalier.corpora.records import Pair, Quarantined
from espalier.text.language import Language, join_tokens


def read(
    folders: Mapping[str, Path],
    *,
    language: Language,
    turns: str = "",
    text: str = "",
    speaker: str = "",
    without: Sequence[str] = (),
    **framing: Unpack[Framing],
) -> Iterator[Pair | Quarantined]:
    """One pair for each two neighbouring turns of every dialogue, which is their group.

    [["Hello.", "Hi!"]] and {"turns": [{"from": "user", "value": "Hello."}, ...]} are dialogues. Ids are those of
    `own_rows` with the number of the pair, from 0. Reasons for quarantine: "not valid JSON", "no list of turns",
    "a turn without text", "no response", "empty side", "damaged character".

    Args:
        folders: source names and their folders.
        language: language of the turns.
        turns: key of the list of turns; "" if a dialogue is the list.
        text: key of the text of a turn; "" if a turn is the text.
        speaker: key of the speaker of a turn; neighbouring turns of one speaker are then one utterance.
        without: speakers whose turns are left out, such as system.
        framing: see `Framing`.

    Raises:
        ConfigError: there is no source.
        DataError: as in `own_rows`.
    """
    for id, origin, row in own_rows(folders, "dialogues", framing):
        found = value_at(row.value, turns) if turns else row.value
        if row.fault or not isinstance(found, list):
            yield quarantined(id, row.fault or "no list of turns", row.text)
            continue
        utterances = _utterances(found, text, speaker, without, language)
        if utterances is None:
            yield quarantined(id, "a turn without text", row.text)
        else:
            yield from adjacent(id, utterances, origin=origin, language=language)


def _utterances(
    turns: Sequence[Any], text: str, speaker: str, without: Sequence[str], language: Language
) -> list[str] | None:
    """What is said, one text for each change of speakers; None if a turn has no text."""
    said, last = list[str](), None
    for turn in turns:
        name = value_at(turn, speaker) if speaker else None
        if name is not None and str(name) in without:
            continue
        lines = lines_at(turn, text) if text else lines_at({"": turn}, "")
        if lines is None:
            return None
        words = " ".join(lines)
        if name is not None and name == last:
            said[-1] = join_tokens((said[-1], words), language)
        else:
            said.append(words)
        last = name
    return said
