"""Readers: sources of the rows of a corpus. This module imports no reader; a reader is imported when it runs.

To add one: `READERS["mine"] = Reader(Pair, "my.module:read")`. Its function is `read(folders, *, ...options...)`:

- `folders` maps the name of each source to its folder under data/raw. A function without this parameter generates its
  rows.
- Its other parameters are the options of the corpus. A parameter named `language` defaults to the language of the
  corpus.
- It yields every raw row, either as a record or as a quarantined row with a reason.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from espalier.corpora.readers.rows import checked
from espalier.corpora.records import RECORDS, Pair, Quarantined, Record, Sentence, Verse
from espalier.io.calls import checked_call
from espalier.io.errors import ConfigError
from espalier.io.registry import Registry, imported
from espalier.io.validation import check_options

_Read = Callable[..., Iterable[Record | Quarantined]]


@dataclass(frozen=True)
class Reader:
    """Reads or generates the rows of a corpus.

    Attributes:
        record: the type of its records.
        function: the function as described above, or its name, "package.module:function".
        reads_sources: whether the function takes `folders`.
        is_grammatical: a function that tells whether the grammar that generates the rows derives a list of words, or
            its name as "package.module:function"; None without a grammar.
        text_of: extracts the text from a line of a file that others published for the rows; or the function's name.
    """

    record: type[Record]
    function: str | _Read
    reads_sources: bool = True
    is_grammatical: str | Callable[[list[str]], bool] | None = None
    text_of: str | Callable[[str], str] = "espalier.corpora.published:plain_text"

    @property
    def records(self) -> str:
        """What its rows are: a key of `RECORDS`; "" for rows of another type."""
        return next((name for name, kind in RECORDS.items() if issubclass(self.record, kind)), "")

    @checked_call
    def rows(
        self, folders: Mapping[str, Path], options: Mapping[str, Any], *, language: str, where: str
    ) -> Iterator[Record | Quarantined]:
        """The rows, in a fixed order, each `checked`.

        Args:
            folders: the sources of the corpus; not passed to a function that generates rows.
            options: keyword arguments of the function.
            where: the path of the corpus in params.yaml, for messages.

        Raises:
            ConfigError: an option is unknown, missing or of the wrong type, or a record is not of type `record`.
            ArtifactError, DataError: raised by the function about its files.
        """
        function: _Read = imported("reader", self.function, where=f"{where}.reader")
        settings = dict(options)
        if "language" in inspect.signature(function).parameters:
            settings = {"language": language} | settings
        check_options(function, settings, f"{where}.options", given=("folders",))
        for row in function(folders, **settings) if self.reads_sources else function(**settings):
            if not isinstance(row, self.record | Quarantined):
                raise ConfigError(
                    f"the reader gives {type(row).__name__} rows, not {self.record.__name__}", where=f"{where}.reader"
                )
            yield checked(row)


READERS: Final = Registry[Reader](
    "READERS",
    "reader",
    Reader,
    {
        # Published collections.
        "brown": Reader(Verse, "espalier.corpora.readers.brown:read"),
        "chinese_dialogues": Reader(Pair, "espalier.corpora.readers.chinese_dialogues:read"),
        "conllu": Reader(Sentence, "espalier.corpora.readers.conllu:read"),
        "couplets": Reader(Sentence, "espalier.corpora.readers.couplets:read"),
        "guig_released": Reader(Pair, "espalier.corpora.readers.paranmt:read_released"),
        "lyrics": Reader(Sentence, "espalier.corpora.readers.lyrics:read"),
        "mrpc": Reader(Pair, "espalier.corpora.readers.paraphrases:read_mrpc"),
        "paranmt": Reader(Pair, "espalier.corpora.readers.paranmt:read"),
        "paraphrases": Reader(Pair, "espalier.corpora.readers.paraphrases:read"),
        "parasci": Reader(Pair, "espalier.corpora.readers.paraphrases:read_parasci"),
        "penn": Reader(Sentence, "espalier.corpora.readers.penn:read_penn"),
        "prose_zh": Reader(Verse, "espalier.corpora.readers.prose_zh:read"),
        "ptb": Reader(Sentence, "espalier.corpora.readers.penn:read_ptb"),
        "ptb_tagged": Reader(Sentence, "espalier.corpora.readers.penn:read_tagged"),
        "qcpg": Reader(Pair, "espalier.corpora.readers.qcpg:read"),
        "quora": Reader(Pair, "espalier.corpora.readers.quora:read"),
        "shi": Reader(Verse, "espalier.corpora.readers.shi:read"),
        "songci": Reader(Verse, "espalier.corpora.readers.songci:read"),
        "songnet_released": Reader(
            Verse,
            "espalier.corpora.readers.songnet_released:read",
            text_of="espalier.corpora.readers.songnet_released:written",
        ),
        "sonnets": Reader(Verse, "espalier.corpora.readers.sonnets:read"),
        "twitter_url": Reader(Pair, "espalier.corpora.readers.twitter_url:read"),
        "weibo": Reader(Pair, "espalier.corpora.readers.weibo:read"),
        "xdailydialog": Reader(Pair, "espalier.corpora.readers.xdailydialog:read"),
        # Local files.
        "dialogues": Reader(Pair, "espalier.corpora.readers.dialogues:read"),
        "lines": Reader(Sentence, "espalier.corpora.readers.local:read_lines"),
        "lrc": Reader(Sentence, "espalier.corpora.readers.lrc:read"),
        "mrg": Reader(Sentence, "espalier.corpora.readers.penn:read_mrg"),
        "pairs": Reader(Pair, "espalier.corpora.readers.tables:read_pairs"),
        "poems": Reader(Verse, "espalier.corpora.readers.poems:read"),
        "text_table": Reader(Sentence, "espalier.corpora.readers.tables:read_texts"),
        "tsv": Reader(Pair, "espalier.corpora.readers.tables:read_tsv"),
        "verse": Reader(Verse, "espalier.corpora.readers.tables:read_verse"),
        # The nursery's grammars.
        "dialogue_zh": Reader(
            Pair,
            "espalier.nursery.dialogue_zh:grow",
            reads_sources=False,
            is_grammatical="espalier.nursery.dialogue_zh:is_grammatical",
        ),
        "lyrics_zh": Reader(Sentence, "espalier.nursery.lyrics_zh:grow", reads_sources=False),
        "news_en": Reader(Sentence, "espalier.nursery.news_en:grow", reads_sources=False),
        "paraphrase_en": Reader(Pair, "espalier.nursery.paraphrase_en:grow", reads_sources=False),
        "verse_en": Reader(Verse, "espalier.nursery.verse_en:grow", reads_sources=False),
        "verse_zh": Reader(Verse, "espalier.nursery.verse_zh:grow", reads_sources=False),
    },
)


def reader(name: str, *, where: str) -> Reader:
    """Look up the reader of this name.

    Raises:
        ConfigError: the name is unknown, or the type of its records is none of `RECORDS`. `where` is the path of the
            corpus in params.yaml.
    """
    chosen = READERS.find(name, where=f"{where}.reader")
    if not chosen.records:
        what = f"the reader {name} gives {chosen.record.__name__} rows"
        remedy = f"give {', '.join(kind.__name__ for kind in RECORDS.values())}, or rows of a subclass"
        raise ConfigError(what, where=f"{where}.reader", remedy=remedy)
    return chosen
