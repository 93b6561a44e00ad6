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
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Final, NamedTuple

import numpy as np

from espalier.io.errors import ConfigError
from espalier.metrics.bleu import bleu_statistics, corpus_bleu, library_bleu
from espalier.metrics.bootstrap import Array
from espalier.metrics.metric import Aggregate, Metric, ratio, require_lengths, share_of, signature_of
from espalier.metrics.perplexity import CorpusLikelihood, perplexity_metric, perplexity_statistics
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

_FAMILIES: Final = (
    "likelihood:42",
    "likelihood:42:dev",
    "bleu:text",
    "bleu:pos",
    "bleu:pos:whole",
    "own_weight",
    "texts",
)
_ORDERS: Final = (1, 2)
_BLEU: Final = 10  # the columns of `bleu_statistics`; then BLEU-1 and BLEU-2 of the text by itself, and 1
_NLL, _TOKENS, _WORD_NLL, _WORDS, _PLACES = range(5)
_WITHIN, _DISTINCT, _SEEN, _JUDGED, _LINES_SEEN, _LINES, _TEXTS = slice(0, 3), 3, 4, 5, 6, 7, 8


def metrics_of(family: str) -> tuple[Metric, ...]:
    """The metrics of one family. The setting of the family follows a colon.

    Raises:
        ConfigError: the family is unknown.
    """
    match family.split(":"):
        case ["likelihood", places] if places.isdecimal():
            return _likelihood_metrics(int(places))
        case ["likelihood", places, "dev"] if places.isdecimal():
            return tuple(replace(each, name=f"{each.name}_dev") for each in _likelihood_metrics(int(places)))
        case ["bleu", of]:
            return _bleu_metrics(of, whole=False)
        case ["bleu", of, "whole"]:
            return _bleu_metrics(of, whole=True)
        case ["own_weight"]:
            return (_OWN_WEIGHT,)
        case ["texts"]:
            return _TEXT_METRICS
    raise ConfigError.unknown("family", family, _FAMILIES, where="metrics of structured texts")


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


def _likelihood_metrics(places: int) -> tuple[Metric, ...]:
    metrics = (
        perplexity_metric("perplexity", _NLL, _TOKENS, over="tokens+end"),
        perplexity_metric("perplexity_tokens", _WORD_NLL, _WORDS, over="tokens"),
    )
    padded = perplexity_metric(
        f"perplexity_padded_{places}", _NLL, _PLACES, over=f"{places} places a text, padding at 0"
    )
    return (*metrics, padded) if places else metrics


# --- BLEU ------------------------------------------------------------------------------------------------------------


class Compared(NamedTuple):
    """Sequences compared by BLEU: their name, and whether prompts are included."""

    name: str
    whole: bool
    wanted: Sequence[Sequence[str]]
    found: Sequence[Sequence[str]]


def sequence_statistics(references: Sequence[Sequence[str]], hypotheses: Sequence[Sequence[str]]) -> Array:
    """(texts, 13): `bleu_statistics` of tokens or symbols, BLEU-1 and BLEU-2 of each text from 0 to 1, and 1.

    Raises:
        EspalierError: lists of different lengths.
    """
    counts = bleu_statistics([" ".join(row) for row in references], [" ".join(row) for row in hypotheses])
    own = [_zero_to_one(counts, order, effective=True) for order in _ORDERS]
    return np.column_stack([counts, *own, np.ones(len(counts))])


def _bleu_key(of: str, order: int, *, sentence: bool = False, whole: bool) -> str:
    return f"{of}_bleu_{order}{'_sentence' if sentence else ''}{'_whole' if whole else ''}"


def _bleu_metrics(of: str, *, whole: bool) -> tuple[Metric, ...]:
    def signature(order: int, mean: str, effective: str) -> str:
        return signature_of(
            "bleu", order=order, of=of, prompt="counted" if whole else "left-out", mean=mean, case="mixed",
            eff=effective, tok="none", smooth="exp", scale="0-1", sacrebleu=version("sacrebleu"),
        )  # fmt: skip

    corpus = [
        Metric(_bleu_key(of, order, whole=whole), _corpus(order), signature(order, "corpus", "no")) for order in _ORDERS
    ]
    sentences = [
        Metric(
            _bleu_key(of, order, sentence=True, whole=whole),
            ratio(_BLEU + place, _BLEU + len(_ORDERS)),
            signature(order, "texts", "yes"),
        )
        for place, order in enumerate(_ORDERS)
    ]
    return (*corpus, *sentences)


def _corpus(order: int) -> Aggregate:
    return partial(_zero_to_one, order=order)


def _zero_to_one(sums: Array, order: int, *, effective: bool = False) -> Array:
    return corpus_bleu(sums[..., :_BLEU], order, effective=effective) / 100.0


# --- Length and variety ----------------------------------------------------------------------------------------------


def text_statistics(
    references: Sequence[Sequence[str]],
    hypotheses: Sequence[Sequence[str]],
    prompts: Sequence[int],
    *,
    draws: Sequence[Hashable],
    training: Collection[tuple[str, ...]] | None = None,
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
        training: tokens of the training texts; None if unknown.

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
    statistics[:, _SEEN] = [training is not None and text in training for text in texts]
    statistics[:, _JUDGED] = training is not None
    known = {line for text in training or () for line in _lines(text)}
    written = [list(_lines(text, given)) for text, given in zip(texts, prompts, strict=True)]
    statistics[:, _LINES_SEEN] = [sum(line in known for line in lines) for lines in written]
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


_OWN_WEIGHT: Final = Metric(
    "own_weight",
    ratio(0, 1),
    signature_of("attention", on="own-symbol", head="best", mean="texts"),
    "no attention to symbols",
)
_TEXT_METRICS: Final = (
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
    share_of(
        "in_training",
        _SEEN,
        _JUDGED,
        signature_of("in-training", of="whole texts"),
        "no training lines",
    ),
    Metric(
        "lines_in_training",
        ratio(_LINES_SEEN, _LINES, scale=100.0),
        signature_of("in-training", of="lines"),
        "no training lines",
    ),
)


# --- All -------------------------------------------------------------------------------------------------------------


def structure_statistics(
    references: Sequence[Sequence[str]],
    hypotheses: Sequence[Sequence[str]],
    prompts: Sequence[int],
    symbols: Mapping[str, tuple[Sequence[Sequence[str]], Sequence[Sequence[str]]]],
    *,
    likelihood: CorpusLikelihood,
    own_weights: Sequence[float],
    places: int,
    draws: Sequence[Hashable],
    training: Collection[tuple[str, ...]] | None = None,
) -> dict[str, Array]:
    """Statistics of generated texts, by family: (texts, columns of the family).

    Args:
        references, hypotheses: tokens of each text, including its prompt.
        prompts: number of given tokens of each text.
        symbols: for each structure, the symbols of the references' tokens and of the hypotheses' tokens.
        likelihood: likelihood of each reference under the model.
        own_weights: for each reference, the model's attention weight on the symbol of the token to predict; 0 if the
            model does not attend to symbols.
        places: as in `likelihood_statistics`.
        draws, training: as in `text_statistics`.

    Raises:
        EspalierError: lists of different lengths, or a likelihood is not a number.
    """
    require_lengths("references", len(references), hypotheses=hypotheses, prompts=prompts, own_weights=own_weights)
    families = {f"likelihood:{places}": likelihood_statistics(likelihood, places)}
    for name, whole, wanted, found in compared(references, hypotheses, prompts, symbols):
        families[f"bleu:{name}:whole" if whole else f"bleu:{name}"] = sequence_statistics(wanted, found)
    own = np.asarray(own_weights, dtype=np.float64)
    families["own_weight"] = np.column_stack([own, own > 0])
    families["texts"] = text_statistics(references, hypotheses, prompts, draws=draws, training=training)
    return families


def compared(
    references: Sequence[Sequence[str]],
    hypotheses: Sequence[Sequence[str]],
    prompts: Sequence[int],
    symbols: Mapping[str, tuple[Sequence[Sequence[str]], Sequence[Sequence[str]]]],
) -> Iterator[Compared]:
    """The sequences compared by BLEU. Arguments are as in `structure_statistics`."""
    for name, sides in {"text": (references, hypotheses), **symbols}.items():
        wanted, found = ([row[given:] for row, given in zip(side, prompts, strict=True)] for side in sides)
        yield Compared(name, False, wanted, found)
        yield Compared(name, True, *sides)


def library_scores(sequences: Iterable[Compared]) -> dict[str, float]:
    """Corpus BLEU by sacreBLEU of texts and structures from `compared`, from 0 to 1."""
    scores = {}
    for name, whole, wanted, found in sequences:
        once, texts = [(" ".join(row),) for row in wanted], [" ".join(row) for row in found]
        if any(wanted) or any(found):  # else BLEU is undefined
            for order in _ORDERS:
                scores[_bleu_key(name, order, whole=whole)] = library_bleu(once, texts, order)["bleu"] / 100.0
    return scores
