"""English frames: syllables, meter and rhyme, in checks and automata; against all texts of a few words."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.frames import Acrostic, Form, Format, Meter, Rhyme, Syllables, Words
from espalier.frames.check_lines import LINE, check_lines
from espalier.frames.lexicon import Lexicon, guessed_shapes, shapes_of
from espalier.frames.line_automaton import LineAutomaton
from espalier.frames.lines import lines_of
from espalier.io.errors import ConfigError

#: rose and knows rhyme, and so do move and remove; a and an begin alike.
WORDS = ("a", "an", "rose", "knows", "move", "remove", "lover")
HAIKU = "A lamp on the bridge,\nand the river under it\nlets the evening go."


def all_texts(sizes: list[int], vocabulary: tuple[str, ...]) -> list[str]:
    """All texts of the words whose lines have at most so many syllables."""
    lines = []
    for size in sizes:
        begun, whole = [("", 0)], []
        while begun:
            text, count = begun.pop()
            for word in vocabulary:
                total = count + len(min(shapes_of(word)))
                if total == size:
                    whole.append(f"{text} {word}".strip())
                elif total < size:
                    begun.append((f"{text} {word}".strip(), total))
        lines.append(whole)
    texts = [""]
    for number, whole in enumerate(lines):
        texts = [text + ("\n" if number else "") + line for text in texts for line in whole]
    return texts


def require_exact(said: dict[str, object], vocabulary: tuple[str, ...]) -> None:
    """The automaton of some words admits the beginnings of just the texts that the check keeps."""
    texts = all_texts([*map(int, str(said["syllables"]).split("/"))], vocabulary)
    right = {text for text in texts if check_lines(said, text).kept}
    try:
        automaton = LineAutomaton(lines_of(said), Lexicon(vocabulary))
    except ConfigError:
        assert not right
        return
    begun = {text[:end] for text in right for end in range(len(text) + 1)}
    letters = {character for word in vocabulary for character in word} | {" ", "\n"}
    for prefix in begun:
        state = automaton.start
        for character in prefix:
            state = automaton.step(state, character)  # type: ignore[assignment]
            assert state is not None, prefix
        assert {each for each in letters if each in automaton.allowed(state)} == {
            each for each in letters if prefix + each in begun
        }, prefix
        assert automaton.accepts(state) == (prefix in right)
        least = min(len(text) for text in right if text.startswith(prefix)) - len(prefix)
        assert 0 <= automaton.remaining(state) <= least and (automaton.remaining(state) == 0) == (prefix in right)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([[2], [3], [1, 1], [1, 2], [2, 2], [2, 1], [1, 1, 1], [2, 1, 1]]), st.data())
def test_the_automaton_accepts_what_the_check_accepts_and_no_beginning_of_others(
    sizes: list[int], data: st.DataObject
) -> None:
    said: dict[str, object] = {"syllables": "/".join(map(str, sizes))}
    if data.draw(st.booleans()):
        said |= {"rhyme": "".join(data.draw(st.sampled_from("AAB.")) for _ in sizes), "rhymes": True}
    if data.draw(st.booleans()):
        said |= {"acrostic": data.draw(st.text("arkm", min_size=1, max_size=len(sizes)))}
    if data.draw(st.booleans()):
        words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True)
        said |= {"words": tuple(data.draw(words))}
    require_exact(said, WORDS)


def test_a_haiku_is_checked_with_marks_and_capitals_and_its_faults_are_lines() -> None:
    assert Syllables("5/7/5").check(HAIKU).kept
    report = Syllables("5/7/5").check(HAIKU.replace("evening ", ""))
    (violation,) = report.violations
    assert (violation.rule, violation.start, violation.found, violation.wanted) == (
        "syllables",
        45,
        "3 syllables",
        "5 syllables",
    )
    assert [each.wanted for each in Syllables("5/7/5").check(HAIKU.rpartition("\n")[0]).violations] == [
        "a line of 5 syllables"
    ]


def test_an_iambic_line_may_begin_with_a_trochee_and_end_weak_but_not_turn_elsewhere() -> None:
    meter = Meter("iambic pentameter")
    assert meter.check("Remove the lamp beside the quiet door").kept
    assert meter.check("Under the lamp beside the quiet river").kept
    assert not meter.check("The lamp under the bridge above the door").kept


def test_rhymes_are_heard_and_rhyme_words_differ() -> None:
    frame = Syllables("2/2") & Rhyme("AA")
    assert frame.check("a rose\nhe knows").kept
    assert [each.rule for each in frame.check("a rose\nhe moves").violations] == ["rhyme"]
    assert [each.rule for each in frame.check("a rose\nthe rose").violations] == ["rhyme words"]
    scores = {score.rule: (score.kept, score.of) for score in frame.check("a rose").scores}
    assert scores["rhyme words"] == (1, 2)  # a line that is missing has no word that differs


def test_lines_begin_with_the_letters_of_an_acrostic_that_may_be_shorter() -> None:
    frame = Syllables("5/7/5") & Acrostic("Aa")
    assert frame.check(HAIKU).kept and frame.check(HAIKU.replace("and", "'And")).kept
    (violation,) = (Syllables("5/7/5") & Acrostic("AT")).check(HAIKU).violations
    assert (violation.rule, violation.start, violation.found) == ("acrostic", 22, "and")
    assert violation.wanted == "a word that begins with T"
    with pytest.raises(ConfigError, match="no word of one syllable begins with l"):
        LineAutomaton(lines_of({"syllables": "2", "acrostic": "L"}), Lexicon(WORDS))


def test_words_must_occur_whole_in_a_text_and_those_that_are_missing_are_named() -> None:
    frame = Syllables("5/7/5") & Words("Lamp", "river")
    assert frame.check(HAIKU).kept and frame.check(HAIKU.replace("lamp", "LAMP")).kept
    (violation,) = frame.check(HAIKU.replace("lamp", "lamb")).violations
    assert (violation.rule, violation.start, violation.wanted) == ("words", len(HAIKU), "lamp")


def test_a_line_keeps_room_for_the_words_that_must_occur() -> None:
    """Of three syllables, lover needs two: the first word has one, or is lover."""
    automaton = LineAutomaton(lines_of({"syllables": "3", "words": ("lover",)}), Lexicon(WORDS))
    after = {word: automaton.has_words(automaton.start, word) for word in WORDS}
    assert after == {"a": True, "an": True, "rose": True, "knows": True, "move": True, "remove": False, "lover": True}


@pytest.mark.parametrize("lines", ["AA 2/1", "AAB 1/1/1", "ABA 2/1/2", "AAA 1/1/2", ".AA 2/1/1", "ABAB 1/2/1/1"])
@pytest.mark.parametrize("words", [("move",), ("rose", "lover"), ("knows", "rose", "remove"), ("goes", "a")])
def test_words_that_must_occur_are_kept_beside_a_rhyme_within_lines_and_at_their_ends(
    lines: str, words: tuple[str, ...]
) -> None:
    letters, counts = lines.split()
    said = {"syllables": counts, "rhyme": letters, "rhymes": True, "words": words}
    vocabulary = ("a", "rose", "knows", "goes", "move", "remove", "lover")
    require_exact(said, vocabulary)


def test_forms_that_rhyme_take_words() -> None:
    frame = Form("limerick") & Words("lamp", "river")
    automaton, text = frame.automaton(), ""
    state, rng = automaton.start, random.Random(0)
    while not automaton.accepts(state):
        character = rng.choice(sorted(automaton.allowed(state).some - {*";:,.!?"}))
        state, text = automaton.step(state, character), text + character
    assert frame.check(text).kept, text


def test_words_that_the_dictionary_lacks_are_counted_by_their_vowels_and_named() -> None:
    report = Syllables("3").check("a zibbling")
    assert report.kept and report.notes[0].endswith("by groups of vowels: zibbling")
    counts = {word: len(min(guessed_shapes(word))) for word in ("table", "moonstone", "agree", "pale", "éclairé")}
    assert counts == {"table": 2, "moonstone": 2, "agree": 2, "pale": 1, "éclairé": 3}


def test_the_rhyme_of_a_word_that_the_dictionary_lacks_is_not_judged_and_a_note_says_so() -> None:
    frame = Syllables("2/2/2") & Rhyme("AAA")
    report = frame.check("a rose / he knows / the zibbl")
    assert report.kept and report.notes[-1] == "not in the CMU dictionary, rhyme not judged: zibbl"
    assert {score.rule: (score.kept, score.of) for score in report.scores}["rhyme"] == (2, 2)
    (violation,) = frame.check("a rose / he moves / the zibbl").violations
    assert violation.wanted.startswith("a word that rhymes with ")
    alone = frame.check("a zibbl / the qzzt / the rose")  # nothing to rhyme with
    assert "rhyme" not in {score.rule for score in alone.scores} and not alone.violations


@given(st.text(" \t\r\n/\u2028a,", max_size=12))
def test_the_lines_of_a_text_are_those_that_are_not_blank(text: str) -> None:
    lines = re.finditer(r"[^\n/]*[^\s/][^\n/]*", text)
    assert [match.span() for match in LINE.finditer(text)] == [match.span() for match in lines]


def test_a_text_of_many_blanks_takes_no_hours() -> None:
    blanks = " " * 300_000
    assert check_lines({"syllables": "2"}, f"{blanks}/a lamp{blanks}\n{blanks}").kept


def test_numbers_are_not_counted_and_a_note_says_so() -> None:
    report = Syllables("5").check("I have 3 red cars")
    assert [each.found for each in report.violations] == ["4 syllables"]
    assert report.notes == ("numbers are not counted, write them in words: 3",)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (Meter("iambic octameter"), "'iambic octameter' is no meter"),
        (Syllables("5/x"), "'5/x' are no counts; one for each line: 5/7/5"),
        (Syllables("5/0"), "'5/0' are no counts"),
        (Syllables("5/０"), "'5/０' are no counts"),
        (Syllables("5/٠"), "'5/٠' are no counts"),
        (Syllables("400"), "syllables: a line of 400 syllables; at most 200"),
        (Syllables("/".join("5" * 201)), "syllables: 201 lines; at most 200"),
        (Syllables("5/7/5") & Rhyme("AB"), "syllables has 3 lines, rhyme has 2 lines"),
        (Syllables("5/7") & Meter("iambic pentameter"), "line 1 has 5 syllables, iambic pentameter never has"),
        (Syllables("5/7") & Format("5。"), "format beside syllables"),
        (Syllables("5/7") & Acrostic("江月"), "acrostic: '江月' has more than letters; English lines begin"),
        (Syllables("5/7") & Words("old lamp"), "words: 'old lamp' is no English word; give words one by one"),
        (Syllables("5/7") & Words("灯"), "words: '灯' is no English word"),
        (Syllables("5/7") & Acrostic("sea"), "acrostic: rules contradict each other: 3 letters for 2 lines"),
    ],
)
def test_bad_frames_are_one_line(frame: Meter, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        frame.check("a lamp")


def test_a_meter_without_a_number_of_lines_has_no_automaton() -> None:
    with pytest.raises(ConfigError, match="how many lines"):
        Meter("iambic pentameter").automaton()


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"syllables": "1", "words": ("lover",)}, "words: rules contradict each other: lover fit nowhere together"),
        ({"syllables": "3", "words": ("zibbling",)}, "words: 'zibbling' is not in the dictionary; give another word"),
        ({"syllables": "1/1", "rhyme": "AA", "words": ("a",)}, "words: rules contradict each other: a fit nowhere"),
        ({"syllables": "9", "words": tuple("abcdefghi")}, "words: 9 words are not kept in English lines .*; at most 8"),
        ({"syllables": "9/9", "rhyme": "AA", "words": tuple("abcde")}, "5 words beside a rhyme .*; at most 4; check"),
    ],
)
def test_words_that_cannot_occur_are_refused_in_one_line(said: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        LineAutomaton(lines_of(said), Lexicon(WORDS))


def test_a_word_that_a_later_line_needs_is_not_spent() -> None:
    """Of the two words that rhyme, move alone fits the second line."""
    automaton = LineAutomaton(lines_of({"syllables": "2/1", "rhyme": "AA", "rhymes": True}), Lexicon(WORDS))
    state = automaton.start
    for character in "knows ":
        state = automaton.step(state, character)  # type: ignore[assignment]
    assert automaton.step(state, "m") is None


def test_the_text_of_a_processor_is_written_as_people_write_it() -> None:
    """Its ids, and what the frame counts, stay as the model wrote them."""
    pytest.importorskip("transformers", reason="pip install '.[generate]'")
    from espalier.frames.processor import FrameProcessor
    from tests.frames.small_tokenizers import byte_level

    tokenizer, written = byte_level([]), "a rose\nhe moves, i"
    lines = lines_of({"syllables": "2/3"})
    processor = FrameProcessor(LineAutomaton(lines, Lexicon((*WORDS, "he", "moves", "i"))), tokenizer)
    ids = tokenizer(written, add_special_tokens=False).input_ids
    assert processor.following.automaton.accepts(processor.place(tuple(ids)).state)
    assert processor.text(ids) == "A rose\nHe moves, I."
