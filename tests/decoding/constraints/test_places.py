"""What the constraint of our own models allows at each place is what the automaton of the same frame allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from espalier.datasets.verse.data import VerseData, View
from espalier.datasets.verse.frames import frame_of
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import EOS, SEP
from espalier.frames.places import PlaceAutomaton
from espalier.frames.plan import plan_of
from espalier.frames.processor import FrameProcessor
from espalier.io.errors import ConfigError
from espalier.tasks.verse_search import VerseDecoder, verse_constraint
from espalier.verse.books import Book, Tone, ToneBook
from espalier.verse.format import Format
from espalier.verse.grammar import parse_format
from espalier.verse.sounds import Sounds
from tests.frames.small_tokenizers import characters

MARKS = "，。！"
#: In Mandarin 长, 行, 为 and 好 have several readings; 长 and 为 have both tones.
WORDS = "东红风动梦高桃照好草长行忙上为飞归"
CILIN = ["1平", "1仄", "2平", "2仄", "15入"]


@dataclass(frozen=True)
class DrawnBooks:
    """Readings as Cilin writes them; Pingshui yun has the same."""

    readings: Mapping[str, frozenset[str]]

    def characters(self, book: Book) -> list[str]:
        return [*self.readings]

    def groups(self, character: str, book: Book) -> frozenset[str]:
        own = self.readings.get(character, frozenset())
        tones = {"平": "平", "仄": "去", "入": "入"}
        return own if book == "cilin" else frozenset(tones[group[-1]] + group[:-1] for group in own)

    def tones(self, character: str, by: ToneBook = "book") -> frozenset[Tone]:
        return frozenset("平" if group[-1] == "平" else "仄" for group in self.groups(character, "cilin"))


@st.composite
def formats(draw: st.DrawFn, words: str, sounds: Sounds) -> Format:
    """A format of at most twelve words, some of them given, with letters, tones and at most one repeated word."""

    def text(signs: str, least: int, most: int) -> str:
        return "".join(draw(st.lists(st.sampled_from(signs), min_size=least, max_size=most)))

    units = [text("____" + words[:2], 1, 3) for _ in range(draw(st.integers(2, 4)))]
    units = [unit[:1] + "，" * (len(unit) > 1 and draw(st.booleans())) + unit[1:] for unit in units]
    letters = text("AAAAB.", len(units), len(units))
    count = sum(sign not in MARKS for unit in units for sign in unit)
    tones = text("中平仄", count, count) if draw(st.booleans()) else ""
    copies = tuple(draw(st.lists(st.sampled_from([*combinations(range(count), 2)]), max_size=1)))
    for source, copy in copies if tones else ():
        tones = tones[:copy] + tones[source] + tones[copy + 1 :]
    whole = "".join(unit + draw(st.sampled_from("。！")) for unit in units)
    return parse_format(
        whole, "zh", letters, tones=tones, copies=tuple((copy, source) for source, copy in copies), sounds=sounds
    )


def with_tones_of_rhymes(format_: Format) -> Format:
    """The format whose words have any tone but those that rhyme: in ci, level and oblique words never rhyme."""
    pairs = zip(format_.place_tones, format_.rhyme_places, strict=True)
    signs = [tone if slot in places else "中" for tones, places in pairs for slot, tone in enumerate(tones) if tone]
    return replace(format_, tones="".join(signs) if format_.tones else "")


def walk(
    data: st.DataObject,
    format_: Format,
    vocabulary: VerseVocabulary,
    decoder: VerseDecoder,
    books: DrawnBooks,
    *,
    distinct: bool,
) -> None:
    """Write a random text; at each place both allow the same words.

    The words of a letter differ in a frame. In our own models, whose vocabularies may have few words of a sound, they
    do so if they can: a word is repeated if no other fits. Without `distinct`, the automaton is made without the first
    rule, and the second is added.
    """
    sounds = Sounds("zh", decoder.book, decoder.by_tone, books)
    rule, tokenizer = verse_constraint(decoder, vocabulary, books), characters([*vocabulary.words, "\n"])
    batch = VerseData.of([""], [frame_of(format_, vocabulary, sounds)], vocabulary).batch(np.arange(1), View())
    try:
        plan = plan_of(format_ if decoder.tone else with_tones_of_rhymes(format_), sounds, distinct=distinct)
    except ConfigError:  # a word and its repetition want different things, as in no tune
        return
    try:
        processor = FrameProcessor(PlaceAutomaton(plan), tokenizer)
    except ConfigError:
        with pytest.raises(ConfigError):
            rule.start(batch)
        return
    state, ids, written = rule.start(batch), list[int](), ""
    for place in plan.places:
        own = {
            vocabulary.token(i) if i != SEP else "\n" for i in (rule.mask(state)[0] == 0).nonzero().flatten().tolist()
        }
        of_frame = {
            tokenizer.convert_ids_to_tokens(i)
            for i in (~processor.mask(tuple(ids), len(tokenizer))).nonzero().flatten().tolist()
        }
        if place.letter and not place.given and not distinct:
            letter = plan.letters[place.letter]
            used = letter.given | {written[index] for index in letter.places if index < len(written)}
            of_frame = of_frame - used or of_frame
        assert own == of_frame, (str(format_), written)
        written += data.draw(st.sampled_from(sorted(own)))
        ids.append(tokenizer.convert_tokens_to_ids(written[-1]))
        token = SEP if written[-1] == "\n" else vocabulary.id_of(written[-1])
        state = rule.advance(torch.tensor([token]), state)
    assert processor.mask(tuple(ids), len(tokenizer)).logical_not().nonzero().flatten().tolist() == [
        tokenizer.eos_token_id
    ]
    for end in (SEP, EOS):
        assert (rule.mask(state)[0] == 0).nonzero().flatten().tolist() == [end]
        state = rule.advance(torch.tensor([end]), state)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(
    st.data(), st.sampled_from(["cilin", "cilin", "pingshui", "mandarin"]), st.sampled_from(["tone", "", "literals"])
)
def test_a_model_s_constraint_allows_what_the_automaton_of_the_frame_allows(
    data: st.DataObject, book: Book, setting: str
) -> None:
    words = data.draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8, unique=True))
    readings = st.frozensets(st.sampled_from(CILIN), min_size=1, max_size=3)
    books = DrawnBooks({word: data.draw(readings) for word in WORDS})
    literals = 0.1 if setting == "literals" else 0  # then only the tones of a rhyme that turns count
    decoder = VerseDecoder(mode="frame", marks=True, rhyme=True, tone=setting == "tone", book=book, literals=literals)
    try:
        format_ = data.draw(formats("".join(words), Sounds("zh", book, decoder.by_tone, books)))
    except ConfigError:  # given words contradict each other or their tones
        assume(False)
    walk(data, format_, VerseVocabulary((*MARKS, *words), "zh", 6, 16), decoder, books, distinct=False)


#: Each sound has words for all places of a letter, and one to spare; every fourth word has both tones.
AMPLE = DrawnBooks(
    {
        chr(0x4E00 + n): frozenset([CILIN[n % 5], CILIN[n % 5].replace("平", "仄")] if n % 4 == 0 else [CILIN[n % 5]])
        for n in range(60)
    }
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(st.data(), st.sampled_from(["cilin", "pingshui"]), st.booleans())
def test_with_words_to_spare_rhyme_words_differ_as_the_frame_says(data: st.DataObject, book: Book, tone: bool) -> None:
    decoder, words = VerseDecoder(mode="frame", marks=True, rhyme=True, tone=tone, book=book), "".join(AMPLE.readings)
    try:
        format_ = data.draw(formats(words, Sounds("zh", book, True, AMPLE)))
    except ConfigError:
        assume(False)
    walk(data, format_, VerseVocabulary((*MARKS, *words), "zh", 6, 16), decoder, AMPLE, distinct=True)
