"""Settings of SongNet's baseline S2S: `network` of a model in params.yaml."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from espalier.datasets.verse.data import View
from espalier.models.dialogue_config import Context, DialogueConfig


class VerseSeq2SeqConfig(DialogueConfig):
    """Settings of S2S, "attention mechanism Bahdanau et al. (2014)", with C as the source (SongNet, section 4.4).

    The paper gives no more details. The encoder is bidirectional as in Bahdanau et al., and widths are those of X2Tree.
    """

    #: The row of a batch that is the source: C, without P and S.
    source: ClassVar[str] = "c"

    context: Literal["initial"] | Context = "attention"
    bidirectional: bool = True
    #: The longest text or frame, in tokens.
    positions: int = Field(1024, ge=2, le=65_536)

    @property
    def view(self) -> View:
        """The view: no part of a frame except C."""
        return View()
