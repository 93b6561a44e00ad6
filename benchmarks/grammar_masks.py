"""Masks of libraries that read grammars: llguidance, xgrammar and outlines-core, each for a vocabulary of its own kind.

All of them fill a mask of bits, one for each token. None of them is installed with this project.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: Takes a token, or None at first, and returns the mask of what may follow.
Masks = Callable[[int | None], Any]
#: Begins a text under a grammar that is compiled.
Begin = Callable[[], Masks]
#: Compiles a grammar.
Compile = Callable[[str], Begin]


def llguidance_masks(tokenizer: Any, limits: Any = None) -> Compile:
    """Of an `LLTokenizer`; grammars are Lark's. `limits` are `LLParserLimits`; None means the library's own."""
    import llguidance.numpy
    from llguidance import LLMatcher

    bits = llguidance.numpy.allocate_token_bitmask(1, tokenizer.vocab_size)

    def compiled(grammar: str) -> Begin:
        whole = LLMatcher(tokenizer, LLMatcher.grammar_from_lark(grammar), limits=limits)

        def begin() -> Masks:
            matcher = whole.deep_copy()

            def mask(token: int | None) -> Any:
                if token is not None:
                    matcher.consume_token(token)
                llguidance.numpy.fill_next_token_bitmask(matcher, bits, 0)
                return bits

            return mask

        return begin

    return compiled


def xgrammar_masks(tokenizer: Any) -> Compile:
    """Of a `TokenizerInfo`; grammars are in GBNF."""
    import xgrammar

    compiler = xgrammar.GrammarCompiler(tokenizer, max_threads=1)
    bits = xgrammar.allocate_token_bitmask(1, tokenizer.vocab_size)

    def compiled(grammar: str) -> Begin:
        rules = compiler.compile_grammar(grammar)

        def begin() -> Masks:
            matcher = xgrammar.GrammarMatcher(rules)

            def mask(token: int | None) -> Any:
                if token is not None:
                    assert matcher.accept_token(token)
                matcher.fill_next_token_bitmask(bits)
                return bits

            return mask

        return begin

    return compiled


def outlines_masks(vocabulary: Any, size: int) -> Compile:
    """Of a `Vocabulary` of so many tokens; grammars are regular expressions."""
    import numpy as np
    import outlines_core

    bits = np.zeros((1, -(-size // 32)), dtype=np.int32)

    def compiled(grammar: str) -> Begin:
        index = outlines_core.Index(grammar, vocabulary)

        def begin() -> Masks:
            guide = outlines_core.Guide(index)

            def mask(token: int | None) -> Any:
                if token is not None:
                    guide.advance(token, return_tokens=False)
                guide.write_mask_into(bits.ctypes.data, bits.size, bits.itemsize)
                return bits

            return mask

        return begin

    return compiled
