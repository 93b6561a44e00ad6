"""Scoring of paraphrases and trees."""

from typing import Annotated, Any

from pydantic import Field, field_validator

from espalier.corpora.leakage import letters_of
from espalier.datasets.pairs.data import PairData
from espalier.io.errors import DataError
from espalier.metrics.expansion import FAMILIES
from espalier.metrics.family import by_part, statistics_of
from espalier.metrics.metric import confirmed_rows
from espalier.metrics.nltk_bleu import Smoothing
from espalier.metrics.paraphrase import (
    GUIDED,
    Scored,
    library_protocols,
    library_scores,
    paraphrase_statistics,
    protocol_statistics,
)
from espalier.metrics.ted import Trees
from espalier.metrics.ted_audit import ted_audit
from espalier.metrics.texts import Pairs
from espalier.tasks.data import SEGMENT_COLUMNS, Outputs, Segments
from espalier.tasks.settings import Scoring
from espalier.tasks.training_pairs import TrainingPairs


class PairScoring(Scoring):
    """Settings of scoring paraphrases."""

    #: GuiG's families (`trees` only where the pairs have trees), and the protocols of C-DNPG, `released` and `paper`,
    #: with its count of copies (`espalier.metrics.ibleu`).
    families: tuple[Scored, ...] = Field(GUIDED, min_length=1)
    #: Whether scores stand on the `unseen` and the `joined` pairs too, if the dataset keeps its training pairs
    #: (`espalier.tasks.training_pairs`). false for models that did not train on these.
    parts: bool = True
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


def segments_of(outputs: Outputs[PairData], scoring: PairScoring) -> list[Segments]:
    """For texts, the families named by scoring; for trees, the similarity to the references' trees.

    If the dataset keeps its training pairs, there are also families for the pairs that share no side with them
    (`unseen`), and for those whose sides they link (`joined`).
    """
    table, parsed, wanted = outputs.table, outputs.annotations is not None, {*scoring.families}
    references = table["reference_tree"].tolist()
    templates = [template or tree for template, tree in zip(table["template"], references, strict=True)]
    rows = table[list(SEGMENT_COLUMNS)]
    if outputs.facts["writes"] == "tree":
        found = Trees(references, table["tree"].tolist(), templates)
        return [Segments(rows, statistics_of(FAMILIES, found), audits=_audits(found, outputs.seed))]
    parses = outputs.parses()["target_tree"].tolist() if parsed else None
    trees = None if parses is None else Trees(references, parses, templates, table["guide"].tolist())
    if parses is not None:
        rows = rows.assign(tree=parses)
    train = outputs.training() if "defects" in wanted else None
    pairs = Pairs(
        table["source"].tolist(),
        table["reference"].tolist(),
        table["text"].tolist(),
        likelihood=(table["nll"].tolist(), table["tokens"].tolist()),
        wordnet=outputs.lexicon,
        training_words=None if train is None else train.words(),
    )
    families = paraphrase_statistics(pairs, trees, scored=wanted)
    sample = confirmed_rows(len(table), outputs.seed)
    library = library_scores(*pairs.chosen(sample).sides) if "similarity" in wanted else {}
    trained = outputs.extras().get("pairs") if scoring.parts else None
    parts = TrainingPairs(trained).parts(pairs.sources, pairs.references) if trained is not None else {}
    if {"released", "paper", "copies"} & wanted:
        cut = _cut(pairs, outputs, scoring.pieces)
        families |= protocol_statistics(
            pairs, cut, pieces=scoring.pieces, smoothing=scoring.smoothing, alphas=scoring.alphas, scored=wanted
        )
        if "paper" in wanted:
            inside = {part: rows if sample is None else [rows[row] for row in sample] for part, rows in parts.items()}
            library |= library_protocols(pairs.chosen(sample), cut.chosen(sample), alphas=scoring.alphas, parts=inside)
    families |= by_part(families, parts)
    audits = _audits(trees, outputs.seed) if "trees" in wanted and trees is not None else {}
    return [Segments(rows, families, library, audits, sample)]


def counts_of(outputs: Outputs[PairData], scoring: PairScoring) -> dict[str, int]:
    """The numbers of outputs that are not trees, or of unparsed texts, and of records in each part (`TrainingPairs`).

    If the training data are available, also the numbers of records whose source, or reference, is a training text.
    """
    if outputs.facts["writes"] == "tree":
        return {"no tree": int((outputs.table["tree"] == "").sum())}
    counts = {} if outputs.annotations is None else {"not parsed": int((outputs.parses()["reason"] != "").sum())}
    records = outputs.table.drop_duplicates("id")
    if "defects" in scoring.families and (train := outputs.training()) is not None:
        letters = {side: records[side].map(letters_of) for side in ("source", "reference")}
        known = train.letters({*letters["source"], *letters["reference"]})
        counts |= {f"{side}s in training": int(own.isin(known).sum()) for side, own in letters.items()}
    if scoring.parts and (pairs := outputs.extras().get("pairs")) is not None:
        parts = TrainingPairs(pairs).parts(records["source"].tolist(), records["reference"].tolist())
        counts |= {part: sum(rows) for part, rows in parts.items()}
        counts["clusters"] = int(records["cluster"].nunique())
    return counts


def _cut(pairs: Pairs, outputs: Outputs[PairData], pieces: int) -> Pairs:
    """The pairs with their sides cut after their first `pieces` word pieces.

    Raises:
        DataError: the vocabulary is missing.
    """
    if outputs.train is None:
        raise DataError("no vocabulary to cut the texts by", file="scoring", remedy="score where the dataset is")
    vocabulary = outputs.train().vocabulary
    sources, references, hypotheses = (vocabulary.cut(side, pieces) for side in pairs.sides)
    return Pairs(sources, references, hypotheses, wordnet=pairs.wordnet)


def _audits(trees: Trees, seed: int) -> dict[str, dict[str, Any]]:
    return {"ted_audit": ted_audit(trees.references, trees.hypotheses, trees.distances, seed=seed)}
