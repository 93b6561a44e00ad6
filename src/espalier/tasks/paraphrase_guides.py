"""The trees that guide paraphrases, and the templates of trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from espalier.io.errors import DataError
from espalier.syntax.constituency import read_tree, template

if TYPE_CHECKING:
    import pandas as pd

    from espalier.corpora.records import Pair
    from espalier.datasets.pairs.data import PairData, PairView
    from espalier.tasks.data import Ready
    from espalier.tasks.paraphrase_decoder import PairDecoder, PairModel


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
