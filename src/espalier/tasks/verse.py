"""Verse in given formats (SongNet): decoding and scoring."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

from espalier.datasets.verse.data import VerseBatch, VerseData, View
from espalier.datasets.vocabulary import EOS, PAD, SEP
from espalier.metrics.family import statistics_of
from espalier.metrics.perplexity import Perplexity, perplexity_statistics
from espalier.metrics.prosody import Prosody, fitting, marked_places
from espalier.metrics.texts import MarkLikelihoods, Verses
from espalier.metrics.verse import HEADLINE, by_format, verse_families
from espalier.metrics.verse_format import FormatAccuracy
from espalier.tasks.chance import RandomWords, chance_seeds
from espalier.tasks.data import SEGMENT_COLUMNS, BaselineRow, Inputs, NGramRow, Outputs, Ready, RunOptions, Segments
from espalier.tasks.integrity import VerseJudge
from espalier.tasks.likelihood import BY_WORDS, by_words, corpus_likelihood
from espalier.tasks.sequence_search import decode
from espalier.tasks.settings import Scoring
from espalier.tasks.task import Task
from espalier.tasks.verse_search import VerseDecoder, inputs_of, text_of, verse_constraint
from espalier.text.language import Language
from espalier.verse.format import fill, format_of
from espalier.verse.rhyme import Rule
from espalier.verse.text import tokens_by_unit

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

    from espalier.corpora.records import Verse
    from espalier.datasets.verse.vocabulary import VerseVocabulary
    from espalier.decoding.beam import Hypothesis
    from espalier.tasks.verse_search import VerseModel
    from espalier.verse.books import Books


#: Reads each text and its reference (`Integrity`).
JUDGE: Final = VerseJudge()


class VerseScoring(Scoring):
    """Settings of scoring verse."""

    #: The rules that the format is scored by (SongNet, section 4.3).
    rules: Literal["songci", "sonnet"]
    #: When English words rhyme (`espalier.verse.rhyme.rhymes`).
    rhyme_rule: Rule = "strict"


def _mark_likelihoods(table: pd.DataFrame) -> MarkLikelihoods:
    """The values of the judge; zero marks if there was no judge."""
    columns = [*JUDGE.columns, *(f"reference_{name}" for name in JUDGE.columns[:2])]
    return MarkLikelihoods(*(table[name].tolist() if name in table else [0] * len(table) for name in columns))


class VerseTask(Task):
    """Texts in the formats of a corpus's poems."""

    encodings = ("verse",)
    decoder, scoring = VerseDecoder, VerseScoring
    dev_likelihood = True
    judge = JUDGE
    likelihood_columns = BY_WORDS

    def ngrams(self, vocabulary: VerseVocabulary) -> Mapping[str, NGramRow[View]]:
        """An n-gram model that reads no frame."""
        return {"ngram": NGramRow(View())}

    def writes_words(self, language: Language) -> bool:
        """Never: the parser segments units into words."""
        return False

    # --- Decoding ----------------------------------------------------------------------------------------------------

    def inputs(
        self, ready: Ready[Verse, VerseData], model: VerseModel, decoder: VerseDecoder, options: RunOptions, seed: int
    ) -> Iterator[Inputs[VerseData, Hypothesis]]:
        """Each format `samples` times. Poems of one tune, and poems of one format, form one cluster."""
        return inputs_of(ready, decoder, options)

    def generate(
        self,
        model: VerseModel,
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
        self, hypothesis: Hypothesis | None, row: Mapping[str, Any], model: VerseModel, decoder: VerseDecoder
    ) -> dict[str, Any]:
        """The text. In the mode `frame` it has the marks of the reference, even unknown ones."""
        language = model.vocabulary.language
        format_ = None
        if decoder.mode == "frame":
            format_ = format_of(row["reference"], language, row["rhyme"])
            if "template" in row:
                format_ = replace(format_, units=tuple(map(tuple, tokens_by_unit(row["template"], language))))
        return {"text": text_of(hypothesis.tokens if hypothesis else [], model.vocabulary, format_)}

    def likelihood(self, model: VerseModel, batch: VerseBatch) -> dict[str, Tensor]:
        """Nats and counts of all targets, and of words."""
        import torch

        vocabulary = model.vocabulary
        is_word = torch.ones(vocabulary.text_size, dtype=torch.bool, device=batch.device)
        is_word[[PAD, SEP, EOS, *vocabulary.mark_ids.tolist()]] = False
        return by_words(model.token_losses(batch), batch, is_word[batch.target])

    def baselines(
        self, table: pd.DataFrame, ready: Ready[Verse, VerseData], train: VerseData, seed: int
    ) -> Mapping[str, BaselineRow]:
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
                given=tuple(metric.name for metric in FormatAccuracy("songci").metrics),
            ),
        }

    # --- Scoring -----------------------------------------------------------------------------------------------------

    def statistics(self, outputs: Outputs[VerseData], scoring: VerseScoring) -> list[Segments]:
        """Format, rhyme, variety, Integrity and perplexity of each text; perplexity of each poem of the dev split.

        Format, rhyme and perplexity are also computed separately for texts whose format occurs in training and for
        texts with a new format. With a rhyme book, rows also have the columns of `marked_places`. If formats keep
        words, there are statistics of the kept words.
        """
        table, dev = outputs.table, outputs.dev
        keys = list(SEGMENT_COLUMNS)
        verses = Verses(
            table["reference"].tolist(),
            table["text"].tolist(),
            table["rhyme"].tolist(),
            language=outputs.language,
            likelihood=corpus_likelihood(table),
            draws=table.groupby(["seed", "sample"]).ngroup().tolist(),
            tunes=table["tune"].tolist() if outputs.lexicon is not None else None,
            books=outputs.lexicon,
            templates=table["template"].tolist() if "template" in table else None,
            marks=_mark_likelihoods(table),
            seeds=table["seed"].tolist(),
            samples=table["sample"].tolist(),
        )
        wanted = verse_families(verses, rules=scoring.rules, seed=outputs.seed, rule=scoring.rhyme_rule)
        families = statistics_of(wanted, verses)
        if (train := outputs.training()) is not None:
            families |= by_format(families, train.has_formats(table["reference"].tolist()))
        places: dict[str, list[str]] = {}
        if Prosody() in families and outputs.lexicon is not None:
            places = marked_places(table["tune"].tolist(), table["text"].tolist(), outputs.lexicon)
        test = Segments(table[keys].assign(**places), families)
        if dev is None:
            return [test]
        return [test, Segments(dev[keys], {Perplexity("dev"): perplexity_statistics(corpus_likelihood(dev))})]

    def headline(self, outputs: Outputs[VerseData]) -> Mapping[str, str]:
        """Perplexity, format, rhyme, variety."""
        return HEADLINE

    def counts(self, outputs: Outputs[VerseData], scoring: VerseScoring) -> dict[str, int]:
        """The numbers of distinct texts and clusters. A deterministic search writes one text for each frame.

        With a rhyme book, also the numbers of poems whose tune is in the form book, and of those that fit a variant.
        """
        table = outputs.table
        counts = {"distinct": int(table["text"].nunique()), "clusters": int(table["cluster"].nunique())}
        if outputs.lexicon is None or outputs.language != "zh":
            return counts
        poems = table.drop_duplicates("id")
        return counts | dict(fitting(poems["tune"].tolist(), poems["reference"].tolist(), outputs.lexicon))
