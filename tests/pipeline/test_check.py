"""The command `check`, in a project with books and without."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from small_params import corpus, empty, parser, write

from espalier.cli.models import Models
from espalier.inference.results import Poem
from espalier.io.errors import ConfigError
from espalier.io.files import write_json
from espalier.syntax.parsers.registry import save_parser
from espalier.syntax.parsers.trivial_backend import TrivialModel
from tests.frames.scores import score, sung, write_score
from tests.frames.test_check import POEM, TUNES
from tests.verse.couyun import write_couyun

FORMAT = ("--format", "1。7。3，5。", "--rhyme", "AAA")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    write(folder, empty())
    write_couyun(folder / "data/raw/forms/couyun", tunes=TUNES)
    return folder


def test_a_right_text_ends_with_status_0_and_a_wrong_one_with_1(project: Path, cli: Callable[..., Any]) -> None:
    right = cli(project, "check", POEM, *FORMAT)
    assert right.status == 0 and right.out.startswith("1.000  kept\n"), right.err
    assert cli(project, "check", POEM.replace("。", "，"), *FORMAT).status == 1  # a format's marks count
    wrong = cli(project, "check", POEM.replace("声", "山"), *FORMAT)
    assert wrong.status == 1 and "8  '山' (rhyme): a word of eng like 灯" in wrong.out


def test_each_line_of_a_file_is_a_text_with_its_own_tune_or_rules(project: Path, cli: Callable[..., Any]) -> None:
    rows = [
        "中中东。照笑动。孔孔空。\t灯词",
        json.dumps({"text": POEM, "format": "1。7。3，5。", "rhyme": "AAA"}),
        "A lamp.\t灯词",
    ]
    (project / "texts.txt").write_text("\n".join(rows), encoding="utf-8")
    answer = cli(project, "check", "--file", "texts.txt", "--json")
    assert answer.status == 1
    first, second = map(json.loads, answer.out.splitlines())
    assert (first["line"], first["variant"], first["kept"], first["score"]) == (1, "灯词 1", True, 1.0)
    assert (second["line"], second["variant"], second["kept"]) == (2, "", True)
    assert "texts.txt, row 3: text: it is not Chinese, as the frame is" in answer.err


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ((POEM,), "espalier: no rule is given; give one of: --format, --rhyme, --tones, --acrostic, --word, --tune,"),
        (
            (POEM, "--rhyme", "AAA"),
            "the rules give no format; give --format, --tones, --tune, --syllables, --meter or --form as well",
        ),
        ((POEM, *FORMAT, "--word", "lamp"), "--word: 'lamp' has more than Chinese characters"),
        ((POEM, "--form", "五言绝句", "--opening", "9"), "--opening: no opening 9 of 五言绝句; there are 4, from 1"),
        ((POEM, "--tune", "无名"), "--tune: no tune '无名' in the book"),
        ((POEM, "--tune", "灯词", "--variant", "9"), "--variant: no variant 9 of 灯词; there are 3, from 1"),
        (
            (POEM, "--format", "1。", "--variant", "2"),
            "--variant: variant is given, but no rule that it belongs to; give --tune",
        ),
        ((POEM, "--format", "5x"), "--format: 'x' is no count, blank, mark or word"),
        ((POEM, "--format", "5。", "--book", "guangyun"), "--book: unknown book 'guangyun'"),
        (("lamp", "--format", "5。"), "text: it is not Chinese, as the frame is"),
        (("the cat / the hat", "--rhyme", "AA"), "the rules give no format; give --format"),
        (("an old pond", "--form", "haiku", "--book", "cilin"), "--book: haiku rhymes by no book; leave it out"),
        ((POEM, "--form", "五言绝句", "--opening", "0"), "--opening: no opening 0 of 五言绝句; there are 4, from 1"),
    ],
)
def test_bad_input_is_one_line(project: Path, cli: Callable[..., Any], command: tuple[str, ...], message: str) -> None:
    answer = cli(project, "check", *command)
    assert answer.status == 1 and answer.err.count("\n") == 1 and message in answer.err


def test_an_opening_of_a_form_is_chosen_and_marks_count_on_request(project: Path, cli: Callable[..., Any]) -> None:
    form = ("check", "洞照东东洞，东东洞照空。洞东东照洞，东洞洞东风！", "--form", "五絕")
    assert [cli(project, *form, "--opening", number).status for number in "12"] == [0, 1]
    assert cli(project, *form).status == 0 and "'！' (marks): 。" in cli(project, *form, "--marks").out
    assert "--opening: no opening 5 of 五言绝句; there are 4" in cli(project, *form, "--opening", "5").err


def test_without_books_it_is_said_what_to_do(tmp_path: Path, cli: Callable[..., Any]) -> None:
    write(tmp_path, empty())
    answer = cli(tmp_path, "check", POEM, "--tune", "卜算子")
    assert answer.status == 1 and "run dvc --cd profiles/small repro download@couyun in a clone" in answer.err
    assert cli(tmp_path, "check", POEM, "--tune", "卜算子", "--book", "mandarin").status == 1  # by the catalogue


def test_a_template_is_checked_by_a_parser_of_the_profile_or_by_its_folder(
    tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trivial parser has S over VP, which has all words but the last mark."""
    parsers = {"flat": parser("trivial", "en", "trees"), "words": parser("jieba", "zh")}
    write(tmp_path, {**empty(), "parsers": parsers, "corpora": {"trees": corpus("en", "paraphrase_en")}})
    made = tmp_path / "data/parsers/flat"
    made.mkdir(parents=True)
    counted = TrivialModel(tags={"sleeps": "VBZ", ".": "."}, tag="NN", root="S", label="VP")
    (made / "model").mkdir()
    write_json(made / "model/trivial.json", counted.model_dump(mode="json"))
    save_parser(made, "trivial", None, {})
    save_parser(tmp_path / "data/parsers/words", "jieba", None, {})
    template = ("--template", "(S (VP (NN) (VBZ)) (.))")
    right = cli(tmp_path, "check", "Anna sleeps .", *template, "--parser", "flat")
    assert (right.status, right.out) == (0, "1.000  kept\n  template     5/5\n"), right.err
    wrong = cli(tmp_path, "check", "Anna sees .", *template, "--parser", "data/parsers/flat")
    assert wrong.status == 1
    assert wrong.out == "0.800  not kept\n  template     4/5\n      5-8  'sees' (template): VBZ, not NN\n"
    rows = [
        {"text": "Anna sleeps .", "template": template[1]},
        {"text": POEM, "template": "a sentence", "format": "1。"},
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    first, second = cli(tmp_path, "check", "--file", "rows.jsonl", "--parser", "flat", "--json").out.splitlines()
    assert json.loads(first)["kept"] and {each["rule"] for each in json.loads(second)["scores"]} == {"format", "marks"}
    (tmp_path / "reports.jsonl").write_text(second + "\n", encoding="utf-8")
    again = cli(tmp_path, "check", "--file", "reports.jsonl", "--format", "1。", "--json").out
    assert json.loads(again)["scores"] == json.loads(second)["scores"]
    open_ = cli(tmp_path, "check", "Anna sleeps .", "--template", "(S (VP)", "--parser", "flat")
    assert (open_.status, open_.err) == (1, "espalier: template: a bracket is not closed\n")
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, [rows[1]] * 3 + rows[:1])), encoding="utf-8")
    monkeypatch.setattr("espalier.cli.requests.LOOKED_AT", 2)  # the template is in a line that is read later
    later = cli(tmp_path, "check", "--file", "rows.jsonl", "--parser", "flat", "--json").out.splitlines()
    assert [json.loads(line)["scores"][0]["rule"] for line in later] == ["format"] * 3 + ["template"]
    none = cli(tmp_path, "check", "Anna sleeps .", *template, "--parser", "words")
    assert none.status == 1 and "posseg) gives no constituency trees; take one that does" in none.err


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        (
            "Anna sleeps.",
            (),
            "--parser: profile nursery has no default parser of trees in English; name a parser of constit",
        ),
        ("他睡觉", (), "--parser: profile nursery has no default parser of trees in Chinese; name a parser of constit"),
        ("Anna sleeps.", ("--parser", "penn"), "--parser: unknown parser 'penn'; allowed: words"),
        ("Anna sleeps.", ("--parser", "words"), "data/parsers/words: parser words is not made; dvc repro train_parser"),
    ],
)
def test_without_a_parser_it_is_said_what_to_do(
    tmp_path: Path, cli: Callable[..., Any], text: str, more: tuple[str, ...], message: str
) -> None:
    write(tmp_path, {**empty(), "parsers": {"words": parser("jieba", "zh")}})
    answer = cli(tmp_path, "check", text, "--template", "(S (NP) (VP))", *more)
    assert answer.status == 1 and answer.err.count("\n") == 1 and message in answer.err, answer.err


def test_outside_a_clone_the_folder_of_a_parser_is_asked_for() -> None:
    with pytest.raises(ConfigError, match="--parser: no parser is at hand; give the folder of a parser"):
        Models().parser(None, "en")
    with pytest.raises(ConfigError, match="--parser: no parser in 'here'; give the folder of a parser"):
        Models().parser("here", "en")


@pytest.fixture(scope="module")
def song(project: Path) -> str:
    """Lines of 5 and 3 syllables in a first verse, of 4 in a second one; a part without lyrics."""
    text = score(sung("la la la la la r la la la r"), sung("la la la la", "2"), parts={"Piano": sung("_ _ r _")})
    return write_score(project, text).name


def test_texts_are_checked_by_a_melody_each_in_its_language(project: Path, cli: Callable[..., Any], song: str) -> None:
    english = cli(project, "check", "A lamp on the bridge / so quiet", "--melody", song)
    assert english.status == 0 and "note: the syllables of the melody: 5/3 (verse 1 of 1, 2)\n" in english.err
    (project / "lyrics.txt").write_text("孤灯照石桥/雨潇潇\nA lamp / so quiet\n", encoding="utf-8")
    answer = cli(project, "check", "--file", "lyrics.txt", "--melody", song, "--json", "-q")
    assert answer.status == 1 and not answer.err
    assert [json.loads(line)["kept"] for line in answer.out.splitlines()] == [True, False]
    other = cli(project, "check", "A lamp so dim", "--melody", song, "--verse", "2", "-q")
    assert (
        other.status == 0 and cli(project, "check", "明月 / 山", "--melody", song, "--part", "P2", "--by", "notes").out
    )


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--part", "Alto"), "--part: unknown part 'Alto'; allowed: Piano, Voice"),
        (("--part", "Piano"), "--part: no lyrics in part Piano; parts with lyrics: Voice"),
        (("--verse", "3"), "--verse: unknown verse '3'; allowed: 1, 2"),
        (("--by", "ear"), "--by: unknown way to count syllables 'ear'; allowed: lyrics, notes"),
        (("--format", "5。"), "--melody: a melody beside --format; leave out one of them"),
        (("--meter", "iambic pentameter"), "line 1 has 5 syllables, iambic pentameter never has"),
    ],
)
def test_a_part_or_verse_that_a_melody_lacks_is_one_line(
    project: Path, cli: Callable[..., Any], song: str, more: tuple[str, ...], message: str
) -> None:
    answer = cli(project, "check", "A lamp / so", "--melody", song, *more, "-q")
    assert answer.status == 1 and answer.err.count("\n") == 1 and message in answer.err, answer.err


def test_a_melody_that_cannot_be_read_is_one_line(project: Path, cli: Callable[..., Any]) -> None:
    write_score(project, score(sung("_ _")), "piano.xml")
    answer = cli(project, "check", "A lamp", "--melody", "piano.xml")
    assert answer.status == 1 and answer.err.count("\n") == 1
    assert (
        "--melody: no lyrics in" in answer.err
        and "Voice has 2 notes; count its notes (by='notes', --by notes)" in answer.err
    )
    answer = cli(project, "check", "A lamp", "--melody", "none.mxl")
    assert answer.status == 1 and answer.err.endswith("none.mxl: no such file\n")
    answer = cli(project, "check", "A lamp", "--format", "5。", "--verse", "2")
    assert answer.err == "espalier: --verse: there is no melody; give --melody as well\n"


def test_a_text_of_two_stanzas_is_shown_as_these(tmp_path: Path, cli: Callable[..., Any]) -> None:
    write(tmp_path, empty())
    poem = "中中中中中，中中中中动。中中中中中中中，中中中中动。"
    answer = cli(tmp_path, "check", poem * 2, "--tune", "卜算子", "--book", "mandarin")
    sentences = poem.replace("。", "。\n")
    assert answer.out.startswith(f"{sentences}\n{sentences}\n"), answer.out
    found = json.loads(cli(tmp_path, "check", poem * 2, "--tune", "卜算子", "--book", "mandarin", "--json").out)
    assert (found["text"], found["stanza"]) == (poem * 2, len(poem))
    assert cli(tmp_path, "check", POEM, *FORMAT).out.startswith("1.000  kept\n")  # no tune, no stanzas


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": "江上", "format": 5}, "format is 5; give a text"),
        ({"text": "江上", "tones": True}, "tones is true; give a text"),
        ({"text": "江上", "rhyme": ["A"]}, 'rhyme is ["A"]; give a text'),
        ({"text": "江上", "words": "江"}, "; give a list of texts"),
        ({"text": "江上", "variant": "2"}, 'variant is "2"; give a number'),
        ({"text": "江上", "tone": "yes"}, 'tone is "yes"; give true or false'),
        ({"text": 7, "format": "2"}, "text is 7; give a text"),
    ],
)
def test_a_rule_of_another_type_is_one_line_and_the_other_rows_are_checked(
    tmp_path: Path, cli: Callable[..., Any], row: dict[str, Any], message: str
) -> None:
    answer = checked(tmp_path, cli, row, {"text": "江上", "format": "2"})
    assert answer.status == 1 and answer.err.startswith("espalier: rows.jsonl, row 1: ")
    assert message in answer.err and answer.err.count("\n") == 1
    assert [json.loads(line)["line"] for line in answer.out.splitlines()] == [2]


def checked(folder: Path, cli: Callable[..., Any], *rows: dict[str, Any] | str, more: tuple[str, ...] = ()) -> Any:
    """The answer on the rows of a file, as JSON."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (folder / "rows.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return cli(folder, "check", "--file", "rows.jsonl", "--json", *more)


def test_rows_that_cannot_be_read_or_judged_are_named_and_all_others_are_checked(
    project: Path, cli: Callable[..., Any]
) -> None:
    good = {"text": "江上", "format": "2"}
    broken, nested = '{"text": "江上"', '{"text": ' + "[" * 100_000
    answer = checked(
        project, cli, broken, good, {"text": "江上", "tune": "无名"}, "江上\t灯词\t1", nested, {"format": "2"}, good
    )
    assert answer.status == 1
    assert [json.loads(line)["line"] for line in answer.out.splitlines()] == [2, 7]
    for line, message in zip(
        answer.err.splitlines(),
        [
            'row 1: no JSON object with a text; {"text": "..."}',
            "row 3: tune: no tune '无名' in the book",
            "row 4: 3 fields; at most 2: one text a line; after a tab its tune",
            'row 5: no JSON object with a text; {"text": "..."}',
            'row 6: no JSON object with a text; {"text": "..."}',
        ],
        strict=True,
    ):
        assert line.startswith(f"espalier: rows.jsonl, {message}")


def test_a_row_can_have_every_rule_that_is_an_option(project: Path, cli: Callable[..., Any]) -> None:
    """Without the own book, tones and marks of the rows, all of them would be kept."""
    text = "中中东。照笑洞。孔孔空？"
    tune = {"text": text, "tune": "灯词", "variant": 1}
    plain = checked(project, cli, {**tune, "text": text.replace("洞", "动")})
    assert plain.status == 0, plain.out
    answer = checked(
        project,
        cli,
        {**tune, "text": "东洞东，洞洞洞，洞洞东。"},
        {**tune, "text": "东洞东，洞洞洞，洞洞东。", "tone": True},
        {**tune, "marks": True},
        {**tune, "book": "mandarin"},
        {"text": text, "format": "3。3。3？", "word": "江"},
        {"text": text, "form": "五言绝句", "opening": 9},
        {"text": text, "format": "3。3。3。", "marks": False},
    )
    reports = [json.loads(line) for line in answer.out.splitlines()]
    rules = [{score["rule"] for score in report["scores"] if score["binding"]} for report in reports]
    tones = [next((score["of"] for score in each["scores"] if score["rule"] == "tone"), 0) for each in reports]
    assert tones[0] < tones[1] and tones[3] == 0 and "marks" not in rules[0]
    assert "marks" in rules[2] and "words" in rules[4] and "marks" not in rules[5]
    assert answer.err == "espalier: rows.jsonl, row 6: opening: no opening 9 of 五言绝句; there are 4, from 1\n"


def test_the_own_rules_of_a_row_come_before_those_of_the_options(project: Path, cli: Callable[..., Any]) -> None:
    row = {"text": "中中东。照笑动。孔孔空。", "tune": "灯词", "variant": 1}
    answer = checked(project, cli, row, {**row, "marks": False, "tone": False}, more=("--marks", "--tone"))
    marks = [{each["rule"]: each["binding"] for each in json.loads(line)["scores"]} for line in answer.out.splitlines()]
    assert [each["marks"] for each in marks] == [True, False]


def test_an_unknown_key_of_a_row_is_one_line_with_the_known_ones(project: Path, cli: Callable[..., Any]) -> None:
    answer = checked(project, cli, {"text": "江上", "format": "2", "rime": "A"}, {"text": "江上", "format": "2"})
    assert answer.status == 1 and len(answer.out.splitlines()) == 1
    assert answer.err.startswith("espalier: rows.jsonl, row 1: unknown key 'rime'; allowed: acrostic, book, form, ")
    assert answer.err.count("\n") == 1


def test_what_other_commands_print_beside_a_text_is_no_unknown_key(project: Path, cli: Callable[..., Any]) -> None:
    poem = Poem("江上", "2", ".", "", 1, 0, "", ("",), rules={"format": "2"})
    answer = checked(project, cli, {**asdict(poem), "model": "songci", "expander": None, "line": 3})
    assert answer.status == 0, answer.err


def test_a_poem_is_held_to_the_rules_that_it_says_it_was_to_keep(project: Path, cli: Callable[..., Any]) -> None:
    poem = Poem("江上", "2", ".", "卜算子", 1, 0, "仄仄", ("",))  # whose format came from elsewhere
    rules: list[dict[str, str | int]] = [
        {"format": "2"}, {"format": "2", "tones": "仄仄", "book": "mandarin"}, {"tune": "卜算子", "book": "none"},
        {"format": "2", "rime": "A"},
    ]  # fmt: skip
    answer = checked(project, cli, *(asdict(replace(poem, rules=each)) for each in rules))
    free, kept = map(json.loads, answer.out.splitlines())
    assert free["kept"] and [(each["rule"], each["found"]) for each in kept["violations"]] == [("tone", "江")]
    third, fourth = answer.err.splitlines()
    assert third == "espalier: rows.jsonl, row 3: book: unknown book 'none'; allowed: cilin, mandarin, pingshui"
    assert fourth.startswith("espalier: rows.jsonl, row 4: unknown key 'rime'; allowed: ")


def test_english_verse_is_checked_by_its_words_as_it_was_written(project: Path, cli: Callable[..., Any]) -> None:
    """`espalier generate --language en --json` prints such lines."""
    poem = Poem(
        "a rose is red ,\nthe road he knows .", "4,/4.", "A.", "", 1, 0, "", ("OW Z", ""), rules={"format": "4,/4."}
    )
    answer = checked(project, cli, {**asdict(poem), "model": "sonnet"}, {"text": "a rose", "format": "3"})
    assert answer.status == 1 and not answer.err
    first, second = map(json.loads, answer.out.splitlines())
    assert first["kept"] and [each["wanted"] for each in second["violations"]] == ["3 words"]


def test_texts_of_a_file_have_their_line_and_their_beginning_above_their_reports(
    project: Path, cli: Callable[..., Any]
) -> None:
    (project / "texts.txt").write_text(f"{POEM}\n\n江上/桥西\n{POEM * 2}\n", encoding="utf-8")
    lines = cli(project, "check", "--file", "texts.txt", *FORMAT).out.splitlines()
    assert [line for line in lines if line.startswith("row ")] == [
        f"row 1  {POEM}",
        "row 3  江上 / 桥西",
        f"row 4  {(POEM * 2)[:24]}…",
    ]
    assert lines[1] == "1.000  kept"


def test_the_tokens_of_a_text_that_a_model_wrote_are_no_rule(tmp_path: Path, cli: Callable[..., Any]) -> None:
    row = {"text": "a rose / he moves", "words": ["roses"], "log_probability": -1.0, "syllables": "2/2"}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row), encoding="utf-8")
    answer = cli(tmp_path, "check", "--file", "rows.jsonl")
    assert answer.status == 0, answer.err


def test_a_parser_without_a_template_is_one_line(tmp_path: Path, cli: Callable[..., Any]) -> None:
    answer = cli(tmp_path, "check", "江上", "--format", "2", "--parser", "nosuch")
    assert answer.err == "espalier: --parser: there is no template; give --template as well\n"
