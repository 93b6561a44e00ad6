"""espalier reply and espalier chat: what they write, and how they say no. The models were never trained."""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from small_params import corpus, dataset, empty, model, parser, write

from espalier.datasets.vocabulary import EOS, WordVocabulary
from espalier.inference import loaded
from espalier.inference.folder import save_system
from espalier.models.registry import ARCHITECTURES
from espalier.models.serialization import save_model
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.parser import Refused

Cli = Callable[..., Any]
Refuse = Callable[..., str]

WORDS = [*"真好你我也吗了伞带，。？", "今天", "天气", "喜欢", "下雨", "没有", "石桥"]
ENGLISH = ["the", "lamp", "glows", "low", "who", "lit", "it", "?"]
POST = "今天天气真好。"
NUMBERS: dict[str, Any] = {"width": 8, "word": 6, "readout": 8, "positions": 13}
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "tree": ("x2tree", {}),
    "endless": ("x2tree", {}),
    "single": ("x2tree", {"arity": 1}),
    "binary": ("x2tree", {"arity": 2}),
    "chain": ("rnn_seq2seq", {"context": "attention"}),
    "english": ("rnn_seq2seq", {}),
}


class Stub:
    """A parser that knows a few words, among them one that the models know as two; else each character is a word."""

    signature = "stub"
    known = ("今天天气", "喜欢", "下雨", "没有", "石桥")

    def parse(self, sentences: Sequence[str]) -> list[Parse | Refused]:
        return [self._one("".join(each.split()), each) for each in sentences]

    def _one(self, text: str, spaced: str) -> Parse | Refused:
        if "zzz" in text or len(text) > 600:
            return Refused("no tree" if "zzz" in text else "too long")
        if text.isascii():
            return Parse(tuple(spaced.split()))
        found, place = list[str](), 0
        while place < len(text):
            word = next((each for each in self.known if text.startswith(each, place)), text[place])
            found.append(word)
            place += len(word)
        return Parse(tuple(found))


@contextmanager
def standard_input(text: str | bytes) -> Iterator[None]:
    data = io.BytesIO(text) if isinstance(text, bytes) else None
    before, sys.stdin = sys.stdin, io.TextIOWrapper(data, "utf-8") if data else io.StringIO(str(text))
    try:
        yield
    finally:
        sys.stdin = before


def model_of(key: str, vocabulary: WordVocabulary) -> torch.nn.Module:
    arch, network = MODELS[key]
    torch.manual_seed(1)
    kind = ARCHITECTURES[arch]
    model: Any = kind.build(kind.config.model_validate(NUMBERS | network), vocabulary).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.5)
        for name, parameter in model.named_parameters():
            if name.endswith("bias") and "readout" in name:
                parameter[EOS] = -20.0 if key == "endless" else 2.0
    return model


def params_of() -> dict[str, Any]:
    tree = empty()
    tree["parsers"] = {"own": parser("spacy", treebank="talk"), "english": parser("spacy", "en", "talk_en")}
    tree["corpora"] = {
        "talk": corpus("zh", "dialogue_zh"),
        "talk_en": corpus("en", "paraphrase_en"),
        "poems": corpus("zh", "verse_zh"),
    }
    tree["datasets"] = {
        "linearize": {"poems": dataset("verse", "poems")},
        "canonicalize": {key: dataset("dialogue", key, max_words=10) for key in ("talk", "talk_en")},
    }
    tree["presets"] = {"plain": {"network": {}, "training": {"steps": 1}}}
    tree["models"] = {
        key: model(arch, "talk_en" if key == "english" else "talk", NUMBERS | network)
        for key, (arch, network) in MODELS.items()
    }
    tree["models"]["untrained"] = {**tree["models"]["tree"]}
    tree["models"]["tree"]["default_for"] = ["reply.zh"]
    tree["models"]["english"]["default_for"] = ["reply.en"]
    tree["models"]["poet"] = model("songnet", "poems")
    return tree


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("talk")
    for key, (arch, _) in MODELS.items():
        words = ENGLISH if key == "english" else WORDS
        vocabulary = WordVocabulary(tuple(words), "en" if key == "english" else "zh")
        (folder / "data/models" / key).mkdir(parents=True)
        save_model(folder / "data/models" / key, arch, model_of(key, vocabulary), vocabulary, seed=1)
        save_system(folder / "data/models" / key, {"max_words": 10})
    write(folder, params_of())
    for key in ("own", "english"):
        (folder / "data/parsers" / key).mkdir(parents=True)
    return folder


@pytest.fixture
def talk(kept: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of untrained models, with a parser that is a stub; tests leave it as they found it."""
    pytest.importorskip("opencc")
    monkeypatch.setattr(loaded, "load_parser", lambda _: Stub())
    return kept


def objects(answer: Any) -> list[dict[str, Any]]:
    assert answer.status == 0, answer.err
    return [json.loads(line) for line in answer.out.splitlines()]


# --- what is written --------------------------------------------------------------------------------------------------


def test_json_says_what_was_read_and_how_the_reply_grew(talk: Path, cli: Cli) -> None:
    (found,) = objects(cli(talk, "reply", POST, "--json"))
    assert list(found) == ["text", "words", "post", "post_words", "heads", "tree", "cut", "log_probability", "model"]
    assert (found["post"], found["model"], found["cut"]) == (POST, "tree", "")
    # The parser's first word is unknown to the model, which knows its two parts.
    assert found["post_words"] == ["今天", "天气", "真", "好", "。"]
    assert found["text"] == "".join(found["words"]) and {*found["words"]} <= {*WORDS} and found["log_probability"] < 0


def test_an_option_without_effect_is_told(talk: Path, cli: Cli) -> None:
    for command, note in (
        (("--beam", "2", "--top-k", "3"), "espalier: note: top_k has no effect on beams; give beam 0 to draw\n"),
        (("--top-k", "3"), "espalier: note: top_k has no effect on beams; give beam 0 to draw\n"),
        (("--beam", "0", "--local", "3"), "espalier: note: local has no effect on samples; give a beam to search\n"),
        (("--beam", "0", "--top-k", "3"), ""),
    ):
        answer = cli(talk, "reply", POST, *command)
        assert answer.status == 0
        assert "".join(line for line in answer.err.splitlines(keepends=True) if "no effect" in line) == note


def test_n_replies_differ_and_fall_in_score(talk: Path, cli: Cli) -> None:
    found = objects(cli(talk, "reply", POST, "--n", "5", "--beam", "12", "--json"))
    assert len(found) == 5 == len({each["text"] for each in found})
    scores = [each["log_probability"] for each in found]
    assert scores == sorted(scores, reverse=True)


def test_a_root_with_a_right_child_has_no_heads_but_its_tree_is_shown(talk: Path, cli: Cli) -> None:
    found = objects(cli(talk, "reply", POST, "--n", "30", "--beam", "60", "--json"))
    split = [each for each in found if not each["heads"]]
    assert split and all(not each["tree"].endswith("E)") or each["cut"] for each in split)


def test_chains_have_no_tree(talk: Path, cli: Cli) -> None:
    for key in ("chain", "single"):
        for each in objects(cli(talk, "reply", POST, "--model", key, "--n", "3", "--json")):
            assert (each["heads"], each["tree"], each["model"]) == ([], "", key)


def test_a_person_sees_replies_and_below_each_its_tree(talk: Path, cli: Cli) -> None:
    found = objects(cli(talk, "reply", POST, "--n", "3", "--json"))
    plain, shown = (cli(talk, "reply", POST, "--n", "3", *more) for more in ((), ("--show-tree",)))
    assert plain.out.splitlines() == [each["text"] for each in found]
    lines = shown.out.splitlines()
    assert lines[::2] == plain.out.splitlines() and lines[1::2] == [f"  {each['tree']}" for each in found]


def test_english_words_stand_apart(talk: Path, cli: Cli) -> None:
    (found,) = objects(cli(talk, "reply", "the lamp glows", "--language", "en", "--json"))
    assert found["text"] == " ".join(found["words"]) and found["post_words"] == ["the", "lamp", "glows"]


def test_lines_are_posts_in_order_and_equal_ones_get_equal_replies(talk: Path, cli: Cli, tmp_path: Path) -> None:
    lines = f"{POST}\n\n  下雨了，没有伞。 \n{POST}\n"
    (tmp_path / "posts.txt").write_text(lines, encoding="utf-8-sig")
    found = objects(cli(talk, "reply", "--file", "posts.txt", "--json", where=tmp_path))
    assert [each["post"] for each in found] == [POST, "下雨了，没有伞。", POST]
    assert [each["line"] for each in found] == [1, 3, 4]
    assert found[0] | {"line": 4} == found[2] != found[1] | {"line": 4}
    for more in ((), ("--file", "-")):
        with standard_input(lines):
            assert objects(cli(talk, "reply", "--json", *more)) == found
    with standard_input(lines):
        several = cli(talk, "reply", "--n", "2").out.split("\n\n")
    assert len(several) == 3 and [each.splitlines()[0] for each in several] == [each["text"] for each in found]


def test_traditional_characters_are_read_as_simplified_ones(talk: Path, cli: Cli) -> None:
    answer = cli(talk, "reply", "你喜歡石橋嗎？", "--json")
    (found,) = objects(answer)
    assert answer.err == "espalier: note: post: Traditional characters are read as Simplified ones\n"
    assert found["post"] == "你喜歡石橋嗎？" and found["post_words"] == ["你", "喜欢", "石桥", "吗", "？"]
    (plain,) = objects(cli(talk, "reply", "你喜欢石桥吗？", "--json"))
    assert plain["words"] == found["words"]


def test_a_reply_that_hits_a_cap_is_shown_with_a_note(talk: Path, cli: Cli) -> None:
    answer = cli(talk, "reply", POST, "--model", "endless", "--json")
    (found,) = objects(answer)
    assert found["cut"] == "words" and len(found["words"]) >= 10
    assert answer.err == "espalier: note: post, reply 1: cut at 10 words\n"
    assert cli(talk, "reply", POST, "--model", "endless").out == found["text"] + "\n"


def test_a_word_foreign_to_chinese_weighs_as_one_character(talk: Path, cli: Cli) -> None:
    (found,) = objects(cli(talk, "reply", "你喜欢espalier吗", "--json"))
    assert found["post_words"][:2] == ["你", "喜欢"]


# --- chat -------------------------------------------------------------------------------------------------------------


def chatted(talk: Path, cli: Cli, lines: str | bytes, *more: str) -> Any:
    with standard_input(lines):
        return cli(talk, "chat", *more)


def test_chat_answers_line_by_line_as_reply_does(talk: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    loads = list[Path]()

    def counted(folder: Path) -> Stub:
        loads.append(folder)
        return Stub()

    monkeypatch.setattr(loaded, "load_parser", counted)
    answer = chatted(talk, cli, f"{POST}\n\n你喜欢吗？\n", "--n", "2", "--show-tree")
    assert answer.status == 0 and len(loads) == 1
    wanted = "".join(cli(talk, "reply", each, "--n", "2", "--show-tree").out for each in (POST, "你喜欢吗？"))
    assert answer.out == wanted


def test_chat_goes_on_after_a_line_that_it_cannot_read(talk: Path, cli: Cli) -> None:
    lines = f"？！\n{'好' * 500}\n鹤舞\nhello there\nzzz\n{POST}".encode()
    answer = chatted(talk, cli, b"\xff\xfe\n" + lines)
    assert answer.status == 0 and answer.out == cli(talk, "reply", POST).out
    found = answer.err.splitlines()
    for line, part in zip(
        found,
        [
            "not UTF-8",
            "no words",
            "500 words; at most 12 words",
            "knows none of its words",
            "not Chinese",
            "not Chinese",
        ],
        strict=True,
    ):
        assert line.startswith("espalier: post: ") and part in line


def test_a_line_of_a_chat_that_does_not_end_is_one_line(talk: Path, cli: Cli) -> None:
    answer = chatted(talk, cli, f"{POST}\n" + "好" * 1_000_001)
    assert answer.status == 1 and answer.out == cli(talk, "reply", POST).out
    assert answer.err == "espalier: standard input: a line of over 1,000,000 characters; shorten it\n"


def test_chat_without_standard_input_is_no_error(talk: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    answer = cli(talk, "chat")
    assert (answer.status, answer.out, answer.err) == (0, "", "")


def test_chat_of_nothing_is_no_error(talk: Path, cli: Cli) -> None:
    answer = chatted(talk, cli, "")
    assert (answer.status, answer.out, answer.err) == (0, "", "")


def test_ctrl_c_ends_a_chat_cleanly(talk: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(io.StringIO):
        def readline(self, *_: Any) -> str:
            raise KeyboardInterrupt

    monkeypatch.setattr("sys.stdin", Interrupted())
    answer = cli(talk, "chat")
    assert (answer.status, answer.out, answer.err) == (0, "", "")


@pytest.mark.parametrize(("last", "after"), [(None, "\n"), ("quit", ""), ("exit", "")], ids=["Ctrl-D", "quit", "exit"])
def test_a_terminal_is_given_a_prompt_until_its_chat_ends(
    talk: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, last: str | None, after: str
) -> None:
    asked, typed = list[str](), iter([POST, last, "more"])

    def line(prompt: str) -> str:
        asked.append(prompt)
        if (post := next(typed)) is None:
            raise EOFError
        return post

    reply = cli(talk, "reply", POST).out
    monkeypatch.setattr("builtins.input", line)
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    answer = cli(talk, "chat")
    assert asked == ["> ", "> "] and (answer.status, answer.out, answer.err) == (0, reply + after, "")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--n", "0"], "--n: 0 is too small"),
        (["--model", "poet"], "--model: model poet serves generate and polish; reply needs a model of dialogue"),
        (["--model", "chain", "--show-tree"], "--show-tree: model chain writes chains, which have no tree"),
        (["--file", "a"], "No such option"),
    ],
)
def test_chat_says_no_before_it_reads(talk: Path, refused: Refuse, more: list[str], message: str) -> None:
    with standard_input(POST):
        assert message in refused(talk, "chat", *more)


# --- how it says no ---------------------------------------------------------------------------------------------------

BAD: list[tuple[list[str], str]] = [
    ([""], "post: no words; give a Chinese sentence"),
    (["  \t "], "post: no words"),
    (["？！……"], "post: no words"),
    (["鹤鸣"], "post: model tree knows none of its words (鹤 鸣); word it otherwise"),
    (["鹤，鸣。"], "post: model tree knows none of its words (鹤 ， 鸣 。)"),
    (["鹤" * 12], "knows none of its words (鹤 鹤 鹤"),
    (["好" * 500], "post: 500 words; at most 12 words; give one sentence at a time"),
    (["好" * 700], "post: parser own refuses its 700 characters (too long); give one short sentence"),
    (["zzz好"], "post: parser own refuses its 4 characters (no tree)"),
    (["what a lovely day"], "post: most of its words are not Chinese; the model reads Chinese alone"),
    (["Повар чистит лук (厨师)."], "post: most of its words are not Chinese"),
    (["下雨了", "--language", "en"], "post: most of its letters are not English"),
    (["ca\udcff"], "argument ca\\udcff: not UTF-8"),
    ([POST, "--beam", "-1"], "--beam: -1 is too small; at least 0"),
    ([POST, "--local", "0"], "--local: 0 is too small; at least 1"),
    ([POST, "--min-words", "0"], "--min-words: 0 is too small; at least 1"),
    ([POST, "--min-words", "11"], "--min-words: model tree writes 10 words at most; at most 10"),
    ([POST, "--n", "0"], "--n: 0 is too small; at least 1"),
    ([POST, "--n", "-2"], "--n: -2 is too small"),
    ([POST, "--n", "21"], "--n: 21 replies of 20 beams; raise the beam to 21, or lower n"),
    ([POST, "--n", "51", "--model", "chain"], "--n: 51 replies of 20 beams"),
    ([POST, "--n", "4", "--beam", "3"], "--n: 4 replies of 3 beams; raise the beam to 4, or lower n"),
    ([POST, "--n", "10001"], "--n: 10001 is too large; at most 1,000"),
    ([POST, "--beam", "1001"], "--beam: 1001 is too large; at most 1,000"),
    (
        [POST, "--model", "single", "--local", "20"],
        "--local: 20 groups of children, where there are 19; at most 19",
    ),
    ([POST, "--local", "6860"], "--local: 6860 is too large; at most 1,000"),
    ([POST, "--model", "chain", "--local", "3"], "--local: model chain writes chains, which have no children"),
    ([POST, "--model", "chain", "--show-tree"], "--show-tree: model chain writes chains, which have no tree"),
    ([POST, "--model", "single", "--show-tree"], "--show-tree: model single writes chains"),
    ([POST, "--model", "binary"], "model binary grows trees of 2 children a node, which have no order of w"),
    ([POST, "--model", "nosuch"], "unknown model 'nosuch'; allowed: binary, chain, endless, english"),
    ([POST, "--model", "poet"], "--model: model poet serves generate and polish; reply needs a model of dialogue"),
    ([POST, "--model", "english"], "--model: model english writes en, not zh; one of zh"),
    (
        [POST, "--model", "untrained"],
        "data/models/untrained: model untrained is not trained; dvc repro train@untrained",
    ),
    ([POST, "--language", "fr"], "'zh', 'en'"),
    (["--file", "nosuch.txt"], "nosuch.txt: no such file"),
    (["--file", "data/models/tree/seed1.safetensors"], "seed1.safetensors: not UTF-8"),
    ([POST, "--seeds", "1"], "No such option"),
    ([POST, POST], "unexpected extra argument"),
]


@pytest.mark.parametrize(("command", "message"), BAD, ids=[ascii(" ".join(each))[:50] for each, _ in BAD])
def test_bad_input_is_one_line(talk: Path, refused: Refuse, command: list[str], message: str) -> None:
    assert message in refused(talk, "reply", *command)


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_nothing_asked_for_is_one_line(talk: Path, refused: Refuse, text: str) -> None:
    with standard_input(text):
        assert "standard input: no requests; one post a line" in refused(talk, "reply")


def test_bad_lines_are_named_and_the_good_ones_answered(talk: Path, cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "posts.txt"
    file.write_text(f"{POST}\n\n？\n{POST}\n鹤\n", encoding="utf-8")
    answer = cli(talk, "reply", "--json", "--file", str(file))
    assert answer.status == 1
    assert [json.loads(line)["post"] for line in answer.out.splitlines()] == [POST, POST]
    first, second = answer.err.splitlines()
    assert first == f"espalier: {file}, row 3: no words; give a Chinese sentence"
    assert second.startswith(f"espalier: {file}, row 5: model tree knows none of its words (鹤)")


def test_a_parser_or_a_default_that_is_missing_is_named(
    kept: Path, tmp_path: Path, refused: Refuse, edit: Callable[..., None]
) -> None:
    folder = tmp_path / "talk"
    shutil.copytree(kept, folder)
    shutil.rmtree(folder / "data/parsers/own")
    assert "data/parsers/own: parser own is not made; dvc repro train_parser@own" in refused(folder, "reply", POST)
    edit(folder / "params.yaml", "parsers.own.treebank", "talk_en")
    assert "params.yaml: parsers: no parser for the texts of corpus talk;" in refused(folder, "reply", POST)
    edit(folder / "params.yaml", "models.tree.default_for", [])
    line = refused(folder, "reply", POST)
    assert "--model: no model of profile nursery is the default for reply.zh; name one: " in line
    assert "poet" not in line and "chain" in line
