"""Small tokenizers of each kind, as transformers loads them."""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from espalier.frames.tokens import _BYTES

_SHOWN = {byte: shown for shown, byte in _BYTES.items()}


def fast(tokenizer: Tokenizer) -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="</s>",
        pad_token="<pad>",
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )


def byte_level(pieces: Sequence[bytes], all_bytes: bool = True) -> PreTrainedTokenizerFast:
    """Byte-level BPE, whose tokens are these bytes, and each single byte."""
    single = [bytes([byte]) for byte in range(256)] if all_bytes else []
    vocabulary = dict.fromkeys(["<pad>", "</s>", *("".join(map(_SHOWN.get, each)) for each in (*single, *pieces))])
    tokenizer = Tokenizer(models.BPE({each: number for number, each in enumerate(vocabulary)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return fast(tokenizer)


def sentence_piece(pieces: Sequence[str], byte_fallback: bool = True) -> PreTrainedTokenizerFast:
    """A unigram model like those of SentencePiece, with a token for each byte."""
    single = [f"<0x{byte:02X}>" for byte in range(256)] if byte_fallback else []
    vocabulary = dict.fromkeys(["<unk>", "<pad>", "</s>", *single, "▁", *(each.replace(" ", "▁") for each in pieces)])
    unigram = models.Unigram([(each, -1.0) for each in vocabulary], unk_id=0, byte_fallback=byte_fallback)
    tokenizer = Tokenizer(unigram)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return fast(tokenizer)


def word_piece(pieces: Sequence[str]) -> PreTrainedTokenizerFast:
    """The pieces of BERT: those that go on with a word begin with ##."""
    vocabulary = dict.fromkeys(["[UNK]", "<pad>", "</s>", *pieces])
    tokenizer = Tokenizer(models.WordPiece({each: n for n, each in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return fast(tokenizer)


def characters(pieces: Sequence[str]) -> PreTrainedTokenizerFast:
    """A token for each of these characters."""
    vocabulary = dict.fromkeys(["<unk>", "<pad>", "</s>", *pieces])
    tokenizer = Tokenizer(models.WordLevel({each: n for n, each in enumerate(vocabulary)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.decoder = decoders.Fuse()
    return fast(tokenizer)
