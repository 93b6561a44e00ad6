"""A check of a sample of the recorded tree edit distances with an independent library."""

import random
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Final

from espalier.io.errors import EspalierError
from espalier.metrics.bootstrap import Array
from espalier.metrics.ted import Nodes, full_distances, nodes_of
from espalier.syntax.constituency import read_tree

#: The pairs of a sample.
PAIRS: Final = 50
#: Larger trees are not sampled: apted takes seconds for them, and recurses.
MAX_NODES: Final = 150
_LIBRARY: Final = "apted"


def ted_audit(references: Sequence[str], hypotheses: Sequence[str], statistics: Array, *, seed: int) -> dict[str, Any]:
    """Compare distances of whole trees with those of apted, for at most `PAIRS` pairs.

    Args:
        references: Penn strings, as in `ted_statistics`.
        hypotheses: likewise; unparsed ones are not sampled.
        statistics: result of `ted_statistics`.

    Returns:
        `library`, `version`, `pairs` (number of compared pairs) and `differences`, which is 0.

    Raises:
        EspalierError: a distance differs.
    """
    fit = [
        row
        for row, texts in enumerate(zip(references, hypotheses, strict=True))
        if texts[1] and max(text.count("(") for text in texts) <= MAX_NODES
    ]
    sample = sorted(random.Random(seed).sample(fit, min(PAIRS, len(fit))))
    recorded = full_distances(statistics)
    differences = list[tuple[int, int]]()
    for row in sample:
        sides = (("references", references[row]), ("hypotheses", hypotheses[row]))
        one, other = (nodes_of(read_tree(text, file=what, row=row + 1, words=False)) for what, text in sides)
        if (found := apted_distance(one, other)) != recorded[row]:
            differences.append((row, found))
    if differences:
        row, found = differences[0]
        raise EspalierError(
            f"{len(differences)} of {len(sample)} tree edit distances differ from {_LIBRARY}'s, the first is "
            f"{recorded[row]:g} and {_LIBRARY}'s {found}",
            where=f"scoring, row {row + 1}",
            remedy=f"hold the installed numba and {_LIBRARY} against constraints.txt",
        )
    return {"library": _LIBRARY, "version": version(_LIBRARY), "pairs": len(sample), "differences": 0}


def apted_distance(one: Nodes, other: Nodes) -> int:
    """The distance of two non-empty trees by apted. It recurses, so deep trees raise a RecursionError."""
    # A machine that only trains and decodes lacks it.
    from apted import APTED, helpers  # type: ignore[import-untyped]

    def tree(nodes: Nodes) -> Any:
        line = list[Any]()  # from the root down to the last node
        for label, level in zip(*nodes, strict=True):
            node = helpers.Tree(label)
            del line[level - 1 :]
            if line:
                line[-1].children.append(node)
            line.append(node)
        return line[0]

    return int(APTED(tree(one), tree(other)).compute_edit_distance())
