"""jieba's words, tags and keywords."""

from __future__ import annotations

import marshal
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import jieba
import pytest
from jieba.posseg import POSTokenizer

from espalier.syntax.parse import Parse
from espalier.syntax.parsers import jieba_backend
from espalier.syntax.parsers.jieba_backend import JiebaParser, keywords, load
from espalier.syntax.parsers.parser import Refused


@pytest.fixture(scope="module")
def parser() -> JiebaParser:
    return load()


def test_words_are_those_of_posseg_as_in_sats_figure_2(parser: JiebaParser) -> None:
    (parse,) = parser.parse(["蓦然回首情已远，身不由己在天边"])
    assert isinstance(parse, Parse)
    assert parse.words == ("蓦然回首", "情", "已远", "，", "身不由己", "在", "天边")
    assert parse.tags == ("ns", "n", "d", "x", "i", "p", "s")


def test_answers_stand_in_the_order_of_the_sentences(parser: JiebaParser) -> None:
    answers = parser.parse(["我们喝茶", "", "花", "  "])
    assert [isinstance(answer, Refused) for answer in answers] == [False, True, False, True]
    assert answers[1] == Refused("empty")


def test_white_space_is_no_word(parser: JiebaParser) -> None:
    (parse,) = parser.parse(["我 们 喝茶　吧"])
    assert isinstance(parse, Parse) and "".join(parse.words) == "我们喝茶吧"


def test_given_words_are_tagged_and_never_parted(parser: JiebaParser) -> None:
    (parse,) = parser.parse([["我们", "天天喝茶"]])
    assert parse == Parse(("我们", "天天喝茶"), ("r", "x"))


def test_the_dictionary_is_what_jieba_itself_reads() -> None:
    own = jieba.Tokenizer()
    counts, total = own.gen_pfdict(own.get_dict_file())
    assert (jieba_backend._tokenizer().FREQ, jieba_backend._tokenizer().total) == (counts, total)
    assert jieba_backend._tagger().word_tag_tab == POSTokenizer(own).word_tag_tab


def test_nothing_is_said_on_standard_error(parser: JiebaParser, capfd: pytest.CaptureFixture[str]) -> None:
    parser.parse(["我们喝茶"])
    assert capfd.readouterr().err == ""


def test_keywords_are_the_rarest_words_first() -> None:
    assert keywords("我喜欢在春天的公园里看樱花，樱花开了", 2)[0] == "樱花"
    assert keywords("", 3) == []


def test_the_signature_names_the_version(parser: JiebaParser) -> None:
    assert parser.signature.startswith("jieba 0.")


TEXT = "身不由己在天边"
#: Prints the words of a text by what jieba reads in a temporary folder.
WORDS = """
from espalier.syntax.parsers import jieba_backend as backend
import jieba
{before}
print(*{words})
"""


def said(words: str, place: Path, before: str = "", path: str = "") -> subprocess.CompletedProcess[str]:
    """What a process prints whose temporary folder is `place`."""
    environment = os.environ | {"TMPDIR": str(place), "PYTHONPATH": os.pathsep.join(filter(None, [path, *sys.path]))}
    script = WORDS.format(words=words, before=before)
    return subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)


def test_a_cache_of_others_in_the_temporary_folder_is_neither_read_nor_written(tmp_path: Path) -> None:
    poison = marshal.dumps(({TEXT[:size]: 10**6 if size == 5 else 0 for size in range(1, 6)}, 10**6))
    (tmp_path / "jieba.cache").write_bytes(poison)
    ours = [f"backend.cut_words('{TEXT}')", f"backend.load().parse(['{TEXT}'])[0].words", f"jieba.lcut('{TEXT}')"]
    done = said(f"({', '.join(ours)})", tmp_path, "backend.use_no_cache()")
    assert done.stdout.count("'身不由己', '在', '天边'") == 3, done.stdout + done.stderr
    assert said(f"jieba.lcut('{TEXT}')", tmp_path).stdout == "身不由己在 天边\n"  # as jieba itself does
    assert [path.name for path in tmp_path.iterdir()] == ["jieba.cache"]
    assert (tmp_path / "jieba.cache").read_bytes() == poison


@pytest.mark.parametrize(
    ("file", "words"),
    [("dict.txt", f"backend.cut_words('{TEXT}')"), ("analyse/idf.txt", "backend.keywords('天边', 1)")],
)
def test_a_dictionary_of_which_one_bit_has_changed_is_not_loaded(file: str, words: str, tmp_path: Path) -> None:
    installed = find_spec("jieba")
    assert installed is not None and installed.origin is not None
    folder = Path(installed.origin).parent
    for name in ("jieba", f"jieba-{version('jieba')}.dist-info"):
        shutil.copytree(folder.parent / name, tmp_path / name)
    data = bytearray((tmp_path / "jieba" / file).read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "jieba" / file).write_bytes(data)
    done = said(words, tmp_path, path=str(tmp_path))
    assert done.stdout == "" and f"{file}: not the file that was installed, of the package jieba" in done.stderr
