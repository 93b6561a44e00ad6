"""METEOR: by hand, and with synonyms as NLTK's own reader of WordNet finds them."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from zipfile import ZipFile

import nltk
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nltk.corpus.reader.wordnet import WordNetCorpusReader
from nltk.translate.meteor_score import single_meteor_score

from espalier.io.errors import EspalierError, SourceError
from espalier.metrics.meteor import Meteor, meteor_statistics
from espalier.metrics.metric import scores
from espalier.metrics.wordnet import WordNet

#: Part of speech: its sets of synonyms.
SENSES = {
    "noun": [["car", "auto", "motor_car"], ["car", "carriage"], ["house", "Home"], ["calf"], ["run", "streak"]],
    "verb": [["run", "sprint"], ["buy", "purchase"], ["house", "lodge"]],
    "adj": [["quick", "fast(a)"], ["big", "large"]],
    "adv": [["quick", "fast"]],
}
EXCEPTIONS = {"noun": "calves calf\n", "verb": "bought buy\nran run\n", "adj": "", "adv": ""}
WORDS = [
    "a", "the", "The", "car", "cars", "auto", "carriage", "home", "Home", "house", "houses", "calves", "calf", "runs",
    "running", "ran", "run", "sprint", "bought", "buy", "purchase", "quick", "quickest", "fast", "big", "bigger",
    "large", ".",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)


def write_wordnet(folder: Path) -> None:
    folder.mkdir(parents=True)
    letters = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
    for part, sets in SENSES.items():
        data = "  1 This licence is short.\n"
        senses: dict[str, list[str]] = {}
        for names in sets:
            offset = f"{len(data):08d}"
            for name in names:
                senses.setdefault(name.partition("(")[0].lower(), []).append(offset)
            words = " ".join(f"{name} 0" for name in names)
            data += f"{offset} 00 {letters[part]} {len(names):02x} {words} 000 | a gloss\n"
        (folder / f"data.{part}").write_text(data)
        index = "".join(
            f"{lemma} {letters[part]} {len(found)} 1 @ {len(found)} 0 {' '.join(found)}\n"
            for lemma, found in sorted(senses.items())
        )
        (folder / f"index.{part}").write_text("  1 This licence is short.\n" + index)
        (folder / f"{part}.exc").write_text(EXCEPTIONS[part])
    (folder / "lexnames").write_text("00\tall\t3\n")
    (folder / "index.sense").write_text("")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("nltk_data") / "corpora" / "wordnet"
    write_wordnet(found)
    return found


def nltk_wordnet(folder: Path) -> WordNetCorpusReader:
    """NLTK's reader, which takes no folder but those on its path."""
    before = list(nltk.data.path)
    nltk.data.path[:] = [str(folder.parent.parent)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader = WordNetCorpusReader(str(folder), None)
        for part in "nvar":
            reader._data_file(part)  # opened while the path allows it
    finally:
        nltk.data.path[:] = before
    return reader


@pytest.fixture(scope="module")
def reader(folder: Path) -> WordNetCorpusReader:
    return nltk_wordnet(folder)


# --- Values ----------------------------------------------------------------------------------------------------------


def test_value_worked_out_by_hand() -> None:
    # the, cat, sat, mat match in two chunks: P 4/5, R 4/6.
    fmean = (4 / 5 * 4 / 6) / (0.9 * 4 / 5 + 0.1 * 4 / 6)
    ((found, _),) = meteor_statistics(["The cat sat on a mat"], ["the cat sat down mat"])
    assert found == pytest.approx(fmean * (1 - 0.5 * (2 / 4) ** 3))


def test_the_last_free_word_is_taken_and_stems_match_after_words() -> None:
    """Worked out by hand: the "a" of "a c" matches the last "a", which stands beside c, so that there is one chunk."""
    found = meteor_statistics(["a b a c", "walked walks"], ["a c", "walking walks"])
    fmean = (1 * 2 / 4) / (0.9 * 1 + 0.1 * 2 / 4)
    assert found[:, 0] == pytest.approx([fmean * (1 - 0.5 * (1 / 2) ** 3), 1 - 0.5 * (1 / 2) ** 3])


def test_nothing_in_common_is_0() -> None:
    assert meteor_statistics(["a b", "a", "a"], ["c", "", "A"]).tolist() == [[0.0, 1.0], [0.0, 1.0], [0.5, 1.0]]


def test_synonyms_match_last_and_are_signed(folder: Path) -> None:
    plain = meteor_statistics(["a car sprints"], ["the auto runs"])
    helped = meteor_statistics(["a car sprints"], ["the auto runs"], wordnet=folder)
    assert plain[0, 0] == 0.0
    assert helped[0, 0] == pytest.approx(2 / 3 * (1 - 0.5 * (1 / 2) ** 3))
    # The stems are looked up, as in NLTK: "purchas" has no entry.
    assert meteor_statistics(["buy"], ["purchase"], wordnet=folder)[0, 0] == 0.0
    without, with_them = (Meteor(each).metrics[0].signature for each in (False, True))
    assert "synonyms:none" in without and "synonyms:wordnet" in with_them


def test_the_score_is_the_mean_times_100() -> None:
    found = scores(Meteor().metrics, meteor_statistics(["a", "b"], ["a", "c"]), seed=0, resamples=0)
    assert found["meteor"].value == 25.0
    assert scores(Meteor().metrics, meteor_statistics([], []), seed=0)["meteor"].value is None


# --- NLTK ------------------------------------------------------------------------------------------------------------


@given(pairs=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_with_synonyms_it_equals_nltk(folder: Path, reader: WordNetCorpusReader, pairs: list[tuple[str, str]]) -> None:
    found = meteor_statistics(*map(list, zip(*pairs, strict=True)), wordnet=folder)
    for value, (reference, hypothesis) in zip(found[:, 0], pairs, strict=True):
        expected = single_meteor_score(reference.split(), hypothesis.split(), wordnet=reader)
        assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("word", WORDS)
def test_synonyms_equal_those_of_nltk(folder: Path, reader: WordNetCorpusReader, word: str) -> None:
    names = {lemma.name() for synset in reader.synsets(word) for lemma in synset.lemmas()}
    assert WordNet(folder).synonyms(word) == {name for name in names if "_" not in name}


@pytest.mark.skipif(not os.environ.get("ESPALIER_MIRROR"), reason="WordNet's data is not at hand")
def test_synonyms_of_the_real_wordnet_equal_those_of_nltk(tmp_path: Path) -> None:
    archive = Path(os.environ["ESPALIER_MIRROR"]) / "wordnet" / "wordnet.zip"
    if not archive.is_file():
        pytest.skip("the mirror has no WordNet")
    with ZipFile(archive) as held:
        held.extractall(tmp_path / "corpora")
    ours, theirs = WordNet(tmp_path / "corpora"), nltk_wordnet(tmp_path / "corpora" / "wordnet")
    for word in [*WORDS, "alive", "better", "went", "Paris", "oxen", "good", "men", "glasses", "axes", "data", "s"]:
        names = {lemma.name() for synset in theirs.synsets(word) for lemma in synset.lemmas()}
        assert ours.synonyms(word) == {name for name in names if "_" not in name}, word


# --- Files -----------------------------------------------------------------------------------------------------------


def test_a_folder_around_wordnets_own_will_do(folder: Path) -> None:
    assert WordNet(folder.parent).synonyms("auto") == {"auto", "car"}


def test_nltks_path_is_left_alone(folder: Path) -> None:
    before = list(nltk.data.path)
    WordNet(folder).synonyms("car")
    assert nltk.data.path == before


def test_mistakes_are_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"noun\.exc: no such file of WordNet; give the folder of its database files"):
        meteor_statistics(["a"], ["a"], wordnet=tmp_path)
    write_wordnet(tmp_path / "one")
    (tmp_path / "one" / "data.noun").write_text("nothing\n")
    with pytest.raises(SourceError, match=r"data\.noun: the entry \d+ is broken; download WordNet again"):
        WordNet(tmp_path / "one").synonyms("car")
    write_wordnet(tmp_path / "two")
    data = tmp_path / "two" / "data.noun"
    data.write_text(data.read_text().replace(" n 02 ", " n zz "))
    with pytest.raises(SourceError, match=r"data\.noun: the entry \d+ is broken; download WordNet again"):
        WordNet(tmp_path / "two").synonyms("car")
    (tmp_path / "two" / "index.noun").write_bytes(b"\xff")
    with pytest.raises(SourceError, match=r"index\.noun: is not UTF-8; download WordNet again"):
        WordNet(tmp_path / "two")
    (tmp_path / "one" / "index.noun").write_text("car n many\n")
    with pytest.raises(SourceError, match=r"index\.noun: the entry car is broken"):
        WordNet(tmp_path / "one").synonyms("car")
    with pytest.raises(EspalierError, match="1 hypotheses for 0 references"):
        meteor_statistics([], ["a"])
