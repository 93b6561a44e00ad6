"""Chinese words, tags and dependency trees by LTP, with its models from the hub or from a path.

Che, Feng, Qin and Liu 2021 (arXiv 2009.11616). The tags are those of LTP's 863 set, the relations LTP's own (SBV, VOB,
ATT; HED for the root). A legacy model, which consists of perceptrons, gives only words and tags.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from itertools import groupby, repeat
from pathlib import Path
from typing import Any, Final

from espalier.io.errors import ConfigError
from espalier.io.hashing import digest, file_sha256
from espalier.syntax.dependency import Dependencies, attach_roots, parse_with
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.ltp_compat import CONFIG, load_legacy, load_neural, read_config, weights_of
from espalier.syntax.parsers.parser import EMPTY, NO_ROUND_TRIP, TOO_LONG, Refused, Sentence, are_words, require_limits

#: The files of a model on the hub that are read.
_FILES: Final = ("*.json", "*.txt", "*.bin")
#: What a neural model's encoder reads at most, in tokens, its two special ones counted. LTP cuts off what is beyond.
LONGEST: Final = 512

#: Half a surrogate pair, which no UTF-8 holds and no tokenizer takes.
_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")


def load(model: str | Path, *, batch_tokens: int = 2000) -> LtpParser | LegacyLtpParser:
    """Load a parser with a model.

    Args:
        model: the folder of an LTP model, or a hub name such as "LTP/small" or "LTP/small@main", which is first looked
            up in the hub's local cache.
        batch_tokens: number of tokens in a batch of a neural model.

    Raises:
        ConfigError: the model does not exist, the hub cannot be reached, or the limit is below 1.
        ArtifactError: the folder is not an LTP model.
    """
    require_limits("ltp", batch_tokens=batch_tokens)
    folder, name = _located(str(model))
    config = read_config(folder)
    weights = [file_sha256(path) for path in weights_of(folder, config)]
    others = sorted(path for kind in _FILES[:-1] for path in folder.glob(kind))
    signature = f"ltp {version('ltp')}, {name} {(weights[0] if len(weights) == 1 else digest(weights))[:8]}"
    signature += f", files {digest([(path.name, file_sha256(path)) for path in others])[:8]}"
    if config["nerual"]:
        return LtpParser(load_neural(folder, config), signature, batch_tokens)
    return LegacyLtpParser(load_legacy(folder, config), signature)


class LtpParser:
    """A `Parser` around LTP's neural model; see `load`.

    White space in a text separates words, or is removed from a word, as the model decides.
    """

    def __init__(self, model: Any, signature: str, batch_tokens: int = 2000) -> None:
        self.signature = signature
        self._model = model
        self._batch_tokens = batch_tokens

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse | Refused]:
        """Words of each sentence, with the tags, heads and labels that the model predicts.

        Reasons for refusal are "empty", "too long" and "tokens do not round-trip": the model's tokenizer gives no token
        for the text or a word, or the predicted words do not spell the text.
        """
        results: list[Any] = [refusal(sentence) for sentence in sentences]
        for tokenized in (False, True):
            places = [
                n
                for n, sentence in enumerate(sentences)
                if results[n] is None and isinstance(sentence, str) != tokenized
            ]
            inputs = [sentences[n] if isinstance(sentences[n], str) else list(sentences[n]) for n in places]
            for place, result in zip(places, self._parsed_batches(inputs, tokenized), strict=True):
                results[place] = result
        return results

    def _parsed_batches(self, inputs: Sequence[Any], tokenized: bool) -> list[Parse | Refused]:
        """Parses of texts or, if `tokenized`, of lists of words.

        All inputs of a batch have the same number of tokens, since LTP adds a word to padded lists of words.
        """
        results: list[Parse | Refused] = [NO_ROUND_TRIP] * len(inputs)
        sizes = self._sizes(inputs, tokenized)
        order = sorted((size, place) for place, size in enumerate(sizes) if size)
        for size, group in groupby(order, key=lambda pair: pair[0]):
            alike = [place for _, place in group]
            step = max(1, self._batch_tokens // size)
            for first in range(0, len(alike), step):
                batch = alike[first : first + step]
                parsed = self._parsed([inputs[n] for n in batch], tokenized) if size <= LONGEST else repeat(TOO_LONG)
                for place, result in zip(batch, parsed, strict=False):
                    results[place] = result
        return results

    def _sizes(self, inputs: Sequence[Any], tokenized: bool) -> list[int]:
        """The number of tokens of each input; 0 if a given word, or the whole text, has only special tokens."""
        if not inputs:
            return []
        encodings = self._model.tokenizer(
            inputs, is_split_into_words=tokenized, truncation=False, verbose=False
        ).encodings
        return [
            0 if len(set(encoding.word_ids) - {None}) < (len(item) if tokenized else 1) else len(encoding.ids)
            for item, encoding in zip(inputs, encodings, strict=True)
        ]

    def _parsed(self, batch: Sequence[Any], tokenized: bool) -> Iterator[Parse | Refused]:
        tasks = [task for task in ("cws", "pos", "dep")[tokenized:] if task in self._model.supported_tasks]
        output = self._model.pipeline(batch, tasks=tasks)
        for number, sentence in enumerate(batch):
            words = sentence if tokenized else ["".join(word.split()) for word in output.cws[number]]
            if not all(words) or "".join(words) != ("".join(sentence) if tokenized else "".join(sentence.split())):
                yield NO_ROUND_TRIP
                continue
            tags = tuple(output.pos[number]) if output.pos else ()
            if not output.dep:
                yield Parse(tuple(words), tags)
                continue
            arcs = output.dep[number]
            tree, _ = attach_roots(Dependencies(tuple(words), tags, tuple(arcs["head"]), tuple(arcs["label"])), "COO")
            yield parse_with(tree)


class LegacyLtpParser:
    """A `Parser` around LTP's perceptrons, for words and tags; see `load`. White space separates words."""

    def __init__(self, model: Any, signature: str) -> None:
        self.signature = signature
        self._model = model

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse | Refused]:
        """Words, and tags if the model predicts them, of each sentence.

        Reasons for refusal are "empty" and "tokens do not round-trip": white space within a given word, or half a
        surrogate pair.
        """
        results: list[Any] = [refusal(sentence) for sentence in sentences]
        places = [place for place, result in enumerate(results) if result is None]
        words = [self._words(sentences[place]) for place in places]
        tagged = "pos" in self._model.supported_tasks and places
        tags = self._model.pipeline(words, tasks=["pos"], parallelism=False).pos if tagged else [()] * len(words)
        for place, its, own in zip(places, words, tags, strict=True):
            results[place] = Parse(tuple(its), tuple(own))
        return results

    def _words(self, sentence: Sentence) -> list[str]:
        if not isinstance(sentence, str):
            return list(sentence)
        pieces = self._model.pipeline(sentence.split(), tasks=["cws"], parallelism=False).cws
        return [word for piece in pieces for word in piece]


def refusal(sentence: Sentence) -> Refused | None:
    """The reason to refuse a sentence before any model reads it; None if there is none."""
    if not (sentence.split() if isinstance(sentence, str) else sentence):
        return EMPTY
    if not isinstance(sentence, str) and not are_words(sentence):
        return NO_ROUND_TRIP
    if _HALF_PAIR.search("".join(sentence)):
        return NO_ROUND_TRIP
    return None


def _located(model: str) -> tuple[Path, str]:
    """The folder of a model, and its name in the signature."""
    folder = Path(model)
    if (folder / CONFIG).is_file():
        return folder, "model"
    ways = "give the path of one, or train a parser here (backend spacy with a treebank)"
    if folder.exists():
        raise ConfigError(f"there is no {CONFIG} in '{model}', so it is no model", where="ltp", remedy=ways)
    name, _, revision = model.partition("@")
    if name.count("/") != 1 or name.startswith((".", "/", "~")):  # a path, not a name on the hub
        raise ConfigError(f"no model '{model}'", where="ltp", remedy=ways)
    from huggingface_hub import snapshot_download

    try:
        return Path(_cached(snapshot_download, name, revision or None)), model
    except Exception as error:  # the hub's own errors, and as many as the libraries beneath it have
        command = f"hf download {name}" + (f" --revision {revision}" if revision else "")
        raise ConfigError(
            f"no model '{model}' on this machine, and none from the hub ({type(error).__name__})",
            where="ltp",
            remedy=f"fetch it: {command}, or {ways}",
        ) from error


def _cached(download: Callable[..., str], name: str, revision: str | None) -> str:
    """The hub's snapshot in the local cache, downloaded if missing."""
    try:
        folder: str = download(name, revision=revision, allow_patterns=_FILES, local_files_only=True)
        if any(Path(folder).glob("*.bin")):
            return folder
    except OSError:
        pass
    return download(name, revision=revision, allow_patterns=_FILES, etag_timeout=5)
