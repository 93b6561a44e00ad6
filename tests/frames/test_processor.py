"""Texts of any model under the processor, with random scores in place of the model's."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from espalier.frames.following import Place
from espalier.frames.processor import FrameProcessor
from espalier.io.errors import ConfigError
from tests.frames.automata import HAN, POOL, Table, chain, some, tables
from tests.frames.small_tokenizers import byte_level, characters, sentence_piece, word_piece


def sampled(processor: FrameProcessor, size: int, most: int, seed: int) -> list[int]:
    """A text whose tokens are drawn from random scores, at most `most`, without its end."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.zeros(1, 3, dtype=torch.long)
    for _ in range(most):
        scores = processor(ids, torch.randn(1, size, generator=generator))
        assert scores.isfinite().any()
        drawn = torch.multinomial(scores.softmax(-1), 1, generator=generator)
        ids = torch.cat([ids, drawn], dim=1)
        if int(drawn) in processor.tokens.ends:
            return ids[0, 3:-1].tolist()
    raise AssertionError("the text is not finished")


@st.composite
def tokenizers(draw: st.DrawFn) -> PreTrainedTokenizerFast:
    pieces = draw(st.lists(st.text(POOL, min_size=1, max_size=4), max_size=12))
    match draw(st.integers(0, 3)):
        case 0:
            cut = [each.encode() for each in pieces]
            ends = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=len(cut), max_size=len(cut)))
            parts = [each[a : len(each) - b] for each, (a, b) in zip(cut, ends, strict=True)]
            return byte_level([each for each in (*cut, *parts) if each])
        case 1:
            return sentence_piece([*POOL, *pieces] if draw(st.booleans()) else pieces)
        case 2:
            return characters(draw(st.lists(st.sampled_from(POOL), min_size=1, unique=True)))
        case _:
            return word_piece(draw(st.lists(st.sampled_from(POOL.replace(" ", "").strip()), min_size=1, unique=True)))


@settings(max_examples=200, deadline=None)
@given(tables(), tokenizers(), st.integers(0, 10**6), st.integers(0, 30))
def test_every_text_keeps_the_frame_and_is_finished_within_its_tokens(
    table: Table, tokenizer: PreTrainedTokenizerFast, seed: int, more: int
) -> None:
    try:
        needed = FrameProcessor(table, tokenizer).needed
    except ConfigError as error:
        assert "vocabulary" in str(error)
        return
    processor = FrameProcessor(table, tokenizer, needed + more)
    ids = sampled(processor, len(tokenizer) + 3, needed + more, seed)
    text = processor.text(ids)
    assert table.keeps(text) or table.keeps(f" {text}")
    assert "".join(tokenizer.decode(ids).split()) == "".join(text.split())


@settings(max_examples=100, deadline=None)
@given(tables(), tokenizers(), st.integers(0, 10**6))
def test_a_token_is_allowed_if_and_only_if_the_text_goes_on_after_it(
    table: Table, tokenizer: PreTrainedTokenizerFast, seed: int
) -> None:
    try:
        processor = FrameProcessor(table, tokenizer)
    except ConfigError:
        return
    place, rng = processor.start, random.Random(seed)
    for _ in range(8):
        allowed = sorted(processor.following.allowed(place).tolist())
        assert allowed == [n for n in range(len(tokenizer)) if processor.following.advance(place, n) is not None]
        if not allowed:
            return
        place = processor.following.advance(place, rng.choice(allowed))


VERSE = chain(*[HAN] * 4, some("东风空中"), some("，"), *[HAN] * 4, some("空中红"), some("。"))
PIECES = [each.encode() for each in ("春江", "花", "月", "夜，", "。", "天")] + [
    b"\xe6\x98",
    b"\xa5\xe6",
    b"\xb1\x9f\xe8\x8a",
]


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return byte_level(PIECES)


@pytest.fixture(scope="module")
def model(tokenizer: PreTrainedTokenizerFast) -> GPT2LMHeadModel:
    torch.manual_seed(0)
    size = len(tokenizer) + 5
    config = GPT2Config(vocab_size=size, n_positions=96, n_embd=16, n_layer=1, n_head=1, eos_token_id=1, pad_token_id=0)
    return GPT2LMHeadModel(config).eval()


def test_a_model_with_fewer_tokens_than_the_tokenizer_is_named(tokenizer: PreTrainedTokenizerFast) -> None:
    """As after `add_tokens` without `resize_token_embeddings`."""
    processor = FrameProcessor(VERSE, tokenizer, 40)
    ids = torch.tensor([[tokenizer.convert_tokens_to_ids("a")]])
    told = (
        rf"scores: the model has {len(tokenizer) - 1} tokens, and the tokenizer {len(tokenizer)}; model\.resize_token"
    )
    with pytest.raises(ConfigError, match=told):
        processor(ids, torch.zeros(1, len(tokenizer) - 1))


@pytest.mark.parametrize(
    "search",
    [
        {"do_sample": True},
        {"do_sample": True, "num_return_sequences": 3, "top_k": 5},
        {"num_beams": 4, "num_return_sequences": 4},
        {"num_beams": 3, "do_sample": True},
    ],
    ids=["sampling", "several samples", "beam search", "beam sampling"],
)
def test_batches_of_padded_prompts_keep_the_frame_in_every_search(
    tokenizer: PreTrainedTokenizerFast, model: GPT2LMHeadModel, search: dict[str, Any]
) -> None:
    processor = FrameProcessor(VERSE, tokenizer, 40)
    for prompts in (["ab", "abcd ", "一首诗："], ["ab"], ["ab", "abc"]):  # one processor for several calls
        given = tokenizer(prompts, return_tensors="pt", padding=True)
        torch.manual_seed(0)
        made = model.generate(**given, logits_processor=[processor], max_new_tokens=40, **search)
        rows = made[:, given.input_ids.shape[1] :].tolist()
        texts = [tokenizer.decode(row, skip_special_tokens=True).removeprefix(" ") for row in rows]
        assert len(texts) == len(prompts) * search.get("num_return_sequences", 1)
        assert all(map(VERSE.keeps, texts))
        assert [*map(processor.text, rows)] == texts


def test_rows_are_masked_by_their_ids_alone_in_whatever_order_they_come(tokenizer: PreTrainedTokenizerFast) -> None:
    size, processor = len(tokenizer), FrameProcessor(VERSE, tokenizer)
    ids, generator = torch.zeros(4, 2, dtype=torch.long), torch.Generator().manual_seed(0)
    for _ in range(20):
        scores = processor(ids, torch.randn(4, size, generator=generator))
        alone = [FrameProcessor(VERSE, tokenizer).mask(tuple(row), size) for row in ids[:, 2:].tolist()]
        assert torch.equal(scores.isinf(), torch.stack(alone))
        ids = torch.cat([ids, torch.multinomial(scores.softmax(-1), 1, generator=generator)], dim=1)
        ids = ids[torch.randint(4, (4,), generator=generator)]


def test_a_longer_prompt_is_no_continuation_of_a_text(tokenizer: PreTrainedTokenizerFast) -> None:
    processor, scores = FrameProcessor(VERSE, tokenizer), torch.zeros(1, len(tokenizer))
    first = processor(torch.zeros(1, 2, dtype=torch.long), scores)
    assert torch.equal(processor(torch.zeros(1, 3, dtype=torch.long), scores), first)
    assert torch.equal(processor(torch.zeros(1, 9, dtype=torch.long), scores), first)


def test_a_prompt_with_one_more_token_is_no_continuation_of_the_text_before(
    tokenizer: PreTrainedTokenizerFast, model: GPT2LMHeadModel
) -> None:
    """The new token may begin the frame, and the text before began with it or with another one."""
    processor = FrameProcessor(VERSE, tokenizer, 40)
    for search in ({"do_sample": True}, {"num_beams": 3}):
        for prompt in ("ab", "ab春江", "ab春江花", "ab春江", "ab"):
            given = tokenizer([prompt], return_tensors="pt")
            torch.manual_seed(0)
            [made] = model.generate(**given, logits_processor=[processor], max_new_tokens=40, **search)
            assert VERSE.keeps(processor.text(made[given.input_ids.shape[1] :].tolist()))


def test_a_text_that_is_cut_off_goes_on_where_it_stopped_and_after_reset_anew(
    tokenizer: PreTrainedTokenizerFast, model: GPT2LMHeadModel
) -> None:
    processor, given = FrameProcessor(VERSE, tokenizer), tokenizer(["ab"], return_tensors="pt")
    search = {"logits_processor": [processor], "do_sample": True}
    cut = model.generate(**given, **search, max_new_tokens=2)
    whole = model.generate(input_ids=cut, attention_mask=torch.ones_like(cut), **search, max_new_tokens=40)
    assert VERSE.keeps(processor.text(whole[0, given.input_ids.shape[1] :].tolist()))
    cut = model.generate(**given, **search, max_new_tokens=2)
    processor.reset()
    whole = model.generate(input_ids=cut, attention_mask=torch.ones_like(cut), **search, max_new_tokens=40)
    assert VERSE.keeps(processor.text(whole[0, cut.shape[1] :].tolist()))


def test_ids_that_go_back_in_a_text_that_cannot_have_ended_are_refused(tokenizer: PreTrainedTokenizerFast) -> None:
    processor, scores = FrameProcessor(VERSE, tokenizer), torch.zeros(1, len(tokenizer))
    begun = torch.zeros(1, 2, dtype=torch.long)
    river, flower = (processor.tokens.spelled.index(each.encode()) for each in ("春江", "花"))
    for ids in ([], [river], [river, flower]):
        processor(torch.cat([begun, torch.tensor([ids], dtype=torch.long)], dim=1), scores)
    with pytest.raises(
        ConfigError, match=r"^processor: the ids are neither .*; call reset\(\) before a generate after"
    ):
        processor(torch.cat([begun, torch.tensor([[river]])], dim=1), scores)
    processor.reset()
    first = processor(begun, scores)
    processor.reset()
    assert torch.equal(processor(torch.cat([begun, torch.tensor([[river]])], dim=1), scores), first)


def test_two_texts_at_the_same_time_are_refused(tokenizer: PreTrainedTokenizerFast) -> None:
    processor, scores = FrameProcessor(VERSE, tokenizer), torch.zeros(1, len(tokenizer))
    processor(torch.zeros(1, 2, dtype=torch.long), scores)
    processor(torch.ones(1, 2, dtype=torch.long), scores)
    with pytest.raises(ConfigError, match="use a processor for one generate at a time"):
        processor(torch.tensor([[0, 0, tokenizer.encode("春江")[0]]]), scores)


def test_a_complete_text_ends_although_generate_asks_for_more_tokens(
    tokenizer: PreTrainedTokenizerFast, model: GPT2LMHeadModel
) -> None:
    given = tokenizer(["ab", "abcd "], return_tensors="pt", padding=True)
    for search in ({"do_sample": True}, {"num_beams": 2}):
        processor = FrameProcessor(VERSE, tokenizer, 40)
        made = model.generate(**given, logits_processor=[processor], max_new_tokens=40, min_new_tokens=39, **search)
        assert all(VERSE.keeps(processor.text(row)) for row in made[:, given.input_ids.shape[1] :].tolist())


@pytest.mark.parametrize("search", [{"do_sample": True}, {"num_beams": 2}], ids=["sampling", "beam search"])
def test_a_row_for_which_others_forbid_all_tokens_ends_at_once_with_a_warning(
    tokenizer: PreTrainedTokenizerFast, model: GPT2LMHeadModel, search: dict[str, Any]
) -> None:
    """The only mark that the fifth place may have is forbidden."""
    given, processor = tokenizer(["ab"], return_tensors="pt"), FrameProcessor(VERSE, tokenizer, 40)
    commas = [
        [number] for number, spelled in enumerate(processor.tokens.spelled) if "，".encode()[0] in (spelled or b"")
    ]
    with pytest.warns(UserWarning, match="row 1 ends before the frame does, .* such as no_repeat_ngram_size"):
        made = model.generate(**given, logits_processor=[processor], max_new_tokens=40, bad_words_ids=commas, **search)
    text = processor.text(made[0, given.input_ids.shape[1] :].tolist())
    assert len(text) <= 5 and made.shape[1] < given.input_ids.shape[1] + 40


def test_a_row_that_left_the_frame_ends(tokenizer: PreTrainedTokenizerFast) -> None:
    processor = FrameProcessor(VERSE, tokenizer)
    assert (~processor.mask((5, 5), len(tokenizer))).nonzero().tolist() == [[1]]


def test_a_prompt_that_ends_inside_a_character_is_refused(tokenizer: PreTrainedTokenizerFast) -> None:
    ids = torch.tensor([tokenizer.encode("春")[-3:], tokenizer.encode("春江")[1:4]])
    with pytest.raises(ConfigError, match="prompt 2: it ends inside a character; end it after a whole character"):
        FrameProcessor(VERSE, tokenizer)(ids, torch.zeros(2, len(tokenizer)))


def test_too_few_tokens_are_named_before_decoding(tokenizer: PreTrainedTokenizerFast) -> None:
    needed = FrameProcessor(VERSE, tokenizer).needed
    with pytest.raises(ConfigError, match=f"^max_new_tokens: 7 tokens are too few for the frame; at least {needed}$"):
        FrameProcessor(VERSE, tokenizer, 7)


def test_a_vocabulary_without_a_needed_character_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^tokenizer: its vocabulary spells none of .* such as 。;"):
        FrameProcessor(VERSE, characters("春江花月东风空，"))
    with pytest.raises(ConfigError, match="such as 中空红"):
        FrameProcessor(VERSE, word_piece("春江花月东风，。"))


def test_a_rhyme_that_the_vocabulary_cannot_finish_is_not_begun() -> None:
    """Of two rhyme groups, the tokenizer has only the first word of the second."""
    table = Table((((some("东"), 1), (some("江"), 2)), ((some("风"), 3),), ((some("双"), 3),), ()), frozenset([3]))
    tokenizer = characters("东风江")
    allowed = FrameProcessor(table, tokenizer).following.allowed(Place(0))
    assert tokenizer.convert_ids_to_tokens(allowed) == ["东"]


def test_a_tokenizer_without_an_end_is_refused() -> None:
    tokenizer = characters("东风")
    tokenizer.eos_token = None
    with pytest.raises(ConfigError, match=r"^tokenizer: no token ends a text; set its eos_token$"):
        FrameProcessor(VERSE, tokenizer)
