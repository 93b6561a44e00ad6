"""A thousand random frames under all constraints together, held against a slow check of what they ask for."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
import torch

from espalier.datasets.verse.data import VerseBatch, VerseData, View
from espalier.datasets.verse.frames import frame_of
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import SEP
from espalier.io.errors import ConfigError
from espalier.models.songnet import SongNet
from espalier.models.songnet_config import SongNetConfig
from espalier.tasks.verse import VerseTask
from espalier.tasks.verse_search import VerseDecoder, text_of, verse_constraint
from espalier.text.language import is_mark
from espalier.verse.books import Book, Tone, ToneBook
from espalier.verse.format import BLANK, RHYME, Format, with_copies
from espalier.verse.grammar import parse_format
from espalier.verse.mandarin import mandarin_groups, mandarin_readings
from espalier.verse.rhyme import rhyme_group
from espalier.verse.sounds import Sounds

POOL = [chr(0x4E00 + number) for number in range(60)]
MARKS = list("，。！")


@dataclass(frozen=True)
class RandomBooks:
    """Readings drawn at random, as the books write them."""

    cilin: dict[str, frozenset[str]]
    pingshui: dict[str, frozenset[str]]

    @classmethod
    def draw(cls, rng: random.Random) -> RandomBooks:
        rhymes = ["1平", "1仄", "2平", "2仄", "3平", "15入"]
        cilin = {word: frozenset(rng.choices(rhymes, k=rng.choice([0, 1, 1, 1, 2, 3]))) for word in POOL}
        tone = {"平": "平", "仄": "去", "入": "入"}
        return cls(cilin, {word: frozenset(tone[g[-1]] + g[:-1] for g in own) for word, own in cilin.items()})

    def groups(self, character: str, book: Book) -> frozenset[str]:
        if book == "mandarin":
            return frozenset(reading[:-1] for reading in mandarin(character))
        return getattr(self, book).get(character, frozenset())  # type: ignore[no-any-return]

    def tones(self, character: str, by: ToneBook = "book") -> frozenset[Tone]:
        if by == "mandarin":
            return frozenset(
                "平" if reading[-1] in "12" else "仄" for reading in mandarin(character) if reading[-1] != "5"
            )
        return frozenset("平" if group[-1] == "平" else "仄" for group in self.cilin.get(character, ()))


def mandarin(character: str) -> set[str]:
    """The rhyme group of each reading with 1 for a level tone, 3 for an oblique one, else 5: 还 -> {"ai1", "an1"}."""
    toned = {reading[:-1] + ("1" if reading[-1] == "平" else "3") for reading in mandarin_readings(character)}
    return toned | {f"{group}5" for group in mandarin_groups(character) if group not in {each[:-1] for each in toned}}


def random_format(rng: random.Random, vocabulary: VerseVocabulary, sounds: Sounds) -> Format:
    """Raises ConfigError where literals contradict each other, their tones, or the acrostic."""
    units, letters = [], ""
    for _ in range(rng.randint(1, 4)):
        words = [rng.randint(1, 4) for _ in range(rng.randint(1, 2))]
        unit = "，".join("".join(_slot(rng, vocabulary) for _ in range(count)) for count in words) + rng.choice("。！")
        units.append(unit)
        letters += rng.choice("AAB.")
    text = "".join(units)
    tones = "".join(rng.choices("平仄中", weights=(2, 2, 3), k=sum(not is_mark(sign) for sign in text)))
    acrostic = "".join(rng.sample(POOL, rng.randint(1, 3))) if rng.random() < 0.2 else ""
    format_ = parse_format(
        text, "zh", letters, tones=tones if rng.random() < 0.8 else "", acrostic=acrostic, sounds=sounds
    )
    return with_copies(format_, random_copies(rng, format_))


def random_copies(rng: random.Random, format_: Format) -> tuple[tuple[int, int], ...]:
    """At most one repeated blank, like its source: as in tunes, both want one tone, and rhyme on one letter."""
    alike: dict[tuple[str, str], list[int]] = {}
    words = [
        (slot, tone, letter if place in places else ".")
        for unit, tones, letter, places in zip(
            format_.units, format_.place_tones, format_.rhyme, format_.rhyme_places, strict=True
        )
        for place, (slot, tone) in enumerate(zip(unit, tones, strict=True))
        if not is_mark(slot)
    ]
    for number, (slot, tone, letter) in enumerate(words):
        if slot in (BLANK, RHYME):
            alike.setdefault((tone, letter), []).append(number)
    places = next((places for places in alike.values() if len(places) > 1), [])
    return ((places[-1], places[0]),) if places and rng.random() < 0.4 else ()


def asked_of(format_: Format, decoder: VerseDecoder) -> Format:
    """The format with the tones that count: by a printed book, those of the rhyme places at least."""
    if decoder.tone or not format_.tones:
        return format_
    signs = [
        tone if place in places else "中"
        for tones, places in zip(format_.place_tones, format_.rhyme_places, strict=True)
        for place, tone in enumerate(tones)
        if tone
    ]
    return replace(format_, tones="".join(signs))


def _slot(rng: random.Random, vocabulary: VerseVocabulary) -> str:
    return rng.choice(POOL if rng.random() < 0.3 else vocabulary.words[3:]) if rng.random() < 0.08 else BLANK


# --- What a frame asks for, by sets and loops -------------------------------------------------------------------------


def fits_tone(word: str, tone: str, sounds: Sounds) -> bool:
    return not sounds.tone or tone not in ("平", "仄") or tone in sounds.tones(word)


def rhymes_of(word: str, tone: str, mixed: bool, sounds: Sounds, every: bool) -> set[str]:
    """By which groups, or parts if mixed, a word can rhyme at a place of this tone.

    Args:
        every: whether the rarer readings of Mandarin count.
    """
    if sounds.book == "mandarin":
        if not sounds.tone and not every:
            return set(filter(None, [rhyme_group(word)]))
        # Level and oblique words rhyme with each other.
        numbers = {"平": "12", "仄": "34"}.get(tone, "1234") if sounds.tone else "12345"
        return {reading[:-1] for reading in mandarin(word) if reading[-1] in numbers}
    assert sounds.books is not None
    found = set()
    for group in sounds.books.groups(word, sounds.book):
        level = group[-1] == "平" if sounds.book == "cilin" else group[0] == "平"
        parts = mixed and sounds.book == "cilin"
        if tone == "中" or level == (tone == "平") or not (sounds.tone or parts):
            found.add(group[:-1] if parts else group)
    return found


def letters_of(format_: Format) -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for unit, (letter, places) in enumerate(zip(format_.rhyme, format_.rhyme_places, strict=True)):
        found.setdefault(letter, []).extend((unit, place) for place in places)
    return {letter: places for letter, places in found.items() if letter != "."}


def is_mixed(format_: Format, places: list[tuple[int, int]]) -> bool:
    return {"平", "仄"} <= {format_.place_tones[unit][place] for unit, place in places}


def can_be_met(format_: Format, vocabulary: VerseVocabulary, sounds: Sounds) -> bool:
    words = [word for word in vocabulary.words if not is_mark(word)]
    for slots, tones in zip(format_.units, format_.place_tones, strict=True):
        for slot, tone in zip(slots, tones, strict=True):
            if slot in (BLANK, RHYME) and not any(fits_tone(word, tone, sounds) for word in words):
                return False
    for places in letters_of(format_).values():
        slots = [(format_.units[unit][place], format_.place_tones[unit][place]) for unit, place in places]
        if all(slot not in (BLANK, RHYME) for slot, _ in slots):
            continue  # whether literals rhyme with each other is asked when the format is read
        found = [
            [
                set[str]().union(
                    *(
                        rhymes_of(word, tone, is_mixed(format_, places), sounds, every and slot == word)
                        for word in (words if slot in (BLANK, RHYME) else [slot])
                        if fits_tone(word, tone, sounds)
                    )
                )
                for slot, tone in slots
            ]
            for every in (False, True)
        ]
        if not any(set.intersection(*each) for each in found):
            return False
    return True


def check(text: str, format_: Format, sounds: Sounds) -> None:
    units = text.split("\n")
    assert [len(unit) for unit in units] == [len(unit) for unit in format_.units]
    for unit, slots, tones in zip(units, format_.units, format_.place_tones, strict=True):
        for sign, slot, tone in zip(unit, slots, tones, strict=True):
            assert not is_mark(sign) if slot in (BLANK, RHYME) else sign == slot
            assert slot not in (BLANK, RHYME) or fits_tone(sign, tone, sounds)
    written = [sign for sign in text if not is_mark(sign) and sign != "\n"]
    assert all(written[copy] == written[source] for copy, source in format_.copies)
    for places in letters_of(format_).values():
        if all(format_.units[unit][place] not in (BLANK, RHYME) for unit, place in places):
            continue
        mixed = is_mixed(format_, places)
        found = [
            [
                rhymes_of(
                    units[u][p], format_.place_tones[u][p], mixed, sounds, every and format_.units[u][p] == units[u][p]
                )
                for u, p in places
            ]
            for every in (False, True)
        ]
        assert any(set.intersection(*each) for each in found), (text, places)


# --- The frames -------------------------------------------------------------------------------------------------------


def batch_of(formats: list[Format], vocabulary: VerseVocabulary, model: SongNet, sounds: Sounds) -> VerseBatch:
    frames = [frame_of(format_, vocabulary, sounds) for format_ in formats]
    data = VerseData.of([str(number) for number in range(len(formats))], frames, vocabulary)
    return data.batch(np.arange(len(formats)), model.config.view)


def test_a_thousand_random_frames_are_met_exactly_and_no_other_is_refused() -> None:
    rng, met, refused = random.Random(7), 0, 0
    while met < 1000:
        books, words = RandomBooks.draw(rng), rng.sample(POOL, rng.randint(2, 30))
        vocabulary = VerseVocabulary((*MARKS, *words), "zh", 6, 16)
        decoder = VerseDecoder(
            mode="frame", marks=True, rhyme=True, tone=rng.random() < 0.8, top_k=rng.choice([1, 5, 100]),
            book=rng.choice(["cilin", "cilin", "pingshui", "mandarin"]),
            method=rng.choice(["top_k", "top_k", "beam"]), beam=3,
        )  # fmt: skip
        sounds, asked = (Sounds("zh", decoder.book, each, books) for each in (decoder.tone, decoder.by_tone))
        torch.manual_seed(rng.randrange(1000))
        model = SongNet(
            SongNetConfig(layers=1, width=8, heads=1, inner=8, dropout=0.0, positions=64), vocabulary
        ).eval()
        formats = []
        for _ in range(40):
            try:
                format_ = random_format(rng, vocabulary, sounds)
            except ConfigError:
                continue
            possible = can_be_met(asked_of(format_, decoder), vocabulary, asked)
            try:
                verse_constraint(decoder, vocabulary, books).start(batch_of([format_], vocabulary, model, sounds))
            except ConfigError as error:
                # A literal that the vocabulary lacks is stood for by a word with the same groups or a part of them.
                lacking = any(slot in POOL and slot not in words for unit in format_.units for slot in unit)
                assert not possible or lacking, error
                refused += 1
                continue
            assert possible, str(format_)
            formats.append(format_)
        if not formats:
            continue
        batch = batch_of(formats, vocabulary, model, sounds)
        rows = VerseTask().generate(model, batch, decoder, list(range(len(formats))), books)
        for format_, hypotheses in zip(formats, rows, strict=True):
            check(text_of(hypotheses[0].tokens, vocabulary, format_), asked_of(format_, decoder), asked)
        met += len(formats)
    assert refused > 20


class SmallBooks:
    """A few characters by Cilin; 梦 has two readings."""

    GROUPS: ClassVar = {
        "东": "1平",
        "风": "1平",
        "高": "8平",
        "桃": "8平",
        "动": "1仄",
        "梦": "1平 1仄",
        "照": "8仄",
        "木": "15入",
    }

    def groups(self, character: str, book: Book) -> frozenset[str]:
        return frozenset(self.GROUPS.get(character, "").split())

    def tones(self, character: str, by: ToneBook = "book") -> frozenset[Tone]:
        return frozenset("平" if group[-1] == "平" else "仄" for group in self.groups(character, "cilin"))


def start_of(text: str, rhyme: str, tones: str, words: str) -> None:
    vocabulary = VerseVocabulary((*MARKS, *words), "zh", 6, 16)
    sounds = Sounds("zh", "cilin", True, SmallBooks())
    format_ = parse_format(text, "zh", rhyme, tones=tones, sounds=sounds)
    data = VerseData.of([""], [frame_of(format_, vocabulary, sounds)], vocabulary)
    decoder = VerseDecoder(mode="frame", marks=True, rhyme=True, tone=True, book="cilin")
    verse_constraint(decoder, vocabulary, SmallBooks()).start(data.batch(np.arange(1), View()))


@pytest.mark.parametrize(
    ("text", "rhyme", "tones", "words", "error"),
    [
        ("1。1。", "AA", "仄平", "照木", "unit 2, word 1: no word of this model has the tone 平;"),
        ("2，2。1。", "..", "中中平仄仄", "东风高", "unit 1, word 4: no word of this model has the tone 仄;"),
        (
            "1。1。",
            "AA",
            "平仄",
            "东照",
            "unit 2, word 1: no word of this model has the tone 仄 and rhymes with words of",
        ),
        ("1。1照。", "AA", "平中仄", "桃东照", None),
        ("1。1。1。", "ABA", "平仄平", "东木", None),
        ("1。_桃。_风。", "ABA", "平平平平平", "照桃", "rhyme: this model knows no word that rhymes with '风'"),
        ("1。_桃。", "AA", "仄平平", "东动", "rhyme: this model knows no word that rhymes with '桃'"),
        (
            "1。_桃。",
            "AA",
            "仄平平",
            "高动",
            "unit 1, word 1: no word of this model has the tone 仄 and rhymes with the literals",
        ),
    ],
)
def test_a_place_that_no_word_fits_is_named(text: str, rhyme: str, tones: str, words: str, error: str | None) -> None:
    if error is None:
        start_of(text, rhyme, tones, words)
        return
    with pytest.raises(ConfigError) as caught:
        start_of(text, rhyme, tones, words)
    assert str(caught.value).startswith(error)


@pytest.mark.parametrize(
    ("text", "rhyme", "tones", "error"),
    [
        (
            "2东。",
            "A",
            "中中仄",
            "tones, unit 1: the tone of '东' is 平, its position has 仄; write 中, or another word",
        ),
        ("2鹤。", "A", "中中仄", "tones, unit 1: the tone of '鹤' is not known, its position has 仄"),
        ("1东。1照。", "AA", "", "rhyme: unit 2 has the rhyme letter A, but '照' (8仄) does not rhyme with '东' (1平)"),
        ("1东。1动。", "AA", "中平中平", "tones, unit 2: the tone of '动' is 仄"),
        (
            "1东。1鹤。",
            "AA",
            "",
            "rhyme: unit 2 has the rhyme letter A, but the rhyme book cilin has no fitting group of '鹤'",
        ),
        ("1东。1动。", "AA", "", "rhyme: unit 2 has the rhyme letter A, but '动' (1仄) does not rhyme with '东' (1平)"),
        ("1东。1动。", "AA", "中平中仄", None),
        ("1动。1梦。", "AA", "中中中中", None),
        ("1东。1梦。", "AA", "中平中仄", None),
    ],
)
def test_literals_must_have_their_tones_and_rhyme_by_the_book(
    text: str, rhyme: str, tones: str, error: str | None
) -> None:
    sounds = Sounds("zh", "cilin", True, SmallBooks())
    if error is None:
        assert parse_format(text, "zh", rhyme, tones=tones, sounds=sounds).rhyme == rhyme
        return
    with pytest.raises(ConfigError) as caught:
        parse_format(text, "zh", rhyme, tones=tones, sounds=sounds)
    assert str(caught.value).startswith(error)


def test_a_letter_narrows_to_the_reading_that_its_words_share() -> None:
    vocabulary = VerseVocabulary((*MARKS, *"东风动梦照高"), "zh", 6, 16)
    sounds = Sounds("zh", "cilin", False, SmallBooks())
    format_ = parse_format("1。1。1。", "zh", "AAA", sounds=sounds)
    batch = VerseData.of([""], [frame_of(format_, vocabulary, sounds)], vocabulary).batch(np.arange(1), View())
    decoder = VerseDecoder(mode="frame", marks=True, rhyme=True, book="cilin")
    rule = verse_constraint(decoder, vocabulary, SmallBooks())
    state, seen = rule.start(batch), []
    for word in "梦动":
        seen.append({vocabulary.token(i) for i in (rule.mask(state)[0] == 0).nonzero().flatten().tolist()})
        for token in (*vocabulary.encode(word), *vocabulary.encode("。"), SEP):
            state = rule.advance(torch.tensor([token]), state)
    seen.append({vocabulary.token(i) for i in (rule.mask(state)[0] == 0).nonzero().flatten().tolist()})
    # 梦 rhymes both ways, 动 leaves the oblique group alone; both are used, and no third word has it.
    assert seen == [set("东风动梦照高"), set("东风动"), set("动梦")]
