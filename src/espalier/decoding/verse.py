"""Writing verse into frames, by the two named ways: `free` and `frame`.

free: everything is predicted, separators and the end mark too; only what is no text is ruled out.
frame: separators, the end mark and literals are copied from the frame, as the released code does, so that only words
and marks are predicted; `marks` also copies the punctuation, `rhyme` also keeps each rhyme letter to one rhyme group.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from espalier.datasets.verse.data import VerseBatch
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import BOS, EOS, SEP, UNK
from espalier.decoding.beam import beam_search
from espalier.decoding.constraints.constraint import All, Constraint
from espalier.decoding.constraints.frame import InFrame, InRhyme, Within
from espalier.decoding.sampling import sample
from espalier.models.contract import ChainModel
from espalier.text.language import join_tokens
from espalier.verse.format import BLANK, RHYME, Format
from espalier.verse.text import join_units


class VerseDecoder(BaseModel):
    """How verse is written, as it stands in params.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mode: Literal["free", "frame"] = "free"
    #: In `frame`: copy the punctuation as well.
    marks: bool = False
    #: In `frame`: the words of one rhyme letter share a rhyme group.
    rhyme: bool = False
    method: Literal["top_k", "beam"] = "top_k"
    top_k: int = Field(32, ge=1)
    temperature: float = Field(1.0, gt=0)
    beam: int = Field(5, ge=1)
    length_power: float = Field(0.0, ge=0)
    #: In `free`: how many tokens a text may outgrow its frame by; then it ends.
    slack: int = Field(8, ge=0)


def write(
    model: ChainModel, batch: VerseBatch, seeds: list[int], decoder: VerseDecoder, constraint: Constraint
) -> list[list[int]]:
    """One text, as ids without the end mark, for each row of `batch`."""
    steps = batch.c.shape[1] + (decoder.slack if decoder.mode == "free" else 0)
    if decoder.method == "beam":
        found = beam_search(
            model, batch, beam=decoder.beam, steps=steps, begin=BOS, end=EOS,
            length_power=decoder.length_power, constraint=constraint,
        )  # fmt: skip
        return [row[0].tokens if row else [] for row in found]
    return sample(
        model, batch, seeds=seeds, steps=steps, begin=BOS, end=EOS,
        top_k=decoder.top_k, temperature=decoder.temperature, constraint=constraint,
    )  # fmt: skip


def verse_constraint(decoder: VerseDecoder, vocabulary: VerseVocabulary) -> Constraint:
    """The constraint that a decoder's switches ask for."""
    if decoder.mode == "free":
        return Within(vocabulary, decoder.slack)
    parts: list[Constraint] = [InFrame(vocabulary, decoder.marks)]
    if decoder.rhyme:
        parts.append(InRhyme(vocabulary))
    return All(parts)


def text_of(ids: list[int], vocabulary: VerseVocabulary, format_: Format | None = None) -> str:
    """The verse that ids spell. With `format_` its literals stand as they were given, known to the model or not."""
    units: list[list[str]] = [[]]
    for identity in ids:
        if identity == SEP:
            units.append([])
        else:
            units[-1].append(vocabulary.token(identity))
    if not units[-1]:
        units.pop()
    if format_ is not None:
        units = [
            [
                word if slot in (BLANK, RHYME) or word != vocabulary.token(UNK) else slot
                for word, slot in zip(unit, slots, strict=False)
            ]
            for unit, slots in zip(units, format_.units, strict=False)
        ]
    return join_units(join_tokens(unit, vocabulary.language) for unit in units)
