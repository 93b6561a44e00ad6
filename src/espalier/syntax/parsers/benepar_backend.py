"""Constituency trees by benepar: published models, models from a path, or models trained here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple

import torch
import torch.nn.functional as F

from espalier.io.hashing import digest, file_sha256
from espalier.syntax.constituency import write_tree
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.benepar_chart import (
    Span,
    annotate,
    annotate_pretrained,
    best_nodes,
    fenceposts,
    score_spans,
    tree_over,
)
from espalier.syntax.parsers.benepar_compat import (
    WEIGHTS,
    guess_language,
    guess_space_after,
    load_chart_parser,
    locate_model,
    ptb_unescape,
)
from espalier.syntax.parsers.benepar_words import numbered, padded, word_vectors
from espalier.syntax.parsers.parser import (
    EMPTY,
    NO_ROUND_TRIP,
    NO_TREE,
    TOO_LONG,
    Refused,
    Sentence,
    no_model,
    require_limits,
)
from espalier.syntax.parsers.penn_words import penn_words

#: The file of a model that was trained here, in its folder.
TRAINED: Final = "benepar.pt"
#: The longest word, in characters.
LONGEST: Final = 250

_SPACE: Final = re.compile(r"[ \t\n\r\f\v]")


class _Input(NamedTuple):
    """A sentence to parse: its words, the model's input words, and the output of the model's retokenizer."""

    words: tuple[str, ...]
    read: list[str]
    encoded: Any
    tokens: int


def load(model: str | Path, *, max_words: int = 200, batch_tokens: int = 500) -> BeneparParser:
    """Load a parser with a model.

    Args:
        model: a name such as "benepar_en3", looked up in the folder of `benepar.download`; or a path to a file or
            folder in benepar's own formats, or to the output folder of `train_benepar`.
        max_words: longer sentences are refused as "too long". Time and memory are quadratic in the length.
        batch_tokens: number of tokens in a batch, including padding.

    Raises:
        ConfigError: the model does not exist, or a limit is below 1.
        ArtifactError: the file is not a benepar model.
    """
    require_limits("benepar", max_words=max_words, batch_tokens=batch_tokens)
    path, name = _located(model)
    if (path / TRAINED).is_file():
        path /= TRAINED
    chart_parser = load_chart_parser(path)
    weights = file_sha256(path / WEIGHTS if path.is_dir() else path)
    signature = f"benepar {version('benepar')}, {name} {weights[:8]}"
    if path.is_dir():  # with the tokenizer of a pretrained encoder
        others = sorted(file for file in path.iterdir() if file.is_file() and file.name != WEIGHTS)
        signature += f", files {digest([(file.name, file_sha256(file)) for file in others])[:8]}"
    return BeneparParser(chart_parser, signature, max_words, batch_tokens)


class BeneparParser:
    """A `Parser` around benepar's `ChartParser`; see `load`.

    Texts are split into words by `penn_words`, which supports only English; for other languages pass words.
    """

    def __init__(self, model: Any, signature: str, max_words: int = 200, batch_tokens: int = 500) -> None:
        self.signature = signature
        self._model = model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
        #: The language of its treebank, by its labels.
        self.language: str = guess_language(model.label_vocab)
        self._max_words = max_words
        if model.add_timing is not None:
            self._max_words = min(max_words, len(model.add_timing.timing_table) - 2)
        self._batch_tokens = batch_tokens
        self._labels = {number: label for label, number in model.label_vocab.items()}

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse | Refused]:
        """Words, tags (if the model has a tagger) and tree of each sentence.

        Sentences of similar length form a batch. Reasons for refusal are "empty", "too long", "tokens do not
        round-trip" (to the text or through the model's tokenizer) and "no tree" (the model predicts no constituent).
        """
        results: list[Any] = [self._input(sentence) for sentence in sentences]
        places = [place for place, result in enumerate(results) if isinstance(result, _Input)]
        places.sort(key=lambda place: results[place].tokens)
        with torch.inference_mode():
            parsed = self._parsed([results[place] for place in places])
            for place, result in zip(places, parsed, strict=True):
                results[place] = result
        return results

    def _input(self, sentence: Sentence) -> _Input | Refused:
        if isinstance(sentence, str):
            if not sentence.strip():
                return EMPTY
            if len(sentence) > LONGEST * self._max_words:
                return TOO_LONG
            split = penn_words(sentence)
            if split is None:
                return NO_ROUND_TRIP
            words, spaces = split
        else:
            words = tuple(sentence)
            if any(not word or _SPACE.search(word) for word in words):
                return NO_ROUND_TRIP
            spaces = None
        if not words:
            return EMPTY
        if len(words) > self._max_words or max(map(len, words)) > LONGEST:
            return TOO_LONG
        read = ptb_unescape(words)
        if self._model.char_encoder is not None:
            return _Input(words, read, None, len(words) + 2)
        if spaces is None:
            spaces = guess_space_after(read) if self.language != "zh" else [False] * len(words)
        try:
            encoded = self._model.retokenizer(read, spaces, verbose=False)
        except (StopIteration, AssertionError):  # the tokenizer gives no token for the last word
            return NO_ROUND_TRIP
        except ValueError:  # more word pieces than the encoder has positions
            return TOO_LONG
        if min(encoded["words_from_tokens"]) < 0:
            return NO_ROUND_TRIP
        return _Input(words, read, encoded, len(encoded["input_ids"]))

    def _parsed(self, inputs: Sequence[_Input]) -> Iterator[Parse | Refused]:
        """The parses, in order; `inputs` are sorted by length."""
        model, rows = self._model, list[list[int]]()
        if model.char_encoder is not None and inputs:
            words, rows = numbered(item.read for item in inputs)
            table = word_vectors(model.char_encoder, words, model.char_vocab)
        for first, last in _batches([item.tokens for item in inputs], self._batch_tokens):
            if rows:
                ids, mask = (tensor.to(model.device) for tensor in padded(rows[first:last]))
                annotations = annotate(model, F.embedding(ids, table), mask)
            else:
                annotations, mask = annotate_pretrained(model, [item.encoded for item in inputs[first:last]])
            yield from self._parsed_batch(inputs[first:last], annotations, mask.sum(1) - 2)

    def _parsed_batch(
        self, inputs: Sequence[_Input], annotations: torch.Tensor, lengths: torch.Tensor
    ) -> Iterator[Parse | Refused]:
        model = self._model
        scores, start, width = score_spans(model, fenceposts(model, annotations))
        nodes = best_nodes(scores, start, width, lengths, model.decoder.force_root_constituent)
        spans: list[list[Span]] = [[] for _ in inputs]
        for sentence, first, wide, label in zip(*(tensor.tolist() for tensor in nodes), strict=True):
            if label:
                spans[sentence].append(Span(first, first + wide + 1, self._labels[label]))
        tags = model.f_tag(annotations).argmax(-1)[:, 1:].tolist() if model.f_tag is not None else None
        for number, item in enumerate(inputs):
            if not spans[number]:
                yield NO_TREE
                continue
            size = len(item.words)
            predicted_tags = tuple(model.tag_from_index[tag] for tag in tags[number][:size]) if tags else ()
            yield Parse(item.words, predicted_tags, write_tree(tree_over(item.words, predicted_tags, spans[number])))


def _batches(tokens: Sequence[int], limit: int) -> Iterator[tuple[int, int]]:
    """The bounds of batches in a list sorted by length: at most `limit` tokens with padding, or one sentence."""
    first = 0
    for last in range(1, len(tokens) + 1):
        if last == len(tokens) or (last + 1 - first) * tokens[last] > limit:
            yield first, last
            first = last


def _located(model: str | Path) -> tuple[Path, str]:
    """The path of a model, and its name in the signature."""
    name = str(model)
    try:
        if not name:
            raise LookupError
        path = Path(locate_model(name))
    except LookupError as error:
        fetch = f"""python -c "import benepar; benepar.download('{name}')\""""
        train = "an entry of `parsers` that names a treebank"
        raise no_model("benepar", name, fetch=fetch, train=train) from error
    return path, name if path.name == name else "model"
