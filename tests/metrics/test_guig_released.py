"""What others published for GuiG's own 800 test pairs, scored here.

The texts are lower-case words joined by spaces, taken as they are: outputs of an independent retraining of GuiG.TG,
decoded on the references' parses, and the sources. `benchmarks/published_texts.py` measured their scores;
`test_published_texts.py` measures them anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from espalier.io.files import read_json
from espalier.metrics.paraphrase import library_scores
from espalier.metrics.rouge import KEYS

FOLDER = Path(__file__).parents[2] / "benchmarks/details/guig"
#: BLEU, length ratio, brevity penalty; ROUGE-1, -2, -L by stems.
SCORES = {
    "retrained": ((40.58, 1.004, 1.0), (69.81, 49.43, 68.23)),
    "copy": ((18.46, 1.035, 1.0), (49.85, 22.51, 41.20)),
}


@pytest.mark.parametrize("system", SCORES)
def test_the_released_texts_have_the_published_scores(system: str) -> None:
    found, (bleu, rouge) = read_json(FOLDER / f"{system}.json", dict)["scores"], SCORES[system]
    assert found["bleu"] == pytest.approx(bleu[0], abs=0.005)
    assert [found[key] for key in ("length_ratio", "brevity_penalty")] == pytest.approx(bleu[1:], abs=0.0005)
    assert [found[key] for key in KEYS[:3]] == pytest.approx(rouge, abs=0.005)


@pytest.mark.skipif(not os.environ.get("ESPALIER_MIRROR"), reason="the released texts are not at hand")
@pytest.mark.parametrize("system", SCORES)
def test_the_libraries_give_the_released_texts_these_scores(system: str) -> None:
    folder = Path(os.environ["ESPALIER_MIRROR"]) / "guig_released"
    sources, references, outputs = (
        (folder / name).read_text(encoding="utf-8").splitlines()
        for name in ("test_ori.txt", "test_ref.txt", "text.full.v-submit.11.19.txt")
    )
    sources = [line.split("\t")[0] for line in sources]
    library = library_scores(sources, references, outputs if system == "retrained" else sources)
    found = read_json(FOLDER / f"{system}.json", dict)["scores"]
    assert {key: found[key] for key in library} == pytest.approx(library, abs=1e-5)
    assert (found["bleu_source"] == pytest.approx(100.0)) == (system == "copy")
