import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from espalier.text.language import Language
from espalier.verse.format import BLANK, format_of
from espalier.verse.literals import keep_words, template_of
from espalier.verse.text import tokens_by_unit

POEM = "灯山，桥雨。\n山石！\n雨。"


def kept(share: float, seed: int = 1, known: str = "灯山桥雨石") -> tuple[tuple[str, ...], ...]:
    format_ = format_of(POEM, "zh", "A.A")
    return keep_words(format_, POEM, share, np.random.default_rng(seed), known.__contains__).units


def test_a_share_of_0_keeps_no_word_and_one_of_1_keeps_all_but_the_last() -> None:
    assert kept(0.0) == format_of(POEM, "zh", "A.A").units
    assert kept(1.0) == (("灯", "山", "，", "桥", "雨", "。"), ("山", "石", "！"), ("#", "。"))


def test_words_that_may_not_be_kept_or_that_no_format_can_hold_stay_blank() -> None:
    assert kept(1.0, known="灯")[0] == ("灯", BLANK, "，", BLANK, "#", "。")
    format_ = format_of("a2 灯。", "zh", "A")
    assert keep_words(format_, "a2 灯。", 0.9, np.random.default_rng(1), bool).units[0][:2] == (BLANK, BLANK)


@given(
    share=st.floats(0, 1),
    seed=st.integers(0, 99),
    poem=st.sampled_from(
        [
            ("zh", POEM, "A.A"),
            ("zh", "床前明月光，疑是地上霜。举头望明月，低头思故乡。\n白日依山尽！", "AA"),
            ("zh", "灯,山.\n“雨”", ".A"),
            ("en", "and / or we love the day .\n, and “we” love it .", "AA"),
        ]
    ),
)
def test_a_template_reads_back(share: float, seed: int, poem: tuple[Language, str, str]) -> None:
    language, text, rhyme = poem
    format_ = keep_words(format_of(text, language, rhyme), text, share, np.random.default_rng(seed), bool)
    assert tuple(map(tuple, tokens_by_unit(template_of(format_), language))) == format_.units


def test_about_a_fifth_is_kept() -> None:
    words = sum(slot in "灯山桥雨石" for seed in range(1000) for unit in kept(0.2, seed) for slot in unit)
    assert 1300 < words < 1500  # 7 words, of which all are never kept
