"""Scoring of verse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from espalier.metrics.family import statistics_of
from espalier.metrics.perplexity import Perplexity, perplexity_statistics
from espalier.metrics.prosody import Prosody, fitting, marked_places
from espalier.metrics.texts import CorpusLikelihood, MarkLikelihoods, Verses
from espalier.metrics.verse import by_format, verse_families
from espalier.tasks.data import SEGMENT_COLUMNS, Outputs, Segments
from espalier.tasks.integrity import VerseJudge
from espalier.tasks.settings import Scoring
from espalier.verse.rhyme import Rule

if TYPE_CHECKING:
    import pandas as pd

    from espalier.datasets.verse.data import VerseData


#: The likelihood of each reference: `CorpusLikelihood`'s columns.
LIKELIHOOD: Final = ("nll", "tokens", "word_nll", "words")
#: Reads each text and its reference (`Integrity`).
JUDGE: Final = VerseJudge()


class VerseScoring(Scoring):
    """Settings of scoring verse."""

    #: The rules that the format is scored by (SongNet, section 4.3).
    rules: Literal["songci", "sonnet"]
    #: When English words rhyme (`espalier.verse.rhyme.rhymes`).
    rhyme_rule: Rule = "strict"


def segments_of(outputs: Outputs[VerseData], scoring: VerseScoring) -> list[Segments]:
    """Format, rhyme, variety, Integrity and perplexity of each text; perplexity of each poem of the dev split.

    Format, rhyme and perplexity are also computed separately for texts whose format occurs in training and for texts
    with a new format. With a rhyme book, rows also have the columns of `marked_places`. If formats keep words, there
    are statistics of the kept words.
    """
    table, dev = outputs.table, outputs.dev
    keys = list(SEGMENT_COLUMNS)
    verses = Verses(
        table["reference"].tolist(),
        table["text"].tolist(),
        table["rhyme"].tolist(),
        language=outputs.language,
        likelihood=_likelihood(table),
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
    return [test, Segments(dev[keys], {Perplexity("dev"): perplexity_statistics(_likelihood(dev))})]


def counts_of(outputs: Outputs[VerseData]) -> dict[str, int]:
    """The numbers of distinct texts and clusters. A deterministic search writes one text for each frame.

    With a rhyme book, also the numbers of poems whose tune is in the form book, and of those that fit a variant.
    """
    table = outputs.table
    counts = {"distinct": int(table["text"].nunique()), "clusters": int(table["cluster"].nunique())}
    if outputs.lexicon is None or outputs.language != "zh":
        return counts
    poems = table.drop_duplicates("id")
    return counts | dict(fitting(poems["tune"].tolist(), poems["reference"].tolist(), outputs.lexicon))


def _likelihood(table: pd.DataFrame) -> CorpusLikelihood:
    return CorpusLikelihood(*(table[name].tolist() for name in LIKELIHOOD))


def _mark_likelihoods(table: pd.DataFrame) -> MarkLikelihoods:
    """The values of the judge; zero marks if there was no judge."""
    columns = [*JUDGE.columns, *(f"reference_{name}" for name in JUDGE.columns[:2])]
    return MarkLikelihoods(*(table[name].tolist() if name in table else [0] * len(table) for name in columns))
