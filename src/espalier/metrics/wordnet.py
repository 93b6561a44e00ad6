"""Synonyms from WordNet's database files (wndb(5), morphy(7)), for METEOR.

The files are read directly from any folder, which need not be registered with NLTK.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from espalier.io.errors import SourceError

#: The endings that each part of speech detaches, and their replacements.
_ENDINGS: Final = {
    "noun": (
        ("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"),
        ("men", "man"), ("ies", "y"),
    ),
    "verb": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}  # fmt: skip


class WordNet:
    """The synonyms of words. Each word is looked up once.

    Args:
        folder: holds the files index.*, data.* and *.exc of noun, verb, adj and adv, or a folder `wordnet` with them.

    Raises:
        SourceError: a file is missing or is not a WordNet file.
    """

    def __init__(self, folder: Path) -> None:
        inner = Path(folder) / "wordnet"
        self._folder = inner if inner.is_dir() else Path(folder)
        self._known: dict[str, frozenset[str]] = {}
        self._exceptions: dict[str, dict[str, list[str]]] = {}
        self._index: dict[str, dict[str, str]] = {}
        self._data: dict[str, bytes] = {}
        for part in _ENDINGS:
            lines = (line.split() for line in self._text(f"{part}.exc").splitlines())
            self._exceptions[part] = {form: bases for form, *bases in filter(None, lines)}
            entries = self._text(f"index.{part}").splitlines()
            # The licence precedes the entries; each of its lines begins with two spaces.
            self._index[part] = {line.partition(" ")[0]: line for line in entries if not line.startswith(" ")}
            self._data[part] = self._read(f"data.{part}")

    def synonyms(self, word: str) -> frozenset[str]:
        """The single words that share a sense with `word` or with one of its base forms, in any part of speech.

        Names keep their capitals. Entries of several words, which contain `_`, are left out.
        """
        if (synonyms := self._known.get(word)) is None:
            synonyms = self._known[word] = frozenset(
                name
                for part in _ENDINGS
                for form in self._forms(word.lower(), part)
                for offset in self._senses(form, part)
                for name in self._names(offset, part)
                if "_" not in name
            )
        return synonyms

    def _forms(self, word: str, part: str) -> set[str]:
        """The word and its base forms that have an entry. An irregular form has only its listed base forms."""
        bases = self._exceptions[part].get(word)
        if bases is None:
            bases = [word.removesuffix(old) + new for old, new in _ENDINGS[part] if word.endswith(old)]
        return {form for form in (word, *bases) if form in self._index[part]}

    def _senses(self, form: str, part: str) -> Iterator[int]:
        # lemma pos senses pointers symbol... senses tagged offset...
        fields = self._index[part][form].split()
        try:
            yield from map(int, fields[-int(fields[2]) :])
        except (IndexError, ValueError) as error:
            raise self._broken(f"index.{part}", form) from error

    def _names(self, offset: int, part: str) -> Iterator[str]:
        # offset file type words(hexadecimal) word id word id...; an adjective's place is written after it: alive(p)
        data = self._data[part]
        fields = data[offset : data.find(b"\n", offset)].decode(errors="replace").split()
        try:
            words = int(fields[3], 16)
        except (IndexError, ValueError):
            words = 0
        if not words or len(fields) < 6 or fields[0] != f"{offset:08d}":
            raise self._broken(f"data.{part}", f"{offset:08d}")
        for name in fields[4 : 4 + 2 * words : 2]:
            yield name.partition("(")[0]

    def _text(self, name: str) -> str:
        try:
            return self._read(name).decode()
        except UnicodeDecodeError as error:
            raise SourceError("is not UTF-8", where=self._folder / name, remedy="download WordNet again") from error

    def _read(self, name: str) -> bytes:
        try:
            return (self._folder / name).read_bytes()
        except OSError as error:
            raise SourceError(
                "no such file of WordNet", where=self._folder / name, remedy="give the folder of its database files"
            ) from error

    def _broken(self, name: str, entry: str) -> SourceError:
        return SourceError(f"the entry {entry} is broken", where=self._folder / name, remedy="download WordNet again")
