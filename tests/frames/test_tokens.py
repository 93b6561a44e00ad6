"""The bytes of tokens, for each kind of tokenizer."""

from __future__ import annotations

import pytest
from tokenizers import AddedToken, decoders
from transformers import PreTrainedTokenizerFast

from espalier.frames.tokens import tokens_of
from espalier.io.errors import ConfigError
from tests.frames.small_tokenizers import byte_level, characters, sentence_piece, word_piece

TEXT = "春江 on, 月"


@pytest.mark.parametrize(
    "tokenizer",
    [byte_level(["春".encode()[:2], b" on"]), sentence_piece(["春", " on"]), characters(TEXT)],
    ids=["byte-level BPE", "SentencePiece with bytes", "characters"],
)
def test_the_tokens_of_a_text_have_its_bytes(tokenizer: PreTrainedTokenizerFast) -> None:
    tokens, ids = tokens_of(tokenizer), tokenizer.encode(TEXT, add_special_tokens=False)
    assert tokens.text(ids).decode().removeprefix(" ") == TEXT == tokenizer.decode(ids).removeprefix(" ")


def test_a_piece_of_bert_has_a_blank_before_words_of_letters_alone() -> None:
    tokenizer = word_piece(["on", "##ly", "月", ","])
    ids = tokenizer.encode("月 only , 月", add_special_tokens=False)
    assert tokens_of(tokenizer).text(ids).decode() == "月 only,月"


def test_special_tokens_are_no_text_and_added_tokens_are_their_own() -> None:
    tokenizer = byte_level([])
    tokenizer.add_tokens([AddedToken("春风")])
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|user|>"]})
    tokens = tokens_of(tokenizer)
    assert tokens.spelled[tokenizer.convert_tokens_to_ids("春风")] == "春风".encode()
    assert tokens.spelled[tokenizer.convert_tokens_to_ids("<|user|>")] is None
    assert tokens.ends == {tokenizer.eos_token_id} and tokens.spelled[tokenizer.eos_token_id] is None


def test_the_fewest_tokens_of_a_character_are_counted() -> None:
    tokens = tokens_of(byte_level(["春".encode(), "江".encode()[1:]]))
    assert [tokens.count(each.encode()) for each in "春江月a"] == [1, 2, 3, 1]
    assert tokens.spells_all and not tokens_of(characters("春")).spells_all


def test_a_decoder_that_is_not_known_is_refused() -> None:
    tokenizer = characters("春")
    tokenizer.backend_tokenizer.decoder = decoders.CTC()
    with pytest.raises(ConfigError, match=r"^tokenizer: a decoder CTC; use ByteLevel, Metaspace or WordPiece$"):
        tokens_of(tokenizer)
