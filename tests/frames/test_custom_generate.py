"""The folder hub/frames, which `generate` of transformers takes as `custom_generate`, without network."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from espalier.frames import Acrostic, Format
from tests.frames.small_tokenizers import byte_level

FOLDER = str(Path(__file__).resolve().parents[2] / "hub/frames")
CUSTOM = {"custom_generate": FOLDER, "trust_remote_code": True, "max_new_tokens": 40}
FRAME = Format("2，2。") & Acrostic("江")


@pytest.fixture(autouse=True)
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code that is loaded is kept in this test's folder; no network is asked."""
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return byte_level([])


@pytest.fixture(scope="module")
def model(tokenizer: PreTrainedTokenizerFast) -> GPT2LMHeadModel:
    torch.manual_seed(0)
    size = len(tokenizer)
    config = GPT2Config(vocab_size=size, n_positions=96, n_embd=16, n_layer=1, n_head=1, eos_token_id=1, pad_token_id=0)
    return GPT2LMHeadModel(config).eval()


@pytest.mark.parametrize("given", [{"frame": FRAME}, {"format": "2，2。", "acrostic": "江"}], ids=["frame", "parts"])
@pytest.mark.parametrize("search", [{"do_sample": True, "num_return_sequences": 3}, {"num_beams": 2}], ids=str)
def test_texts_keep_the_frame(
    tokenizer: PreTrainedTokenizerFast, model: GPT2LMHeadModel, given: dict[str, object], search: dict[str, object]
) -> None:
    prompt = tokenizer(["ab"], return_tensors="pt")
    made = model.generate(**prompt, **CUSTOM, tokenizer=tokenizer, **given, **search)
    texts = tokenizer.batch_decode(made[:, prompt.input_ids.shape[1] :], skip_special_tokens=True)
    assert len(texts) == search.get("num_return_sequences", 1)
    assert all(FRAME.check(text).kept for text in texts)


def test_no_frame_and_two_frames_are_refused(tokenizer: PreTrainedTokenizerFast, model: GPT2LMHeadModel) -> None:
    prompt = tokenizer(["ab"], return_tensors="pt")
    for given in ({}, {"frame": FRAME, "format": "2，2。"}):
        with pytest.raises(ValueError, match="give a frame, or what it consists of"):
            model.generate(**prompt, **CUSTOM, tokenizer=tokenizer, **given)
