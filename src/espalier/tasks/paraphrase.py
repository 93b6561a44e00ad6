"""Paraphrases and their guiding trees, decoded by beam search (GuiG, section 4, and papers of its baselines)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from espalier.corpora.records import Pair, words_of
from espalier.corpora.splits import components
from espalier.datasets.pairs.word_classes import Lexicon
from espalier.io.errors import DataError
from espalier.metrics.paraphrase import EXPANSION_HEADLINE, HEADLINE, PROTOCOL_HEADLINE
from espalier.syntax.constituency import read_tree, template
from espalier.tasks.candidates import RANKING
from espalier.tasks.data import BaselineRow, Inputs, NGramRow, Outputs, Ready, RunOptions, Segments
from espalier.tasks.paraphrase_baselines import TEXT_VIEW, baseline_rows
from espalier.tasks.paraphrase_decoder import PairDecoder, PairModel
from espalier.tasks.paraphrase_scoring import PairScoring, counts_of, segments_of
from espalier.tasks.task import Task
from espalier.text.language import Language

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

    from espalier.datasets.pairs.data import PairBatch, PairData, PairView
    from espalier.datasets.pairs.encode import PairSettings
    from espalier.datasets.pairs.vocabulary import PairVocabulary
    from espalier.decoding.beam import Hypothesis
    from espalier.decoding.granularity import GranularityValues
    from espalier.models.contract import NetworkSettings


def guides_of(
    decoder: PairDecoder,
    records: Sequence[Pair],
    guidance: pd.DataFrame | None,
    seed: int,
    sample: int,
    model: PairModel,
) -> list[str] | None:
    """The tree that guides each text; None if the model writes trees or reads none."""
    view = model.config.view
    if view.writes == "tree" or "target_tree" not in view.reads:
        return None
    if decoder.guide == "target":
        return [record.target_tree for record in records]
    tops = _tops(records, view.template)
    if decoder.guide == "template":
        return tops
    if guidance is None:
        raise DataError("no run guides this one", file="params.yaml", remedy="name one as the run's guidance")
    table = guidance[(guidance["sample"] == sample) & (guidance["seed"] == seed)]
    if sample and table.empty:
        raise DataError(f"no sample {sample + 1}", file="outputs of the guidance", remedy="run its stage again")
    trees = dict(zip(table["id"], table["tree"], strict=True))
    nodes = (model.config.positions - 2) // (3 if view.form == "brackets" else 1)

    def fits(guide: str) -> bool:
        return guide.count("(") <= nodes

    guides = [trees.get(record.id) or top for record, top in zip(records, tops, strict=True)]
    # The template replaces an output that is not a tree, or is longer than the model's positions.
    return [guide if fits(guide) else top for guide, top in zip(guides, tops, strict=True)]


def templates_of(
    ready: Ready[Pair, PairData], decoder: PairDecoder, records: Sequence[Pair], sample: int, view: PairView
) -> list[str]:
    """The template of each pair: the target's, or the `sample`-th most frequent of the dataset; "" if unread."""
    if decoder.template == "frequent":
        frequent = ready.extras["templates"]
        if sample >= len(frequent):
            raise DataError(f"{len(frequent)} templates", file="extras.json", remedy="ask for fewer samples")
        return [str(frequent[sample]["template"])] * len(records)
    if "template" not in view.reads:
        return [""] * len(records)
    return _tops(records, view.template)


def _tops(records: Sequence[Pair], levels: int) -> list[str]:
    return [template(read_tree(record.target_tree, words=False), levels) for record in records]


class ParaphraseTask(Task):
    """Texts guided by trees, or trees expanded from templates."""

    encodings = ("pairs",)
    decoder, scoring = PairDecoder, PairScoring
    likelihood_columns = ("nll", "tokens")

    def ngrams(self, vocabulary: PairVocabulary) -> Mapping[str, NGramRow[PairView]]:
        """An n-gram model of the targets' pieces."""
        return {"ngram": NGramRow(TEXT_VIEW, given=("copied", "incomprehensible"))}

    def writes_words(self, language: Language) -> bool:
        """Always: texts are words joined by spaces."""
        return True

    def needs_annotation(self, network: NetworkSettings[PairView], dataset: PairSettings) -> bool:
        """Whether the pairs have trees, by which texts are then compared."""
        return bool(network.view.writes == "text" and dataset.trees)

    # --- Decoding ----------------------------------------------------------------------------------------------------

    def inputs(
        self, ready: Ready[Pair, PairData], model: PairModel, decoder: PairDecoder, options: RunOptions, seed: int
    ) -> Iterator[Inputs[PairData, Hypothesis]]:
        """The pairs with their guiding trees, once for each sample that has its own tree or template."""
        count = len(ready.records)
        chosen = range(count)
        if decoder.rows:
            chosen = chosen[:: max(1, count // decoder.rows)][: decoder.rows]
        # The chosen pairs decide which of them are in one cluster.
        firsts = components(record for place, record in enumerate(ready.records) if place in chosen)
        view = model.config.view
        strict = _strict(decoder, view)
        lexicon = Lexicon.of_pairs(ready.train()) if strict and ready.train else None
        kept = decoder.candidates if strict else 1 if decoder.varied else options.samples
        given: dict[str, Any] = {} if strict else {"best": kept}
        if lexicon and lexicon.known:
            given["lexicon"] = lexicon
        for sample in range(options.samples if decoder.varied else 1):
            for places, part in ready.parts(options.at_once, np.array(chosen, dtype=np.int64)):
                records, data = part.records, part.data
                templates = templates_of(ready, decoder, records, sample, view)
                guides = guides_of(decoder, records, options.guidance, seed, sample, model)
                rows = [
                    {
                        **_record_columns(record, data.vocabulary),
                        "cluster": ready.data.ids[chosen[firsts[chosen.index(place)]]],
                        "sample": sample * kept,
                        "guide": guides[number] if guides else "",
                        "template": templates[number],
                    }
                    for number, (place, record) in enumerate(zip(places.tolist(), records, strict=True))
                ]
                # What reads nothing writes the same for every pair, so it is searched once.
                grouped = [[row] for row in rows] if view.reads else [rows]
                guided = data.with_trees(
                    guides if decoder.guide != "target" else None, templates if decoder.template == "frequent" else None
                )
                yield Inputs(guided, np.arange(len(grouped)), grouped, kept, given=given)

    def generate(
        self,
        model: PairModel,
        batch: PairBatch,
        decoder: PairDecoder,
        seeds: Sequence[int],
        lexicon: Lexicon | None = None,
        best: int | None = None,
    ) -> list[list[Hypothesis]]:
        """The `best` texts or trees of each pair, or the candidates of a strict decoder, the best first.

        Args:
            lexicon: the words of the training pairs, for candidates under classes of words.
            best: how many without a strict decoder; None for as many as the beam has.
        """
        from espalier.decoding.granularity import GradedModel, graded
        from espalier.tasks.paraphrase_search import candidates, of_classes, ranked, search, weighted

        view = model.config.view
        if _strict(decoder, view):
            rows = candidates(model, batch, decoder, view, seeds)
            more = of_classes(model, batch, decoder, view, [lexicon] * len(rows)) if lexicon else [[]] * len(rows)
            return [
                ranked(weighted([*row, *own], source, model.vocabulary, decoder.source_weight), model.vocabulary)
                for row, own, source in zip(rows, more, batch.source.tolist(), strict=True)
            ]
        found = search(model, batch, decoder, view, best=best)
        # The n-gram model is decoded with the settings of the runs beside it, and has no granularity.
        if not decoder.granularity or not isinstance(model, GradedModel):
            return found
        return graded(model, batch, found)

    def columns(
        self, hypothesis: Hypothesis | None, row: Mapping[str, Any], model: PairModel, decoder: PairDecoder
    ) -> dict[str, Any]:
        """The text or tree, and its log-probability; by the decoder's options also granularity as JSON, and ranking."""
        from espalier.tasks.paraphrase_search import tree_text

        view, ids = model.config.view, hypothesis.tokens if hypothesis else []
        kept: dict[str, Any] = (
            {"granularity": _json(getattr(hypothesis, "granularity", None))} if decoder.granularity else {}
        )
        if _strict(decoder, view):
            kept[RANKING] = hypothesis.score if hypothesis else float("nan")
        return {
            **kept,
            "text": model.vocabulary.decode_text(ids) if view.writes == "text" else "",
            "tree": tree_text(ids, view, model.vocabulary) if view.writes == "tree" else "",
            "score": hypothesis.log_probability if hypothesis else float("nan"),
        }

    def likelihood(self, model: PairModel, batch: PairBatch) -> dict[str, Tensor]:
        """The nats and number of ids of each reference, including EOS, given the pair's guiding tree."""
        return {"nll": model.token_losses(batch).double().sum(1), "tokens": batch.real.sum(1)}

    def facts(self, model: PairModel) -> dict[str, str]:
        """Whether the model writes texts or trees."""
        return {"writes": model.config.view.writes}

    def baselines(
        self, table: pd.DataFrame, ready: Ready[Pair, PairData], train: PairData, seed: int
    ) -> Mapping[str, BaselineRow]:
        """The sources and the references with their parses, and training targets: exemplars, and random ones."""
        return baseline_rows(table, ready, train, seed)

    # --- Scoring -----------------------------------------------------------------------------------------------------

    def statistics(self, outputs: Outputs[PairData], scoring: PairScoring) -> list[Segments]:
        """For texts, the families named by scoring; for trees, the similarity to the references' trees."""
        return segments_of(outputs, scoring)

    def headline(self, outputs: Outputs[PairData]) -> Mapping[str, str]:
        """BLEU, ROUGE, METEOR, tree edit distance and iBLEU of texts; tree edit distance of trees."""
        return EXPANSION_HEADLINE if outputs.facts["writes"] == "tree" else {**HEADLINE, **PROTOCOL_HEADLINE}

    def counts(self, outputs: Outputs[PairData], scoring: PairScoring) -> dict[str, int]:
        """The numbers of outputs that are not trees, or of unparsed texts, and of records by part (`TrainingPairs`)."""
        return counts_of(outputs, scoring)


def _strict(decoder: PairDecoder, view: PairView) -> bool:
    """Whether candidates are written. An n-gram model beside strict runs follows no tree, and writes none."""
    return decoder.strict and "target_tree" in view.reads


def _record_columns(record: Pair, vocabulary: PairVocabulary) -> dict[str, str]:
    return {
        "id": record.id,
        "source": vocabulary.text_of(words_of(record, "source")),
        "reference": vocabulary.text_of(words_of(record, "target")),
        "source_tree": record.source_tree,
        "reference_tree": record.target_tree,
    }


def _json(granularity: GranularityValues | None) -> str:
    """Values with 3 decimals as JSON; "" without a hypothesis."""
    if granularity is None:
        return ""
    layers = {
        side: {layer: [round(z, 3) for z in values] for layer, values in getattr(granularity, side).items()}
        for side in ("encoder", "decoder")
    }
    pieces = {"source_pieces": granularity.source_pieces, "text_pieces": granularity.text_pieces}
    return json.dumps(pieces | layers, ensure_ascii=False)
