"""Verse in given formats (SongNet)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from espalier.datasets.verse.data import View
from espalier.datasets.vocabulary import EOS, PAD, SEP
from espalier.io.errors import ConfigError
from espalier.metrics.verse import HEADLINE, KEYS
from espalier.tasks.chance import chance_seeds
from espalier.tasks.random_words import RandomWords
from espalier.tasks.sequence_search import decode, prefixes
from espalier.tasks.task import BaselineRow, Inputs, NGramRow, Outputs, Ready, RunOptions, Segments, shown_settings
from espalier.tasks.verse_scoring import JUDGE, LIKELIHOOD, VerseScoring, counts_of, segments_of
from espalier.tasks.verse_search import VerseDecoder, inputs_of, text_of, verse_constraint
from espalier.text.language import Language
from espalier.verse.format import fill, format_of
from espalier.verse.text import tokens_by_unit

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

    from espalier.datasets.verse.data import VerseBatch, VerseData
    from espalier.decoding.beam import Hypothesis
    from espalier.verse.books import Books


class VerseTask:
    """Texts in the formats of a corpus's poems."""

    encodings = ("verse",)
    decoder, scoring = VerseDecoder, VerseScoring
    dev_likelihood = True
    judge = JUDGE
    likelihood_columns = LIKELIHOOD

    def check(self, decoder: VerseDecoder, network: Any, dataset: Any, samples: int) -> None:
        """Check that texts fit, that free texts keep nothing of the frame, and that kept words are used."""
        kept = [name for name in ("marks", "rhyme", "tone") if getattr(decoder, name)]
        if decoder.mode == "free" and kept:
            raise ConfigError(f"free texts keep no {kept[0]}", where=f"decoder.{kept[0]}", remedy="mode: frame")
        if decoder.literals and decoder.tone:
            raise ConfigError("kept words have their own tones", where="decoder.tone", remedy="tone: false")
        if decoder.literals and decoder.mode == "free" and "c" not in getattr(network, "symbols", "c"):
            raise ConfigError(
                "the model reads no C symbols, and so no kept words", where="decoder.literals", remedy="mode: frame"
            )
        if (tokens := dataset.max_tokens + decoder.extra_tokens) > network.positions:
            raise ConfigError(
                f"texts of up to {tokens} tokens, of a model that has {network.positions} positions",
                where="decoder",
                remedy="raise the model's network.positions, or lower the dataset's max_tokens or decoder.slack",
            )

    def ngrams(self, vocabulary: Any) -> Mapping[str, NGramRow]:
        """An n-gram model that reads no frame."""
        return {"ngram": NGramRow(View())}

    def writes_words(self, language: Language) -> bool:
        """Never: the parser segments units into words."""
        return False

    def needs_annotation(self, network: Any, dataset: Any) -> bool:
        """Never: verse is scored without parses."""
        return False

    # --- Decoding ----------------------------------------------------------------------------------------------------

    def inputs(self, ready: Ready, model: Any, decoder: VerseDecoder, options: RunOptions, seed: int) -> list[Inputs]:
        """Each format `samples` times. Poems of one tune, and poems of one format, form one cluster."""
        return [inputs_of(ready, decoder, options)]

    def prefixes(self, decoder: VerseDecoder) -> int:
        """The beam size; 1 for sampling."""
        return prefixes(decoder)

    def generate(
        self,
        model: Any,
        batch: VerseBatch,
        decoder: VerseDecoder,
        seeds: Sequence[int],
        books: Books | None = None,
    ) -> list[list[Hypothesis]]:
        """The texts for each frame of the batch: one by sampling, at most `beam` by search.

        Args:
            books: source of the rhyme books other than Mandarin.

        Raises:
            ConfigError: no text of the vocabulary fits a frame.
        """
        constraint = verse_constraint(decoder, model.vocabulary, books)
        max_ids = batch.c.shape[1] + decoder.extra_tokens
        return decode(model, batch, decoder, seeds, constraint, max_ids)

    def columns(
        self, hypothesis: Hypothesis | None, row: Mapping[str, Any], model: Any, decoder: VerseDecoder
    ) -> dict[str, Any]:
        """The text. In the mode `frame` it has the marks of the reference, even unknown ones."""
        language = model.vocabulary.language
        format_ = None
        if decoder.mode == "frame":
            format_ = format_of(row["reference"], language, row["rhyme"])
            if "template" in row:
                format_ = replace(format_, units=tuple(map(tuple, tokens_by_unit(row["template"], language))))
        return {"text": text_of(hypothesis.tokens if hypothesis else [], model.vocabulary, format_)}

    def likelihood(self, model: Any, batch: VerseBatch) -> dict[str, Tensor]:
        """Nats and counts of all targets, and of words."""
        import torch

        vocabulary = model.vocabulary
        is_word = torch.ones(vocabulary.text_size, dtype=torch.bool, device=batch.device)
        is_word[[PAD, SEP, EOS, *vocabulary.mark_ids.tolist()]] = False
        losses, words = model.token_losses(batch).double(), is_word[batch.target]
        return {
            "nll": losses.sum(1),
            "tokens": batch.real.sum(1),
            "word_nll": (losses * words).sum(1),
            "words": words.sum(1),
        }

    def facts(self, model: Any) -> dict[str, str]:
        """An empty mapping."""
        return {}

    def baselines(self, table: pd.DataFrame, ready: Ready, train: VerseData, seed: int) -> Mapping[str, BaselineRow]:
        """The reference poems, and random training words in their formats."""
        language = train.vocabulary.language
        poems = zip(table["reference"], table["rhyme"], strict=True)
        formats = [format_of(reference, language, rhyme) for reference, rhyme in poems]
        seeds = chance_seeds(table, seed)
        words = RandomWords(train)
        texts = [fill(each, words.draw(each.blanks, own)) for each, own in zip(formats, seeds, strict=True)]
        return {
            "human": BaselineRow("the reference", {"text": table["reference"].tolist()}, trivial=False),
            "chance": BaselineRow(
                "training words drawn at random into the reference's format",
                {"text": texts},
                given=tuple(key for key in KEYS if key.startswith("format_")),
            ),
        }

    # --- Scoring -----------------------------------------------------------------------------------------------------

    def statistics(self, outputs: Outputs, scoring: VerseScoring) -> list[Segments]:
        """Format, rhyme, variety, Integrity and perplexity of each text; perplexity of each poem of the dev split."""
        return segments_of(outputs, scoring)

    def headline(self, outputs: Outputs) -> Mapping[str, str]:
        """Perplexity, format, rhyme, variety."""
        return HEADLINE

    def counts(self, outputs: Outputs, scoring: Any) -> dict[str, int]:
        """The numbers of distinct texts and clusters; with a rhyme book, of poems that fit the form of their tune."""
        return counts_of(outputs)

    def settings(self, decoder: VerseDecoder, network: Any, samples: int, guidance: str | None) -> dict[str, Any]:
        """The settings to show. Settings that the method or mode does not use are None or left out."""
        beam = decoder.method == "beam"
        never = ["mode", "marks", "rhyme", "book", "tone", "method", "top_k", "temperature" if beam else "length_power"]
        return {
            "protocol": decoder.mode,
            "decoder": "beam" if beam else "top-k",
            "k": None if beam else decoder.top_k,
            "beam": decoder.beam if beam else None,
            "constraints": [name for name in ("marks", "rhyme", "tone") if getattr(decoder, name)],
            **({} if decoder.book == "mandarin" else {"book": decoder.book}),
            **shown_settings(decoder, (), [*never, "beam", *([] if decoder.mode == "free" else ["slack"])]),
            "samples": samples if samples > 1 else None,
        }
