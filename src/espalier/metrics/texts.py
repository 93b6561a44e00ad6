"""What families of metrics are computed from: texts, and what is known of them. Lists have one entry per text."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from espalier.io.calls import checked_call
from espalier.io.errors import EspalierError
from espalier.metrics.metric import require_lengths
from espalier.syntax.parse import Parse
from espalier.text.language import Language
from espalier.verse.text import units_of


@dataclass(frozen=True, slots=True)
class CorpusLikelihood:
    """Likelihoods of texts under a model: summed negative log-likelihoods in nats, and the numbers of tokens and words.

    Attributes:
        nll: sum over all targets, including separators and end marks. All four lists have one entry per text.
        tokens: number of targets.
        word_nll: sum over words only, without marks, separators and end marks.
        words: number of words.
    """

    nll: Sequence[float]
    tokens: Sequence[int]
    word_nll: Sequence[float]
    words: Sequence[int]


@dataclass(frozen=True, slots=True)
class MarkLikelihoods:
    """Likelihoods under the judge, for each text and its reference. All lists have one entry per text.

    Attributes:
        nats: summed -log P of the marks that end units.
        marks: number of units that end in a mark known to the judge.
        units: number of units.
        reference_nats: like `nats`, for the reference of the text.
        reference_marks: like `marks`, for the reference.
    """

    nats: Sequence[float]
    marks: Sequence[int]
    units: Sequence[int]
    reference_nats: Sequence[float]
    reference_marks: Sequence[int]


# --- Verse -----------------------------------------------------------------------------------------------------------


@checked_call
@dataclass(frozen=True, eq=False)
class Verses:
    """Generated verse, and the references, whose formats the verse had to follow.

    Attributes:
        references: verses in the form of `espalier.verse.text`; they define the formats.
        hypotheses: one per reference; an empty text counts as wrong.
        rhymes: one scheme per reference, a letter or "." per unit; "" (Chinese) derives it from the reference.
        likelihood: likelihood of each reference under the model; None makes the perplexities undefined.
        draws: one label per hypothesis; pooled Distinct is averaged over draws. None if all belong to one draw.
        tunes: tune name of each reference, needed for `Prosody`.
        books: the folder of the source `couyun`, needed for `Prosody`.
        templates: the format of each text with its kept words (`espalier.verse.literals.template_of`), for `Literals`.
        marks: likelihoods under the judge, for `Integrity`.
        seeds, samples: seed and sample number of each text, for the deviations of `Integrity`; by default all texts are
            one sample of one seed.

    Raises:
        EspalierError: the lists differ in length, a reference is empty, or a scheme does not fit its reference.
    """

    references: Sequence[str]
    hypotheses: Sequence[str]
    rhymes: Sequence[str]
    language: Language
    likelihood: CorpusLikelihood | None = None
    draws: Sequence[Hashable] | None = None
    tunes: Sequence[str] | None = None
    books: Path | None = None
    templates: Sequence[str] | None = None
    marks: MarkLikelihoods | None = None
    seeds: Sequence[Hashable] = ()
    samples: Sequence[Hashable] = ()

    def __post_init__(self) -> None:
        count = len(self.references)
        require_lengths("references", count, hypotheses=self.hypotheses, rhymes=self.rhymes)
        optional = {
            "draws": self.draws,
            "tunes": self.tunes,
            "templates": self.templates,
            "likelihood": self.likelihood.nll if self.likelihood is not None else None,
            "marks": self.marks.nats if self.marks is not None else None,
            "seeds": self.seeds if len(self.seeds) else None,
            "samples": self.samples if len(self.samples) else None,
        }
        given = {name: entries for name, entries in optional.items() if entries is not None}
        require_lengths("references", count, **given)
        for row, (reference, rhyme) in enumerate(zip(self.references, self.rhymes, strict=True), start=1):
            units = len(units_of(reference))
            if not units:
                raise _empty(row)
            if rhyme and len(rhyme) != units:
                raise EspalierError(
                    f"{len(rhyme)} rhyme letters for {units} units",
                    where=f"scoring, row {row}",
                    remedy="give one letter per unit, . for none",
                )

    def needed(self, name: str) -> Any:
        """An attribute that a family needs.

        Raises:
            EspalierError: it is None.
        """
        if (value := getattr(self, name)) is None:
            raise EspalierError(f"no {name} of the verses", where="scoring", remedy=f"give Verses(..., {name}=...)")
        return value


# --- Paraphrases -----------------------------------------------------------------------------------------------------


@checked_call
@dataclass(frozen=True, eq=False)
class Pairs:
    """Paraphrases: words joined by single spaces.

    Attributes:
        sources: the texts to paraphrase.
        references: the expected texts.
        hypotheses: the generated texts; an empty text counts as wrong.
        likelihood: for each reference under the model, the summed negative log-likelihood in nats and the number of
            tokens. Without it the perplexity is undefined.
        wordnet: the folder of WordNet's database files, for METEOR's synonyms.
        training_words: the words of the training texts, in lower case, for `incomprehensible`.
    """

    sources: Sequence[str]
    references: Sequence[str]
    hypotheses: Sequence[str]
    likelihood: tuple[Sequence[float], Sequence[int]] | None = None
    wordnet: Path | None = None
    training_words: Collection[str] | None = None

    @property
    def sides(self) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
        """Sources, references and hypotheses."""
        return self.sources, self.references, self.hypotheses

    def chosen(self, rows: Sequence[int] | None) -> "Pairs":
        """The three sides of some pairs; all pairs for None."""
        if rows is None:
            return self
        sources, references, hypotheses = ([side[row] for row in rows] for side in self.sides)
        return Pairs(sources, references, hypotheses)

    def require_texts(self) -> None:
        """Raise an EspalierError if the lists differ in length, or a reference is empty."""
        require_lengths("references", len(self.references), sources=self.sources, hypotheses=self.hypotheses)
        for row, reference in enumerate(self.references, start=1):
            if not reference.strip():
                raise _empty(row)


# --- Texts under templates -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Structured:
    """Texts under templates.

    Attributes:
        references, hypotheses: tokens of each text, including its prompt.
        prompts: number of given tokens of each text.
        symbols: for each structure, the symbols of the references' tokens and of the hypotheses' tokens.
        likelihood: likelihood of each reference under the model.
        own_weights: for each reference, the model's attention weight on the symbol of the token to predict; 0 if the
            model does not attend to symbols.
        draws: one label per text; texts are distinct within their draw.
        training: tokens of the training texts, which are read anew each time; None if unknown.

    Raises:
        EspalierError: lists of different lengths.
    """

    references: Sequence[Sequence[str]]
    hypotheses: Sequence[Sequence[str]]
    prompts: Sequence[int]
    symbols: Mapping[str, tuple[Sequence[Sequence[str]], Sequence[Sequence[str]]]]
    likelihood: CorpusLikelihood
    own_weights: Sequence[float]
    draws: Sequence[Hashable]
    training: Iterable[tuple[str, ...]] | None = None

    def __post_init__(self) -> None:
        count = len(self.references)
        require_lengths(
            "references", count, hypotheses=self.hypotheses, prompts=self.prompts, own_weights=self.own_weights,
            likelihood=self.likelihood.nll, draws=self.draws,
        )  # fmt: skip
        for name, sides in self.symbols.items():
            for side in sides:
                require_lengths("references", count, **{f"{name} symbols": side})

    def sides(self, of: str, whole: bool) -> tuple[Sequence[Sequence[str]], Sequence[Sequence[str]]]:
        """The tokens ("text") or a structure's symbols of references and hypotheses; with their prompts if whole."""
        sides = (self.references, self.hypotheses) if of == "text" else self.symbols[of]
        if whole:
            return sides
        wanted, found = ([row[given:] for row, given in zip(side, self.prompts, strict=True)] for side in sides)
        return wanted, found


# --- Parses ----------------------------------------------------------------------------------------------------------


class Parses(NamedTuple):
    """Gold parses of sentences, and those of a parser. A parse without words means that it failed."""

    gold: Sequence[Parse]
    predicted: Sequence[Parse]


def _empty(row: int) -> EspalierError:
    return EspalierError("the reference is empty", where=f"scoring, row {row}", remedy="filter it out before")
