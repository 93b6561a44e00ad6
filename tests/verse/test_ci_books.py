"""The archive of the books: what is read from it is what is read from the source."""

import json
import os
import zipfile
from pathlib import Path

import pytest

from espalier.io.errors import ArtifactError
from espalier.verse.ci_books import CiBooks, open_books, pack_books
from tests.verse.couyun import RHYMES, write_couyun


def _assert_equal(first: CiBooks, second: CiBooks) -> None:
    assert first.tunes.names == second.tunes.names
    for name, *_ in first.tunes.names:
        assert first.tunes.variants(name) == second.tunes.variants(name)
        for variant in first.tunes.variants(name):
            assert first.tunes.stanza(variant) == second.tunes.stanza(variant)
    assert {*first.rhyme_books.characters("cilin")} == {*second.rhyme_books.characters("cilin")}
    for character in first.rhyme_books.characters("cilin"):
        assert first.rhyme_books.groups(character, "cilin") == second.rhyme_books.groups(character, "cilin")
        assert first.rhyme_books.tones(character) == second.rhyme_books.tones(character)


def test_an_archive_has_the_books_of_its_source_and_no_word_of_its_poems(tmp_path: Path) -> None:
    """灯词 repeats a whole clause, and 叠词 a rhyme word: the letters keep which words are equal."""
    tunes = {
        ("灯词", "燈詞"): [
            ("2。2。3。", "中平中平中中平", [[1, 3, 6]], ("中平韵", "中平叠", "中中平韵"), "灯红。灯红。照灯红。")
        ],
        ("叠词",): [("3。3。", "仄仄平仄仄平", [[2, 5]], ("仄仄平韵", "仄仄平叠"), "汴水流。泗水流。")],
    }
    source = write_couyun(tmp_path / "couyun", tunes=tunes)
    pack_books(source, tmp_path / "books.zip")
    packed = open_books(tmp_path / "books.zip")
    _assert_equal(open_books(source), packed)
    assert packed.tunes.variant("灯词").copies == ((2, 0), (3, 1)) and packed.tunes.variant("叠词").copies == ((5, 2),)
    with zipfile.ZipFile(tmp_path / "books.zip") as archive:
        forms = json.loads(archive.read("couyun/ci_pu/ci_list/cipai_0.json"))
    assert forms[0]["origin"] == "AB。AB。CAB。"


def test_equal_books_give_equal_bytes_and_an_archive_can_be_packed_again(tmp_path: Path) -> None:
    pack_books(write_couyun(tmp_path / "couyun", RHYMES), tmp_path / "a.zip")
    pack_books(tmp_path / "a.zip", tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


@pytest.mark.parametrize(("name", "what"), [("hanzi_class.py", "rhyme"), ("ci_index.json", "form")])
def test_a_damaged_archive_is_one_line(tmp_path: Path, name: str, what: str) -> None:
    pack_books(write_couyun(tmp_path / "couyun", RHYMES), tmp_path / "books.zip")
    with zipfile.ZipFile(tmp_path / "books.zip") as archive:
        (start,) = (info.header_offset for info in archive.infolist() if info.filename.endswith(name))
    content = bytearray((tmp_path / "books.zip").read_bytes())
    begins = start + 30 + int.from_bytes(content[start + 26 : start + 28], "little")  # after the header and the name
    for damage in (b"\xff" * 8, b"\x00" * 8):
        content[begins : begins + 8] = damage
        (tmp_path / "books.zip").write_bytes(content)
        with pytest.raises(ArtifactError, match=rf"{name}: no {what} book; run dvc .*download@couyun"):
            open_books(tmp_path / "books.zip")


@pytest.mark.skipif(not os.environ.get("ESPALIER_MIRROR"), reason="the source is not at hand")
def test_the_released_archive_has_all_that_is_read_of_the_source() -> None:
    source = Path(os.environ["ESPALIER_MIRROR"]) / "couyun"
    _assert_equal(open_books(source), open_books(Path(__file__).parents[2] / "released/songci/books.zip"))
