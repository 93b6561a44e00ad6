"""espalier compose. The models of Chinese were never trained, and jieba tags; those of English come from a corpus."""

from __future__ import annotations

import io
import json
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_params import corpus, dataset, empty, model, parser, write
from untrained import save_untrained

import espalier
from espalier.corpora.records import Sentence
from espalier.datasets.structure.encode import StructureEncoding, StructureSettings
from espalier.inference.requests import TemplateRequest
from espalier.syntax.parse import columns_of
from espalier.syntax.parsers.jieba_backend import JiebaParser
from espalier.syntax.parsers.registry import save_parser

Cli = Callable[..., Any]
Refuse = Callable[..., str]

#: The template of the paper's figure 2, and lines with all its tags.
TEMPLATE = "蓦然回首情已远，身不由己在天边"
LINES = [TEMPLATE, "桥上灯火明，山前人不眠", "我在船头听雨"]
SIZES = {"encoder_layers": 1, "layers": 1, "width": 12, "heads": 2, "inner": 12, "positions": 64}
MODELS: dict[str, dict[str, Any]] = {
    "sat_p2": {"structures": ["pc", "pos"]}, "sat_topic": {"structures": ["pos"], "topic": True},
    "gpt2": {"structures": []},
}  # fmt: skip
P2 = ("--model", "sat_p2")


@pytest.fixture(scope="module")
def songs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of models of lyric lines, with jieba as its parser."""
    folder = tmp_path_factory.mktemp("songs")
    (folder / "data/parsers/words").mkdir(parents=True)
    save_parser(folder / "data/parsers/words", "jieba", None, {})
    settings = StructureSettings(max_length=20, topics=2)
    records = [
        Sentence(id=line, origin="", language="zh", target=line, **columns_of(parse, "target"))  # type: ignore[arg-type]
        for line, parse in zip(LINES, JiebaParser().parse(LINES), strict=True)
    ]
    vocabulary = StructureEncoding().build_vocabulary(records, settings, "zh")
    for key, network in MODELS.items():
        save_untrained(
            folder / "data/models" / key,
            "sat",
            SIZES | network,
            vocabulary,
            settings,
            parser=folder / "data/parsers/words",
        )
    tree = empty()
    tree["parsers"] = {"words": parser()}
    tree["corpora"] = {
        "songs": corpus("zh", "lyrics_zh", parser="words"), "poems": corpus("zh", "verse_zh"),
    }  # fmt: skip
    tree["datasets"]["linearize"] = {
        "songs": dataset("structure", "songs", max_length=20, topics=2), "poems": dataset("verse", "poems"),
    }  # fmt: skip
    tree["presets"] = {"plain": {"network": {}, "training": {"steps": 1}}}
    tree["models"] = {key: model("sat", "songs", SIZES | network) for key, network in MODELS.items()}
    tree["models"]["songnet"] = model("songnet", "poems")
    write(folder, tree)
    return folder


def objects(answer: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in answer.out.splitlines()]


# --- What is printed --------------------------------------------------------------------------------------------------


def test_the_text_stands_above_both_structures_whose_places_are_columns(songs: Path, cli: Cli) -> None:
    command = ("compose", "--template", TEMPLATE, "--prompt", "蓦然回首", "--frame")
    answer = cli(songs, *command, *P2)
    text, *lines, end = answer.out.splitlines()
    assert (answer.status, answer.err, end) == (0, "", "") and text.startswith("蓦然回首") and len(text) == 15
    assert [line.split()[0] for line in lines] == ["template", "pc", "pos", "text", "pc", "pos"]
    assert "".join(lines[0].split()[1:]) == TEMPLATE and "".join(lines[3].split()[1:]) == text
    # jieba: 蓦然回首 情 已远 ， 身不由己 在 天边.
    assert lines[1].split()[1:] == [*"BMMESBESBMMESBE"] and len(lines[2].split()) == 16
    (found,) = objects(cli(songs, *command, *P2, "--json"))
    kept = sum(map(str.__eq__, *(found[name]["symbols"]["pc"] for name in ("template_structure", "text_structure"))))
    assert lines[4].split()[1] == f"{kept}/15"


def test_json_is_what_the_library_gives(songs: Path, cli: Cli) -> None:
    answer = cli(songs, "compose", "--template", TEMPLATE, "--prompt", "蓦然", "--n", "3", "--seed", "4", *P2, "--json")
    found = objects(answer)
    wanted = espalier.load(songs / "data/models/sat_p2", device="cpu").compose(
        [TemplateRequest(TEMPLATE, "蓦然")], n=3, seed=4
    )
    assert [each["text"] for each in found] == [each.text for each in wanted] and len({*answer.out.split("\n")}) == 4
    assert {each["model"] for each in found} == {"sat_p2"} and [each["sample"] for each in found] == [0, 1, 2]
    assert found[0]["text_structure"]["tokens"] == [*found[0]["text"]]


def test_the_only_model_that_reads_structures_is_found_by_the_template_s_language(
    songs: Path, cli: Cli, refused: Refuse, edit: Callable[..., None], tmp_path: Path
) -> None:
    line = refused(songs, "compose", "--template", TEMPLATE)
    assert line.endswith("is the default for compose.zh; name one: sat_p2, sat_topic")
    (tmp_path / "data").mkdir()
    for name in ("data/models", "data/parsers"):
        (tmp_path / name).symlink_to(songs / name)
    (tmp_path / "params.yaml").write_bytes((songs / "params.yaml").read_bytes())
    edit(tmp_path / "params.yaml", "models.sat_topic.network.structures", [])
    answer = cli(tmp_path, "compose", "--template", TEMPLATE, "--json")
    assert [each["model"] for each in objects(answer)] == ["sat_p2"]
    edit(tmp_path / "params.yaml", "models.sat_topic.network.structures", ["pos"])
    edit(tmp_path / "params.yaml", "models.sat_p2.default_for", ["compose.zh"])
    assert cli(tmp_path, "compose", "--template", TEMPLATE, "--json").out == answer.out


@pytest.mark.parametrize("search", [["--beam", "3"], ["--top-k", "2", "--temperature", "0.5"]])
def test_search_and_draws_differ_and_repeat(songs: Path, cli: Cli, search: list[str]) -> None:
    command = ("compose", "--template", TEMPLATE, "--n", "2", *P2)
    answer = cli(songs, *command, *search)
    assert answer.status == 0 and answer.out == cli(songs, *command, *search).out != cli(songs, *command).out


def test_lines_of_a_file_are_template_prompt_and_topics(
    songs: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = f"{TEMPLATE}\t蓦然\t灯 雨\n山前人不眠\na dog\n{TEMPLATE}\t\t灯\n"
    (tmp_path / "rows.txt").write_text(rows, encoding="utf-8")
    answer = cli(songs, "compose", "--model", "sat_topic", "--file", str(tmp_path / "rows.txt"), "--json")
    found = objects(answer)
    assert [(each["template"], each["prompt"]) for each in found] == [
        (TEMPLATE, "蓦然"), ("山前人不眠", ""), (TEMPLATE, ""),
    ]  # fmt: skip
    assert [found[0]["topics"], found[2]["topics"]] == [["灯", "雨"], ["灯"]]
    assert answer.status == 1 and answer.err.startswith(f"espalier: {tmp_path / 'rows.txt'}, row 3: most of its words")
    monkeypatch.setattr(sys, "stdin", io.StringIO(rows))
    assert cli(songs, "compose", "--model", "sat_topic", "--json").out == answer.out


def test_a_line_that_is_printed_can_be_edited_and_given_back(songs: Path, cli: Cli, tmp_path: Path) -> None:
    printed = cli(songs, "compose", TEMPLATE, "--frame", *P2).out.splitlines()
    pc, pos = printed[2], printed[3]
    assert (pc.split()[0], pos.split()[0]) == ("pc", "pos")
    (found,) = objects(cli(songs, "compose", "--pc", pc, "--pos", pos, "--frame", "--json", *P2))
    assert found["text"] == printed[0] and found["template"] == "_" * len(TEMPLATE)
    (tmp_path / "rows.txt").write_text(f"\t\t\t{pos}\t{pc}\n\n{TEMPLATE}\n", encoding="utf-8")
    answer = cli(songs, "compose", "--file", str(tmp_path / "rows.txt"), "--frame", *P2)
    first, second = answer.out.split("\n\n\n")  # a page ends with one empty line
    assert first.splitlines()[0] == printed[0] and len(second.splitlines()) == 8


def test_topics_are_given_one_by_one_and_shown(songs: Path, cli: Cli) -> None:
    answer = cli(songs, "compose", "--model", "sat_topic", "--template", TEMPLATE, "--topic", "灯", "--topic", "龘")
    assert answer.err == "espalier: note: model sat_topic does not know 龘; read as unknown\n"
    assert answer.out.splitlines()[0].endswith("  (灯 龘)")


# --- The drawing ------------------------------------------------------------------------------------------------------


def texts_of(svg: str) -> list[str]:
    return ["".join(each.itertext()).strip() for each in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_the_drawing_has_the_tokens_and_symbols_that_are_printed(songs: Path, cli: Cli, tmp_path: Path) -> None:
    command = ("compose", "--template", TEMPLATE, *P2, "--n", "2")
    answer = cli(songs, *command, "--out", str(tmp_path / "a.svg"))
    assert (answer.status, answer.err) == (0, "")
    svg = (tmp_path / "a.svg").read_text(encoding="utf-8")
    words = [word for part in answer.out.split("\n\n") for line in part.splitlines()[1:] for word in line.split()[1:]]
    texts = " ".join(texts_of(svg)).split()
    assert "no. 2" in texts_of(svg) and "var(" not in svg
    assert {word for word in words if texts.count(word) < words.count(word)} == set()
    assert cli(songs, *command, "--out", str(tmp_path / "a.html")).out == answer.out
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "var(--ink)" in page and "template" in page


# --- Bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["--template", "", *P2], "template: no words; give a sentence in Chinese or English"),
        (["--template", "，。", *P2], "template: no words; give a sentence in"),
        (["--template", "привет"], "template: neither Chinese nor English; give a sentence in"),
        (["--template", "a dog was running"], "--model: no model of profile nursery is the default for compose.en"),
        (["--template", "a dog was running", *P2], "--model: model sat_p2 writes zh, not en; one of en"),
        (["--template", TEMPLATE * 2, *P2], "template: 30 tokens; at most 20, as in training"),
        (["--template", TEMPLATE, "--prompt", TEMPLATE[:8], *P2], "template, prompt: 8 of 15 tokens; at most 7, half"),
        (["--template", TEMPLATE, "--prompt", "回首", *P2], "template, prompt: the template does not begin with"),
        (["--template", "我吗", *P2], "template: pos y (吗), which the model's training texts do not have"),
        (["--template", TEMPLATE, "--topic", "灯", *P2], "template, topics: model sat_p2 reads no topics"),
        (["--template", TEMPLATE, "--model", "gpt2"], "--model: model gpt2 serves sample; compose needs a"),
        (["--template", TEMPLATE, "--model", "songnet"], "--model: model songnet serves generate and polish; compose"),
        (
            ["--template", TEMPLATE, "--model", "moon"],
            "--model: unknown model 'moon'; allowed: gpt2, sat_p2, sat_topic, songnet",
        ),
        (
            ["--template", TEMPLATE, "--out", "a.png", *P2],
            "--out: a.png is no name of a drawing; give a name that ends in .svg",
        ),
        (["--template", TEMPLATE, "--out", "a.svg", "--n", "11", *P2], "--out: 11 texts in one drawing; at most 10"),
        (
            ["--template", TEMPLATE, "--n", "3", "--beam", "2", *P2],
            "--n: 3 texts of 2 beams; raise the beam to 3",
        ),
        (["--template", TEMPLATE, "--temperature", "0", *P2], "--temperature: 0.0 is no temperature"),
        (["--prompt", "灯"], "--prompt: no template; give --template as well, or --pos or --pc"),
        (["--pos", ""], "--pos: no template; give --template as well, or --pos or --pc"),
        (["--topic", "灯"], "--topic: no template; give --template as well, or --pos or --pc"),
        (["--pos", "r v", *P2], "template: the model reads pc and pos; give pc as well, or a sentence"),
        (["--pos", "DT NN"], "--model: no model of profile nursery is the default for compose.en"),
        (["。"], "template: no words; give a sentence in Chinese or English"),
        (["--file", "nosuch.txt"], "nosuch.txt: no such file"),
    ],
)
def test_bad_input_is_one_line(songs: Path, refused: Refuse, command: list[str], message: str) -> None:
    line = refused(songs, "compose", *command)
    assert line.startswith(f"espalier: {message}"), line


def test_a_model_that_is_not_trained_is_named_before_its_parser(songs: Path, refused: Refuse, tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_bytes((songs / "params.yaml").read_bytes())
    assert refused(tmp_path, "compose", "--template", TEMPLATE, *P2) == (
        "espalier: data/models/sat_p2: model sat_p2 is not trained; dvc repro train@sat_p2, or another --profile"
    )
    (tmp_path / "data").mkdir()
    (tmp_path / "data/models").symlink_to(songs / "data/models")
    assert "parser words is not made; dvc repro train_parser@words" in refused(
        tmp_path, "compose", "--template", TEMPLATE, *P2
    )


# --- From a corpus to a text ------------------------------------------------------------------------------------------


def test_a_tagger_and_a_model_of_one_corpus_write_under_the_tags_of_any_sentence(tmp_path: Path, cli: Cli) -> None:
    tree = empty()
    options, split = {"count": 200, "seed": 1}, {"kind": "random", "seed": 1, "dev": 20, "test": 20}
    tree["corpora"] = {"news": corpus("en", "news_en", options=options, split=split)}
    tree["parsers"] = {"tags": parser("spacy", "en", "news") | {
        "options": {"words": "spaces"},
        "training": {"trees": False, "epochs": 1, "batch": 200, "width": 16, "depth": 1},
    }}  # fmt: skip
    tree["datasets"]["linearize"] = {"news": dataset("structure", "news", structures=["pos"], max_length=40)}
    training = {"steps": 4, "batch_tokens": 512, "schedule": "linear", "rate": 0.01, "warmup": 2, "evaluate_every": 2}
    tree["presets"] = {"plain": {"network": {}, "training": training}}
    tree["models"] = {"sat_pos": model("sat", "news", SIZES | {"positions": 80})}
    write(tmp_path, tree)
    for stage, key in (
        ("parse", "news"), ("filter", "news"), ("linearize", "news"), ("train_parser", "tags"), ("train", "sat_pos"),
    ):  # fmt: skip
        answer = cli(tmp_path, stage, key)
        assert answer.status == 0, answer.err
    answer = cli(tmp_path, "compose", "--template", "the mayor was in a room", "--prompt", "the mayor", "--frame")
    text, *lines, _ = answer.out.splitlines()
    assert answer.status == 0 and text.startswith("the mayor ") and len(text.split()) == 6
    assert [line.split()[0] for line in lines] == ["template", "pos", "text", "pos"]
    loaded = espalier.load(tmp_path / "data/models/sat_pos", device="cpu")
    (found,) = loaded.compose([TemplateRequest("the mayor was in a room", "the mayor")], frame=True)
    assert found.text == text  # the model's folder names its tagger
