"""The page on frames: its examples are run on the few entries that they need."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from espalier.frames import Acrostic, Format, Rhyme

sys.path.insert(0, str(Path(__file__).parent))
from markdown_page import Page

PAGE = Page("docs/frames.md")


def test_the_example_of_another_model_runs_and_keeps_its_frame(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A tiny model stands for that of the hub."""
    transformers = pytest.importorskip("transformers", reason="pip install '.[generate]'")
    from tests.frames.small_tokenizers import byte_level

    tokenizer = byte_level([])
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_positions=256, n_embd=8, n_layer=1, n_head=1, eos_token_id=1, pad_token_id=0
    )
    model = transformers.GPT2LMHeadModel(config)
    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lambda *_, **__: tokenizer)
    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", lambda *_: model)
    example, request = ("\n".join(lines) for _, lines in PAGE.blocks("python"))
    names: dict[str, Any] = {}
    exec(compile(example, PAGE.name, "exec"), names)
    frame = Format("5,5。7,5。") & Rhyme("AA") & Acrostic("江月")
    assert frame.check(capsys.readouterr().out.removesuffix("\n")).kept
    [shown] = ("\n".join(lines) for _, lines in PAGE.blocks("text"))
    assert frame.check(shown).kept
    compile(request, PAGE.name, "exec")
