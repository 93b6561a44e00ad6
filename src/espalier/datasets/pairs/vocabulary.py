"""The vocabulary of a model of pairs: word pieces of texts, and symbols of trees."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from espalier.corpora.stored import in_chunks
from espalier.datasets.pairs.tree_symbols import TreeSymbols
from espalier.datasets.ragged import Ragged
from espalier.datasets.vocabulary import SPECIALS, UNK
from espalier.io.errors import ArtifactError, ConfigError, DataError
from espalier.io.files import read_json, write_json
from espalier.text.language import Language
from espalier.text.wordpieces import SPECIALS as BERT_SPECIALS
from espalier.text.wordpieces import WordPieces

#: PAD, UNK, BOS, EOS.
_SPECIALS = list(SPECIALS[:4])
#: The most word pieces. The library reserves memory for as many as it is asked for, and ends the process if there is
#: too little.
MAX_PIECES = 1_000_000
#: The texts whose pieces or words are counted at a time.
_COUNTED = 10_000


@dataclass(frozen=True)
class PairVocabulary:
    """Word pieces and tree symbols.

    The pieces are learnt from the training texts by byte pair encoding (Sennrich et al. 2016), or are BERT's pieces
    that occur in the training texts. Texts are then split as by BERT, and rarer pieces are <unk>.

    Attributes:
        pieces: the tokenizer as JSON of the library `tokenizers`.
        symbols: symbols of the trees of both sides; None if the pairs have no trees.
        lower: whether texts are lower-cased before they are encoded.
        kept: ids, in the tokenizer, of the BERT pieces in this vocabulary, in ascending order; empty for learnt pieces.
    """

    pieces: str
    symbols: TreeSymbols | None
    language: Language
    lower: bool
    kept: tuple[int, ...] = ()

    @classmethod
    def build(
        cls, texts: Iterable[str], symbols: TreeSymbols | None, language: Language, *, pieces: int, lower: bool
    ) -> Self:
        """Learn the merges from the training texts.

        Args:
            texts: words joined by single spaces.
            pieces: the largest number of pieces, specials and single characters included.

        Raises:
            ConfigError: `pieces` is not from 1 to `MAX_PIECES`.
        """
        if not 1 <= pieces <= MAX_PIECES:
            raise ConfigError(f"{pieces} word pieces", where="pieces", remedy=f"1 to {MAX_PIECES:,}")
        tokenizer = Tokenizer(models.BPE(unk_token=_SPECIALS[1]))
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        tokenizer.decoder = decoders.Metaspace()
        trainer = trainers.BpeTrainer(vocab_size=pieces, special_tokens=_SPECIALS, show_progress=False)
        tokenizer.train_from_iterator((text.lower() if lower else text for text in texts), trainer)
        return cls(tokenizer.to_str(), symbols, language, lower)

    @classmethod
    def published(
        cls, texts: Iterable[str], symbols: TreeSymbols | None, language: Language, *, file: Path, min_count: int
    ) -> Self:
        """The pieces of an uncased BERT vocabulary that occur at least `min_count` times in the training texts.

        Args:
            texts: words joined by single spaces, as in `build`.
            file: BERT's vocabulary, one piece per line.

        Raises:
            ArtifactError: the file does not exist.
            DataError: the file is not such a vocabulary, or no piece is frequent enough.
        """
        known = WordPieces(file)
        counts = np.zeros(len(known.pieces), dtype=np.int64)
        for chunk in in_chunks(texts, _COUNTED):
            ids = np.fromiter((id_ for row in known.encode(chunk) for id_ in row), dtype=np.int64)
            counts += np.bincount(ids, minlength=len(counts))
        counts[[place for place, piece in enumerate(known.pieces) if piece in BERT_SPECIALS]] = 0
        kept = np.flatnonzero(counts >= min_count)
        if not len(kept):
            raise DataError(f"no piece occurs {min_count} times", file="the training split", remedy="lower min_count")
        return cls(known.as_json(), symbols, language, lower=True, kept=tuple(kept.tolist()))

    @property
    def trees(self) -> TreeSymbols:
        """The tree symbols.

        Raises:
            ConfigError: the pairs have no trees.
        """
        if self.symbols is None:
            raise ConfigError("the pairs have no trees", where="vocabulary", remedy="make the dataset with trees: true")
        return self.symbols

    @property
    def text_size(self) -> int:
        """The number of ids of specials and pieces."""
        return len(self._tokens)

    def text_of(self, words: Sequence[str]) -> str:
        """Words joined by single spaces, and lower-cased if `lower`.

        With BERT's pieces, the words are split as by BERT, lose their accents, and are dropped if BERT cannot spell
        them.
        """
        text = " ".join(words)
        if self.kept:
            return self._spelt(self._tokenizer.encode(text, add_special_tokens=False).tokens)
        return text.lower() if self.lower else text

    def cut(self, texts: Sequence[str], pieces: int) -> list[str]:
        """Texts from `text_of`, cut after their first `pieces` word pieces."""
        rows = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [
            text if len(row.tokens) <= pieces else self._spelt(row.tokens[:pieces])
            for text, row in zip(texts, rows, strict=True)
        ]

    def encode_texts(self, texts: Sequence[str]) -> list[list[int]]:
        """The pieces of texts from `text_of`, without specials.

        Characters that are not in the training texts are <unk>.

        `decode_text` restores a text without such characters and without "▁", which marks the beginnings of words.
        BERT's pieces that are not kept are <unk>.
        """
        rows = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]
        return [self._own_ids[row].tolist() for row in rows] if self.kept else rows

    def decode_text(self, ids: Sequence[int]) -> str:
        """Words joined by single spaces. Specials are left out, except <unk>, which is a word of its own."""
        # Pieces are joined here, not by the library, which drops unknown ones with the other specials.
        tokens = [
            f"▁{_SPECIALS[UNK]}▁" if id_ == UNK else self._tokens[id_]
            for id_ in ids
            if id_ == UNK or id_ >= len(_SPECIALS)
        ]
        return " ".join(word for word in "".join(tokens).split("▁") if word)

    def pieces_of(self, ids: Sequence[int]) -> list[str]:
        """The piece of each id. "▁" marks the beginning of a word."""
        return [self._tokens[id_] for id_ in ids]

    def pieces_by_word(self, ids: Sequence[int]) -> list[tuple[int, ...]]:
        """The pieces of each word of a text without specials."""
        firsts = [place for place, id_ in enumerate(ids) if self.starts[id_] or not place]
        return [tuple(ids[first:end]) for first, end in pairwise([*firsts, len(ids)])]

    def words_of(self, texts: Ragged) -> set[str]:
        """The distinct words of encoded texts. Each distinct sequence of pieces is decoded once in so many texts."""
        return {word for part in texts.parts(_COUNTED) for word in self._words_of(part)}

    def _words_of(self, texts: Ragged) -> Iterator[str]:
        begins = self._begins[texts.flat]
        begins[texts.offsets[:-1][texts.lengths > 0]] = True
        starts = np.flatnonzero(begins)
        lengths = np.diff(np.append(starts, len(texts.flat)))
        for length in np.unique(lengths):
            places = starts[lengths == length][:, None] + np.arange(length)
            for ids in np.unique(texts.flat[places], axis=0).tolist():
                yield from self.decode_text(ids).split()

    @cached_property
    def _begins(self) -> npt.NDArray[np.bool_]:
        """(pieces,) whether a piece begins a word."""
        return np.array(self.starts)

    @cached_property
    def starts(self) -> list[bool]:
        """For each id of a piece, whether it begins a word."""
        return [token.startswith("▁") for token in self._tokens]

    @cached_property
    def _tokens(self) -> list[str]:
        """The text of each id. "▁" precedes the first piece of a word."""
        if self.kept:
            return [*_SPECIALS, *(_marked(str(self._tokenizer.id_to_token(id_))) for id_ in self.kept)]
        return [str(self._tokenizer.id_to_token(id_)) for id_ in range(self._tokenizer.get_vocab_size())]

    @cached_property
    def _own_ids(self) -> npt.NDArray[np.int64]:
        """(BERT's pieces,) the id in this vocabulary."""
        ids = np.full(self._tokenizer.get_vocab_size(), UNK, dtype=np.int64)
        ids[list(self.kept)] = len(_SPECIALS) + np.arange(len(self.kept))
        return ids

    def _spelt(self, tokens: Sequence[str]) -> str:
        """The words spelled by the tokenizer's own tokens. What it cannot spell is left out, as in BERT's decoding."""
        if self.kept:
            tokens = [_marked(token) for token in tokens if token not in BERT_SPECIALS]
        return " ".join(word for word in "".join(tokens).split("▁") if word)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        tokenizer = Tokenizer.from_str(self.pieces)
        tokenizer.encode_special_tokens = True  # "<pad>" in a text is five characters, not padding
        return tokenizer

    def save(self, path: Path) -> None:
        """Write as JSON."""
        trees = self.symbols.as_json() if self.symbols is not None else None
        value = {"language": self.language, "lower": self.lower, "trees": trees, "pieces": self.pieces}
        write_json(path, value | ({"kept": list(self.kept)} if self.kept else {}))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a vocabulary written by `save`."""
        value = read_json(path)
        try:
            trees = value["trees"]
            symbols = (
                None
                if trees is None
                else TreeSymbols(
                    tuple(trees["labels"]), int(trees["depth"]), tuple(trees["opens"]), tuple(trees["ends"])
                )
            )
            kept = tuple(int(id_) for id_ in value.get("kept", ()))
            vocabulary = cls(str(value["pieces"]), symbols, value["language"], bool(value["lower"]), kept)
        except (KeyError, TypeError, ValueError) as error:
            raise ArtifactError(f"not a vocabulary of pairs ({error!r})", where=path) from error
        try:
            vocabulary._tokens  # noqa: B018  (read now, not at the first text)
        except Exception as error:  # the library raises nothing narrower
            raise ArtifactError(f"no tokenizer ({error})", where=path, remedy="linearize again") from error
        return vocabulary


def _marked(piece: str) -> str:
    """A BERT piece, preceded by "▁" if it begins a word."""
    return piece.removeprefix("##") if piece.startswith("##") else f"▁{piece}"
