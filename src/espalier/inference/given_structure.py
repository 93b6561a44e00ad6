"""A structure that a request gives itself, instead of a sentence that has it: "DT NN VBD", "B E S"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from espalier.datasets.structure.structures import StructuredText
from espalier.io.errors import DataError
from espalier.text.language import Language

#: Any token, where no sentence gives one; it also stands for any symbol of a structure that the model does not read.
ANY: Final = "_"
#: The words of a line of symbols, each B, M, E or S alone: S, BE, BME.
_WORDS: Final = re.compile("S|BM*E")


def symbols_in(line: str, structure: str) -> list[str]:
    """The symbols of a line. Those of pc may be joined: "S BE BME".

    The line may be one that `espalier compose` prints, with the name of its structure: "pos 4/6   DT NN VBD".
    """
    line = re.sub(rf"\A\s*{re.escape(structure)}(\s+\d+/\d+)?(\s+|\Z)", "", line)
    return [*"".join(line.upper().split())] if structure == "pc" else line.split()


def given_symbols(lines: Mapping[str, str], name: str) -> dict[str, list[str]]:
    """The symbols of each structure that has a line, one for each token.

    Parts of speech may be those of words, if pc says where words begin and end.

    Raises:
        DataError: a line has no symbols, pc is no sequence of words, or the numbers differ.
    """
    found = {structure: symbols_in(line, structure) for structure, line in lines.items() if line}
    for structure, symbols in found.items():
        if not symbols:
            raise DataError("no symbols", file=f"{name}, {structure}", remedy="give one for each token")
    if "pc" in found:
        line = "".join(found["pc"])
        words = _WORDS.findall(line)
        if "".join(words) != line:
            remedy = "S for a word of one token, else B, an M for each token inside, and E"
            raise DataError(f"'{line[:40]}' is no sequence of words", file=f"{name}, pc", remedy=remedy)
        if len(found.get("pos", ())) == len(words):
            found["pos"] = [tag for tag, word in zip(found["pos"], words, strict=True) for _ in word]
    if len({*map(len, found.values())}) > 1:
        counts = " and ".join(f"{len(symbols)} of {structure}" for structure, symbols in found.items())
        raise DataError(f"{counts}", file=name, remedy="give a symbol of each for each token")
    return found


def replaced(text: StructuredText, given: Mapping[str, Sequence[str]], name: str) -> StructuredText:
    """A tagged text with the symbols that are given.

    Raises:
        DataError: their number is not that of the tokens.
    """
    for structure, symbols in given.items():
        if len(symbols) != len(text.tokens):
            what, tokens = f"{len(symbols)} symbols for {len(text.tokens)} tokens", " ".join(text.tokens)
            raise DataError(what, file=f"{name}, {structure}", remedy=f"give one for each of {tokens[:80]}")
    return StructuredText(text.tokens, {**text.symbols, **{key: tuple(value) for key, value in given.items()}})


def alone(
    given: Mapping[str, Sequence[str]],
    prompt: Sequence[str],
    language: Language,
    *,
    known: Sequence[str],
    read: Sequence[str],
    name: str,
) -> StructuredText:
    """A structure without a sentence. Its tokens are those of the prompt, then `ANY`.

    Args:
        known: the structures of the model's vocabulary.
        read: those that the model reads.

    Raises:
        DataError: a structure that the model reads is not given, or the prompt is longer.
    """
    count = len(next(iter(given.values())))
    if len(prompt) > count:
        raise DataError(f"{len(prompt)} tokens for {count} symbols", file=f"{name}, prompt", remedy="shorten it")
    symbols = {key: tuple(given[key]) if key in given else (ANY,) * count for key in known}
    if language == "en" and "pc" in known and "pc" not in given:  # each token is a word
        symbols["pc"] = ("S",) * count
    if lacking := [key for key in read if symbols[key] == (ANY,) * count]:
        what = f"the model reads {' and '.join(read)}"
        raise DataError(what, file=name, remedy=f"give {' and '.join(lacking)} as well, or a sentence")
    return StructuredText((*prompt, *[ANY] * (count - len(prompt))), symbols)
