"""The rows without a model on the test pairs that C-DNPG's authors published, from the mirror's bytes.

`ESPALIER_MIRROR=FOLDER python benchmarks/rows_without_model.py` writes `benchmarks/details/cdnpg/<corpus>_<row>.json`:
the sums of the statistics of all test pairs by metric family, and the scores that they give. docs/cdnpg.md shows them.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from measuring import mirror_folder

from espalier.corpora.readers import quora, twitter_url
from espalier.corpora.records import Pair
from espalier.datasets.pairs.encode import PairEncoding, PairSettings
from espalier.io.files import write_json
from espalier.metrics.family import Family, by_part, family_scores
from espalier.metrics.ibleu import Paper
from espalier.metrics.paraphrase import protocol_statistics
from espalier.metrics.registry import family
from espalier.metrics.texts import Pairs
from espalier.tasks.data import Ready
from espalier.tasks.paraphrase import ParaphraseTask
from espalier.tasks.training_pairs import TrainingPairs

FOLDER: Final = Path(__file__).parent / "details" / "cdnpg"
FORMULAS: Final = ("nltk_3_4", "nltk_3_5", "nltk_3_6")
#: The rows of each corpus; look-up needs training pairs of the same kind.
ROWS: Final = {"quora": ("copy", "look_up", "noise"), "twitter": ("copy",)}
#: By family, the sum of each column over all test pairs.
Sums = dict[str, list[float]]
#: Sources, references and hypotheses.
Sides = tuple[list[str], list[str], list[str]]


def files() -> list[str]:
    """The names of the files: `<corpus>_<row>`, and for other formulas than the default `<corpus>_copy_<formula>`."""
    rows = [f"{corpus}_{row}" for corpus, names in ROWS.items() for row in names]
    return [*rows, *(f"{corpus}_copy_{formula}" for corpus in ROWS for formula in FORMULAS[1:])]


def scores_of(sums: Sums, task: str = "paraphrase") -> dict[str, float | None]:
    """The scores of sums, which are statistics of one segment."""
    families = {family(key, task): np.array([values], dtype=float) for key, values in sums.items()}
    scores = family_scores(families, seed=0, resamples=0)
    return {key: None if score.value is None else round(score.value, 6) for key, score in scores.items()}


def measured(mirror: Path) -> Iterator[tuple[str, Sums]]:
    """The sums for each file's name."""
    with tempfile.TemporaryDirectory() as place:
        wordnet, sources = Path(place) / "lexicon", _sources(mirror, Path(place))
        with zipfile.ZipFile(mirror / "wordnet/wordnet.zip") as archive:
            archive.extractall(wordnet)
        read = {
            "quora": quora.read(sources["quora"], dev_apart=True),
            "twitter": twitter_url.read(sources["twitter"], annotated_dev=150),
        }
        for corpus, found in read.items():
            rows = [row for row in found if isinstance(row, Pair)]
            tests = [row for row in rows if row.id.startswith(f"{corpus}-test-")]
            train = [row for row in rows if not row.id.startswith((f"{corpus}-dev-", f"{corpus}-test-"))]
            sides, vocabulary, pairs = rows_of(tests, train, mirror / "bert_vocab")
            for row in ROWS[corpus]:
                scored: tuple[Any, ...] = ("released", "paper", "copies")
                families = _statistics(sides[row], vocabulary, wordnet, FORMULAS[0], scored)
                if corpus == "quora":
                    named = {
                        each: rows for each, rows in families.items() if isinstance(each, Paper) and each.pieces == 19
                    }
                    families |= by_part(named, pairs.parts(*sides[row][:2]))
                yield f"{corpus}_{row}", _sums(families)
            for formula in FORMULAS[1:]:
                families = _statistics(sides["copy"], vocabulary, wordnet, formula, ("released",))
                yield f"{corpus}_copy_{formula}", _sums(families)


def rows_of(tests: Sequence[Pair], train: Sequence[Pair], bert: Path) -> tuple[dict[str, Sides], Any, TrainingPairs]:
    """The sides of each row without a model, the vocabulary, and the training pairs."""
    settings = PairSettings(
        trees=False, cut=True, min_length=1, max_length=19, min_count=2, both_directions=False, keep_pairs=True
    )
    encoding = PairEncoding()
    vocabulary = encoding.build_vocabulary(train, settings, "en", published=bert)
    few, extras = encoding.encode(train[:20], vocabulary, settings).split, encoding.extras(train, settings)
    columns = [
        {
            "id": row.id,
            "sample": 0,
            "source": vocabulary.text_of([row.source]),
            "reference": vocabulary.text_of([row.target]),
            "source_tree": "",
            "reference_tree": "",
        }
        for row in tests
    ]
    table = pd.DataFrame(columns)
    made = ParaphraseTask().baselines(table, Ready([], few, extras), few, 1)
    sides = {
        name: (table["source"].tolist(), table["reference"].tolist(), [*made[name].columns["text"]])
        for name in ("copy", "look_up", "noise")
    }
    return sides, vocabulary, TrainingPairs(extras["pairs"])


def _statistics(
    sides: Sides, vocabulary: Any, wordnet: Path, formula: Any, scored: tuple[Any, ...]
) -> dict[Family[Any], Any]:
    whole, cut = Pairs(*sides, wordnet=wordnet), Pairs(*(vocabulary.cut(side, 19) for side in sides), wordnet=wordnet)
    return protocol_statistics(whole, cut, pieces=19, smoothing=formula, scored=scored)


def _sums(families: Mapping[Family[Any], Any]) -> Sums:
    return {family.key: [round(float(value), 4) for value in rows.sum(axis=0)] for family, rows in families.items()}


def _sources(mirror: Path, place: Path) -> dict[str, dict[str, Path]]:
    """The folders of each corpus's sources, as the download stage makes them."""

    def linked(name: str, **mirrored: str) -> Path:
        for target, origin in mirrored.items():
            path = place / name / target.replace("__", "/").replace("_h5", ".h5").replace("_txt", ".txt")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(mirror / origin)
        return place / name

    bert = linked("bert", **{"bert-base-uncased-vocab_txt": "bert_vocab/bert-base-uncased-vocab.txt"})
    questions = {
        "pos": mirror / "quora/pos50k",
        "bimpm": mirror / "quora/bimpm",
        "diffuseq": mirror / "quora/diffuseq_qqp",
        "bert": bert,
        "cdnpg": linked(
            "cdnpg",
            quora__valid_h5="quora/cdnpg_quora/valid.h5", quora__test_h5="quora/cdnpg_quora/test.h5",
            quora1__valid_h5="quora/cdnpg_quora1/valid.h5", quora1__test_h5="quora/cdnpg_quora1/test.h5",
        ),
    }  # fmt: skip
    tweets = {
        "bert": bert,
        "annotated": linked("tweets", Twitter_URL_Corpus_test_txt="twitter_url/Twitter_URL_Corpus_test.txt"),
        "cdnpg": linked(
            "tweets_cdnpg",
            twitterurl__valid_h5="twitter_url/cdnpg/valid.h5", twitterurl__test_h5="twitter_url/cdnpg/test.h5",
        ),
    }  # fmt: skip
    return {"quora": questions, "twitter": tweets}


if __name__ == "__main__":
    for name, sums in measured(mirror_folder().resolve()):
        write_json(FOLDER / f"{name}.json", {"sums": sums, "scores": scores_of(sums)})
        print(f"{name}: written")
