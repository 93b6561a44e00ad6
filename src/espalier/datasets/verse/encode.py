"""From records to the rows of ids that a model reads; what a vocabulary cannot hold is put aside."""

from __future__ import annotations

from collections.abc import Sequence

from espalier.corpora.records import Quarantined, Verse
from espalier.datasets.verse.data import VerseData
from espalier.datasets.verse.frames import frame_of, target_of
from espalier.datasets.vocabulary import Vocabulary
from espalier.io.errors import ConfigError
from espalier.text.language import tokens_of
from espalier.verse.format import format_of


def linearize(
    rows: Sequence[Verse], vocabulary: Vocabulary, longest: int, *, stage: str = "linearize"
) -> tuple[VerseData, list[Quarantined]]:
    """Frames, targets and titles of the records that fit, and the others with their reasons.

    Args:
        longest: tokens of a frame, separators and end mark counted.
        stage: what the quarantine table calls the one who puts rows aside.
    """
    ids, frames, targets, titles = [], [], [], []
    aside: list[Quarantined] = []
    for row in rows:
        try:
            frame = frame_of(format_of(row.target, vocabulary.language, row.rhyme), vocabulary)
            reason = f"over {longest} tokens" if len(frame) > longest else None
        except ConfigError:
            reason = f"over {vocabulary.units} units or {vocabulary.length} tokens a unit"
        if reason:
            aside.append(Quarantined(id=row.id, stage=stage, reason=reason, text=row.target))
            continue
        ids.append(row.id)
        frames.append(frame)
        targets.append(target_of(row.target, vocabulary))
        titles.append(title_of(row.tune, vocabulary))
    return VerseData.of(ids, frames, vocabulary, targets=targets, titles=titles), aside


def title_of(tune: str, vocabulary: Vocabulary) -> list[int]:
    """A tune's name as ids, no longer than the vocabulary has positions for."""
    return vocabulary.encode(tokens_of(tune.lower(), vocabulary.language)[: vocabulary.length])
