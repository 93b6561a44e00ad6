"""The Penn treebank's sentences with gold tags, in the form of PTB: lower case, no marks, N for numbers, `<unk>`.

PTB has neither capitals nor marks, so a tagger for newspaper text does not suit it. A tagger trained on these rows
does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from espalier.corpora.readers import penn, ptb
from espalier.corpora.readers.files import recognized_sources
from espalier.corpora.readers.rows import quarantined
from espalier.corpora.records import Quarantined, Sentence
from espalier.io.errors import ConfigError
from espalier.syntax.parse import Parse, columns_of
from espalier.syntax.parsers.penn_words import ptb_word

_PENN, _PTB = "treebank/combined/wsj_0001.mrg", "ptb.train.txt"
#: The tags of marks, which PTB leaves out; $ and # are words there.
_MARKS: Final = frozenset([",", ".", ":", "``", "''", "-LRB-", "-RRB-"])


def read(folders: Mapping[str, Path]) -> Iterator[Sentence | Quarantined]:
    """Every sentence with its words in the form of PTB, and their tags.

    A word that is not in PTB's training lines becomes `<unk>`. Sentences of marks only are quarantined ("no words"),
    and so are lines of valid or test, so that no test text is trained on.

    Args:
        folders: the treebank, as the reader `penn` takes it, and PTB.

    Raises:
        ConfigError: not one source of each kind.
        ArtifactError, DataError: as `penn` and `ptb`.
    """
    found = {marker: {origin: folder} for origin, folder, marker in
             recognized_sources(folders, (_PENN, _PTB), "ptb_tagged")}  # fmt: skip
    if len(folders) != 2 or len(found) != 2:
        raise ConfigError(f"sources {', '.join(folders)}", where="reader ptb_tagged", remedy="give it penn and ptb")
    known, held_out = set[str](), set[str]()
    for line in ptb.read(found[_PTB]):
        if isinstance(line, Quarantined):
            continue
        if line.id.startswith("ptb-train-"):
            known.update(line.target.split())
        else:
            held_out.add(line.target)
    for row in penn.read(found[_PENN]):
        if isinstance(row, Quarantined):
            yield row
            continue
        words, tags = row.target_words.split(" "), row.target_tags.split(" ")
        pairs = [(ptb_word(word, known), tag) for word, tag in zip(words, tags, strict=True) if tag not in _MARKS]
        text = " ".join(word for word, _ in pairs)
        if not pairs or text in held_out:
            yield quarantined(row.id, "line of valid or test" if pairs else "no words", row.target)
            continue
        parse = Parse(tuple(word for word, _ in pairs), tuple(tag for _, tag in pairs))
        yield Sentence(id=row.id, origin=row.origin, language="en", target=text, **columns_of(parse, "target"))
