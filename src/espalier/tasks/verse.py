"""Verse in given formats (SongNet), decoded in one of two modes.

free: words, marks, separators and the end mark are predicted.
frame: words and marks are predicted; separators, the end mark and literals are copied from the frame (released code).
`marks` also copies the punctuation; `rhyme` restricts the words of a rhyme letter to one rhyme group; `tone` restricts
words to the tone of their place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from espalier.corpora.linked import linked
from espalier.datasets.encoding import Settings
from espalier.datasets.verse.data import View
from espalier.datasets.vocabulary import EOS, PAD, SEP, UNK
from espalier.decoding.bounds import MAX_BEAM, MAX_TEMPERATURE, MAX_TOP_K
from espalier.io.errors import ConfigError
from espalier.tasks.baseline_rows import chance_seed
from espalier.tasks.integrity import VerseJudge
from espalier.tasks.random_words import RandomWords
from espalier.tasks.sequence_search import decode, prefixes
from espalier.tasks.task import (
    BaselineRow,
    Inputs,
    NGramRow,
    Outputs,
    Ready,
    RunOptions,
    Scoring,
    Segments,
    shown_settings,
)
from espalier.text.language import Language, is_mark, join_tokens
from espalier.verse.books import Book
from espalier.verse.ci_books import open_books
from espalier.verse.format import BLANK, RHYME, Format, fill, format_of
from espalier.verse.rhyme import Rule
from espalier.verse.sounds import Sounds
from espalier.verse.text import join_units, pattern_of

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

    from espalier.corpora.records import Verse
    from espalier.datasets.verse.data import VerseBatch, VerseData
    from espalier.datasets.verse.vocabulary import VerseVocabulary
    from espalier.decoding.beam import Hypothesis
    from espalier.decoding.constraints.constraint import Constraint
    from espalier.metrics.integrity import Judgement
    from espalier.metrics.metric import Metric
    from espalier.metrics.perplexity import Likelihood
    from espalier.verse.books import Books


class VerseDecoder(Settings):
    """How verse is decoded: `decoder` of a run in params.yaml."""

    mode: Literal["free", "frame"] = "free"
    #: In `frame`: copy the punctuation as well.
    marks: bool = False
    #: In `frame`: all words of a rhyme letter are of one rhyme group.
    rhyme: bool = False
    #: In `frame`: the book that `rhyme` rhymes by; its tones are those of `tone`.
    book: Book = "mandarin"
    #: In `frame`: words have the tone of their place, where the format says one.
    tone: bool = False
    method: Literal["top_k", "beam"] = "top_k"
    top_k: int = Field(32, ge=1, le=MAX_TOP_K)
    temperature: float = Field(1.0, gt=0, le=MAX_TEMPERATURE)
    beam: int = Field(5, ge=1, le=MAX_BEAM)
    length_power: float = Field(0.0, ge=0, le=10)
    #: In `free`: a text is at most this many tokens longer than its frame.
    slack: int = Field(8, ge=0, le=10_000)

    @property
    def needs_lexicon(self) -> bool:
        """Whether it keeps the rhymes or the tones of a printed book."""
        return self.book != "mandarin"

    @property
    def extra_tokens(self) -> int:
        """The number of tokens by which a text may be longer than its frame."""
        return self.slack if self.mode == "free" else 0


class VerseScoring(Scoring):
    """How verse is scored."""

    #: The rules that the format is scored by (SongNet, section 4.3).
    rules: Literal["songci", "sonnet"]
    #: When English words rhyme (`espalier.verse.rhyme.rhymes`).
    rhyme_rule: Rule = "strict"


class VerseTask:
    """Texts in the formats of a corpus's poems."""

    encodings = ("verse",)
    decoder, scoring = VerseDecoder, VerseScoring
    dev_likelihood = True
    judge = VerseJudge()
    likelihood_columns = ("nll", "tokens", "word_nll", "words")

    def check(self, decoder: VerseDecoder, network: Any, dataset: Any, samples: int) -> None:
        """A text must fit the model's positions, and a free one keeps nothing of its frame."""
        kept = [name for name in ("marks", "rhyme", "tone") if getattr(decoder, name)]
        if decoder.mode == "free" and kept:
            raise ConfigError(f"free texts keep no {kept[0]}", where=f"decoder.{kept[0]}", remedy="mode: frame")
        if (tokens := dataset.max_tokens + decoder.extra_tokens) > network.positions:
            raise ConfigError(
                f"texts of up to {tokens} tokens, of a model that has {network.positions} positions",
                where="decoder",
                remedy="raise the model's network.positions, or lower the dataset's max_tokens or decoder.slack",
            )

    def ngrams(self, vocabulary: Any) -> Mapping[str, NGramRow]:
        """One that reads no frame."""
        return {"ngram": NGramRow(View())}

    def writes_words(self, language: Language) -> bool:
        """Units are cut into words by the parser."""
        return False

    def needs_annotation(self, network: Any, dataset: Any) -> bool:
        """Verse is scored without parses."""
        return False

    # --- Decoding ----------------------------------------------------------------------------------------------------

    def inputs(self, ready: Ready, model: Any, decoder: VerseDecoder, options: RunOptions, seed: int) -> list[Inputs]:
        """Each format `samples` times. Poems of one tune, and those of one format, are one cluster."""
        import numpy as np

        language = ready.data.vocabulary.language
        clusters = clusters_of(ready.records)
        rows = [
            [
                {
                    "id": record.id,
                    "cluster": cluster,
                    "sample": sample,
                    "tune": record.tune,
                    "format": str(format_of(record.target, language, record.rhyme)),
                    "rhyme": record.rhyme,
                    "reference": record.target,
                }
            ]
            for record, cluster in zip(ready.records, clusters, strict=True)
            for sample in range(options.samples)
        ]
        data = self._with_tones(ready) if decoder.tone else ready.data
        prompts = np.repeat(np.arange(len(ready.records)), options.samples)
        if decoder.mode == "free":
            return [Inputs(data, prompts, rows)]
        books = None
        if decoder.needs_lexicon and options.lexicon is not None:
            books = open_books(options.lexicon).sounds
        constraint = verse_constraint(decoder, ready.data.vocabulary, books)

        def check() -> None:
            for place, id_ in enumerate(data.ids):
                try:
                    constraint.start(data.batch(np.array([place]), View()))
                except ConfigError as error:
                    raise ConfigError(error.what, where=f"record {id_}, {error.where}", remedy=error.remedy) from error

        return [Inputs(data, prompts, rows, given={"books": books}, check=check)]

    def _with_tones(self, ready: Ready) -> VerseData:
        """The rows with the tones that their records ask for (`tones`: one sign per word).

        Raises:
            ConfigError: no record has any, or they do not fit its words.
        """
        from dataclasses import replace

        from espalier.datasets.ragged import Ragged
        from espalier.datasets.verse.frames import frame_of

        signs = [getattr(record, "tones", "") for record in ready.records]
        if not any(signs):
            remedy = "take a corpus that reads couyun: also_1: raw/forms"
            raise ConfigError("no record has tones", where="decoder.tone", remedy=remedy)
        vocabulary = ready.data.vocabulary
        frames = [
            frame_of(format_of(record.target, vocabulary.language, record.rhyme, tones), vocabulary)
            for record, tones in zip(ready.records, signs, strict=True)
        ]
        return replace(ready.data, columns=ready.data.columns | {"tone": Ragged.of([frame.tone for frame in frames])})

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
            books: where other rhyme books than Mandarin are read from.

        Raises:
            ConfigError: no text of the model meets a frame.
        """
        constraint = verse_constraint(decoder, model.vocabulary, books)
        max_ids = batch.c.shape[1] + decoder.extra_tokens
        return decode(model, batch, decoder, seeds, constraint, max_ids)

    def columns(
        self, hypothesis: Hypothesis | None, row: Mapping[str, Any], model: Any, decoder: VerseDecoder
    ) -> dict[str, Any]:
        """The text; in `frame` with the reference's marks, even those that the vocabulary does not have."""
        language = model.vocabulary.language
        format_ = format_of(row["reference"], language, row["rhyme"]) if decoder.mode == "frame" else None
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
        """Nothing."""
        return {}

    def baselines(self, table: pd.DataFrame, ready: Ready, train: VerseData, seed: int) -> Mapping[str, BaselineRow]:
        """The reference poems, and training words drawn at random into their formats."""
        from espalier.metrics.verse import KEYS

        language = train.vocabulary.language
        poems = zip(table["reference"], table["rhyme"], strict=True)
        formats = [format_of(reference, language, rhyme) for reference, rhyme in poems]
        seeds = [chance_seed(seed, id_, sample) for id_, sample in zip(table["id"], table["sample"], strict=True)]
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
        """Format, rhyme, variety, Integrity and perplexity of each text; perplexity of each poem of the dev split.

        Format, rhyme and perplexity also of the texts whose format the training split has, and of those with a new one.
        With a rhyme book the rows have the columns of `marked_places` too.
        """
        from espalier.metrics.integrity import integrity_families
        from espalier.metrics.perplexity import perplexity_statistics
        from espalier.metrics.prosody import marked_places
        from espalier.metrics.verse import by_format, verse_statistics

        table, dev = outputs.table, outputs.dev
        keys = ["id", "cluster", "seed", "sample"]
        families = verse_statistics(
            table["reference"].tolist(),
            table["text"].tolist(),
            table["rhyme"].tolist(),
            language=outputs.language,
            rules=scoring.rules,
            seed=outputs.seed,
            likelihood=_likelihood(table),
            draws=table.groupby(["seed", "sample"]).ngroup().tolist(),
            rule=scoring.rhyme_rule,
            tunes=table["tune"].tolist() if outputs.lexicon is not None else None,
            books=outputs.lexicon,
        )
        families |= integrity_families(_judgement(table), table["seed"].tolist(), table["sample"].tolist())
        train = outputs.train() if outputs.train is not None else None
        if train is not None and len(train):
            families |= by_format(families, train.has_formats(table["reference"].tolist()))
        places: dict[str, list[str]] = {}
        if "prosody" in families and outputs.lexicon is not None:
            places = marked_places(table["tune"].tolist(), table["text"].tolist(), outputs.lexicon)
        test = Segments(table[keys].assign(**places), families)
        return (
            [test]
            if dev is None
            else [test, Segments(dev[keys], {"perplexity:dev": perplexity_statistics(_likelihood(dev))})]
        )

    def metrics(self, family: str) -> tuple[Metric, ...]:
        """The metrics of verse."""
        from espalier.metrics.verse import metrics_of

        return metrics_of(family)

    def headline(self, outputs: Outputs) -> Mapping[str, str]:
        """Perplexity, format, rhyme, variety."""
        from espalier.metrics.verse import HEADLINE

        return HEADLINE

    def counts(self, outputs: Outputs, scoring: Any) -> dict[str, int]:
        """Different texts, of which a search that draws nothing writes one for each frame; clusters.

        With a rhyme book, the poems that have a tune of the form book, and those that fit a variant of it.
        """
        from espalier.metrics.prosody import fitting

        table = outputs.table
        counts = {"distinct": int(table["text"].nunique()), "clusters": int(table["cluster"].nunique())}
        if outputs.lexicon is None or outputs.language != "zh":
            return counts
        poems = table.drop_duplicates("id")
        return counts | dict(fitting(poems["tune"].tolist(), poems["reference"].tolist(), outputs.lexicon))

    def settings(self, decoder: VerseDecoder, network: Any, samples: int, guidance: str | None) -> dict[str, Any]:
        """Those that the method or the mode does not use are None or left out."""
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


def clusters_of(records: Sequence[Verse]) -> list[str]:
    """For each poem the id of one poem of its cluster: poems of one tune are alike, and so are those of one format.

    A search that draws nothing writes one text into all frames of one format, so that a poem more is no new evidence.
    Where all poems have one tune, such as sonnets, the format alone counts.
    """
    formats = [("format", pattern_of(record.target, "zh" if record.language == "zh" else "en")) for record in records]
    tunes = [("tune", record.family or record.tune) for record in records]
    clusters = linked(len(records), [*([tunes] if len(set(tunes)) > 1 else []), formats])
    return [records[place].id for place in clusters]


def _likelihood(table: pd.DataFrame) -> Likelihood:
    from espalier.metrics.perplexity import Likelihood

    return Likelihood(*(table[name].tolist() for name in VerseTask.likelihood_columns))


def _judgement(table: pd.DataFrame) -> Judgement:
    """What the judge said; where there was none, of no mark."""
    from espalier.metrics.integrity import Judgement

    columns = [*VerseTask.judge.columns, *(f"reference_{name}" for name in VerseTask.judge.columns[:2])]
    return Judgement(*(table[name].tolist() if name in table else [0] * len(table) for name in columns))


def verse_constraint(decoder: VerseDecoder, vocabulary: VerseVocabulary, books: Books | None = None) -> Constraint:
    """The constraint of a decoder's settings.

    Args:
        books: where other rhyme books than Mandarin are read from.

    Raises:
        ConfigError: the decoder's book is not given, or is not of the vocabulary's language.
    """
    from espalier.decoding.constraints.frame import InFrame, Within
    from espalier.decoding.constraints.rhyme import InRhyme

    if decoder.mode == "free":
        return Within(vocabulary, decoder.slack)
    frame = InFrame(vocabulary, decoder.marks, Sounds(vocabulary.language, decoder.book, decoder.tone, books))
    return InRhyme(frame) if decoder.rhyme else frame


def text_of(ids: Sequence[int], vocabulary: VerseVocabulary, format_: Format | None = None) -> str:
    """The verse of ids. With `format_`, its literals are written as given, even those that the vocabulary lacks."""
    units: list[list[str]] = [[]]
    for identity in ids:
        if identity == SEP:
            units.append([])
        else:
            units[-1].append(vocabulary.token(identity))
    if not units[-1]:
        units.pop()
    if format_ is not None:
        units = [
            [
                word if slot in (BLANK, RHYME) or (is_mark(slot) and word != vocabulary.token(UNK)) else slot
                for word, slot in zip(unit, slots, strict=False)
            ]
            for unit, slots in zip(units, format_.units, strict=False)
        ]
    return join_units(join_tokens(unit, vocabulary.language) for unit in units)
