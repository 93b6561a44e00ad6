"""Dialogues: every utterance and the next one form a post and its response."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from espalier.corpora.readers.rows import pair_of, quarantined
from espalier.corpora.records import Pair, Quarantined


def adjacent(id: str, utterances: Sequence[str], *, origin: str, language: str) -> Iterator[Pair | Quarantined]:
    """The pairs of one dialogue, which is their `group`: n utterances give n - 1 pairs, ids ending in ".0", ".1" ...

    A dialogue of fewer than two utterances is quarantined as "no response".
    """
    if len(utterances) < 2:
        yield quarantined(id, "no response", "".join(utterances))
    for number, (post, response) in enumerate(pairwise(utterances)):
        yield pair_of(f"{id}.{number}", post, response, origin=origin, language=language, group=id)
