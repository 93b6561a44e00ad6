"""All metrics of texts under a template (SAT, section 4.4): likelihood, BLEU of text and structures, length, variety.

BLEU-1 and BLEU-2 are cumulative, from 0 to 1 as in the paper. The paper specifies neither the level nor the treatment
of the prompt. Names with `_sentence` are means over texts, others are corpus values. Names with `_whole` include the
prompt, which the model did not write; others count only the text after it. BLEU of a structure compares the symbols of
the template with those that the same tagger finds in the output after segmenting it anew.

A template reveals the length, and so the end mark. Therefore there are three perplexities of the references:
`perplexity` includes end marks, `perplexity_tokens` excludes them, and `perplexity_padded_N` divides the nats by N
places per text, as if padding counted, for comparison with the printed values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Final, Literal

import numpy as np

from espalier.io.calls import checked_call
from espalier.metrics.bleu import bleu_statistics, corpus_bleu, library_bleu
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import Family
from espalier.metrics.metric import Metric, ratio, require_lengths, share_of, signature_of
from espalier.metrics.perplexity import on_split, perplexity_metric, perplexity_statistics
from espalier.metrics.texts import CorpusLikelihood, Structured
from espalier.text.language import LINE_JOINT

#: The metrics that `dvc metrics show` prints, by their short names there.
HEADLINE: Final = {
    "ppl": "perplexity",
    "ppl_tok": "perplexity_tokens",
    "bleu2": "text_bleu_2",
    "pc2": "pc_bleu_2",
    "pos2": "pos_bleu_2",
    "len0": "length_within_0",
    "own": "own_weight",
}

#: The differences of length that are counted as right (table 6).
DELTAS: Final = (0, 2, 4)

_ORDERS: Final = (1, 2)
_BLEU: Final = 10  # the columns of `bleu_statistics`; then BLEU-1 and BLEU-2 of the text by itself, and 1
_NLL, _TOKENS, _WORD_NLL, _WORDS, _PLACES = range(5)
_WITHIN, _DISTINCT, _SEEN, _JUDGED, _LINES_SEEN, _LINES, _TEXTS = slice(0, 3), 3, 4, 5, 6, 7, 8


def structure_families(texts: Structured, *, places: int) -> list[Family[Structured]]:
    """The families of texts under templates. `places` is as in `likelihood_statistics`."""
    return [Likelihood(places), *_bleus(texts), OwnWeight(), LineShares()]


def library_scores(texts: Structured) -> dict[str, float]:
    """Corpus BLEU by sacreBLEU of texts and structures, from 0 to 1."""
    scores = {}
    for bleu in _bleus(texts):
        wanted, found = texts.sides(bleu.of, bleu.whole)
        once, written = [(" ".join(row),) for row in wanted], [" ".join(row) for row in found]
        if any(wanted) or any(found):  # else BLEU is undefined
            for order in _ORDERS:
                scores[bleu.key_of(order)] = library_bleu(once, written, order)["bleu"] / 100.0
    return scores


def _bleus(texts: Structured) -> list[SequenceBleu]:
    """BLEU of the text and of each structure."""
    return [SequenceBleu(of, whole) for of in ("text", *texts.symbols) for whole in (False, True)]


# --- Likelihood ------------------------------------------------------------------------------------------------------


def likelihood_statistics(likelihood: CorpusLikelihood, places: int) -> Array:
    """(texts, 5): nats, tokens, nats and tokens without end marks, and places; zeros for a text without tokens.

    Args:
        likelihood: likelihood of each reference under the model.
        places: number of places of a padded text; 0 to skip that perplexity.

    Raises:
        EspalierError: the lists differ in length, or a likelihood is not a number.
    """
    statistics = perplexity_statistics(likelihood)[:, : _PLACES + 1]
    statistics[:, _PLACES] = places * (statistics[:, _TOKENS] > 0)
    return statistics


@checked_call
@dataclass(frozen=True)
class Likelihood(Family[Structured]):
    """The perplexities of references.

    Attributes:
        places: as in `likelihood_statistics`.
        split: "dev" for the references of the dev split.
    """

    name = "likelihood"
    places: int
    split: Literal["dev"] | None = None

    def statistics(self, texts: Structured, /) -> Array:
        return likelihood_statistics(texts.likelihood, self.places)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        metrics = (
            perplexity_metric("perplexity", _NLL, _TOKENS, over="tokens+end"),
            perplexity_metric("perplexity_tokens", _WORD_NLL, _WORDS, over="tokens"),
        )
        padded = perplexity_metric(
            f"perplexity_padded_{self.places}", _NLL, _PLACES, over=f"{self.places} places a text, padding at 0"
        )
        return on_split((*metrics, padded) if self.places else metrics, self.split)


# --- BLEU ------------------------------------------------------------------------------------------------------------


def sequence_statistics(references: Sequence[Sequence[str]], hypotheses: Sequence[Sequence[str]]) -> Array:
    """(texts, 13): `bleu_statistics` of tokens or symbols, BLEU-1 and BLEU-2 of each text from 0 to 1, and 1.

    Raises:
        EspalierError: lists of different lengths.
    """
    counts = bleu_statistics([" ".join(row) for row in references], [" ".join(row) for row in hypotheses])
    own = [_zero_to_one(counts, order, effective=True) for order in _ORDERS]
    return np.column_stack([counts, *own, np.ones(len(counts))])


@checked_call
@dataclass(frozen=True)
class SequenceBleu(Family[Structured]):
    """BLEU of texts or structures.

    Attributes:
        of: "text", or the name of a structure.
        whole: whether prompts are included.
    """

    name = "bleu"
    of: str
    whole: bool = False

    def statistics(self, texts: Structured, /) -> Array:
        return sequence_statistics(*texts.sides(self.of, self.whole))

    def key_of(self, order: int, mean: str = "") -> str:
        """The name of the metric for n-grams of up to `order` words."""
        return f"{self.of}_bleu_{order}{mean}{'_whole' if self.whole else ''}"

    @property
    def metrics(self) -> tuple[Metric, ...]:

        def signature(order: int, mean: str, effective: str) -> str:
            return signature_of(
                "bleu", order=order, of=self.of, prompt="counted" if self.whole else "left-out", mean=mean,
                case="mixed", eff=effective, tok="none", smooth="exp", scale="0-1", sacrebleu=version("sacrebleu"),
            )  # fmt: skip

        corpus = [
            Metric(self.key_of(order), partial(_zero_to_one, order=order), signature(order, "corpus", "no"))
            for order in _ORDERS
        ]
        sentences = [
            Metric(
                self.key_of(order, "_sentence"),
                ratio(_BLEU + place, _BLEU + len(_ORDERS)),
                signature(order, "texts", "yes"),
            )
            for place, order in enumerate(_ORDERS)
        ]
        return (*corpus, *sentences)


def _zero_to_one(sums: Array, order: int, *, effective: bool = False) -> Array:
    return corpus_bleu(sums[..., :_BLEU], order, effective=effective) / 100.0


# --- Length and variety ----------------------------------------------------------------------------------------------


def text_statistics(
    references: Sequence[Sequence[str]],
    hypotheses: Sequence[Sequence[str]],
    prompts: Sequence[int],
    *,
    draws: Sequence[Hashable],
    training: Iterable[tuple[str, ...]] | None = None,
) -> Array:
    """(texts, 9): statistics of length and variety of each text.

    Columns: whether the length is within 0, 2 and 4 tokens of the reference; 1 / (number of times that the draw has the
    text); whether the text occurs in training; whether training texts are given; lines that occur in training; number
    of lines; and 1.

    Lines are the parts of a text between the commas that join lines of lyrics; an English text is one line. A line that
    is wholly given by the prompt does not count.

    Args:
        references, hypotheses: tokens of whole texts, including prompts.
        prompts: number of given tokens of each text.
        draws: one label per text; texts are distinct within their draw.
        training: tokens of the training texts, which are read once; None if unknown.

    Raises:
        EspalierError: the lists differ in length.
    """
    require_lengths("references", len(references), hypotheses=hypotheses, prompts=prompts, draws=draws)
    texts = [tuple(row) for row in hypotheses]
    statistics = np.ones((len(texts), _TEXTS + 1))
    off = np.abs(np.array([len(row) for row in texts]) - [len(row) for row in references])
    statistics[:, _WITHIN] = off[:, None] <= np.array(DELTAS)
    times = Counter(zip(draws, texts, strict=True))
    statistics[:, _DISTINCT] = [1 / times[key] for key in zip(draws, texts, strict=True)]
    written = [list(_lines(text, given)) for text, given in zip(texts, prompts, strict=True)]
    wanted, wanted_lines = {*texts}, {line for lines in written for line in lines}
    seen, seen_lines = set[tuple[str, ...]](), set[tuple[str, ...]]()
    for text in () if training is None else training:
        if text in wanted:
            seen.add(text)
        seen_lines.update(line for line in _lines(text) if line in wanted_lines)
    statistics[:, _SEEN] = [text in seen for text in texts]
    statistics[:, _JUDGED] = training is not None
    statistics[:, _LINES_SEEN] = [sum(line in seen_lines for line in lines) for lines in written]
    statistics[:, _LINES] = [len(lines) if training is not None else 0 for lines in written]
    return statistics


def _lines(text: Sequence[str], given: int = 0) -> Iterator[tuple[str, ...]]:
    """The parts of a text between line-joining commas, without parts that end before the token `given`."""
    line: list[str] = []
    for place, token in enumerate([*text, LINE_JOINT]):
        if token != LINE_JOINT:
            line.append(token)
            continue
        if line and place > given:
            yield tuple(line)
        line = []


@checked_call
class OwnWeight(Family[Structured]):
    """The attention weight on the symbol of the token to predict."""

    name = "own_weight"
    metrics = (
        Metric(
            "own_weight",
            ratio(0, 1),
            signature_of("attention", on="own-symbol", head="best", mean="texts"),
            "no attention to symbols",
        ),
    )

    def statistics(self, texts: Structured, /) -> Array:
        """(texts, 2): the weight, and whether the model attends to symbols."""
        own = np.asarray(texts.own_weights, dtype=np.float64)
        return np.column_stack([own, own > 0])


@checked_call
class LineShares(Family[Structured]):
    """Length and variety."""

    name = "texts"
    metrics = (
        *(
            share_of(f"length_within_{delta}", place, _TEXTS, signature_of("length", delta=delta, unit="tokens"))
            for place, delta in enumerate(DELTAS)
        ),
        # A resample repeats texts, so that every bootstrap value would lie below the value of the corpus.
        Metric(
            "distinct_texts",
            ratio(_DISTINCT, _TEXTS, scale=100.0),
            signature_of("distinct", of="texts", mean="draws", interval="none"),
            corpus_level=True,
        ),
        share_of("in_training", _SEEN, _JUDGED, signature_of("in-training", of="whole texts"), "no training lines"),
        Metric(
            "lines_in_training",
            ratio(_LINES_SEEN, _LINES, scale=100.0),
            signature_of("in-training", of="lines"),
            "no training lines",
        ),
    )

    def statistics(self, texts: Structured, /) -> Array:
        return text_statistics(
            texts.references, texts.hypotheses, texts.prompts, draws=texts.draws, training=texts.training
        )
