"""The studies in which people judged runs, as `espalier judge score` writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from espalier.io.files import read_json
from espalier.judging.result import JudgedDetails
from pipeline import layout

#: Their folder, in that of a paper's metrics.
JUDGED: Final = "judged"


def read_studies(paper: str, folder: Path = Path()) -> list[JudgedDetails]:
    """The studies in which people judged runs of a paper, by protocol.

    Args:
        folder: folder of the profile.
    """
    files = sorted((folder / layout.details(paper, JUDGED)).with_suffix("").glob("*.json"))
    return [JudgedDetails.model_validate(read_json(file, JudgedDetails)) for file in files]
