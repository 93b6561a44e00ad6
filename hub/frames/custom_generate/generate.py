"""`generate` of transformers under a frame: a causal language model writes only texts in exactly that form."""

from __future__ import annotations

from typing import Any


def generate(
    model: Any,
    *,
    tokenizer: Any,
    frame: Any = None,
    format: str | None = None,
    rhyme: str | None = None,
    acrostic: str | None = None,
    max_new_tokens: int = 120,
    logits_processor: Any = None,
    **given: Any,
) -> Any:
    """Texts of `model` that keep a frame.

    Args:
        tokenizer: the tokenizer of the model.
        frame: a frame of `espalier.frames`; or give what it consists of:
        format: counts ("5,5。7,5。"), rhyme: letters ("AA"), acrostic: first characters ("江月").
        max_new_tokens: the most tokens of a text, its end included.
        given: all else that `generate` takes.

    Raises:
        ImportError: Espalier is not installed.
        ValueError: no frame is given, or two.
    """
    try:
        from espalier.frames import Acrostic, Format, Rhyme
    except ImportError as error:
        raise ImportError("the package espalier is not installed; install espalier[generate]") from error

    kinds = ((Format, format), (Rhyme, rhyme), (Acrostic, acrostic))
    rules = [kind(value) for kind, value in kinds if value is not None]
    if bool(rules) == (frame is not None):
        raise ValueError("give a frame, or what it consists of: format, rhyme, acrostic")
    for rule in rules:
        frame = rule if frame is None else frame & rule
    processor = frame.processor(tokenizer, max_new_tokens=max_new_tokens)
    given = {name: value for name, value in given.items() if value is not None}
    processors = [*(logits_processor or ()), processor]
    return model.generate(logits_processor=processors, max_new_tokens=max_new_tokens, **given)
