"""The authors' outputs as they cut them for Integrity, `res4end*`, against the poems whose formats they follow.

The texts lie in the mirror that `ESPALIER_MIRROR` names, and are no part of this project. The judge is a trigram model
of another draw of the authors' script (`zh_songci.txt`) without the poems that both have: the paper's is not published.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pytest
import torch

from espalier.corpora.leakage import letters_of
from espalier.datasets.batch import length_batches
from espalier.datasets.verse.data import View
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.models.ngram import NGram, NGramConfig
from espalier.tasks.integrity import VerseJudge, with_longer_units_cut, with_random_last_words, without_last_words

JUDGE = VerseJudge()


def poem(row: str) -> str:
    """The units of one released row: `author<s1>tune<s2>unit</s>unit`, or an output that begins with `<bos>`."""
    text = row.rpartition("<s2>")[2].replace("<bos>", "")
    return "\n".join(unit for unit in text.split("</s>") if unit)


def integrity(model: NGram, texts: list[str]) -> float:
    data, sums = JUDGE.read(texts, model.vocabulary), np.zeros(3)
    with torch.inference_mode():
        for part in length_batches(data.sizes(View()), budget=8192):
            sums += [float(column.sum()) for column in JUDGE.measure(model, data.batch(part, View())).values()]
    return math.exp(sums[0] / sums[1])


@pytest.mark.skipif(not os.environ.get("ESPALIER_MIRROR"), reason="the released texts are not at hand")
def test_the_released_outputs_and_broken_references_are_worse_than_the_references() -> None:
    folder = Path(os.environ["ESPALIER_MIRROR"]) / "songnet_released"
    rows = [(folder / f"{name}.txt").read_text("utf-8").strip("\n").split("\n") for name in ("out1", "zh_songci")]
    references, others = [poem(row.partition("\t")[0]) for row in rows[0]], [poem(row) for row in rows[1]]
    shared = {letters_of(text)[:12] for text in references}
    train = [text for text in others if letters_of(text)[:12] not in shared]
    assert len(references) == 962 and len(train) > 500
    vocabulary = VerseVocabulary.build("".join(train).replace("\n", ""), "zh", min_count=1, units=1, length=1)
    data = JUDGE.read(train, vocabulary)
    batch = data.batch(np.arange(len(train)), View())
    judge = NGram.fit(NGramConfig(View()), vocabulary, [batch], vocabulary.text_size)
    human = integrity(judge, references)
    for number in range(1, 6):
        released = (folder / f"res4end{number}.txt").read_text("utf-8").strip("\n").split("\n")
        assert integrity(judge, [poem(row) for row in released]) > 1.2 * human
    assert integrity(judge, without_last_words(references, "zh")) > 2 * human
    assert integrity(judge, with_random_last_words(references, list(range(962)), data)) > 2 * human
    assert integrity(judge, with_longer_units_cut(references, 1, "zh")) > 2 * human
