"""`generate` by the book: what is kept, and what cannot be kept, in one line."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from small_params import PRESETS, corpus, dataset, empty, model, write

from espalier.cli.answers import FIRST
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.inference.folder import save_system, write_checksums
from espalier.models.serialization import save_model
from espalier.models.songnet import SongNet
from espalier.models.songnet_config import SongNetConfig
from espalier.verse.ci_books import open_books, pack_books
from espalier.verse.variants import fit_of
from tests.verse.couyun import RHYMES, Tunes, write_couyun

ROOT = Path(__file__).resolve().parents[2]
BOOKS = Path("data/raw/forms/couyun")
TUNES: Tunes = {
    ("卜算子", "缺月挂疏桐"): [
        ("3，3。3，3。", "中仄仄仄平平中平仄仄中平", [[5, 11]]),
        ("3，3。3，3。", "中仄仄仄平仄中平仄仄中仄", [[5, 11]]),
    ],
    ("菩萨蛮",): [("2。2。2。2。", "中平中平中仄中仄", [[1, 3], [5, 7]])],
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the books and one model, which was never trained, and knows their characters but 虎."""
    folder = tmp_path_factory.mktemp("project")
    vocabulary = VerseVocabulary(tuple("，。中东风空高桃孔动洞梦笑照木竹"), units=8, length=16, language="zh")
    numbers = {"layers": 1, "width": 8, "heads": 1, "inner": 8, "positions": 64}
    torch.manual_seed(1)
    (folder / "data/models/tiny").mkdir(parents=True)
    save_model(
        folder / "data/models/tiny", "songnet", SongNet(SongNetConfig(**numbers), vocabulary), vocabulary, seed=1
    )
    save_system(folder / "data/models/tiny", {"units": 8, "length": 16, "max_tokens": 64})
    tree = empty()
    tree["corpora"] = {"tiny": corpus("zh", "verse_zh")}
    tree["datasets"]["linearize"] = {"tiny": dataset("verse", "tiny", units=8, length=16, max_tokens=64)}
    tree["presets"] = PRESETS
    tree["models"] = {"tiny": model("songnet", "tiny", numbers, default_for=["generate.zh"])}
    write(folder, tree)
    write_couyun(folder / BOOKS, RHYMES, TUNES, {"菩萨蛮": ("双调", 8)})
    return folder


@pytest.mark.parametrize(("tune", "number"), [("卜算子", 1), ("缺月挂疏桐", 2), ("菩萨蛮", 1)])
def test_a_tune_by_the_book_is_met_whole_in_a_process_of_its_own(
    project: Path, tmp_path: Path, run: Callable[..., Any], tune: str, number: int
) -> None:
    """As people call it; each poem is judged by the books that it was written by."""
    folder = tmp_path / "project"
    shutil.copytree(project, folder)
    shutil.copytree(ROOT / "pipeline", folder / "pipeline", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "src").symlink_to(ROOT / "src")
    command = ["generate", "--tune", tune, "--variant", str(number), "--book", "cilin", "--tone", "--n", "4", "--json"]
    command += ["--model", "tiny"]
    answer = run(folder, sys.executable, str(folder / "pipeline"), *command)
    assert answer.status == 0, answer.err
    books = open_books(project / BOOKS)
    variant = books.tunes.variant(tune, number)
    texts = [json.loads(line)["text"] for line in answer.out.splitlines()]
    assert len(texts) == 4
    assert [fit_of(text, variant, books.rhyme_books).faults for text in texts] == [0] * 4


def test_the_format_is_an_argument_or_an_option(
    project: Path, cli: Callable[..., Any], refused: Callable[..., str]
) -> None:
    assert (
        cli(project, "generate", "2。", "--n", "2").out == cli(project, "generate", "--format", "2。", "--n", "2").out
    )
    said = refused(project, "generate", "2。", "--format", "2。")
    assert said == "espalier: --format: given twice; give the option or the argument"


def test_an_acrostic_and_tones_are_kept_together(project: Path, cli: Callable[..., Any]) -> None:
    answer = cli(project, "generate", "--tones", "平仄，平。中平。", "--acrostic", "风高", "--book", "cilin", "--json")
    (poem,) = [json.loads(line) for line in answer.out.splitlines()]
    first, second = poem["text"].split("\n")
    assert (first[0], second[0], poem["tones"]) == ("风", "高", "平仄平中平")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["--tune", "无名", "--tone"], "tune: no tune '无名' in the book; "),
        (["--tune", "卜算子", "--variant", "3"], "variant: no variant 3 of 卜算子; there are 2, from 1"),
        (["--tune", "卜算子", "--variant", "0"], "variant: no variant 0 of 卜算子; there are 2, from 1"),
        (["--tune", "卜算子", "--variant", "1", "--format", "2。"], "variant: a variant beside a format; leave out"),
        (["--format", "2。", "--acrostic", "3"], "acrostic: '3' is not words alone; for example 春江花月"),
        (["--format", "2。", "--acrostic", "a"], "acrostic: 'a' is not words alone; for example 春江花月"),
        (["--format", "2。", "--acrostic", "风", "--free"], "acrostic: free texts keep no acrostic; leave it out"),
        (["--format", "2。2。", "--tones", "平平平仄", "--book", "pingshui"], "A has level and oblique places, which"),
        (["--format", "2虎。2。", "--rhyme", "AA", "--book", "cilin"], "cilin has no fitting group of '虎'"),
        (["--format", "2。", "--tones", "平平平"], "tones: '平平平' has 3 tones, the format 2 words"),
        (["--format", "2。", "--tones", "平天"], "tones: '天' is no tone"),
        (["--format", "1虎。", "--tones", "平仄", "--book", "cilin"], "the tone of '虎' is not known"),
        (["--format", "2，2。", "--acrostic", "春江花月"], "acrostic: '春江花月' has 4 words, the format 1 sent"),
        (["--format", "2。", "--tone"], "tone: the format has no tones; give them: 仄仄平平仄; or give a tune"),
        (["--variant", "2"], "variant: a variant is given, but no tune; give its tune"),
        (["--tune", "如梦令", "--acrostic", "江风山中虎天"], "acrostic: '虎' where '中' is repeated; give both the"),
        (["--rhyme", "AA"], "format: no format is given; give one, or a tune or tones"),
        (["--acrostic", "春江"], "format: no format is given; give one, or a tune or tones"),
        (["--format", "2。", "--book", "guangyun"], "--book: unknown book 'guangyun'; allowed: cilin, mand"),
        (
            ["--format", "1木。1。", "--tones", "仄仄平", "--book", "cilin"],
            "unit 2, word 1: no word of this model has the tone 平 and rhymes with the literals",
        ),
    ],
)  # fmt: skip
def test_what_the_books_cannot_answer_is_one_line(
    project: Path, refused: Callable[..., str], command: list[str], message: str
) -> None:
    assert message in refused(project, "generate", *command)


def test_a_polyphone_at_a_rhyme_place_shows_its_other_reading(project: Path, cli: Callable[..., Any]) -> None:
    # 中 is 1平 and 1仄; its place asks for the level tone.
    answer = cli(
        project, "generate", "--format", "1中。1风。", "--tones", "平平平平", "--rhyme", "AA", "--book", "cilin"
    )
    assert answer.status == 0 and "A 1平 (1仄)" in answer.out


def test_a_literal_that_the_model_lacks_is_named(project: Path, cli: Callable[..., Any]) -> None:
    answer = cli(project, "generate", "--format", "虎2。")
    assert answer.status == 0 and "does not know 虎; kept as written, read as unknown" in answer.err


def test_a_free_text_does_not_promise_a_literal(project: Path, cli: Callable[..., Any]) -> None:
    answer = cli(project, "generate", "--free", "--format", "虎2。")
    assert answer.status == 0 and "does not know 虎; read as unknown" in answer.err


def test_the_parts_of_a_long_file_give_a_note_once(project: Path, cli: Callable[..., Any]) -> None:
    (project / "asked.txt").write_text("虎1。\n" * (FIRST * 3) + "吼1。\n", encoding="utf-8")
    notes = cli(project, "generate", "--free", "--file", "asked.txt").err.splitlines()
    assert [note.partition("know ")[2] for note in notes] == ["虎; read as unknown", "吼; read as unknown"]


def test_without_the_books_a_model_that_has_them_and_the_stage_that_fetches_them_are_named(
    project: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    folder = tmp_path / "project"
    shutil.copytree(project, folder)
    shutil.rmtree(folder / BOOKS)
    line = refused(folder, "generate", "--tune", "卜算子", "--book", "cilin", "--tone")
    assert "a model that has it, such as songci" in line and "run dvc --cd profiles/small repro download@couyun" in line


def test_the_books_of_a_released_model_serve_where_no_source_is_downloaded(
    project: Path, tmp_path: Path, cli: Callable[..., Any]
) -> None:
    """For a model without books of its own, and for the other commands that look into them."""
    folder, model = tmp_path / "project", tmp_path / "project/released/ci"
    shutil.copytree(project, folder)
    shutil.copytree(project / "data/models/tiny", model)
    pack_books(folder / BOOKS, model / "books.zip")
    write_checksums(model)
    shutil.rmtree(folder / BOOKS)
    for command in (["--tune", "卜算子", "--book", "cilin", "--tone"], ["--tune", "缺月挂疏桐"]):
        assert cli(folder, "generate", *command).status == 0
    (_, second) = cli(folder, "list", "tunes", "卜算子").out.splitlines()
    assert second.endswith("\t1\t")  # the packed books lack the words of the example


def test_books_that_are_not_needed_are_not_opened(project: Path, tmp_path: Path, cli: Callable[..., Any]) -> None:
    folder = tmp_path / "project"
    shutil.copytree(project, folder)
    shutil.rmtree(folder / BOOKS)
    (folder / "released/ci").mkdir(parents=True)
    (folder / "released/ci/books.zip").write_bytes(b"PK")
    (folder / "released/ci/model.json").write_text("{}", encoding="utf-8")
    write_checksums(folder / "released/ci")
    (folder / "released/ci/model.json").write_text("damaged", encoding="utf-8")
    command = ("generate", "--model", "tiny", "--format", "2。")
    assert cli(folder, *command).status == 0
    assert "not the file that was exported" in cli(folder, *command, "--book", "cilin").err


def test_the_books_are_at_hand_for_a_line_that_is_read_later(
    project: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("espalier.cli.requests.LOOKED_AT", 2)
    (project / "asked.txt").write_text("2。\n2。\n\t\t缺月挂疏桐\n", encoding="utf-8")
    answer = cli(project, "generate", "--file", "asked.txt", "--json")
    assert (answer.status, len(answer.out.splitlines())) == (0, 3), answer.err


def test_a_tune_of_the_book_alone_needs_no_option(project: Path, cli: Callable[..., Any]) -> None:
    """缺月挂疏桐 is no name of the catalogue of `espalier list tunes`."""
    answer = cli(project, "generate", "--tune", "缺月挂疏桐", "--json")
    assert answer.status == 0, answer.err
    assert json.loads(answer.out)["format"] == "3，3。3，3。"


@pytest.mark.parametrize("tone", [(), ("--tone",)])
def test_a_literal_rhymes_in_mandarin_by_any_of_its_readings(
    project: Path, cli: Callable[..., Any], tone: tuple[str, ...]
) -> None:
    # 乐 is le by default, and yue as 月 is.
    given = ("--tones", "中仄中仄") if tone else ()
    answer = cli(project, "generate", "--format", "1月。1乐。", "--rhyme", "AA", *given, *tone)
    assert answer.status == 0, answer.err
    assert "月。   A ie" in answer.out


def test_a_literal_in_mandarin_has_its_tone_and_its_rhyme_by_one_reading(
    project: Path, refused: Callable[..., str]
) -> None:
    # 薄 is level as bao and bo, oblique as bo alone.
    line = refused(project, "generate", "--format", "1薄。1刀。", "--rhyme", "AA", "--tones", "中仄中平")
    assert "'刀' (ao平) does not rhyme with '薄' (o)" in line


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        (("--tune", "菩萨蛮", "--book", "cilin"), {"tune": "菩萨蛮", "book": "cilin"}),
        (("--tune", "菩萨蛮", "--variant", "1", "--tone"),
         {"tune": "菩萨蛮", "variant": 1, "book": "mandarin", "tone": True}),
        (("--tune", "卜算子", "--format", "2。"), {"format": "2。", "rhyme": "A", "book": "mandarin"}),
        (("--tune", "卜算子", "--format", "2。", "--rhyme", "."), {"format": "2。"}),
        (("2。", "--tones", "平仄", "--rare", "--rhyme", "."),
         {"format": "2。", "tones": "平仄", "book": "mandarin", "rare": True}),
        (("2。", "--free"), {"format": "2。", "rhyme": "A", "book": "mandarin"}),
    ],
)  # fmt: skip
def test_a_poem_says_which_rules_it_was_to_keep(
    project: Path, cli: Callable[..., Any], command: tuple[str, ...], rules: dict[str, Any]
) -> None:
    assert json.loads(cli(project, "generate", *command, "-q", "--json").out)["rules"] == rules


@pytest.mark.parametrize("command", [("--tune", "菩萨蛮", "--book", "cilin"), ("--tune", "卜算子")])
def test_two_stanzas_of_a_tune_are_printed_apart(
    project: Path, cli: Callable[..., Any], command: tuple[str, ...]
) -> None:
    """Both have four sentences, the first in the book of the test, the other in the catalogue."""
    _, *lines = cli(project, "generate", *command, "-q").out.rstrip().splitlines()
    assert len(lines) == 5 and [number for number, line in enumerate(lines) if not line] == [2]
    found = json.loads(cli(project, "generate", *command, "-q", "--json").out)
    assert found["stanza"] == 2 and found["text"].count("\n") == 3
    assert json.loads(cli(project, "generate", *command, "--format", "2。", "-q", "--json").out)["stanza"] == 0
