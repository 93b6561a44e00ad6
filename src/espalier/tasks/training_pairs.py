"""Look up a text's partner in the training pairs, and find test pairs that share texts with them.

Texts are compared by their letters, as for leakage; texts without letters are compared unchanged. A test pair is
`unseen` if no training pair has one of its sides. It is `joined` if a chain of training pairs links its two sides: a
model can then memorize the paraphrase although the pair itself is not in training.
"""

from collections.abc import Mapping, Sequence

from espalier.corpora.leakage import letters_of
from espalier.corpora.linked import linked


class TrainingPairs:
    """Training pairs, indexed by their sides.

    Args:
        pairs: (source, target) of each pair.
    """

    def __init__(self, pairs: Sequence[Mapping[str, str]]) -> None:
        sides = [[_key(pair[side]) for pair in pairs] for side in ("source", "target")]
        groups = linked(len(pairs), sides)
        self._group = {key: group for side in sides for key, group in zip(side, groups, strict=True)}
        self._partner: dict[str, str] = {}
        for pair, source, target in zip(pairs, *sides, strict=True):
            self._partner.setdefault(source, pair["target"])
            self._partner.setdefault(target, pair["source"])

    def look_up(self, text: str) -> str | None:
        """The other side of the first training pair with this text as a side, or None."""
        return self._partner.get(_key(text))

    def parts(self, sources: Sequence[str], references: Sequence[str]) -> dict[str, list[bool]]:
        """For each pair, whether it is `unseen`, and whether it is `joined`."""
        ends = [
            (self._group.get(_key(source)), self._group.get(_key(reference)))
            for source, reference in zip(sources, references, strict=True)
        ]
        return {
            "unseen": [one is None and other is None for one, other in ends],
            "joined": [one is not None and one == other for one, other in ends],
        }


def _key(text: str) -> str:
    return letters_of(text) or text
