"""Texts under the structure of a template (SAT): continued from a prompt, or written from the start.

The prompt is the beginning of the template, 0 to half of its tokens. Its length is drawn with the record's id as seed,
so it is the same for all models. Every text starts with its prompt; with `frame`, its length including the end mark
equals that of the template.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from espalier.datasets.structure.data import StructureBatch, StructureData, StructureView
from espalier.datasets.structure.encode import StructureSettings, words_and_tags
from espalier.datasets.structure.structures import STRUCTURES
from espalier.datasets.vocabulary import EOS, SPECIALS
from espalier.io.errors import ConfigError
from espalier.metrics.family import statistics_of
from espalier.metrics.structure import HEADLINE, Likelihood, library_scores, likelihood_statistics, structure_families
from espalier.metrics.texts import Structured
from espalier.tasks.chance import chance_seeds, known_rows
from espalier.tasks.compose_decoder import ComposeDecoder, ComposeModel
from espalier.tasks.data import SEGMENT_COLUMNS, BaselineRow, Inputs, NGramRow, Outputs, Ready, RunOptions, Segments
from espalier.tasks.likelihood import BY_WORDS, by_words, corpus_likelihood
from espalier.tasks.sequence_search import decode
from espalier.tasks.settings import Scoring
from espalier.tasks.task import Task
from espalier.text.language import Language, join_tokens, tokens_of

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

    from espalier.corpora.records import Sentence
    from espalier.datasets.structure.vocabulary import StructureVocabulary
    from espalier.decoding.beam import Hypothesis
    from espalier.models.contract import NetworkSettings


class ComposeScoring(Scoring):
    """Settings of scoring."""

    #: The places of a padded text, for the perplexity that counts padding; 0 leaves it out.
    padded: int = Field(0, ge=0, le=65_536)


class ComposeTask(Task):
    """One text for the template of each record."""

    encodings = ("structure",)
    decoder, scoring = ComposeDecoder, ComposeScoring
    dev_likelihood = True
    likelihood_columns = (*BY_WORDS, "own_weight")

    def ngrams(self, vocabulary: StructureVocabulary) -> Mapping[str, NGramRow[StructureView]]:
        """N-gram models as baselines: without structures, with each structure, and with all structures.

        Histories have four words or three characters, or three words with a structure. A longer history lowers dev
        perplexity by less than 2 %. All use modified Kneser-Ney smoothing.
        """
        words = vocabulary.language == "en"
        rows = {"ngram": NGramRow(StructureView(), 5 if words else 4, discounts=3)}
        names = vocabulary.structures
        for given in [*((name,) for name in names), *([names] if len(names) > 1 else [])]:
            reads = f"the {' and '.join(given)} of the next token"
            rows["_".join(["ngram", *given])] = NGramRow(StructureView(given), 4, reads, discounts=3)
        return rows

    def writes_words(self, language: Language) -> bool:
        """English words are passed to the parser. Chinese lines are segmented into words anew."""
        return language == "en"

    def needs_annotation(self, network: NetworkSettings[StructureView], dataset: StructureSettings) -> bool:
        """The tagger of the corpus finds the structures of written texts."""
        return True

    # --- Decoding ----------------------------------------------------------------------------------------------------

    def inputs(
        self,
        ready: Ready[Sentence, StructureData],
        model: ComposeModel,
        decoder: ComposeDecoder,
        options: RunOptions,
        seed: int,
    ) -> Iterator[Inputs[StructureData, Hypothesis]]:
        """Each template `samples` times. Texts of one group, such as a song, form one cluster.

        Raises:
            ConfigError: a text and its topic may be longer than the model's positions.
        """
        tokens, positions = ready.data.longest(model.config.view) + decoder.extra_tokens, model.config.positions
        if tokens > positions:
            raise ConfigError(
                f"topics and texts of up to {tokens} tokens, of a model that has {positions} positions",
                where="network.positions",
                remedy="raise it, or lower decoder.slack",
            )
        language = ready.data.vocabulary.language
        for _, part in ready.parts(options.at_once):
            given = [0] * len(part.records)
            if decoder.prompt == "continue":
                given = part.data.columns["prompt"].flat.tolist()
            rows = [
                [
                    {
                        "id": record.id,
                        "cluster": record.group or record.id,
                        "sample": sample,
                        "prompt": prompt,
                        "reference": join_tokens(_tokens(record), language),
                        "reference_words": record.target_words,
                        "reference_tags": record.target_tags,
                    }
                ]
                for record, prompt in zip(part.records, given, strict=True)
                for sample in range(options.samples)
            ]
            yield Inputs(part.data, np.repeat(np.arange(len(part.records)), options.samples), rows)

    def generate(
        self, model: ComposeModel, batch: StructureBatch, decoder: ComposeDecoder, seeds: Sequence[int]
    ) -> list[list[Hypothesis]]:
        """The texts for each template of the batch, including prompts: one by sampling, `beam` by search."""
        from espalier.decoding.constraints.template import TemplateConstraint

        constraint = TemplateConstraint(
            model.vocabulary, prompt=decoder.prompt == "continue", slack=decoder.slack, frame=decoder.frame
        )
        max_ids = batch.target.shape[1] + decoder.extra_tokens
        return decode(model, batch, decoder, seeds, constraint, max_ids)

    def columns(
        self, hypothesis: Hypothesis | None, row: Mapping[str, Any], model: ComposeModel, decoder: ComposeDecoder
    ) -> dict[str, Any]:
        """The text. Its prompt is kept as given, even if the vocabulary lacks a token."""
        vocabulary = model.vocabulary
        prompt = tokens_of(row["reference"], vocabulary.language)[: row["prompt"]]
        ids = hypothesis.tokens[len(prompt) :] if hypothesis else []
        return {"text": join_tokens([*prompt, *map(vocabulary.token, ids)], vocabulary.language)}

    def likelihood(self, model: ComposeModel, batch: StructureBatch) -> dict[str, Tensor]:
        """Nats and counts of all targets, and without end marks; and the attention weight on the own symbol.

        `own_weight` is the weight of the best head; 0 if the model does not attend to symbols.
        """
        import torch

        own = torch.zeros(len(batch), device=batch.device)
        if hasattr(model, "own_weights") and (weights := model.own_weights(batch)).shape[1]:
            own = weights.flatten(1).amax(1)
        words = batch.real & (batch.target != EOS)
        return by_words(model.token_losses(batch), batch, words) | {"own_weight": own}

    def facts(self, model: ComposeModel) -> dict[str, str]:
        """The structures of the dataset, which are scored even if the model does not read them."""
        return {"structures": " ".join(model.vocabulary.structures)}

    def baselines(
        self, table: pd.DataFrame, ready: Ready[Sentence, StructureData], train: StructureData, seed: int
    ) -> Mapping[str, BaselineRow]:
        """Tagged references (a ceiling of the structures), random training lines, and topic words (floors).

        Topic words are in the order in which a model reads them. They are words of the reference, so they are a floor
        only for models that read them.
        """
        language = train.vocabulary.language

        def behind_prompts(rests: Iterable[Iterable[int]]) -> dict[str, list[str]]:
            texts = []
            for reference, given, rest in zip(table["reference"], table["prompt"], rests, strict=True):
                prompt = tokens_of(reference, language)[:given]
                texts.append(join_tokens([*prompt, *map(train.vocabulary.token, rest)], language))
            return {"text": texts}

        known = train.columns["target"].select(known_rows(train.columns["target"]))
        seeds = chance_seeds(table, seed)
        lines = (known.row(own % len(known.lengths)) for own in seeds)
        # After the prompt the line goes on at the same place.
        goes_on = (line[given:] for line, given in zip(lines, table["prompt"], strict=True))
        rows = {
            "human": BaselineRow("the reference, tagged again", {"text": table["reference"].tolist()}, trivial=False),
            "chance": BaselineRow(
                "a training line drawn at random", behind_prompts(goes_on), given=("in_training", "lines_in_training")
            ),
        }
        if (topics := ready.data.columns["topic"]).flat.size:
            places = {id_: place for place, id_ in enumerate(ready.data.ids)}
            # Without [TOPIC], and without the mark of unknown words.
            words = ([word for word in topics.row(places[id_]) if word >= len(SPECIALS)] for id_ in table["id"])
            rows["topics"] = BaselineRow("the topic words", behind_prompts(words), reads=("topic",))
        return rows

    # --- Scoring -----------------------------------------------------------------------------------------------------

    def statistics(self, outputs: Outputs[StructureData], scoring: ComposeScoring) -> list[Segments]:
        """Likelihood, BLEU of text and structures, length and variety of each text; likelihood of the dev split."""
        table, dev, language, train = outputs.table, outputs.dev, outputs.language, outputs.training()
        parses = outputs.parses()
        names = outputs.facts["structures"].split()
        wanted = _symbols(names, table["reference_words"].tolist(), table["reference_tags"].tolist(), language)
        found = _symbols(names, parses["target_words"].tolist(), parses["target_tags"].tolist(), language)
        texts = Structured(
            [tokens_of(text, language) for text in table["reference"]],
            [tokens_of(text, language) for text in table["text"]],
            table["prompt"].tolist(),
            {name: (wanted[name], found[name]) for name in names},
            likelihood=corpus_likelihood(table),
            own_weights=table["own_weight"].tolist(),
            draws=table.groupby(["seed", "sample"]).ngroup().tolist(),
            training=_Lines(train) if train is not None else None,
        )
        keys = list(SEGMENT_COLUMNS)
        tagged = {"text_words": parses["target_words"].tolist(), "text_tags": parses["target_tags"].tolist()}
        families = statistics_of(structure_families(texts, places=scoring.padded), texts)
        test = Segments(table[keys].assign(**tagged), families, library_scores(texts))
        if dev is None:
            return [test]
        statistics = likelihood_statistics(corpus_likelihood(dev), scoring.padded)
        return [test, Segments(dev[keys], {Likelihood(scoring.padded, "dev"): statistics})]

    def headline(self, outputs: Outputs[StructureData]) -> Mapping[str, str]:
        """Perplexity, BLEU of text and of structures, length, and the share of lines that occur in training."""
        return HEADLINE

    def counts(self, outputs: Outputs[StructureData], scoring: ComposeScoring) -> dict[str, int]:
        """The numbers of clusters, and of texts that could not be tagged, whose structures count as wrong."""
        return {
            "clusters": int(outputs.table["cluster"].nunique()),
            "not parsed": int((outputs.parses()["reason"] != "").sum()),
        }


def _tokens(record: Sentence) -> list[str]:
    words, _ = words_and_tags(record)
    return [token for word in words for token in word]


class _Lines(Iterable[tuple[str, ...]]):
    """The tokens of each training text, which are not kept."""

    def __init__(self, train: StructureData) -> None:
        self._train = train

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        target, token = self._train.columns["target"], self._train.vocabulary.token
        return (tuple(map(token, target.row(place))) for place in range(len(self._train)))


def _symbols(
    names: Sequence[str], words: Sequence[str], tags: Sequence[str], language: Language
) -> dict[str, list[list[str]]]:
    """For each structure, the symbols of the tokens of each text; empty for texts that could not be tagged."""
    rows = [
        ([tokens_of(word, language) for word in own_words.split()], own_tags.split())
        for own_words, own_tags in zip(words, tags, strict=True)
    ]
    return {
        name: [STRUCTURES[name].symbols(*row) if len(row[0]) == len(row[1]) else [] for row in rows] for name in names
    }
