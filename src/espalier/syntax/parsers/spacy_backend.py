"""Tags and dependency trees by spaCy, with installed pipelines, pipelines from a path, or pipelines trained here."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Literal

import spacy.util
from pydantic import BaseModel
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model, NumpyOps

from espalier.io.errors import ArtifactError, ConfigError
from espalier.io.files import read_json
from espalier.io.hashing import digest, file_sha256
from espalier.io.installed import verify_installed
from espalier.syntax.dependency import Dependencies, attach_roots, mistake
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.jieba_backend import cut_words, use_no_cache
from espalier.syntax.parsers.parser import (
    EMPTY,
    NO_ROUND_TRIP,
    NO_TREE,
    TOO_LONG,
    Refused,
    Sentence,
    are_words,
    no_model,
    require_limits,
)
from espalier.syntax.parsers.penn_words import penn_words

#: The file that describes a pipeline.
CONFIG: Final = "config.cfg"

# The loaded components of a pipeline, by the names of spaCy's factories.
_TAGGERS: Final = frozenset({"tagger", "morphologizer"})
_PARSERS: Final = frozenset({"parser", "beam_parser"})
NEEDED: Final = _TAGGERS | _PARSERS | {"tok2vec", "transformer", "curated_transformer", "attribute_ruler"}
#: The folders of the other members of a pipeline, before their number.
MEMBER: Final = "member"
#: The relation of a root. spaCy's own name is in capitals, whatever the treebank uses.
ROOT: Final = "root"


def load(
    model: str | Path,
    *,
    words: Literal["spacy", "jieba", "spaces", "penn"] | None = None,
    max_words: int = 200,
    batch: int = 64,
    certainty: float = 0.0,
) -> SpacyParser:
    """Load a parser with a pipeline.

    Args:
        model: the name of an installed pipeline such as "en_core_web_sm", or the path of one written by `train_spacy`
            or spaCy.
        words: how texts are split into words: by the pipeline's tokenizer, by `cut_words`, only at spaces, or into the
            words of the Penn treebank (`penn_words`). The default is the pipeline's tokenizer, or `cut_words` if that
            tokenizer would split Chinese into characters, as pipelines trained here do.
        max_words: longer sentences are refused as "too long".
        batch: number of sentences in a batch.
        certainty: a sentence whose heads are less certain than this, from 0 to 1, has no tree: see `agreement`. The
            pipeline must have been trained with `members`.

    Raises:
        ConfigError: the pipeline does not exist or has neither tagger nor parser, or an option is invalid.
        ArtifactError: the pipeline cannot be read.
    """
    require_limits("spacy", max_words=max_words, batch=batch)
    if not 0 <= certainty <= 1:
        raise ConfigError(f"certainty is {certainty}", where="spacy's options", remedy="give 0 to 1")
    folder, name = _located(str(model))
    nlp = _loaded(folder)
    if words is None:
        words = "jieba" if getattr(nlp.tokenizer, "segmenter", "") == "char" else "spacy"
    parts = [f"spacy {version('spacy')}", name]
    if words == "jieba":
        parts.append(f"words by jieba {version('jieba')}")
    if words in ("spaces", "penn"):
        parts.append(f"words by {words}")
    if not certainty:
        return SpacyParser(nlp, ", ".join(parts), words, max_words, batch)
    if not _factories(nlp) & _PARSERS:
        raise ConfigError(f"{name} finds no heads", where="spacy's certainty", remedy="leave it out")
    members = [SpacyParser(_loaded(path), "", words, max_words, batch) for path in sorted(folder.glob(f"{MEMBER}*"))]
    if not members:
        raise ConfigError(f"{name} has one member", where="spacy's certainty", remedy="train it with members: 2")
    parts.append(f"certainty {certainty}")
    return SpacyParser(nlp, ", ".join(parts), words, max_words, batch, certainty, members)


class _Meta(BaseModel):
    """The contents of a pipeline's `meta.json`."""

    lang: str
    name: str
    version: str


class SpacyParser:
    """A `Parser` that runs a spaCy pipeline; see `load`.

    Tags are universal if the pipeline has a component for them, else those of its tagger; a pipeline trained here has
    the tags of its treebank. Sentences are not split: of several roots, the first is kept and the others depend on it
    as `parataxis`. A pipeline without a parser gives only tags.
    """

    def __init__(
        self,
        nlp: Language,
        signature: str,
        words: Literal["spacy", "jieba", "spaces", "penn"] = "spacy",
        max_words: int = 200,
        batch: int = 64,
        certainty: float = 0.0,
        members: Sequence[SpacyParser] = (),
    ) -> None:
        self.signature = signature
        self._nlp = nlp
        self._words = words
        self._max_words = max_words
        self._batch = batch
        self._certainty = certainty
        self._members = members
        factories = _factories(nlp)
        self._universal = bool(factories & {"morphologizer", "attribute_ruler"})
        self._tagged = bool(factories & _TAGGERS)
        self._trees = bool(factories & _PARSERS)

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse | Refused]:
        """Words, tags, heads and relations of each sentence.

        White space separates words. Reasons for refusal are "empty", "too long", "tokens do not round-trip", and "no
        tree" (spaCy's deprojectivization gives a cycle).
        """
        results: list[Any] = [self._doc(sentence) for sentence in sentences]
        places = [place for place, result in enumerate(results) if not isinstance(result, Refused)]
        places.sort(key=lambda place: len(results[place]))
        docs = self._nlp.pipe((results[place] for place in places), batch_size=self._batch)
        for place, doc in zip(places, docs, strict=True):
            results[place] = self._parse_of(doc)
        if self._members and self._trees:
            parsed = [place for place in places if not isinstance(results[place], Refused)]
            words = [results[place].words for place in parsed]
            for place, *others in zip(parsed, *(member.parse(words) for member in self._members), strict=True):
                if agreement(results[place], others) < self._certainty:
                    results[place] = Parse(results[place].words, results[place].tags)
        return results

    def _doc(self, sentence: Sentence) -> Doc | Refused:
        """The sentence as a spaCy `Doc` of one sentence, or the reason to refuse it."""
        norms: list[str] = []
        if isinstance(sentence, str):
            text = "".join(sentence.split())
            if not text:
                return EMPTY
            if self._words == "jieba":
                words = cut_words(sentence)
            elif self._words == "spaces":
                words = sentence.split()
            elif self._words == "penn":
                found = penn_words(sentence)
                if found is None:
                    return NO_ROUND_TRIP
                words, text = list(found[0]), "".join(found[0])  # it compares them itself: " is `` or '' there
            else:
                tokens = [token for token in self._nlp.tokenizer(sentence) if not token.is_space]
                words, norms = [token.text for token in tokens], [token.norm_ for token in tokens]
            if "".join(words) != text:
                return NO_ROUND_TRIP
        else:
            words = list(sentence)
        if not words:
            return EMPTY
        if not are_words(words):
            return NO_ROUND_TRIP
        if len(words) > self._max_words:
            return TOO_LONG
        doc = one_sentence(self._nlp.vocab, words)
        for token, norm in zip(doc, norms, strict=False):
            if token.norm_ != norm:  # the tokenizer normalizes "n't" to "not"
                token.norm_ = norm
        return doc

    def _parse_of(self, doc: Doc) -> Parse | Refused:
        words = tuple(token.text for token in doc)
        tags: tuple[str, ...] = ()
        if self._tagged:
            tags = tuple((token.pos_ if self._universal else token.tag_) or "X" for token in doc)
        if not self._trees:
            return Parse(words, tags)
        heads = tuple(0 if token.head.i == token.i else token.head.i + 1 for token in doc)
        labels = tuple(token.dep_ if head else ROOT for token, head in zip(doc, heads, strict=True))
        tree, _ = attach_roots(Dependencies(words, tags, heads, labels))
        return Parse(words, tags, "", tree.heads, tree.labels) if mistake(tree.heads) is None else NO_TREE


def agreement(parse: Parse, others: Sequence[Parse | Refused]) -> float:
    """How certain the heads of a sentence are: the share of its words that have the same head in every other parse."""
    heads = [other.heads for other in others if isinstance(other, Parse)]
    if len(heads) < len(others):
        return 0.0
    same = [all(own == other[word] for other in heads) for word, own in enumerate(parse.heads)]
    return sum(same) / len(same)


def one_sentence(vocab: Vocab, words: Sequence[str]) -> Doc:
    """A `Doc` of these words that the parser must not split."""
    return Doc(vocab, words=list(words), sent_starts=[True, *[False] * (len(words) - 1)])


def use_numpy(nlp: Language) -> None:
    """Use numpy for matrix products. Thinc's default, blis, takes three times as long."""
    ops = NumpyOps(use_blis=False)
    for _, component in nlp.pipeline:
        if isinstance(model := getattr(component, "model", None), Model):
            for node in model.walk():
                node.ops = ops


def _factories(nlp: Language) -> set[str]:
    return {nlp.get_pipe_meta(name).factory for name in nlp.pipe_names}


def _located(model: str) -> tuple[Path, str]:
    """The folder of a pipeline, and its name in the signature."""
    folder = Path(model)
    if model and spacy.util.is_package(model):
        release = version(model)
        verify_installed(model)
        return Path(spacy.util.get_package_path(model)) / f"{model}-{release}", f"{model} {release}"
    if not model or not (folder / CONFIG).is_file():
        fetch = f"python -m spacy download {model}"
        raise no_model("spacy", model, fetch=fetch, train="backend spacy with a treebank")
    meta = read_json(folder / "meta.json", _Meta)
    name = "model" if meta["name"] == "pipeline" else f"{meta['lang']}_{meta['name']} {meta['version']}"
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return folder, f"{name} {digest([file_sha256(path) for path in files])[:8]}"


def _loaded(folder: Path) -> Language:
    """Load the needed components of the pipeline in a folder."""
    try:
        config = spacy.util.load_config(folder / CONFIG)
        parts = config["components"]
        unneeded = [name for name in config["nlp"]["pipeline"] if parts[name].get("factory") not in NEEDED]
        if config["nlp"].get("tokenizer", {}).get("segmenter") == "jieba":
            use_no_cache()
        nlp = spacy.util.load_model_from_path(folder, exclude=unneeded)
    except Exception as error:  # spaCy has no error of its own for what it cannot read, and as many as it has libraries
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise ArtifactError(
            f"cannot be read by spacy {version('spacy')} ({reason})", where=folder, remedy="make or fetch it again"
        ) from error
    if not _factories(nlp) & (_TAGGERS | _PARSERS):
        raise ConfigError("has neither a tagger nor a parser", where=folder, remedy="give another pipeline")
    use_numpy(nlp)
    return nlp
