"""The committed scores of the controls, by the judges of profile small."""

from __future__ import annotations

import pytest

from espalier.io.files import read_json
from pipeline import layout


@pytest.mark.parametrize("entry", ["songci_dev", "songci", "songci_authors", "songnet_released", "sonnet"])
@pytest.mark.parametrize("row", ["cut", "replaced", "broken_off"])
def test_the_judge_finds_the_marks_of_references_at_least_twice_as_probable_as_after_changed_ends(
    entry: str, row: str
) -> None:
    details = read_json(layout.PROFILES["small"] / layout.details("songnet", f"baselines/{entry}/{row}"))
    assert details["scores"]["integrity_times_reference"] >= 2


def test_the_judge_ranks_the_authors_pre_trained_texts_below_the_poems_whose_formats_they_have() -> None:
    folder = layout.PROFILES["small"]
    integrity = {
        row: read_json(folder / layout.details("songnet", f"baselines/songnet_released/{row}"))["scores"]["integrity"]
        for row in ("pretrained", "res4end", "human")
    }
    assert min(integrity["pretrained"], integrity["res4end"]) > 2 * integrity["human"]
