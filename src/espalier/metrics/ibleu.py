"""Paraphrase scores by two protocols of C-DNPG (Gu et al. 2022): that of its code, and that of its text.

iBLEU (Sun and Zhou 2012) rewards agreement with the reference and punishes agreement with the source:

    iBLEU = alpha BLEU - (1 - alpha) self-BLEU

`released` is the protocol of the code. It averages over sentences: NLTK's BLEU with smoothing method 7 (`nltk_bleu`),
whose formula is a setting; ROUGE-L with beta 1.2; and NLTK's METEOR. Texts are split at spaces after BERT's clean-up,
so a mark belongs to its word. Its self-BLEU compares with the letters of the first word of the source, "w h a t"; it is
near 0 for every output. The code decodes one id instead of a row, and so compares with the letters of the first piece,
which is the first word unless the vocabulary splits it.

`paper` is the protocol of the text: corpus BLEU-2 and BLEU-4 (sacreBLEU's tokenizer `13a`, lower case), self-BLEU
against the whole source, iBLEU at several alphas, ROUGE-L (F1 of words) and METEOR. The paper gives no alpha; the code
uses 0.8, and 0.9 is usual.

The protocols share no metric names. Texts are words as split by BERT's tokeniser, joined by single spaces. Both
protocols score sides cut to the number of word pieces that the models read and write. `paper` also scores the whole
sides, under names that end in `_whole`.

`copied` is the share of outputs equal to the source, and `words` is the mean length of outputs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Final, Literal

import numpy as np

from espalier.io.calls import checked_call
from espalier.io.errors import ConfigError
from espalier.metrics.bleu import bleu_statistics, corpus_bleu, sacrebleu
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import Family
from espalier.metrics.meteor import meteor_statistics
from espalier.metrics.metric import Aggregate, Metric, ratio, require_lengths, share_of, signature_of
from espalier.metrics.nltk_bleu import Smoothing, nltk_bleu
from espalier.metrics.rouge import KEYS as ROUGE
from espalier.metrics.rouge import library_rouge, longest_common, rouge_statistics
from espalier.metrics.texts import Pairs

#: The alpha of the released iBLEU.
RELEASED_ALPHA: Final = 0.8
#: The weight of recall in the released ROUGE-L.
ROUGE_BETA: Final = 1.2
#: What BERT's clean-up replaces, in this order (transformers 3.0.2).
_CLEAN_UP: Final = (
    (" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m"), (" 's", "'s"),
    (" 've", "'ve"), (" 're", "'re"),
)  # fmt: skip

_RELEASED: Final = ("bleu_2", "bleu_4", "self_bleu", "rouge_l", "meteor")
#: The columns of `paper_statistics`: BLEU against the reference and against the source, ROUGE-L, METEOR, 1.
_AGAINST_REFERENCE, _AGAINST_SOURCE, _ROUGE, _METEOR, _COUNT = slice(0, 10), slice(10, 20), 20, 21, 22
_COPIED, _WORDS, _OUTPUTS = range(3)


def cleaned(text: str) -> str:
    """Words and marks joined by single spaces, without spaces before marks and in contractions (BERT's clean-up)."""
    for spaced, glued in _CLEAN_UP:
        text = text.replace(spaced, glued)
    return text


# --- Statistics ------------------------------------------------------------------------------------------------------


def released_statistics(
    sources: Sequence[str],
    references: Sequence[str],
    hypotheses: Sequence[str],
    *,
    smoothing: Smoothing,
    wordnet: Path | None = None,
) -> Array:
    """(segments, 6): BLEU-2, BLEU-4, self-BLEU, ROUGE-L and METEOR of each segment, as fractions; and 1.

    Raises:
        EspalierError: lists of different lengths.
        SourceError: WordNet's files are missing.
    """
    require_lengths("references", len(references), sources=sources, hypotheses=hypotheses)
    first_words = [list(source.split()[0]) if source.strip() else [] for source in sources]
    wanted, written = ([cleaned(text) for text in side] for side in (references, hypotheses))
    one, other = ([text.split() for text in side] for side in (wanted, written))
    rouge = [_rouge_l(*pair) for pair in zip(one, other, strict=True)]
    meteor = meteor_statistics(wanted, written, wordnet=wordnet)
    copied = nltk_bleu(first_words, other, smoothing)[:, 1]
    return np.column_stack([nltk_bleu(one, other, smoothing), copied, np.array(rouge, dtype=np.float64), meteor])


def _rouge_l(reference: Sequence[str], hypothesis: Sequence[str]) -> float:
    longest = longest_common(reference, hypothesis)
    if not longest:
        return 0.0
    precision, recall = longest / len(hypothesis), longest / len(reference)
    return (1 + ROUGE_BETA**2) * precision * recall / (recall + ROUGE_BETA**2 * precision)


def paper_statistics(
    sources: Sequence[str], references: Sequence[str], hypotheses: Sequence[str], *, wordnet: Path | None = None
) -> Array:
    """(segments, 23): counts of BLEU against references and sources, ROUGE-L and METEOR of each segment, and 1.

    Raises:
        EspalierError: lists of different lengths.
        SourceError: WordNet's files are missing.
    """
    require_lengths("references", len(references), sources=sources, hypotheses=hypotheses)
    copied, wanted, written = ([_tokens_13a(text) for text in side] for side in (sources, references, hypotheses))
    return np.column_stack(
        [
            bleu_statistics(wanted, written),
            bleu_statistics(copied, written),
            rouge_statistics(references, hypotheses)[:, ROUGE.index("rouge_l_words")],
            meteor_statistics(wanted, written, wordnet=wordnet),
        ]
    )


def copy_statistics(sources: Sequence[str], hypotheses: Sequence[str]) -> Array:
    """(segments, 3): 1 if the output equals its source; number of words; 1."""
    require_lengths("sources", len(sources), hypotheses=hypotheses)
    rows = [
        (one.split() == other.split(), len(other.split()), 1) for one, other in zip(sources, hypotheses, strict=True)
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


@lru_cache(maxsize=200_000)
def _tokens_13a(text: str) -> str:
    """`13a` tokens joined by spaces, of the text as it would be printed."""
    return str(sacrebleu("13a", lowercase=True).tokenizer(cleaned(text).lower()))


# --- Metrics ---------------------------------------------------------------------------------------------------------


@checked_call
@dataclass(frozen=True)
class Released(Family[Pairs]):
    """The protocol of the code.

    Attributes:
        smoothing: formula of BLEU.
        pieces: number of word pieces after which all sides of the pairs are cut.
        wordnet: whether METEOR matches synonyms.
    """

    name = "released"
    smoothing: Smoothing
    pieces: int
    wordnet: bool = False

    def statistics(self, pairs: Pairs, /) -> Array:
        wordnet = pairs.wordnet if self.wordnet else None
        return released_statistics(*pairs.sides, smoothing=self.smoothing, wordnet=wordnet)

    @property
    def metrics(self) -> tuple[Metric, ...]:

        def signature(what: str, **more: object) -> str:
            return signature_of(
                what, protocol="released", mean="macro", case="lower", tok="spaces", cut=self.pieces, **more
            )

        method, count = f"method7/{self.smoothing}", len(_RELEASED)
        means = {name: ratio(column, count, scale=100.0) for column, name in enumerate(_RELEASED)}
        signatures = {
            "bleu_2": signature("bleu", order=2, smooth=method),
            "bleu_4": signature("bleu", order=4, smooth=method),
            "self_bleu": signature("bleu", order=4, smooth=method, against="letters of the source's first word"),
            "rouge_l": signature("rouge", type="L", beta=ROUGE_BETA, stems="no"),
            "meteor": signature("meteor", synonyms="wordnet" if self.wordnet else "none", nltk=version("nltk")),
        }
        weighted = _weighted(means["bleu_4"], means["self_bleu"], RELEASED_ALPHA)
        ibleu = Metric("released_ibleu", weighted, signature("ibleu", order=4, smooth=method, alpha=RELEASED_ALPHA))
        rest = [Metric(f"released_{name}", means[name], signatures[name]) for name in _RELEASED]
        return (*rest, ibleu)


@checked_call
@dataclass(frozen=True)
class Paper(Family[Pairs]):
    """The protocol of the text.

    Attributes:
        alphas: values of alpha for iBLEU, from 0 to 1.
        pieces: as in `Released`; "whole" if the pairs are not cut.
        wordnet: whether METEOR matches synonyms.

    Raises:
        ConfigError: an alpha is outside its bounds.
    """

    name = "paper"
    alphas: tuple[float, ...]
    pieces: int | Literal["whole"]
    wordnet: bool = False

    def __post_init__(self) -> None:
        for alpha in self.alphas:
            if not 0 <= alpha <= 1:
                raise ConfigError(f"alpha {alpha:g}", where="metrics of paraphrases", remedy="a number from 0 to 1")

    def statistics(self, pairs: Pairs, /) -> Array:
        return paper_statistics(*pairs.sides, wordnet=pairs.wordnet if self.wordnet else None)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        ending = "_whole" if self.pieces == "whole" else ""
        cut = "no" if self.pieces == "whole" else self.pieces

        def bleu(columns: slice, order: int = 4) -> Aggregate:
            return lambda sums: corpus_bleu(sums[..., columns], order)

        def metric(name: str, aggregate: Aggregate, kind: str, **more: object) -> Metric:
            return Metric(f"paper_{name}{ending}", aggregate, signature_of(kind, protocol="paper", cut=cut, **more))

        corpus = {"mean": "corpus", "case": "lower", "tok": "13a", "smooth": "exp", "sacrebleu": version("sacrebleu")}
        reference, source = bleu(_AGAINST_REFERENCE), bleu(_AGAINST_SOURCE)
        return (
            metric("bleu_2", bleu(_AGAINST_REFERENCE, 2), "bleu", order=2, **corpus),
            metric("bleu_4", reference, "bleu", order=4, **corpus),
            metric("self_bleu", source, "bleu", order=4, against="source", **corpus),
            *(
                metric(f"ibleu_{100 * alpha:g}", _weighted(reference, source, alpha), "ibleu", alpha=alpha, **corpus)
                for alpha in self.alphas
            ),
            metric("rouge_l", ratio(_ROUGE, _COUNT, scale=100.0), "rouge", type="L", f="1", mean="macro", stems="no"),
            metric(
                "meteor", ratio(_METEOR, _COUNT, scale=100.0), "meteor", mean="macro", case="lower", tok="13a",
                synonyms="wordnet" if self.wordnet else "none", nltk=version("nltk"),
            ),
        )  # fmt: skip


def _weighted(bleu: Aggregate, self_bleu: Aggregate, alpha: float) -> Aggregate:
    return lambda sums: alpha * bleu(sums) - (1 - alpha) * self_bleu(sums)


@checked_call
class Copies(Family[Pairs]):
    """Copied sources, and the length of outputs."""

    name = "copies"
    metrics = (
        share_of("copied", _COPIED, _OUTPUTS, signature_of("copied", counts="outputs equal to the source")),
        Metric("words", ratio(_WORDS, _OUTPUTS), signature_of("words", mean="macro", tok="none")),
    )

    def statistics(self, pairs: Pairs, /) -> Array:
        return copy_statistics(pairs.sources, pairs.hypotheses)


# --- The library -----------------------------------------------------------------------------------------------------


def library_paper(
    sources: Sequence[str],
    references: Sequence[str],
    hypotheses: Sequence[str],
    *,
    alphas: Sequence[float],
    whole: bool = False,
) -> dict[str, float]:
    """The values of the protocol `paper`, except METEOR, by sacreBLEU and rouge-score; empty for no segments."""
    if not hypotheses:
        return {}
    library, ending = sacrebleu("13a", lowercase=True), "_whole" if whole else ""
    copied, wanted, written = ([cleaned(text) for text in side] for side in (sources, references, hypotheses))
    four = library.corpus_score(written, [wanted])
    two = library.compute_bleu(
        four.counts[:2], four.totals[:2], four.sys_len, four.ref_len, library.smooth_method, max_ngram_order=2
    )
    own = library.corpus_score(written, [copied]).score
    (rouge,) = library_rouge(references, hypotheses, keys=("rouge_l_words",)).values()
    values = {
        "bleu_2": two.score,
        "bleu_4": four.score,
        "self_bleu": own,
        **{f"ibleu_{100 * alpha:g}": alpha * four.score - (1 - alpha) * own for alpha in alphas},
        "rouge_l": rouge,
    }
    return {f"paper_{name}{ending}": value for name, value in values.items()}
