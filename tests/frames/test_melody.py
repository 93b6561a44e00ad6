"""The lines of a melody, of scores that are written by hand."""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.frames import Format, Rhyme, Syllables
from espalier.frames.melody import By, read_melody
from espalier.io.errors import ArtifactError, ConfigError, DataError
from tests.frames.scores import note, rest, score, sung, syllable, write_mxl, write_score


def lines(folder: Path, text: str, by: By = "lyrics", verse: int | None = None, part: str | None = None) -> str:
    return str(read_melody(write_score(folder, text), part, verse, by))


def test_each_note_with_a_syllable_counts_one_and_a_melisma_none(tmp_path: Path) -> None:
    assert lines(tmp_path, score(sung("A lan- -tern _ _ on"), sung("the ri- -ver _"))) == "7"


def test_a_line_ends_at_its_mark_but_not_at_a_comma_or_inside_a_word(tmp_path: Path) -> None:
    assert lines(tmp_path, score(sung("Come, lan- -tern! stay. Now?” go on"))) == "3/1/1/2"
    assert lines(tmp_path, score(sung("春 山 。 夜 雨。 灯"))) == "4/1"  # a mark alone is below no syllable
    assert lines(tmp_path, score(sung("a.- -b c"))) == "3"


def test_a_line_ends_at_a_rest_of_a_beat_but_not_of_less_nor_inside_a_word(tmp_path: Path) -> None:
    assert lines(tmp_path, score(sung("a lamp r the e ri- r -ver"), rest(8), sung("runs"))) == "2/3/1"


@pytest.mark.parametrize(("time", "found"), [("4/4", "1/1"), ("6/8", "2"), ("3/8", "1/1"), ("2/2", "2")])
def test_a_beat_is_that_of_the_time_signature(tmp_path: Path, time: str, found: str) -> None:
    """A rest of a quarter is a beat of 4/4 and two of 3/8, and less than one of 6/8 or 2/2."""
    assert lines(tmp_path, score(sung("a r lamp"), time=time)) == found


def test_where_the_file_marks_its_lines_they_are_those_alone(tmp_path: Path) -> None:
    for mark in ("<end-line/>", "<end-paragraph/>"):
        music = sung("Stop. go r on") + note(syllable("now", more=mark)) + sung("and rest")
        assert lines(tmp_path, score(music)) == "4/2"


def test_a_line_that_ends_on_a_melisma_ends_there(tmp_path: Path) -> None:
    extended = note('<lyric number="1"><extend type="stop"/><end-line/></lyric>')
    assert lines(tmp_path, score(sung("a lamp"), extended, sung("b"))) == "2/1"


def test_several_verses_are_told_apart_by_number_and_the_first_is_the_default(tmp_path: Path) -> None:
    both = note(syllable("a", "1") + syllable("the", "2")) + sung("lan- -tern r", "10") + sung("moon rose", "2")
    file = write_score(tmp_path, score(both))
    assert read_melody(file).verses == ("1", "2", "10")
    assert [str(read_melody(file, verse=number)) for number in (1, "2", 10)] == ["1", "1/2", "2"]
    with pytest.raises(ConfigError, match="verse: unknown verse '3'; allowed: 1, 10, 2"):
        read_melody(file, verse=3)


def test_the_first_part_with_lyrics_is_the_default_and_others_are_named(tmp_path: Path) -> None:
    text = score(sung("_ _ _"), parts={"Alto": sung("a lamp"), "Bass": sung("the moon rose")})
    assert lines(tmp_path, text) == "2"
    assert lines(tmp_path, text, part="Bass") == lines(tmp_path, text, part="P3") == "3"
    with pytest.raises(ConfigError, match="part: no lyrics in part Voice; parts with lyrics: Alto, Bass"):
        lines(tmp_path, text, part="Voice")
    with pytest.raises(ConfigError, match="part: unknown part 'Tenor'; allowed: Alto, Bass, Voice"):
        lines(tmp_path, text, part="Tenor")


def test_of_two_voices_of_a_part_that_with_more_syllables_is_sung(tmp_path: Path) -> None:
    back = "<backup><duration>8</duration></backup>"
    low = "".join(note(syllable(each), voice=2) for each in ("the", "moon")) + rest(4, voice=2)
    assert lines(tmp_path, score(sung("a lamp a lamp") + back + low)) == "4"
    assert lines(tmp_path, score(low + back + sung("a lamp r on"))) == "2/1"


def test_a_gap_that_is_written_as_forward_is_a_rest(tmp_path: Path) -> None:
    assert lines(tmp_path, score(sung("a") + "<forward><duration>2</duration></forward>" + sung("lamp"))) == "1/1"


def test_by_notes_ties_chords_and_grace_notes_count_none(tmp_path: Path) -> None:
    tied = note(more='<tie type="stop"/>')
    chord = note(more="<chord/>")
    grace = "<note><grace/><pitch><step>D</step><octave>5</octave></pitch></note>"
    text = score(note() + tied + note() + chord + grace + rest() + note(), note())
    assert lines(tmp_path, text, by="notes") == "2/2"


def test_a_lyric_below_the_second_note_of_a_chord_is_sung_once(tmp_path: Path) -> None:
    text = score(note() + note(syllable("lamp"), more="<chord/>") + sung("on"))
    assert lines(tmp_path, text) == "2"


@pytest.mark.parametrize("write", [write_score, write_mxl])
def test_compressed_scores_and_timewise_ones_are_read_alike(tmp_path: Path, write: object) -> None:
    text = score(sung("a lan- -tern r"), sung("on"), parts={"Alto": sung("one two")})
    assert callable(write)
    assert str(read_melody(write(tmp_path, text))) == "3/1"
    assert str(read_melody(write(tmp_path, timewise(text)))) == "3/1"
    assert str(read_melody(write(tmp_path, timewise(text)), part="Alto")) == "2"


def timewise(text: str) -> str:
    """The same score with its parts inside its measures."""
    root = ElementTree.fromstring(text)
    parts = root.findall("part")
    root.tag = "score-timewise"
    for part in parts:
        root.remove(part)
    for index in range(len(parts[0])):
        measure = ElementTree.SubElement(root, "measure")
        for part in parts:
            if index < len(part):
                part[index].tag = "part"
                part[index].set("id", part.get("id", ""))
                measure.append(part[index])
    return ElementTree.tostring(root, encoding="unicode")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=8))
def test_any_counts_are_found_again(tmp_path_factory: pytest.TempPathFactory, counts: list[int]) -> None:
    """Each line has so many syllables of one letter, and a rest after it."""
    music = [sung(" ".join(["a"] * count) + " r") for count in counts]
    folder = tmp_path_factory.mktemp("song")
    assert lines(folder, score(*music)) == "/".join(map(str, counts)) == lines(folder, score(*music), by="notes")


def test_lyrics_are_checked_by_the_syllables_of_a_melody_and_by_its_characters(tmp_path: Path) -> None:
    file = write_score(tmp_path, score(sung("la la la la la r la la la r")))
    frame = Syllables.of_melody(file)
    assert frame == Syllables("5/3") and frame.check("A lamp on the bridge,\nso quiet.").kept
    assert not frame.check("A lamp on a bridge,\nquiet.").kept
    chinese = Format.of_melody(file) & Rhyme("AA")
    for text in ("孤灯照石桥\n雨潇潇", "孤灯照石桥，/ 雨潇潇。", "孤灯，照石桥\n雨潇潇！"):
        assert chinese.check(text).kept, text
    report = chinese.check("孤灯照着石桥\n雨潇潇")
    assert [(each.rule, each.start, each.end, each.wanted) for each in report.violations] == [
        ("format", 0, 6, "5 words")
    ]
    automaton = chinese.automaton()
    state = automaton.start
    for character in "孤灯照石桥\n雨潇潇":
        state = automaton.step(state, character)
        assert state is not None
    assert automaton.accepts(state)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MThd and bytes", "no MusicXML"),
        ("<html><body/></html>", "no score in MusicXML: its root is 'html'"),
        ("<score-partwise><part></score-partwise>", "is damaged"),
        ("<score-partwise/>", "a score without parts"),
        (score(note(duration=2).replace(">2<", ">two<")), "measure 1: is damaged: 'two' is no duration"),
        (score(note(duration=2).replace(">2<", ">1e99<")), "'1e99' is no duration"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><score-partwise>&b;</score-partwise>', "declares entities"),
        ("", "no MusicXML"),
    ],
)
def test_a_file_that_is_no_score_or_damaged_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as error:
        lines(tmp_path, text)
    assert "\n" not in str(error.value) and "song.musicxml" in str(error.value)


def test_a_melody_without_lyrics_says_what_was_found_and_that_notes_can_be_counted(tmp_path: Path) -> None:
    text = score(sung("_ _ r _"), parts={"Piano": sung("_")})
    with pytest.raises(ConfigError, match=r"no lyrics in .*: Voice has 3 notes, Piano has 1 notes; count its notes"):
        lines(tmp_path, text)
    assert lines(tmp_path, text, by="notes") == "2/1"
    for empty in (score(rest()), score(note(more='<tie type="stop"/>'))):
        with pytest.raises(ConfigError, match="no notes in"):
            lines(tmp_path, empty, by="notes")
    with pytest.raises(ConfigError, match="by: unknown way to count syllables 'ear'"):
        lines(tmp_path, text, by="ear")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="verse: notes have no verse"):
        lines(tmp_path, text, by="notes", verse=1)


def test_lines_that_are_too_long_for_a_frame_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="1 lines, the longest of 201 syllables; at most 200 each"):
        lines(tmp_path, score(sung("la " * 201)))


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"song\.xml: no such file"):
        read_melody(tmp_path / "song.xml")
    with pytest.raises(DataError, match="cannot be read"):
        read_melody(tmp_path)


def test_an_archive_that_is_damaged_or_no_score_or_leads_out_is_refused(tmp_path: Path) -> None:
    whole = write_mxl(tmp_path, score(sung("a lamp")))
    cut = tmp_path / "cut.mxl"
    cut.write_bytes(whole.read_bytes()[:-30])
    with pytest.raises(ArtifactError, match=r"cut\.mxl: is damaged"):
        read_melody(cut)
    with zipfile.ZipFile(tmp_path / "other.mxl", "w") as archive:
        archive.writestr("word/document.xml", "<a/>")
    with pytest.raises(DataError, match=r"an archive without META-INF/container\.xml"):
        read_melody(tmp_path / "other.mxl")
    secret = tmp_path / "secret.xml"
    secret.write_text(score(sung("a")), encoding="utf-8")
    for path in ("../secret.xml", str(secret), "none.xml", ""):
        with pytest.raises(DataError, match="it lacks the score"):
            read_melody(write_mxl(tmp_path, score(sung("a lamp")), full_path=path))
    with zipfile.ZipFile(tmp_path / "out.mxl", "w") as archive:
        archive.writestr("../score.xml", "<a/>")
    with pytest.raises(ArtifactError, match="leads out of its folder"):
        read_melody(tmp_path / "out.mxl")
    bomb = write_mxl(tmp_path, score(sung("a lamp")) + " " * (40 << 20))
    with pytest.raises(ArtifactError, match="unpacks to more than 200 times its size"):
        read_melody(bomb)
