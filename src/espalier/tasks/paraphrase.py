"""Paraphrases and their guiding trees, decoded by beam search (GuiG, section 4, and the papers of its baselines)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import Field, field_validator, model_validator

from espalier.corpora.records import Pair, table_of, words_of
from espalier.corpora.splits import components
from espalier.datasets.encoding import Settings
from espalier.datasets.pairs.data import PairView
from espalier.datasets.vocabulary import BOS, EOS, PAD, UNK
from espalier.decoding.bounds import MAX_BEAM
from espalier.io.errors import ConfigError, DataError
from espalier.metrics.ibleu import cleaned
from espalier.metrics.nltk_bleu import Smoothing
from espalier.metrics.paraphrase import GUIDED, Scored
from espalier.syntax.constituency import read_tree, template, write_tree
from espalier.syntax.levels import TreeError
from espalier.tasks.baseline_rows import chance_seed, known_rows
from espalier.tasks.exemplars import exemplars
from espalier.tasks.task import BaselineRow, Inputs, NGramRow, Outputs, Ready, RunOptions, Segments, shown_settings
from espalier.tasks.training_pairs import TrainingPairs
from espalier.text.language import Language

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

    from espalier.datasets.pairs.data import PairBatch, PairData
    from espalier.datasets.pairs.vocabulary import PairVocabulary
    from espalier.datasets.ragged import IntArray
    from espalier.decoding.beam import Hypothesis
    from espalier.decoding.constraints.constraint import Constraint
    from espalier.metrics.metric import Metric
    from espalier.metrics.paraphrase import Sides


#: The share of words that the row `noise` replaces.
NOISE = 0.4

#: A target by itself, for a model that reads no source.
TEXT_VIEW: Final = PairView(("source",))


class PairDecoder(Settings):
    """How a model of pairs is decoded: `decoder` of a run in params.yaml."""

    #: The tree that guides a text generator: the target's own, its template, or the output of another run.
    guide: Literal["target", "template", "run"] = "target"
    #: The template that an expander expands: the top of the target's tree, or the corpus's most frequent templates, one
    #: for each sample (table 5).
    template: Literal["target", "frequent"] = "target"
    beam: int = Field(8, ge=1, le=MAX_BEAM)
    #: The shortest text, in ids without EOS; 0 allows an empty one.
    min_ids: int = Field(0, ge=0, le=65_536)
    #: A hypothesis of n ids is ranked by log-probability / n**length_power.
    length_power: float = Field(0.0, ge=0, le=10)
    #: The longest text or tree, in ids with EOS.
    max_ids: int = Field(52, ge=2, le=65_536)
    #: For models that write trees: "tree" allows only well-formed trees; "template" also keeps the template's levels;
    #: "open_template" keeps its nodes, and any of them that has no children there may have some.
    constraint: Literal["none", "tree", "template", "open_template"] = "none"
    #: Decode only this many pairs, spread over the split; 0 means all.
    rows: int = Field(0, ge=0, le=100_000_000)

    @model_validator(mode="after")
    def _bounds(self) -> Self:
        if self.min_ids >= self.max_ids:
            raise ValueError(f"min_ids: {self.min_ids} and an end do not fit into max_ids: {self.max_ids}")
        if self.min_ids > 1 and self.constraint != "none":
            raise ValueError(f"min_ids: {self.min_ids} is for texts; a constraint decides when a tree may end")
        return self


class PairScoring(Settings):
    """How paraphrases are scored."""

    #: GuiG's families (`trees` only where the pairs have trees), and the protocols of C-DNPG, `released` and `paper`,
    #: with its count of copies (`espalier.metrics.ibleu`).
    families: tuple[Scored, ...] = Field(GUIDED, min_length=1)
    #: The formula of the released BLEU: NLTK's of that release or before the next.
    smoothing: Smoothing = "nltk_3_4"
    #: The shares of BLEU in the paper's iBLEU.
    alphas: tuple[Annotated[float, Field(ge=0, le=1)], ...] = Field((0.8, 0.9), min_length=1)
    #: The protocols cut every side after so many word pieces (the released code: 20 less one for the end).
    pieces: int = Field(19, ge=1, le=65_536)

    @field_validator("alphas")
    @classmethod
    def _once(cls, alphas: tuple[float, ...]) -> tuple[float, ...]:
        if len(set(alphas)) < len(alphas):
            raise ValueError("a value stands twice")
        return alphas


class ParaphraseTask:
    """Texts guided by trees, or trees expanded from templates."""

    encodings = ("pairs",)
    decoder, scoring = PairDecoder, PairScoring
    dev_likelihood = False
    judge = None
    likelihood_columns = ("nll", "tokens")

    def check(self, decoder: PairDecoder, network: Any, dataset: Any, samples: int) -> None:
        """Outputs must fit the model's positions, and models of trees need pairs with trees."""
        if decoder.max_ids > network.positions:
            raise ConfigError(
                f"{decoder.max_ids} ids, of a model that has {network.positions} positions",
                where="decoder.max_ids",
                remedy=f"at most {network.positions}",
            )
        view = network.view
        if not dataset.trees and (view.writes == "tree" or set(view.reads) - {"source"}):
            raise ConfigError("the model reads or writes trees, and the pairs have none", where="dataset")
        _check_constraint(decoder, view)

    def ngrams(self, vocabulary: Any) -> Mapping[str, NGramRow]:
        """One of the targets' pieces."""
        return {"ngram": NGramRow(TEXT_VIEW)}

    def writes_words(self, language: Language) -> bool:
        """Texts are words joined by spaces."""
        return True

    def needs_annotation(self, network: Any, dataset: Any) -> bool:
        """Texts are compared by their trees, if the pairs have trees."""
        return bool(network.view.writes == "text" and dataset.trees)

    # --- Decoding ----------------------------------------------------------------------------------------------------

    def inputs(self, ready: Ready, model: Any, decoder: PairDecoder, options: RunOptions, seed: int) -> list[Inputs]:
        """The pairs with their guiding trees, once for each sample."""
        import numpy as np

        count = len(ready.records)
        places = list(range(count))
        if decoder.rows:
            places = places[:: max(1, count // decoder.rows)][: decoder.rows]
        records, data = [ready.records[place] for place in places], ready.data.select(np.array(places))
        clusters = components(table_of(records, Pair), sides=True, bare=True)
        fixed = [_record_columns(record, data.vocabulary) for record in records]
        view, inputs = model.config.view, list[Inputs]()
        for sample in range(options.samples):
            templates = _templates(ready, decoder, records, sample, view)
            guides = _guides(decoder, records, options.guidance, seed, sample, model)
            rows = [
                [
                    {
                        **fixed[place],
                        "cluster": records[clusters[place]].id,
                        "sample": sample,
                        "guide": guides[place] if guides else "",
                        "template": templates[place],
                    }
                ]
                for place in range(len(records))
            ]
            guided = data.with_trees(
                guides if decoder.guide != "target" else None, templates if decoder.template == "frequent" else None
            )
            inputs.append(Inputs(guided, np.arange(len(records)), rows))
        return inputs

    def prefixes(self, decoder: PairDecoder) -> int:
        """The beam size."""
        return decoder.beam

    def generate(
        self, model: Any, batch: PairBatch, decoder: PairDecoder, seeds: Sequence[int]
    ) -> list[list[Hypothesis]]:
        """The `beam` best texts or trees of each pair."""
        return search(model, batch, decoder, model.config.view)

    def columns(
        self, hypothesis: Hypothesis | None, row: Mapping[str, Any], model: Any, decoder: PairDecoder
    ) -> dict[str, Any]:
        """The text or the tree, and its log-probability."""
        view, ids = model.config.view, hypothesis.tokens if hypothesis else []
        return {
            "text": model.vocabulary.decode_text(ids) if view.writes == "text" else "",
            "tree": tree_text(ids, view, model.vocabulary) if view.writes == "tree" else "",
            "score": hypothesis.log_probability if hypothesis else float("nan"),
        }

    def likelihood(self, model: Any, batch: PairBatch) -> dict[str, Tensor]:
        """Nats and the number of ids of each reference, EOS included, given the pair's guiding tree."""
        return {"nll": model.token_losses(batch).double().sum(1), "tokens": batch.real.sum(1)}

    def facts(self, model: Any) -> dict[str, str]:
        """Whether the model writes texts or trees."""
        return {"writes": model.config.view.writes}

    def baselines(self, table: pd.DataFrame, ready: Ready, train: PairData, seed: int) -> Mapping[str, BaselineRow]:
        """The sources and the references with their parses, and training targets: exemplars, and random ones."""
        train = train.select(known_rows(train.columns["target"]))
        seeds = [chance_seed(seed, id_, sample) for id_, sample in zip(table["id"], table["sample"], strict=True)]
        drawn = [own % len(train) for own in seeds]
        rows = {
            "copy": BaselineRow(
                "the source itself",
                {"text": table["source"].tolist()},
                table["source_tree"].tolist(),
                given=("repeated_words", "empty", "ted_unparsed"),
            ),
            "human": BaselineRow(
                "the reference", {"text": table["reference"].tolist()}, table["reference_tree"].tolist(), trivial=False
            ),
            "chance": BaselineRow(
                "a training target drawn at random", {"text": _targets(train, drawn)}, given=("empty", "ted_unparsed")
            ),
        }
        if train.vocabulary.symbols is None:
            rows["noise"] = BaselineRow(
                f"the source, {NOISE:.0%} of its words drawn from those of the references",
                {"text": _noised(table, train.vocabulary, seeds)},
                given=("copied", "words", "empty"),
            )
        if "pairs" in ready.extras:
            pairs = TrainingPairs(ready.extras["pairs"])
            found = [pairs.look_up(source) or source for source in table["source"]]
            rows["look_up"] = BaselineRow(
                "what training pairs with the source, else the source",
                {"text": [train.vocabulary.text_of(text.split()) for text in found]},
                given=("words", "empty"),
            )
        if train.vocabulary.symbols is not None:
            place_of = {id_: place for place, id_ in enumerate(ready.data.ids)}
            wanted = ready.data.columns["target_tree"].select(table["id"].map(place_of).to_numpy())
            rows["exemplar"] = BaselineRow(
                "the training target nearest in size under the reference's template",
                {"text": _targets(train, exemplars(wanted, train, TEXT_VIEW.template))},
                given=("template_kept", "empty", "ted_unparsed"),
            )
        return rows

    # --- Scoring -----------------------------------------------------------------------------------------------------

    def statistics(self, outputs: Outputs, scoring: PairScoring) -> list[Segments]:
        """The families that scoring names, of texts; the similarity of trees to the references' trees.

        If the dataset keeps its training pairs, also of the pairs that share no side with them, and of those whose
        sides they join.
        """
        from espalier.metrics.paraphrase import (
            Sides,
            by_part,
            expansion_statistics,
            library_protocols,
            library_scores,
            paraphrase_statistics,
            protocol_statistics,
        )

        table, parsed, wanted = outputs.table, outputs.annotations is not None, {*scoring.families}
        trees = table["reference_tree"].tolist()
        templates = [template or tree for template, tree in zip(table["template"], trees, strict=True)]
        rows = table[["id", "cluster", "seed", "sample"]]
        if outputs.facts["writes"] == "tree":
            found = table["tree"].tolist()
            families = expansion_statistics(trees, found, templates=templates)
            return [Segments(rows, families, audits=_audits(trees, found, families, outputs.seed))]
        sides = Sides(*(table[name].tolist() for name in ("source", "reference", "text")))
        parses = outputs.parses()["target_tree"].tolist() if parsed else None
        if parses is not None:
            rows = rows.assign(tree=parses)
        families = paraphrase_statistics(
            *sides,
            trees if parsed else None,
            parses,
            templates=templates,
            guides=table["guide"].tolist(),
            likelihood=(table["nll"].tolist(), table["tokens"].tolist()),
            wordnet=outputs.lexicon,
            training_words=outputs.train().words() if outputs.train is not None and "defects" in wanted else None,
            scored=wanted,
        )
        library = library_scores(*sides) if "similarity" in wanted else {}
        if {"released", "paper", "copies"} & wanted:
            cut = self._cut(sides, outputs, scoring.pieces)
            families |= protocol_statistics(
                sides, cut, pieces=scoring.pieces, smoothing=scoring.smoothing, alphas=scoring.alphas,
                wordnet=outputs.lexicon, scored=wanted,
            )  # fmt: skip
            library |= library_protocols(sides, cut) if "paper" in wanted else {}
        if (pairs := outputs.extras().get("pairs")) is not None:
            families |= by_part(families, TrainingPairs(pairs).parts(sides.sources, sides.references))
        audits = _audits(trees, parses, families, outputs.seed) if "ted" in families and parses is not None else {}
        return [Segments(rows, families, library, audits)]

    def _cut(self, sides: Sides, outputs: Outputs, pieces: int) -> Sides:
        """The sides without what comes after their first word pieces.

        Raises:
            DataError: the vocabulary is not at hand.
        """
        from espalier.metrics.paraphrase import Sides

        if outputs.train is None:
            raise DataError("no vocabulary to cut the texts by", file="scoring", remedy="score where the dataset is")
        vocabulary = outputs.train().vocabulary
        return Sides(*(vocabulary.cut(side, pieces) for side in sides))

    def metrics(self, family: str) -> tuple[Metric, ...]:
        """The metrics of paraphrases and of expansions."""
        from espalier.metrics.paraphrase import metrics_of

        return metrics_of(family)

    def headline(self, outputs: Outputs) -> Mapping[str, str]:
        """BLEU, ROUGE, METEOR, tree edit distance and iBLEU of texts; tree edit distance of trees."""
        from espalier.metrics.paraphrase import EXPANSION_HEADLINE, HEADLINE, PROTOCOL_HEADLINE

        return EXPANSION_HEADLINE if outputs.facts["writes"] == "tree" else {**HEADLINE, **PROTOCOL_HEADLINE}

    def counts(self, outputs: Outputs) -> dict[str, int]:
        """Outputs that are not trees, or texts that could not be parsed; the records of each part (`TrainingPairs`)."""
        if outputs.facts["writes"] == "tree":
            return {"no tree": int((outputs.table["tree"] == "").sum())}
        counts = {} if outputs.annotations is None else {"not parsed": int((outputs.parses()["reason"] != "").sum())}
        if (pairs := outputs.extras().get("pairs")) is not None:
            records = outputs.table.drop_duplicates("id")
            parts = TrainingPairs(pairs).parts(records["source"].tolist(), records["reference"].tolist())
            counts |= {part: sum(rows) for part, rows in parts.items()}
            counts["clusters"] = int(records["cluster"].nunique())
        return counts

    def settings(self, decoder: PairDecoder, network: Any, samples: int, guidance: str | None) -> dict[str, Any]:
        """The protocol is the tree that guides a text, or the constraint of a tree."""
        if network.view.writes == "tree":
            constraints = {"none": "unconstrained", "tree": "well-formed"}
            protocol = constraints.get(decoder.constraint, "template kept")
        elif "target_tree" not in network.view.reads:
            protocol = ""
        else:
            protocol = {"target": "target parse", "template": "bare template", "run": "expanded parse"}[decoder.guide]
        return {
            "protocol": protocol,
            "guidance": guidance,
            **shown_settings(decoder, ("beam",), ("guide", "constraint")),
            "samples": samples if samples > 1 else None,
        }


def search(
    model: Any, batch: PairBatch, decoder: PairDecoder, view: PairView, constraint: Constraint | None = None
) -> list[list[Hypothesis]]:
    """The `beam` best texts or trees of each pair.

    Args:
        view: of the batch. It may have a template for the constraint that the model does not read.
        constraint: in the place of the decoder's.
    """
    from espalier.decoding.beam import beam_search

    return beam_search(
        model, batch, beam=decoder.beam, max_ids=decoder.max_ids, begin=BOS, end=EOS, min_ids=decoder.min_ids,
        length_power=decoder.length_power, constraint=constraint or pair_constraint(decoder, view, model.vocabulary),
    )  # fmt: skip


def pair_constraint(decoder: PairDecoder, view: PairView, vocabulary: PairVocabulary) -> Constraint:
    """The decoder's constraint, over the ids that the model writes; specials are never allowed.

    Raises:
        ConfigError: a constraint of trees, for texts.
    """
    import torch

    from espalier.decoding.constraints.brackets import Brackets
    from espalier.decoding.constraints.constraint import Never
    from espalier.decoding.constraints.trees import KeptTemplate, WellFormed

    _check_constraint(decoder, view)
    if view.writes == "text":
        return Never(torch.tensor([PAD, UNK, BOS]), vocabulary.text_size)
    symbols, open_leaves = vocabulary.trees, decoder.constraint == "open_template"
    keep_template = open_leaves or decoder.constraint == "template"
    if decoder.constraint == "none":
        size = symbols.size if view.form == "levels" else symbols.bracketed_size
        return Never(torch.tensor([PAD, UNK, BOS]), size)
    if view.form == "brackets":
        return Brackets(symbols, decoder.max_ids, keep_template, view.template, open_leaves)
    if keep_template:
        return KeptTemplate(symbols, decoder.max_ids, view.template, open_leaves)
    return WellFormed(symbols, decoder.max_ids)


def _check_constraint(decoder: PairDecoder, view: PairView) -> None:
    if view.writes == "text" and decoder.constraint != "none":
        raise ConfigError(f"{decoder.constraint} is for trees", where="decoder.constraint", remedy="none, for texts")


def tree_text(ids: Sequence[int], view: PairView, vocabulary: PairVocabulary) -> str:
    """The tree of ids as a Penn string; "" if they are not a tree."""
    symbols = vocabulary.trees
    try:
        return write_tree(symbols.decode(ids) if view.form == "levels" else symbols.decode_bracketed(ids))
    except (TreeError, IndexError):
        return ""


def _targets(data: PairData, places: Sequence[int] | IntArray) -> list[str]:
    """The targets at these places, as text."""
    targets = data.columns["target"]
    bounds = targets.offsets
    return [data.vocabulary.decode_text(targets.flat[bounds[n] : bounds[n + 1]].tolist()) for n in places]


def _noised(table: pd.DataFrame, vocabulary: PairVocabulary, seeds: Sequence[int]) -> list[str]:
    """The sources, each word replaced with probability `NOISE` by one that the references have, as often as they do.

    Words are what blanks part after BERT's clean-up: a mark goes with its word.
    """
    import numpy as np

    pool = np.array([word for reference in table["reference"] for word in cleaned(reference).split()])
    texts = list[str]()
    for source, own in zip(table["source"], seeds, strict=True):
        words, rng = np.array(cleaned(source).split(), dtype=object), np.random.default_rng(own)
        drawn = rng.random(len(words)) < NOISE
        words[drawn] = rng.choice(pool, int(drawn.sum()))
        texts.append(vocabulary.text_of(words.tolist()))
    return texts


def _record_columns(record: Pair, vocabulary: PairVocabulary) -> dict[str, str]:
    return {
        "id": record.id,
        "source": vocabulary.text_of(words_of(record, "source")),
        "reference": vocabulary.text_of(words_of(record, "target")),
        "source_tree": record.source_tree,
        "reference_tree": record.target_tree,
    }


def _guides(
    decoder: PairDecoder, records: Sequence[Pair], guidance: Any, seed: int, sample: int, model: Any
) -> list[str] | None:
    """The tree that guides each text; None for a model that writes trees or reads none."""
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
    trees = dict(zip(table["id"], table["tree"], strict=True))
    nodes = (model.config.positions - 2) // (3 if view.form == "brackets" else 1)

    def fits(guide: str) -> bool:
        return guide.count("(") <= nodes

    guides = [trees.get(record.id) or top for record, top in zip(records, tops, strict=True)]
    # The template replaces an output that is not a tree, or is longer than the model's positions.
    return [guide if fits(guide) else top for guide, top in zip(guides, tops, strict=True)]


def _templates(ready: Ready, decoder: PairDecoder, records: Sequence[Pair], sample: int, view: PairView) -> list[str]:
    """Each pair's template: the target's, or the sample-th most frequent of the dataset; "" if the model reads none."""
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


def _audits(
    references: Sequence[str], hypotheses: Sequence[str], families: Mapping[str, Any], seed: int
) -> dict[str, dict[str, Any]]:
    from espalier.metrics.ted_audit import ted_audit

    return {"ted_audit": ted_audit(references, hypotheses, families["ted"], seed=seed)}
