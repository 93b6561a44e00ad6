"""The Penn treebank: gold trees (`penn`), the form of PTB for language models (`ptb`), and both (`ptb_tagged`).

`mrg` reads one's own files of such trees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from espalier.corpora.readers.files import files_of, recognized_sources, single_source
from espalier.corpora.readers.rows import quarantined
from espalier.corpora.records import Quarantined, Sentence
from espalier.io.errors import ConfigError, DataError
from espalier.io.text_files import lines_of
from espalier.syntax.constituency import TreeError, clean, read_trees, tags, words, write_tree
from espalier.syntax.parse import Parse, columns_of
from espalier.syntax.parsers.penn_words import ptb_word
from espalier.syntax.tree import Tree
from espalier.text.language import Language
from espalier.text.words import join_words


def read_penn(folders: Mapping[str, Path]) -> Iterator[Sentence | Quarantined]:
    """Every sentence with its words, its parts of speech, and its tree without functional tags and traces (`clean`).

    NLTK packs this part of the treebank (Marcus et al. 1993, Wall Street Journal).

    The text is the treebank's words joined by spaces, with brackets in place of -LRB- and -RRB-. Ids
    are `penn-<document>-<number>`, from 0 in the document. A tree with only traces is quarantined as "no words".

    Args:
        folders: one source's name and folder, which holds `treebank/combined/wsj_0001.mrg` and so on.

    Raises:
        ConfigError: not exactly one folder.
        DataError: a file is missing, or a tree cannot be read; the message gives file and line.
    """
    origin, folder = single_source(folders, "penn")
    files = sorted((folder / "treebank" / "combined").glob("wsj_*.mrg"))
    if not files:
        raise DataError("no document wsj_<number>.mrg", file=folder, remedy="run the download stage of its source")
    for file in files:
        for number, gold in enumerate(read_trees(file)):
            yield _sentence(f"penn-{file.stem}-{number:04d}", gold, origin, "en")


def read_mrg(folders: Mapping[str, Path], *, language: Language) -> Iterator[Sentence | Quarantined]:
    """Every tree of one's own files of Penn trees, cleaned as in the reader `penn`.

    Ids are `<source>/<file without its last suffix>/<number>`, from 1. For a split of kind `published`, a file
    `train.mrg` is therefore the split `train`.

    Args:
        folders: source names and their folders; if one has files that end in .mrg, others in it are not read.
        language: language of the sentences; for "zh", words are joined without spaces.

    Raises:
        ConfigError: there is no source.
        DataError: a source has no files, or a tree cannot be read; the message gives file and line.
    """
    for origin, file, name in files_of(folders, "mrg", suffix=".mrg"):
        for number, gold in enumerate(read_trees(file), start=1):
            yield _sentence(f"{origin}/{name}/{number}", gold, origin, language)


def _sentence(id: str, gold: Tree, origin: str, language: Language) -> Sentence | Quarantined:
    try:
        tree = clean(gold)
    except TreeError:
        return quarantined(id, "no words", " ".join(words(gold)))
    parse = Parse(words(tree), tags(tree), write_tree(tree))
    text = join_words(parse.words, language)
    return Sentence(id=id, origin=origin, language=language, target=text, **columns_of(parse, "target"))


_PTB_SPLITS = ("train", "valid", "test")


def read_ptb(folders: Mapping[str, Path]) -> Iterator[Sentence | Quarantined]:
    """Every line of `ptb.train.txt`, `ptb.valid.txt` and `ptb.test.txt`, with its words.

    The vocabulary has 10,000 words (Mikolov et al. 2010). `<unk>` (a rare word) and N (a number) are ordinary words.
    Ids are `ptb-<split>-<line>`.

    Args:
        folders: one source's name and folder.

    Raises:
        ConfigError: not exactly one folder.
        ArtifactError, DataError: a file is missing, or not UTF-8.
    """
    origin, folder = single_source(folders, "ptb")
    for split in _PTB_SPLITS:
        for number, line in enumerate(lines_of(folder / f"ptb.{split}.txt"), start=1):
            id, text = f"ptb-{split}-{number:05d}", " ".join(line.split())
            if not text:
                yield quarantined(id, "empty line", text)
                continue
            yield Sentence(id=id, origin=origin, language="en", target=text, target_words=text)


_PENN, _PTB = "treebank/combined/wsj_0001.mrg", "ptb.train.txt"
#: The tags of marks, which PTB leaves out; $ and # are words there.
_MARKS: Final = frozenset([",", ".", ":", "``", "''", "-LRB-", "-RRB-"])


def read_tagged(folders: Mapping[str, Path]) -> Iterator[Sentence | Quarantined]:
    """Every sentence with its words in the form of PTB, and their tags.

    PTB has neither capitals nor marks, so a tagger for newspaper text does not suit it. A tagger trained on these rows
    does.

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
    for line in read_ptb(found[_PTB]):
        if isinstance(line, Quarantined):
            continue
        if line.id.startswith("ptb-train-"):
            known.update(line.target.split())
        else:
            held_out.add(line.target)
    for row in read_penn(found[_PENN]):
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
