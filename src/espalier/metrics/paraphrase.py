"""All metrics of paraphrases (GuiG, section 4;

C-DNPG, section 4.3) and of expanded parses; each has a fixed set of keys.

Statistics are grouped by family, with one row per segment. Scores and paired comparisons are computed from them. The
name of a family has its setting after a colon: `meteor` is without synonyms, `meteor:wordnet` with them, and
`expansion:8` cuts trees at level 8. The last part `unseen` selects the rows with no side in training; `joined` selects
the rows whose two sides are linked by training pairs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, get_args

import numpy as np

from espalier.io.errors import ConfigError, EspalierError
from espalier.metrics import bleu, defects, ibleu, rouge, ted
from espalier.metrics.bootstrap import Array
from espalier.metrics.meteor import meteor_metrics, meteor_statistics
from espalier.metrics.metric import Metric, ratio, require_lengths, share_of, signature_of
from espalier.metrics.nltk_bleu import Smoothing
from espalier.metrics.perplexity import METRICS as PERPLEXITY
from espalier.metrics.perplexity import CorpusLikelihood, perplexity_statistics
from espalier.metrics.ted import Nodes, cut_nodes, nodes_of, ted_metrics, ted_statistics
from espalier.syntax.constituency import read_tree

#: Families for scoring a run: those of GuiG, the two protocols of C-DNPG, and its count of copies.
Scored = Literal["similarity", "trees", "defects", "perplexity", "released", "paper", "copies"]
SCORED: Final[tuple[Scored, ...]] = get_args(Scored)
#: GuiG's.
GUIDED: Final[tuple[Scored, ...]] = ("similarity", "trees", "defects", "perplexity")

#: Pairs with no side in training; and pairs whose sides are linked by training pairs, maybe via other texts.
PARTS: Final = ("unseen", "joined")

#: The levels of a template (GuiG, section 2).
TEMPLATE_LEVELS: Final = 3
#: The levels that a model of GuiG's reads and writes.
DEPTH: Final = 8

#: The metrics of `paraphrase_statistics`, always all of them.
KEYS: Final = (
    "bleu", "length_ratio", "brevity_penalty", "bleu_source", *rouge.KEYS, "meteor", *ted.KEYS,
    *ted.GUIDE_KEYS, "template_kept", "repeated_words", "negation_lost", "negation_doubled", "empty",
    "incomprehensible", "perplexity",
)  # fmt: skip

#: The metrics of `expansion_statistics`, always all of them.
EXPANSION_KEYS: Final = (*ted.KEYS, "template_kept", "exact", "nodes_ratio", "tags_at_leaves")

#: The metrics that `dvc metrics show` prints, by their short names there.
HEADLINE: Final = {
    "bleu": "bleu",
    "source": "bleu_source",
    "rougeL": "rouge_l",
    "meteor": "meteor",
    "ted": "ted_full",
    "tmpl": "template_kept",
    "ppl": "perplexity",
}
PROTOCOL_HEADLINE: Final = {
    "ibleu": "paper_ibleu_80",
    "unseen": "paper_ibleu_80_unseen",
    "joined": "paper_ibleu_80_joined",
    "self": "paper_self_bleu",
    "bleu4": "paper_bleu_4",
    "released": "released_bleu_4",
    "copied": "copied",
    "length": "words",
}
EXPANSION_HEADLINE: Final = {
    "ted": "ted_full",
    "tmpl": "template_kept",
    "exact": "exact",
}

_FAMILIES: Final = (
    "bleu", "bleu_source", "rouge", "meteor", "meteor:wordnet", "ted", "ted_guide", "template", "defects", "perplexity",
    "expansion:8", "released:nltk_3_4:19", "paper:0.8,0.9:19", "paper:0.8,0.9:whole", "copies",
)  # fmt: skip
_EXACT, _PREDICTED, _REFERENCE, _TAGGED, _TREES = range(5)


def metrics_of(family: str) -> tuple[Metric, ...]:
    """The metrics of one family.

    Raises:
        ConfigError: the family is unknown.
    """
    base, _, part = family.rpartition(":")
    if part in PARTS:
        return tuple(
            replace(
                metric,
                name=f"{metric.name}_{part}",
                signature=f"{metric.signature}|pairs:{part}",
                undefined=f"no pair is {part}, or {metric.undefined}",
            )
            for metric in metrics_of(base)
        )
    if (protocol := ibleu.metrics_of(family)) is not None:
        return protocol
    match family.partition(":")[::2]:
        case "bleu", "":
            return bleu.bleu_metrics()
        case "bleu_source", "":
            return bleu.source_metrics()
        case "rouge", "":
            return rouge.rouge_metrics()
        case "meteor", "" | "wordnet" as synonyms:
            return meteor_metrics(wordnet=bool(synonyms))
        case "ted", "":
            return ted_metrics()
        case "ted_guide", "":
            return ted.guide_metrics()
        case "template", "":
            signature = signature_of("template", levels=TEMPLATE_LEVELS, leaves="tags", unparsed="lost")
            return (share_of("template_kept", 0, 1, signature, "no trees"),)
        case "defects", "":
            return defects.METRICS
        case "perplexity", "":
            return PERPLEXITY[:1]
        case "expansion", depth if depth.isdecimal():
            return _expansion_metrics(int(depth))
    raise ConfigError.unknown("family", family, _FAMILIES, where="metrics of paraphrases")


def by_part(statistics: Mapping[str, Array], parts: Mapping[str, Sequence[bool]]) -> dict[str, Array]:
    """For each part, a copy of every family with zeros for rows outside the part.

    Args:
        parts: for each of `PARTS`, whether each segment belongs to it.
    """
    return {
        f"{family}:{part}": np.where(np.array(rows, dtype=bool)[:, None], values, 0.0)
        for part, rows in parts.items()
        for family, values in statistics.items()
    }


# --- Paraphrases -----------------------------------------------------------------------------------------------------


def paraphrase_statistics(
    sources: Sequence[str],
    references: Sequence[str],
    hypotheses: Sequence[str],
    reference_trees: Sequence[str] | None = None,
    hypothesis_trees: Sequence[str] | None = None,
    *,
    templates: Sequence[str] | None = None,
    guides: Sequence[str] | None = None,
    likelihood: tuple[Sequence[float], Sequence[int]] | None = None,
    wordnet: Path | None = None,
    training_words: Collection[str] | None = None,
    scored: Collection[Scored] = GUIDED,
) -> dict[str, Array]:
    """Statistics of every segment, by GuiG's families: (segments, columns of the family).

    Args:
        sources: words joined by single spaces, like references and hypotheses.
        references: the expected texts.
        hypotheses: the generated texts; an empty text counts as wrong.
        reference_trees: parses of the references as uncut Penn strings. Without them no tree family is computed.
        hypothesis_trees: parses of the hypotheses by the same parser; an empty string means that the text could not be
            parsed.
        templates: the parses, or their top levels, that guided the outputs; None means those of the references.
        guides: the tree that guided each output, "" for none; None if no output had a tree.
        likelihood: for each reference under the model, the summed negative log-likelihood in nats and the number of
            tokens. Without it the perplexity is undefined.
        wordnet: the folder of WordNet's database files, for METEOR's synonyms.
        training_words: the words of the training texts, in lower case, for `incomprehensible`.
        scored: the families to compute.

    Raises:
        EspalierError: the lists differ in length, a reference is empty, or a template has no tree.
        TreeError: a string is not a tree.
        SourceError: WordNet's files are missing.
    """
    count = len(references)
    require_lengths("references", count, sources=sources, hypotheses=hypotheses)
    for row, reference in enumerate(references, start=1):
        if not reference.strip():
            raise EspalierError("the reference is empty", where=f"scoring, row {row}", remedy="filter it out before")
    families: dict[str, Array] = {}
    if "similarity" in scored:
        meteor = "meteor" if wordnet is None else "meteor:wordnet"
        families["bleu"] = bleu.bleu_statistics(references, hypotheses)
        families["bleu_source"] = bleu.bleu_statistics(sources, hypotheses)
        families["rouge"] = rouge.rouge_statistics(references, hypotheses)
        families[meteor] = meteor_statistics(references, hypotheses, wordnet=wordnet)
    if "trees" in scored:
        families |= _tree_families(count, reference_trees, hypothesis_trees, templates, guides)
    if "defects" in scored:
        families["defects"] = defects.defect_statistics(sources, references, hypotheses, training_words)
    if "perplexity" in scored:
        families["perplexity"] = _likelihoods(likelihood, count)
    return families


class Sides(NamedTuple):
    """The texts of all segments: words joined by single spaces."""

    sources: Sequence[str]
    references: Sequence[str]
    hypotheses: Sequence[str]


def protocol_statistics(
    whole: Sides,
    cut: Sides,
    *,
    pieces: int,
    smoothing: Smoothing = "nltk_3_4",
    alphas: Sequence[float] = (0.8, 0.9),
    wordnet: Path | None = None,
    scored: Collection[Scored] = SCORED,
) -> dict[str, Array]:
    """Statistics of every segment for the protocols of C-DNPG, by family (`espalier.metrics.ibleu`).

    Args:
        cut: the same sides, each cut after `pieces` word pieces.
        smoothing: formula of the released BLEU.
        alphas: values of alpha for the paper's iBLEU, from 0 to 1.
        wordnet, scored: as in `paraphrase_statistics`.
    """
    families: dict[str, Array] = {}
    if "released" in scored:
        name = ibleu.released_family(smoothing, pieces, wordnet=wordnet is not None)
        families[name] = ibleu.released_statistics(*cut, smoothing=smoothing, wordnet=wordnet)
    if "paper" in scored:
        for sides, limit in ((cut, pieces), (whole, None)):
            name = ibleu.paper_family(alphas, limit, wordnet=wordnet is not None)
            families[name] = ibleu.paper_statistics(*sides, wordnet=wordnet)
    if "copies" in scored:
        families["copies"] = ibleu.copy_statistics(cut.sources, cut.hypotheses)
    return families


def library_protocols(
    whole: Sides, cut: Sides, *, alphas: Sequence[float], parts: Mapping[str, Sequence[bool]] = MappingProxyType({})
) -> dict[str, float]:
    """Library values of the corpus scores of the protocol `paper`, by metric, over all segments and over each part."""
    found: dict[str, float] = {}
    for part, rows in {"": [True] * len(whole.hypotheses), **parts}.items():
        own, own_cut = (Sides(*([*compress(side, rows)] for side in sides)) for sides in (whole, cut))
        values = ibleu.library_paper(*own_cut, alphas=alphas) | ibleu.library_paper(*own, alphas=alphas, whole=True)
        found |= {f"{name}_{part}" if part else name: value for name, value in values.items()}
    return found


def library_scores(sources: Sequence[str], references: Sequence[str], hypotheses: Sequence[str]) -> dict[str, float]:
    """Corpus scores by sacreBLEU and rouge-score, by metric; empty for no segments."""
    copied = bleu.library_bleu([(source,) for source in sources], hypotheses)
    return {
        **bleu.library_bleu([(reference,) for reference in references], hypotheses),
        **({"bleu_source": copied["bleu"]} if copied else {}),
        **rouge.library_rouge(references, hypotheses),
    }


def _tree_families(
    count: int,
    reference_trees: Sequence[str] | None,
    hypothesis_trees: Sequence[str] | None,
    templates: Sequence[str] | None,
    guides: Sequence[str] | None,
) -> dict[str, Array]:
    if reference_trees is None or hypothesis_trees is None:
        return {}
    require_lengths("references", count, reference_trees=reference_trees, hypothesis_trees=hypothesis_trees)
    distances = ted_statistics(reference_trees, hypothesis_trees)
    given = [""] * count if guides is None else guides
    return {
        "ted": distances,
        "ted_guide": ted.guide_statistics(given, reference_trees, hypothesis_trees, distances),
        "template": template_statistics(reference_trees if templates is None else templates, hypothesis_trees),
    }


def template_statistics(templates: Sequence[str], hypothesis_trees: Sequence[str]) -> Array:
    """(trees, 2): whether the top levels of a tree equal its template, and 1. An unparsed tree does not."""
    require_lengths("templates", len(templates), hypothesis_trees=hypothesis_trees)
    template_nodes, hypothesis_nodes = _all_nodes("templates", templates), _all_nodes("hypotheses", hypothesis_trees)
    statistics = np.ones((len(templates), 2))
    for row, (one, other) in enumerate(zip(template_nodes, hypothesis_nodes, strict=True)):
        _require_tree(one, "template", row)
        statistics[row, 0] = cut_nodes(one, TEMPLATE_LEVELS) == cut_nodes(other, TEMPLATE_LEVELS)
    return statistics


def _likelihoods(likelihood: tuple[Sequence[float], Sequence[int]] | None, count: int) -> Array:
    nll, tokens = likelihood if likelihood is not None else ([0.0] * count, [0] * count)
    require_lengths("references", count, likelihood=nll, tokens=tokens)
    return perplexity_statistics(CorpusLikelihood(nll, tokens, [0.0] * count, [0] * count))


# --- Expansions ------------------------------------------------------------------------------------------------------


def expansion_statistics(
    reference_trees: Sequence[str],
    predicted_trees: Sequence[str],
    *,
    templates: Sequence[str] | None = None,
    depth: int = DEPTH,
) -> dict[str, Array]:
    """Statistics of every expanded parse, by family.

    Args:
        reference_trees: parses of the targets as uncut Penn strings.
        predicted_trees: trees written by the expander, without words; an empty string counts as wrong.
        templates: templates to expand; None means the top levels of the references.
        depth: number of levels that the expander writes. References are whole for the tree edit distance and cut for
            all other scores.

    Raises:
        EspalierError: the lists differ in length, or a reference is empty.
        TreeError: a string is not a tree.
    """
    distances = ted_statistics(reference_trees, predicted_trees)
    reference_nodes = _all_nodes("references", reference_trees)
    predicted_nodes = _all_nodes("predictions", predicted_trees)
    tags = {label for nodes in set(reference_nodes) for label, _ in _leaves(nodes)}
    counts = np.ones((len(reference_nodes), _TREES + 1))
    for row, (reference, nodes) in enumerate(zip(reference_nodes, predicted_nodes, strict=True)):
        one, other = cut_nodes(reference, depth), cut_nodes(nodes, depth)
        counts[row, _EXACT] = one == other
        counts[row, _PREDICTED], counts[row, _REFERENCE] = len(other.labels), len(one.labels)
        # At the lowest level a phrase may end that was cut.
        counts[row, _TAGGED] = bool(other.labels) and all(
            label in tags or level >= depth for label, level in _leaves(other)
        )
    return {
        "ted": distances,
        "template": template_statistics(reference_trees if templates is None else templates, predicted_trees),
        f"expansion:{depth}": counts,
    }


def _expansion_metrics(depth: int) -> tuple[Metric, ...]:
    def signature(key: str, mean: str) -> str:
        return signature_of("expansion", counts=key, mean=mean, cut=depth)

    return (
        share_of("exact", _EXACT, _TREES, signature("exact", "share"), "no trees"),
        Metric("nodes_ratio", ratio(_PREDICTED, _REFERENCE), signature("nodes_ratio", "pooled"), "no trees"),
        share_of("tags_at_leaves", _TAGGED, _TREES, signature("tags_at_leaves", "share"), "no trees"),
    )


# --- Both ------------------------------------------------------------------------------------------------------------


def _all_nodes(what: str, trees: Sequence[str]) -> list[Nodes]:
    """The nodes of every tree; an empty string has no nodes. Equal strings are parsed once."""
    read = {"": Nodes((), ())}
    for row, tree in enumerate(trees, start=1):
        if tree not in read:
            read[tree] = nodes_of(read_tree(tree, file=what, row=row, words=False))
    return [read[tree] for tree in trees]


def _require_tree(nodes: Nodes, what: str, row: int) -> None:
    if not nodes.labels:
        raise EspalierError(f"the {what} has no tree", where=f"row {row + 1}", remedy="filter it out before")


def _leaves(nodes: Nodes) -> list[tuple[str, int]]:
    """The nodes without children, with their levels."""
    below = (*nodes.levels[1:], 0)
    return [pair for pair, following in zip(zip(*nodes, strict=True), below, strict=True) if following <= pair[1]]
