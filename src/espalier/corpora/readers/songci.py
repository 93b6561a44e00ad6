"""Song ci: the JSON files of Quan Song Ci by the chinese-poetry project: 21,053 poems under 1,421 titles."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Final

from espalier.corpora.leakage import letters_of
from espalier.corpora.linked import linked
from espalier.corpora.readers.chinese_poetry import poems_in
from espalier.corpora.readers.files import single_source
from espalier.corpora.readers.rows import quarantined
from espalier.corpora.records import Quarantined, Verse
from espalier.io.text_files import text_of
from espalier.text.language import HAN
from espalier.verse.ci_books import open_books
from espalier.verse.copies import write_copies
from espalier.verse.text import TERMINALS, join_units

#: Marks that a ci may have. Everything else that is not Han is the trace of a character that some conversion lost.
MARKS = f"，、；：{TERMINALS}"

_HAN = f"々{HAN}"
_UNIT_END = re.compile(f"(?<=[{TERMINALS}])")

#: Why a text is quarantined: the first of these that it contains.
FAULTS = (
    ("note in brackets", re.compile(r"[（）()〔〕\[\]【】]")),
    ("illegible character", re.compile("[□■○◇\u3000]")),
    ("lost passage", re.compile("…")),
    ("damaged character", re.compile("\ufffd")),
    ("foreign character", re.compile(f"[^{_HAN}{MARKS}]")),
    ("misplaced mark", re.compile(f"^[{MARKS}]|[{MARKS}]{{2}}")),
)

#: The tune names that SongNet's released preprocessing knows, and the folder of the form book, if they are at hand.
RELEASED = "cipai.txt"
BOOKS = "couyun/ci_pu"

#: The tune of a poem whose own is lost; the editors' own word, also used where only blanks stand for it.
LOST_TUNE = "失调名"

#: Spellings of one tune that no title and no book connects.
SPELLINGS: Final = (("探芳讯", "探芳信"), ("剔银灯", "剔银镫"), ("梦仙乡", "梦仙郎"), ("水调歌", "水调歌头"))


def read(folders: Mapping[str, Path], *, plain_commas: bool = True) -> Iterator[Verse | Quarantined]:
    """Every poem of the given folder, as a verse or quarantined with a reason.

    The id is `songci/<file number>/<index from 0>`. A unit ends at 。！？ (the source's paragraphs, nearly always units
    already, are joined first); text after the last of these marks is a unit too. The editors' book-title marks 《》 are
    removed; the titles in them stay. The tune is `tune_of` the title, and its family is among the `families_of` all
    titles, with `SPELLINGS`. A poem with the same characters as an earlier one, apart from marks, is a duplicate; its
    quarantined text begins with the id of the earlier one.

    With the books, `tones` and `rhyme` are taken from the variant of the tune that the poem follows. Without the books,
    or if no variant fits, every unit ends on one rhyme, as in the released code: `rhyme` is all "A", and `tones` is
    empty.

    Args:
        folders: names and folders of the sources: poems, `ci.song.<number>.json`; optionally the released tune names,
            `cipai.txt`; optionally `couyun`, which gives the variants and all names of each tune.
        plain_commas: replace "、" by "，", as in the released preprocessing.

    Raises:
        ConfigError: not exactly one source of poems.
        DataError: a file is missing or not JSON, or a poem lacks a field.
        ArtifactError: a book is missing or damaged.
    """
    released = [at / RELEASED for at in folders.values() if (at / RELEASED).is_file()]
    books = next((open_books(at) for at in folders.values() if (at / BOOKS).is_dir()), None)
    poetry = {name: at for name, at in folders.items() if not any((at / each).exists() for each in (RELEASED, BOOKS))}
    origin, folder = single_source(poetry, "songci")
    poems = list(poems_in(folder, "ci.song", "rhythmic"))
    known = {poem.title for poem in poems if "・" not in poem.title and "□" not in poem.title}
    if released:
        known = {name for file in released for name in text_of(file).split()}
    families = families_of([poem.title for poem in poems], (*SPELLINGS, *(books.tunes.names if books else ())))
    earlier: dict[str, str] = {}
    for poem in poems:
        text = re.sub("[《》]", "", poem.text)
        id, letters = f"songci/{poem.place}", letters_of(text)
        if reason := fault_in(text):
            yield quarantined(id, reason, poem.text)
        elif letters in earlier:
            yield quarantined(id, "duplicate", f"of {earlier[letters]}: {poem.text}")
        else:
            earlier[letters] = id
            units = units_in(text.replace("、", "，") if plain_commas else text)
            target, tune = join_units(units), tune_of(poem.title, known)
            fit = books.followed(tune, target) if books else None
            yield Verse(
                id=id,
                origin=origin,
                language="zh",
                target=target,
                author=poem.author,
                tune=tune,
                rhyme=fit.variant.rhyme if fit else "A" * len(units),
                family=families.get(tune, tune),
                tones=fit.variant.tones if fit else "",
                copies=write_copies(fit.variant.copies) if fit else "",
            )


def units_in(text: str) -> list[str]:
    """The units of a ci. Each ends after 。！？, or at the end of the text."""
    return [unit for unit in _UNIT_END.split(text) if unit]


def names_in(title: str) -> tuple[str, str]:
    """The two names in a title "A・B"; the second is empty if there is only one. Quoted notes are removed."""
    # Only up to the last ”, since for each “ without one the pattern would search the whole rest.
    quoted, end, rest = title.rpartition("”")
    first, _, second = (re.sub("“[^”]*”", "", quoted + end) + rest).strip().partition("・")
    return first, second


def tune_of(title: str, known: Iterable[str]) -> str:
    """The tune name of a title.

    A title "A・B" gives two names of one tune. As in the released preprocessing: A if both are the same, else A if it
    is known, else B if it is known, else A. The released list of known names is `cipai.txt`; without it, names that are
    whole titles in the corpus are known. A name of blanks (□) is `LOST_TUNE`.
    """
    first, second = names_in(title)
    known = set(known) if not isinstance(known, set) else known
    name = second if first not in known and (second in known or "□" in first) and second else first
    return LOST_TUNE if "□" in name or not name else name


def families_of(titles: Sequence[str], lists: Iterable[Sequence[str]] = ()) -> dict[str, str]:
    """For each name in the titles, a common name for all names of its tune.

    Two names belong to one tune if a title "A・B" or one of the `lists` has both, or if a third name belongs to one
    tune with each. Names that differ only in a suffix (慢, 令) are different tunes. The common name is the most
    frequent one in titles; ties are broken by code-point order.
    """
    named = [[name for name in names_in(title) if name and "□" not in name and name != LOST_TUNE] for title in titles]
    rows = [*named, *lists]
    counts = Counter(name for names in named for name in names)
    members: dict[int, set[str]] = {}
    for family, names in zip(linked(len(rows), list(zip_longest(*rows))), rows, strict=True):
        members.setdefault(family, set()).update(name for name in names if name in counts)
    return {name: min(names, key=lambda each: (-counts[each], each)) for names in members.values() for name in names}


def fault_in(text: str) -> str | None:
    """The reason why a text is quarantined; None if it is not."""
    if not text.strip():
        return "empty"
    if reason := next((reason for reason, pattern in FAULTS if pattern.search(text)), None):
        return reason
    return "too short" if len(letters_of(text)) < 2 else None
