"""What a template allows at each place."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from espalier.datasets.structure.data import StructureBatch, StructureData, StructureView
from espalier.datasets.structure.vocabulary import StructureVocabulary
from espalier.datasets.vocabulary import BOS, EOS, PAD, SEP, UNK
from espalier.decoding.constraints.template import TemplateConstraint

VOC = StructureVocabulary(tuple("灯山桥"), "zh", {"pc": ("S",)})
FREE = {5, 6, 7}


def batch() -> StructureBatch:
    """A template of four characters, two of which are given, the second unknown; and one of two, nothing given."""
    target = [[5, UNK, 6, 7], [7, 5]]
    columns = {"target": target, "topic": [[], []], "prompt": [[2], [0]], "pc": [[2] * 4, [2] * 2]}
    return StructureData.of(["a", "b"], columns, VOC).batch(np.arange(2), StructureView())


def allowed(mask: Tensor) -> list[set[int]]:
    return [set((row == 0).nonzero()[:, 0].tolist()) for row in mask]


def walked(constraint: TemplateConstraint, steps: int) -> list[list[set[int]]]:
    """What is allowed at each place, template by template."""
    state, found = constraint.start(batch()), []
    for _ in range(steps):
        found.append(allowed(constraint.mask(state)))
        state = constraint.advance(torch.tensor([5, 5]), state)
    return found


def test_a_frame_keeps_the_prompt_and_ends_at_the_length_of_the_template() -> None:
    assert walked(TemplateConstraint(VOC, prompt=True, frame=True), 6) == [
        [{5}, FREE],
        [{UNK}, FREE],
        [FREE, {EOS}],
        [FREE, {EOS}],
        [{EOS}, {EOS}],
        [{EOS}, {EOS}],
    ]


@pytest.mark.parametrize("slack", [0, 2])
def test_a_free_text_may_end_after_its_prompt_and_must_at_its_bound(slack: int) -> None:
    found = walked(TemplateConstraint(VOC, prompt=True, slack=slack), 8)
    any_ = FREE | {EOS}
    assert [row[0] for row in found] == [{5}, {UNK}, *[any_] * (2 + slack), *[{EOS}] * (4 - slack)]
    assert [row[1] for row in found] == [*[any_] * (2 + slack), *[{EOS}] * (6 - slack)]


def test_without_a_prompt_nothing_of_the_template_is_kept_and_no_special_is_written() -> None:
    found = walked(TemplateConstraint(VOC, prompt=False, frame=True), 2)
    assert found == [[FREE, FREE], [FREE, FREE]]
    assert not {PAD, UNK, BOS, SEP} & set().union(*(row for rows in found for row in rows))


def test_selected_prefixes_keep_their_template() -> None:
    constraint = TemplateConstraint(VOC, prompt=True, frame=True)
    state = constraint.start(batch()).select(torch.tensor([1, 0, 0, 1])).select(torch.tensor([1, 3]))
    assert allowed(constraint.mask(state)) == [{5}, FREE]
