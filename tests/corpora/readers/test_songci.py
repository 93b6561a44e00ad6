"""The Song ci reader, on poems written for it."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.corpora.readers.songci import LOST_TUNE, SPELLINGS, families_of, read, tune_of, units_in
from espalier.corpora.records import Quarantined, Verse
from espalier.io.errors import ArtifactError, ConfigError, DataError
from tests.verse.couyun import write_couyun


def poem(*paragraphs: str, title: str = "石桥令", author: str = "某甲") -> dict[str, Any]:
    return {"rhythmic": title, "author": author, "paragraphs": list(paragraphs), "tags": ["ignored"]}


def write(folder: Path, **files: list[Any]) -> Path:
    for number, poems in files.items():
        text = json.dumps(poems, ensure_ascii=False)
        (folder / f"ci.song.{number.removeprefix('n')}.json").write_text(text, encoding="utf-8")
    return folder


def rows_of(folder: Path, **options: Any) -> list[Verse | Quarantined]:
    return list(read({"mine": folder}, **options))


def only(tmp_path: Path, *paragraphs: str, **options: Any) -> Verse:
    (row,) = rows_of(write(tmp_path, n0=[poem(*paragraphs)]), **options)
    assert isinstance(row, Verse)
    return row


def test_a_poem_becomes_a_verse_with_all_its_columns(tmp_path: Path) -> None:
    folder = write(
        tmp_path, n2000=[], n1000=[poem("云白山青，", "一灯明。", title="别调"), poem("桥远、水长。", "归否？归！")]
    )
    assert [row.id for row in rows_of(folder)] == ["songci/1000/0", "songci/1000/1"]
    assert rows_of(folder)[1] == Verse(
        id="songci/1000/1",
        origin="mine",
        language="zh",
        target="桥远，水长。\n归否？\n归！",
        author="某甲",
        tune="石桥令",
        family="石桥令",
        rhyme="AAA",
    )


def test_files_are_read_by_number_and_others_are_left_alone(tmp_path: Path) -> None:
    texts = {"n10000": "丙丙。", "n9000": "乙乙。", "n0": "甲甲。", "n9000y": "丁丁。"}
    folder = write(tmp_path, **{number: [poem(text)] for number, text in texts.items()})
    (folder / "author.song.json").write_text("not even JSON")
    assert [row.id.split("/")[1] for row in rows_of(folder)] == ["0", "9000", "9000y", "10000"]


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("一山。一水！", ["一山。", "一水！"]),
        ("一山，一水", ["一山，一水"]),
        ("一山？一水", ["一山？", "一水"]),
        ("", []),
    ],
)
def test_units_end_at_terminals_alone(text: str, units: list[str]) -> None:
    assert units_in(text) == units


@given(text=st.text(alphabet="山水，、。！？", max_size=30))
def test_units_join_to_the_text_and_end_at_terminals(text: str) -> None:
    units = units_in(text)
    assert "".join(units) == text
    assert all(unit[-1] in "。！？" for unit in units[:-1])
    assert all(not set(unit[:-1]) & set("。！？") for unit in units)


def test_commas_can_stay_as_they_are(tmp_path: Path) -> None:
    assert only(tmp_path, "桥远、水长。", plain_commas=False).target == "桥远、水长。"


def test_title_marks_go_and_rare_characters_stay(tmp_path: Path) -> None:
    assert only(tmp_path, "一曲《石桥》，鬓䰀𦟂。").target == "一曲石桥，鬓䰀𦟂。"


@pytest.mark.parametrize(
    ("paragraphs", "reason"),
    [
        ([], "empty"),
        ([" ", ""], "empty"),
        (["山高□远。"], "illegible character"),
        (["山高\u3000远。"], "illegible character"),
        (["山高远。", "（下缺）"], "note in brackets"),
        (["山高〔远〕。"], "note in brackets"),
        (["（缺）山□。"], "note in brackets"),
        (["……山高远。"], "lost passage"),
        (["山\ufffd远。"], "damaged character"),
        (["山ㄋ远。"], "foreign character"),
        (["山*远。"], "foreign character"),
        (["山a远。"], "foreign character"),
        (["山，。远。"], "misplaced mark"),
        (["，山远。"], "misplaced mark"),
        (["山。"], "too short"),
        (["山"], "too short"),
    ],
)
def test_what_cannot_be_sung_is_put_aside_with_its_reason(tmp_path: Path, paragraphs: list[str], reason: str) -> None:
    assert rows_of(write(tmp_path, n0=[poem(*paragraphs)])) == [
        Quarantined(id="songci/0/0", stage="read", reason=reason, text="".join(paragraphs).strip())
    ]


def test_a_duplicate_is_put_aside_naming_the_first(tmp_path: Path) -> None:
    folder = write(tmp_path, n0=[poem("一山，一水。")], n1000=[poem("一山、一水！", title="别调"), poem("一山。")])
    kept, twin, other = rows_of(folder)
    assert isinstance(kept, Verse) and isinstance(other, Verse)
    assert twin == Quarantined(id="songci/1000/0", stage="read", reason="duplicate", text="of songci/0/0: 一山、一水！")


@pytest.mark.parametrize(
    ("title", "tune"),
    [
        ("石桥令", "石桥令"),
        ("石桥令・石桥令", "石桥令"),
        ("石桥令・山灯引", "石桥令"),
        ("灯下曲・石桥令", "石桥令"),
        ("灯下曲・水边词", "灯下曲"),
        ("□□・水边词", "水边词"),
        ("□□・石桥令", "石桥令"),
        ("□□□", LOST_TUNE),
        ("石桥令・", "石桥令"),
        ("“某至”石桥令", "石桥令"),
        ("", LOST_TUNE),
    ],
)
def test_a_title_of_two_names_gives_the_one_that_is_known(title: str, tune: str) -> None:
    assert tune_of(title, {"石桥令", "山灯引"}) == tune


def test_a_family_is_all_names_of_a_tune_by_its_commonest() -> None:
    titles = ["石桥令", "石桥令", "灯下曲・石桥令", "水边词・灯下曲", "石桥令慢", "舟行", "“某至”□□・舟行", LOST_TUNE]
    of = families_of(titles, [["夜舟行", "舟行"], ["石桥令引", "石桥令慢"], ["舟行近"]])
    assert of == dict.fromkeys(["石桥令", "灯下曲", "水边词"], "石桥令") | {"石桥令慢": "石桥令慢", "舟行": "舟行"}


def test_spellings_that_no_source_connects_are_one_tune(tmp_path: Path) -> None:
    titles = [name for names in SPELLINGS for name in names]
    write(tmp_path, n0=[poem(f"{'山' * n}水。", title=title) for n, title in enumerate(titles, start=1)])
    families = {row.tune: row.family for row in read({"songci": tmp_path}) if isinstance(row, Verse)}
    assert len(families) == 8 and all(families[one] == families[other] for one, other in SPELLINGS)


def test_lists_of_names_and_the_released_names_stand_beside_the_poems(tmp_path: Path) -> None:
    folders = {name: tmp_path / name for name in ("forms", "poems", "released")}
    for folder in (folders["poems"], folders["released"]):
        folder.mkdir(parents=True)
    write_couyun(folders["forms"], tunes={("石桥令", "夜灯词"): [("2。", "平平", [[1]])]})
    (folders["released"] / "cipai.txt").write_text("灯下曲 夜灯词\n舟行\n", encoding="utf-8")
    titles = ["石桥令", "灯下曲・石桥令", "夜灯词", "独木"]
    write(folders["poems"], n0=[poem(f"{'山' * n}水。", title=title) for n, title in enumerate(titles, start=1)])
    rows = [row for row in read(folders) if isinstance(row, Verse)]
    assert [row.tune for row in rows] == ["石桥令", "灯下曲", "夜灯词", "独木"]
    assert [row.family for row in rows] == ["石桥令", "石桥令", "石桥令", "独木"]
    # Without the released names the second title is known by its second name.
    del folders["released"]
    assert [row.tune for row in read(folders) if isinstance(row, Verse)][1] == "石桥令"
    (folders["forms"] / "couyun/ci_pu/ci_index.json").write_text('[{"idx": 1}]', encoding="utf-8")
    with pytest.raises(ArtifactError, match=r"ci_index\.json: no form book: .*download@couyun"):
        list(read(folders))


def test_a_poem_has_the_tones_and_rhymes_of_the_variant_that_it_follows(tmp_path: Path) -> None:
    poems = tmp_path / "poems"
    poems.mkdir()
    texts = {
        # Six words, six words; 风 is level and 洞 oblique, which the two variants of these lengths want.
        "灯词": ["高洞洞，梦高风。高洞洞，孔高东。", "高洞洞，梦高洞。高洞洞，孔高梦。", "高洞洞。"],
        "转韵词": ["高桃。高高。高动。高孔。"],
        "无名词": ["高桃。"],
    }
    write(poems, n0=[poem(text, title=tune) for tune, each in texts.items() for text in each])
    books = write_couyun(tmp_path / "books")
    with_books = [row for row in read({"poems": poems, "books": books}) if isinstance(row, Verse)]
    assert [(row.rhyme, row.tones) for row in with_books] == [
        ("AA", "中仄仄仄平平中平仄仄中平"),
        ("AA", "中仄仄仄平仄中平仄仄中仄"),
        ("A", ""),
        ("AABB", "中平中平中仄中仄"),
        ("A", ""),
    ]
    without = [row for row in read({"poems": poems}) if isinstance(row, Verse)]
    assert [row.rhyme for row in without] == ["AA", "AA", "A", "AAAA", "A"] and not any(row.tones for row in without)
    assert [row.target for row in without] == [row.target for row in with_books]


@pytest.mark.skipif(not os.environ.get("ESPALIER_MIRROR"), reason="the published files are not at hand")
def test_the_released_names_give_the_tunes_of_the_authors_test_split() -> None:
    mirror = Path(os.environ["ESPALIER_MIRROR"])
    known = (mirror / "songnet_released/cipai.txt").read_text(encoding="utf-8").split()
    lines = (mirror / "songnet_released/out1.txt").read_text(encoding="utf-8").splitlines()
    theirs = Counter(line.partition("<s1>")[2].partition("<s2>")[0] for line in lines)
    titles = [
        each["rhythmic"]
        for file in (mirror / "songci").glob("ci.song.*.json")
        for each in json.loads(file.read_text(encoding="utf-8"))
    ]
    names = set(known)
    ours = Counter(tune for title in titles if (tune := tune_of(title, names)) in theirs)
    assert (sum(theirs.values()), sum(ours.values()), (theirs - ours).total()) == (962, 963, 0)


def test_names_are_known_from_the_whole_corpus_not_only_from_before(tmp_path: Path) -> None:
    folder = write(tmp_path, n0=[poem("一山。", title="灯下曲・石桥令")], n1000=[poem("一水。")])
    assert [row.tune for row in rows_of(folder) if isinstance(row, Verse)] == ["石桥令", "石桥令"]


@settings(deadline=None, max_examples=50)
@given(texts=st.lists(st.lists(st.text(max_size=6), max_size=3), max_size=6))
def test_no_poem_is_lost_whatever_it_holds(tmp_path_factory: pytest.TempPathFactory, texts: list[list[str]]) -> None:
    folder = write(tmp_path_factory.mktemp("any"), n0=[poem(*paragraphs) for paragraphs in texts])
    assert [row.id for row in rows_of(folder)] == [f"songci/0/{index}" for index in range(len(texts))]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'[{"rhythmic": ', r"ci\.song\.0\.json, row 1: not valid JSON"),
        (b'[\n\n{"a": 1]', r"ci\.song\.0\.json, row 3: not valid JSON"),
        (b"[\n\xff]", r"ci\.song\.0\.json, row 2: not UTF-8"),
        (b"{}", r"ci\.song\.0\.json: not a list of poems"),
        (b'[{"rhythmic": "x", "author": "y"}]', "row 1: not a poem with rhythmic, author and paragraphs"),
        (b"[7]", "row 1: not a poem"),
        (b'[{"rhythmic": 1, "author": "y", "paragraphs": []}]', "row 1: rhythmic and author must be texts"),
        (b'[{"rhythmic": "x", "author": "y", "paragraphs": [1]}]', "row 1: a paragraph is not a text"),
    ],
)
def test_a_malformed_file_is_one_line_with_file_and_row(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "ci.song.0.json").write_bytes(content)
    with pytest.raises(DataError, match=words) as caught:
        rows_of(tmp_path)
    assert "\n" not in str(caught.value)


def test_no_files_and_two_sources_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no file ci\.song"):
        rows_of(tmp_path)
    with pytest.raises(ConfigError, match="reader songci: 2 sources"):
        list(read({"a": tmp_path, "b": tmp_path}))
