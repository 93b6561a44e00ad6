"""Templates of the pastiche sonnets' lines, by the function of a line in its sentence.

A template is literal words (lower case) and slots (upper case first). Nouns N, determiners D, adjectives A and
prepositions P are followed by the letter of their group; words of a group agree in number and kind. "?" marks an
optional slot. T is a transitive verb from group "s", the subject, to group "o"; I an intransitive verb and C a copula
of group "s"; Tb and Ib are base forms. Z is a state ("pale"), M an adverb.
"""

from collections.abc import Sequence
from functools import cache

#: Clauses that begin with the subject, and clauses that begin with a place. A line may put two light words before the
#: first, or one before the second, and stay iambic.
_SUBJECT_FIRST = (
    "Ds As? Ns T Do Ao? No",
    "Ds As? Ns T Do Ao? No",
    "Ds As? Ns T Do No Pp Dp Np",
    "Ds As? Ns I Pp Dp Ap? Np",
    "Ds As? Ns of Dq Nq T Do Ao? No",
    "Ds As? Ns Pp Dp Ap? Np I",
    "Ds As? Ns Pp Dp Ap? Np C Z",
    "Ds As? Ns of Dq Aq? Nq C Z",
)
_PLACE_FIRST = (
    "Pp Dp Ap? Np Ds As? Ns I",
    "Pp Dp Np Ds As? Ns M I",
    "Pp Dp Ap? Np Ds As? Ns C Z",
    "Pp Dp Np Ds Ns T Do No",
)


def _after(pairs: Sequence[str], singles: Sequence[str]) -> tuple[str, ...]:
    return (
        *(f"{pair} {clause}" for pair in pairs for clause in _SUBJECT_FIRST),
        *(f"{single} {clause}" for single in singles for clause in _PLACE_FIRST),
    )


#: Role of a line -> its templates, repeated by frequency. "all" requires a plural subject.
TEMPLATES: dict[str, tuple[str, ...]] = {
    "main": (*_SUBJECT_FIRST, *_PLACE_FIRST, "no As? Ns can Tb Do Ao? No", "no As? Ns can Ib Pp Dp Ap? Np"),
    "and": _after(
        ("and all", "and still", "and there", "and so", "for here", "for all", "while still"), ("and", "for")
    ),
    "when": _after(
        ("when first", "when all", "while all", "though all", "though still", "if still"), ("when", "while", "as")
    ),
    "yet": _after(("yet still", "but now", "yet all", "but all", "yet here"), ("yet", "but")),
    "verb": (
        "and T Do Ao? No Pp Dp Ap? Np",
        "and M T Do Ao? No",
        "and I Pp Dp Ap? Np of Dq Aq? Nq",
        "and Pp Dp Ap? Np M I",
        "and Pp Dp Ap? Np of Dq Nq I",
        "and Pp Dp Ap? Np C so Z",
    ),
    "place": ("Pp Dp Ap? Np of Dq Aq? Nq", "Pp Dp Ap? Np and Dq Aq? Nq"),
    "ask": (
        "what As? Ns can Tb Do Ao? No",
        "what As? Ns of Dq Nq can Tb Do Ao? No",
        "who can Tb Do Ao? No Pp Dp Ap? Np",
        "how can Ds As? Ns Pp Dp Ap? Np Ib",
        "how can Ds As? Ns Ib Pp Dp Ap? Np",
        "how can Ds As? Ns Pp Dp Np be Z",
        "how can Ds As? Ns be so Z",
    ),
    "self": (
        "i Tb Do Ao? No Pp Dp Ap? Np",
        "i Tb Do Ao? No of Dq Aq? Nq",
        "i Ib Pp Dp Ap? Np of Dq Aq? Nq",
        "Pp Dp Ap? Np i M Ib",
        "Pp Dp Ap? Np i C so Z",
    ),
    "call": ("o As Ns of Dq Aq? Nq", "o As? Ns of Dq Aq Nq"),
    "vow": (
        "so long as i can Tb Do Ao? No",
        "so long as you can Tb Do Ao? No",
        "so long as none can Tb Do Ao? No",
        "so long as Pp Dp Np Ds Ns I",
        "so long as Pp Dp Np Ds Ns C Z",
    ),
    "seal": (
        "so long Ds As? Ns will Tb Do Ao? No",
        "so long Ds As? Ns will Ib Pp Dp Np",
        "so long Ds As? Ns Pp Dp Np will Ib",
        "so long Ds As? Ns Pp Dp Np will be Z",
        "so long Ds As? Ns will still be Z",
    ),
}


@cache
def ending(role: str, slot: str) -> tuple[tuple[str, ...], ...]:
    """The templates of a role whose last slot has the given letter, split into slots."""
    split = (tuple(template.split()) for template in TEMPLATES[role])
    return tuple(template for template in split if template[-1][0] == slot)
