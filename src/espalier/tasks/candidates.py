"""Candidates for a text, of which the first is taken whose parse keeps the template.

Candidates are rows of the outputs, numbered by `sample`, those of one tree after those of the other. The stage that
parses the texts of runs parses them too, and scoring takes one of each record: decoding needs no parser, and a change
of the parser decodes nothing again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from espalier.metrics.bleu import ngrams
from espalier.metrics.expansion import template_statistics
from espalier.tasks.data import TEXT_COLUMNS, Outputs

if TYPE_CHECKING:
    import pandas as pd

#: The column that only candidates have: the score by which they are ordered; NaN where there are fewer candidates.
RANKING: Final = "ranking"


def chosen(outputs: Outputs[Any]) -> Outputs[Any]:
    """The outputs with one text for each record and seed; unchanged if they are no candidates.

    Taken is the candidate with the highest score among those whose parse keeps the top levels of the tree that guided
    it (the metric `template_kept`), or among all if none does.

    Raises:
        ArtifactError: the parses are missing, or belong to other rows.
    """
    table = outputs.table
    if RANKING not in table:
        return outputs
    parses = outputs.parses()
    kept = template_statistics(table["guide"].tolist(), parses["target_tree"].tolist())[:, 0]
    order = table.assign(kept=kept).sort_values(["kept", RANKING], ascending=False, kind="stable")
    rows = order.drop_duplicates(["id", "seed"]).index.sort_values()
    return replace(
        outputs,
        table=table.loc[rows].reset_index(drop=True),
        annotations=parses.loc[rows].reset_index(drop=True),
    )


def kept_of_source(source: Sequence[str], text: Sequence[str]) -> float:
    """F1 of the bigrams of source and text, from 0 to 1; 0 for a text of one word."""
    given, found = (Counter(ngrams(words, 2)) for words in (source, text))
    return 2 * (given & found).total() / max(1, given.total() + found.total())


def taken(table: pd.DataFrame, segments: pd.DataFrame) -> pd.DataFrame:
    """The output rows that were scored, if the rows are candidates; else all.

    Args:
        segments: statistics of the scored rows.
    """
    if RANKING not in table:
        return table
    return table.merge(segments[list(TEXT_COLUMNS)], on=list(TEXT_COLUMNS), validate="1:1")
