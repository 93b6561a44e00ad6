"""Tokens of English verse, all at once, against each alone."""

from __future__ import annotations

import random
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.frames import word_following
from espalier.frames.following import Following, Place
from espalier.frames.lexicon import Lexicon
from espalier.frames.line_automaton import LineAutomaton
from espalier.frames.lines import lines_of
from espalier.frames.tokens import tokens_of
from espalier.frames.word_following import WordFollowing
from tests.frames.small_tokenizers import byte_level, sentence_piece

#: The last has more letters than one number holds; rose and knows rhyme, and so do move and remove.
LEXICON = Lexicon(("a", "an", "rose", "roses", "knows", "move", "remove", "o'clock", "'tis", "internationalization"))
PIECES = st.text("anroseml'AR ,\n", min_size=1, max_size=5) | st.sampled_from(
    ["internationali", "nternationalizati", " rose", " Rose", "Ro", "e, a", "\nA", "se\nan", "é", "ROSE", " ,", "'s"]
)


FRAMES: list[dict[str, object]] = [
    {"syllables": "4"},
    {"syllables": "8", "acrostic": "A"},
    {"syllables": "2/2", "rhyme": "AA"},
    {"syllables": "3/2", "rhyme": "AA", "acrostic": "AR"},
    {"meter": "iambic dimeter", "rhyme": "AA"},
    {"syllables": "3/2", "words": ("rose", "remove")},
    {"syllables": "3/2", "rhyme": "AA", "words": ("rose", "an")},
    {"meter": "iambic dimeter", "rhyme": ".", "acrostic": "A"},
    {"syllables": "2/2/3/3", "rhyme": "AABB", "words": ("an", "remove")},
    {"meter": "iambic dimeter", "rhyme": "AA", "words": ("rose", "a")},
]


@pytest.mark.parametrize("limit", [0, 10**6])
@settings(max_examples=40, deadline=None)
@given(st.sampled_from(FRAMES), st.lists(PIECES, max_size=12), st.booleans(), st.integers(0, 10**6))
def test_a_token_is_allowed_if_and_only_if_words_go_on_with_it(
    limit: int, said: dict[str, object], pieces: list[str], by_bytes: bool, seed: int
) -> None:
    """Few words are asked one by one, many all at once: with either limit, all are few or all are many."""
    with patch.multiple(word_following, _FEW=limit, _ALONE=limit):
        require_exact(said, pieces, by_bytes, seed)


def require_exact(said: dict[str, object], pieces: list[str], by_bytes: bool, seed: int) -> None:
    automaton = LineAutomaton(lines_of(said), LEXICON)
    tokenizer = byte_level([each.encode() for each in pieces]) if by_bytes else sentence_piece(pieces)
    tokens, rng = tokens_of(tokenizer), random.Random(seed)
    following, slow = WordFollowing(automaton, tokens), Following(automaton, tokens)
    place: Place | None = Place(automaton.start, fresh=True)
    for _ in range(20):
        assert place is not None
        allowed = sorted(following.allowed(place).tolist())
        assert allowed == [token for token in range(len(tokenizer)) if following.advance(place, token) is not None]
        assert allowed == sorted(slow.allowed(place).tolist())
        if not allowed:
            return
        place = following.advance(place, rng.choice(allowed))


def test_tokens_with_the_same_letters_are_all_allowed() -> None:
    tokens = tokens_of(byte_level([b" rose", b" Rose", b"rose", b"Rose"]))
    following = WordFollowing(LineAutomaton(lines_of({"syllables": "2"}), LEXICON), tokens)
    allowed = {tokens.spelled[token] for token in following.allowed(Place(following.automaton.start, fresh=True))}
    assert allowed >= {b" rose", b" Rose", b"rose", b"Rose", b"a", b"A"} and b"s" not in allowed


def test_words_that_other_lines_can_take_leave_the_words_that_end_a_line_and_those_that_cannot_leave_fewer() -> None:
    automaton = LineAutomaton(lines_of({"syllables": "2/2/2/2", "rhyme": "AABB", "words": ("an",)}), LEXICON)
    plain = automaton.ends.words(0, None)
    assert automaton.ends.words(0, None, automaton.room.later(0, (), frozenset(["an"]))) is plain
    fewer = automaton.ends.words(2, None, automaton.room.later(2, (), frozenset(["an"])))
    words = [{LEXICON.words[number] for number in each.numbers} for each in (fewer, plain)]
    # After "an" a line of two syllables ends with one of one syllable.
    assert words == [{"remove", "rose", "knows"}, {"remove", "rose", "knows", "move"}]
