"""All metrics of paraphrases (GuiG, section 4, and C-DNPG, section 4.3) and of expanded parses.

Each has a fixed set of keys.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import compress
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from espalier.metrics import bleu, ibleu, rouge, ted
from espalier.metrics.bootstrap import Array
from espalier.metrics.defects import Defects
from espalier.metrics.expansion import Template
from espalier.metrics.family import Family, statistics_of
from espalier.metrics.meteor import Meteor
from espalier.metrics.metric import require_lengths
from espalier.metrics.nltk_bleu import Smoothing
from espalier.metrics.perplexity import PairPerplexity
from espalier.metrics.rouge_released import ReleasedRouge
from espalier.metrics.texts import Pairs

#: Families for scoring a run: those of GuiG, ROUGE-L as GuiG may print it, the two protocols of C-DNPG, and its count
#: of copies.
Scored = Literal["similarity", "trees", "defects", "perplexity", "rouge_released", "released", "paper", "copies"]
SCORED: Final[tuple[Scored, ...]] = get_args(Scored)
#: The default: those of GuiG.
GUIDED: Final[tuple[Scored, ...]] = ("similarity", "trees", "defects", "perplexity")

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
EXPANSION_HEADLINE: Final = {"ted": "ted_full", "tmpl": "template_kept", "exact": "exact"}


def paraphrase_statistics(
    pairs: Pairs, trees: ted.Trees | None = None, *, scored: Collection[Scored] = GUIDED
) -> dict[Family[Any], Array]:
    """Statistics of every segment, by GuiG's families: (segments, columns of the family).

    Args:
        trees: the parses of references and hypotheses. Without them no family of trees is computed.
        scored: the families to compute.

    Raises:
        EspalierError: the lists differ in length, a reference is empty, or a template has no tree.
        TreeError: a string is not a tree.
        SourceError: WordNet's files are missing.
    """
    pairs.require_texts()
    found: dict[Family[Any], Array] = {}
    if "similarity" in scored:
        meteor = Meteor(wordnet=pairs.wordnet is not None)
        found |= statistics_of((bleu.Bleu(), bleu.SourceBleu(), rouge.Rouge(), meteor), pairs)
    if "rouge_released" in scored:
        found |= statistics_of((ReleasedRouge(),), pairs)
    if "trees" in scored and trees is not None:
        require_lengths(
            "references", len(pairs.references), reference_trees=trees.references, hypothesis_trees=trees.hypotheses
        )
        found |= statistics_of((ted.Ted(), ted.GuideTed(), Template()), trees)
    if "defects" in scored:
        found |= statistics_of((Defects(),), pairs)
    if "perplexity" in scored:
        found |= statistics_of((PairPerplexity(),), pairs)
    return found


def protocol_statistics(
    whole: Pairs,
    cut: Pairs,
    *,
    pieces: int,
    smoothing: Smoothing = "nltk_3_4",
    alphas: Sequence[float] = (0.8, 0.9),
    scored: Collection[Scored] = SCORED,
) -> dict[Family[Any], Array]:
    """Statistics of every segment for the protocols of C-DNPG, by family (`espalier.metrics.ibleu`).

    Args:
        cut: the same pairs, each side cut after `pieces` word pieces.
        smoothing: formula of the released BLEU.
        alphas: values of alpha for the paper's iBLEU, from 0 to 1.
        scored: the families to compute.
    """
    wordnet, found = whole.wordnet is not None, dict[Family[Any], Array]()
    if "released" in scored:
        found |= statistics_of((ibleu.Released(smoothing, pieces, wordnet),), cut)
    if "paper" in scored:
        found |= statistics_of((ibleu.Paper(tuple(alphas), pieces, wordnet),), cut)
        found |= statistics_of((ibleu.Paper(tuple(alphas), "whole", wordnet),), whole)
    if "copies" in scored:
        found |= statistics_of((ibleu.Copies(),), cut)
    return found


def library_protocols(
    whole: Pairs, cut: Pairs, *, alphas: Sequence[float], parts: Mapping[str, Sequence[bool]] = MappingProxyType({})
) -> dict[str, float]:
    """Library values of the corpus scores of the protocol `paper`, by metric, over all segments and over each part."""
    found: dict[str, float] = {}
    for part, rows in {"": [True] * len(whole.hypotheses), **parts}.items():
        own, own_cut = ([[*compress(side, rows)] for side in pairs.sides] for pairs in (whole, cut))
        values = ibleu.library_paper(*own_cut, alphas=alphas) | ibleu.library_paper(*own, alphas=alphas, whole=True)
        found |= {f"{name}_{part}" if part else name: value for name, value in values.items()}
    return found


def library_scores(sources: Sequence[str], references: Sequence[str], hypotheses: Sequence[str]) -> dict[str, float]:
    """Corpus scores by sacreBLEU and rouge-score, by metric; empty for no segments."""
    copied = bleu.library_bleu([(source,) for source in sources], hypotheses)
    return {
        **bleu.library_bleu([(reference,) for reference in references], hypotheses),
        **({"bleu_source": copied["bleu"]} if copied else {}),
        **rouge.library_rouge(*rouge.countable(references, hypotheses)),
    }
