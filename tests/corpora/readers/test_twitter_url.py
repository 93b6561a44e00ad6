"""Pairs of tweets: what is held out, what people annotated, and why the rest is put aside."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.corpora.readers.twitter_url import read
from espalier.corpora.records import Pair, Quarantined
from espalier.io.errors import ArtifactError, ConfigError, DataError
from tests.corpora.readers.test_quora import Texts, vocabulary, write_h5

HELD = [("who lit the lamp ?", "the lamp was lit by who ?")]


def folders(place: Path, *lines: str, valid: Texts = HELD, test: Texts = ()) -> dict[str, Path]:  # type: ignore[assignment]
    annotated = place / "annotated"
    annotated.mkdir()
    (annotated / "Twitter_URL_Corpus_test.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    for split, pairs in (("valid", valid), ("test", test)):
        write_h5(place / "cdnpg" / "twitterurl" / f"{split}.h5", pairs)
    return {"annotated": annotated, "cdnpg": place / "cdnpg", "bert": vocabulary(place / "bert")}


def line(source: str, target: str, votes: int) -> str:
    return f"{source}\t{target}\t({votes},6)\thttps://t.co/x"


def outcomes(place: dict[str, Path], **options: int) -> dict[str, str]:
    return {row.id: row.reason if isinstance(row, Quarantined) else "kept" for row in read(place, **options)}


def test_annotated_pairs_need_votes_and_are_neither_held_out_nor_twice_there(tmp_path: Path) -> None:
    place = folders(
        tmp_path,
        line("Is the lamp lit", "the lamp is lit", 4),
        line("the lamp is lit .", "is the LAMP lit ?", 6),
        line("the lamp", "a lamp", 3),
        line("The lamp was lit by who", "who lit the lamp !", 5),
        "a line of one field",
        "a\tb\t(five,6)\thttps://t.co/x",
        line("", "the lamp", 6),
        test=[("what is the door ?", "the door is what ?")],
    )
    kept = ["kept", "duplicate", "under 4 votes", "held out", "malformed line", "malformed line", "empty side"]
    annotated = {f"twitter-annotated-{n:06d}": reason for n, reason in enumerate(kept)}
    assert outcomes(place) == {"twitter-dev-000000": "kept", "twitter-test-000000": "kept"} | annotated
    assert outcomes(place, votes=3)["twitter-annotated-000002"] == "kept"
    (pair,) = [row for row in read(place) if row.id == "twitter-annotated-000000"]
    assert isinstance(pair, Pair) and (pair.source, pair.origin) == ("Is the lamp lit", "annotated")


def test_annotated_pairs_can_be_dev_in_whole_groups_and_the_valid_pairs_are_put_aside(tmp_path: Path) -> None:
    lines = (
        ("a lamp", "the lamp"),
        ("what door", "the door"),
        ("the lamp", "lamp !"),
        ("is it", "it is"),
        ("lamp", "lit"),
    )
    place = folders(tmp_path, *(line(*pair, 6) for pair in lines))
    found = outcomes(place, annotated_dev=2)
    assert found == {
        "twitter-valid-000000": "valid", "twitter-annotated-000001": "kept", "twitter-annotated-000003": "kept",
        "twitter-dev-000000": "kept", "twitter-dev-000002": "kept", "twitter-dev-000004": "kept",
    }  # fmt: skip
    assert [name for name in outcomes(place, annotated_dev=4) if "annotated" in name] == ["twitter-annotated-000001"]
    assert "twitter-dev-000000" in outcomes(place, annotated_dev=0)


def test_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    place = folders(tmp_path, line("a lamp", "the lamp", 6))
    (tmp_path / "other").mkdir()
    assert outcomes({"other": tmp_path / "other", **place}) == outcomes(place)


@pytest.mark.parametrize("missing", ["annotated", "cdnpg", "bert"])
def test_every_part_must_be_there(tmp_path: Path, missing: str) -> None:
    place = folders(tmp_path)
    with pytest.raises(ConfigError, match=r"reader twitter_url: sources .*; give the annotated pairs"):
        list(read({name: folder for name, folder in place.items() if name != missing}))


def test_bad_parts_are_one_line(tmp_path: Path) -> None:
    place = folders(tmp_path, test=HELD)
    with pytest.raises(ConfigError, match="reader twitter_url: 7 votes; 0 to 6"):
        list(read(place, votes=7))
    with pytest.raises(ConfigError, match="reader twitter_url: annotated_dev -1; 0 or more"):
        list(read(place, annotated_dev=-1))
    (place["cdnpg"] / "twitterurl/valid.h5").unlink()
    with pytest.raises(ArtifactError, match=r"valid\.h5: no such file"):
        list(read(place))
    (place["cdnpg"] / "twitterurl/valid.h5").write_bytes(b"no HDF5")
    with pytest.raises(DataError, match=r"valid\.h5: no HDF5 file"):
        list(read(place))
