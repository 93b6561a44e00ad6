"""LTP's neural and legacy models, proved with small ones in its own file formats that know three sentences by heart."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import torch

from espalier.io.errors import ArtifactError, ConfigError, EspalierError
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.ltp_backend import LegacyLtpParser, LtpParser, load
from espalier.syntax.parsers.parser import Refused
from espalier.syntax.parsers.registry import load_parser, open_parser, save_parser
from tests.syntax.parsers.ltp_models import KNOWN, save_legacy, save_neural

TEXTS = ["".join(parse.words) for parse in KNOWN]
ODD = [
    "😀",
    "小猫😀喝牛奶",
    "小猫\u200d喝牛奶",
    "\u200d小猫",
    "\u200d",
    "\x00",
    "\ud800",
    "👩\u200d👩\u200d👧",
    "小猫\u2028喝牛奶",
    "\u2028",
    "e\u0301",
    "[SEP]",
    ["小猫", "\u200d"],
    ["小猫", "😀"],
    ["\ud800"],
    ["", "小猫"],
]


@pytest.fixture(scope="module")
def neural(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_neural(tmp_path_factory.mktemp("ltp") / "neural")


@pytest.fixture(scope="module")
def legacy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_legacy(tmp_path_factory.mktemp("ltp") / "legacy")


@pytest.fixture(scope="module")
def parser(neural: Path) -> LtpParser:
    loaded = load(neural)
    assert isinstance(loaded, LtpParser)
    return loaded


@pytest.fixture(scope="module")
def perceptrons(legacy: Path) -> LegacyLtpParser:
    loaded = load(legacy)
    assert isinstance(loaded, LegacyLtpParser)
    return loaded


@pytest.fixture
def copied(neural: Path, tmp_path: Path) -> Path:
    """A copy of the neural model, to spoil."""
    return Path(shutil.copytree(neural, tmp_path / "copied"))


def rewrite(folder: Path, change: Callable[[Any], Any]) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    change(config)
    path.write_text(json.dumps(config), encoding="utf-8")


# --- Neural answers --------------------------------------------------------------------------------------------------


def test_heads_count_words_from_1_and_the_root_is_0(parser: LtpParser) -> None:
    assert parser.parse(["小猫喝牛奶", "我昨天读了三本新书。"]) == [
        Parse(("小猫", "喝", "牛奶"), ("n", "v", "n"), "", (2, 0, 2), ("SBV", "HED", "VOB")),
        Parse(
            ("我", "昨天", "读", "了", "三", "本", "新", "书", "。"),
            ("r", "nt", "v", "u", "m", "q", "a", "n", "wp"),
            "",
            (3, 3, 0, 3, 6, 8, 8, 3, 3),
            ("SBV", "ADV", "HED", "RAD", "ATT", "ATT", "ATT", "VOB", "WP"),
        ),
    ]


def test_given_words_are_parsed_as_they_are(parser: LtpParser) -> None:
    assert parser.parse([parse.words for parse in KNOWN]) == KNOWN
    (parse,) = parser.parse([["小", "猫喝", "牛奶"]])
    assert isinstance(parse, Parse) and parse.words == ("小", "猫喝", "牛奶")
    assert len(parse.tags) == len(parse.heads) == len(parse.labels) == 3


@pytest.mark.parametrize("batch_tokens", [1, 14, 2000])
def test_batches_change_no_answer_and_no_order(neural: Path, batch_tokens: int) -> None:
    mixed = [*TEXTS, "", *(parse.words for parse in reversed(KNOWN)), ["小 猫"], *TEXTS]
    answers = load(neural, batch_tokens=batch_tokens).parse(mixed)
    odd = Refused("tokens do not round-trip")
    assert answers == [*KNOWN, Refused("empty"), *reversed(KNOWN), odd, *KNOWN]


def test_an_answer_does_not_hang_on_what_was_parsed_before(parser: LtpParser) -> None:
    parser.parse(["新" * 300, "雨"])
    assert parser.parse(TEXTS[:1]) == KNOWN[:1]


def test_the_longest_sentence_has_510_characters_and_more_are_too_long(parser: LtpParser) -> None:
    whole, cut, words, given = parser.parse(["新" * 510, "新" * 511, ["新书"] * 255, ["新书"] * 256])
    assert isinstance(whole, Parse) and "".join(whole.words) == "新" * 510
    assert isinstance(words, Parse) and len(words.heads) == 255
    assert cut == given == Refused("too long")


@pytest.mark.parametrize("nothing", ["", "  ", "\u2028", []])
def test_nothing_is_empty(parser: LtpParser, perceptrons: LegacyLtpParser, nothing: Any) -> None:
    assert parser.parse([nothing]) == perceptrons.parse([nothing]) == [Refused("empty")]


def test_no_sentences_have_no_answers(parser: LtpParser, perceptrons: LegacyLtpParser) -> None:
    assert parser.parse([]) == perceptrons.parse([]) == []


def test_given_words_with_white_space_are_refused(parser: LtpParser, perceptrons: LegacyLtpParser) -> None:
    given = [["小猫", "喝 牛奶"], ["小猫 "], ["\u2028"]]
    assert parser.parse(given) == perceptrons.parse(given) == [Refused("tokens do not round-trip")] * 3


def test_odd_characters_get_an_answer_or_a_reason(parser: LtpParser, perceptrons: LegacyLtpParser) -> None:
    for one in (parser, perceptrons):
        for sentence, answer in zip(ODD, one.parse(ODD), strict=True):
            if isinstance(answer, Parse):
                assert "".join(answer.words) == "".join("".join(sentence).split())
            else:
                assert answer.reason in {"empty", "tokens do not round-trip"}
            assert one.parse([sentence]) == [answer]


def test_a_text_of_which_the_tokenizer_leaves_nothing_is_refused(parser: LtpParser) -> None:
    refused = Refused("tokens do not round-trip")
    assert parser.parse(["\u200d", "小猫喝牛奶", "\x00"]) == [refused, KNOWN[0], refused]


def test_white_space_parts_words(parser: LtpParser, perceptrons: LegacyLtpParser) -> None:
    for one in (parser, perceptrons):
        (parse,) = one.parse([" 小猫\u3000喝\u2028牛奶 "])
        assert isinstance(parse, Parse) and parse.words == ("小猫", "喝", "牛奶")


def test_several_roots_become_one_tree() -> None:
    class Output:
        cws, pos = [["雨", "停", "了"]], [["n", "v", "u"]]
        dep = ({"head": [0, 0, 2], "label": ["HED", "HED", "RAD"]},)

    class Model:
        supported_tasks = ("cws", "pos", "dep")

        @staticmethod
        def tokenizer(inputs: list[str], **_: Any) -> Any:
            return Encoded()

        @staticmethod
        def pipeline(inputs: list[str], tasks: list[str]) -> Any:
            return Output()

    class Encoding:
        ids, word_ids = range(5), (None, 0, 1, 2, None)

    class Encoded:
        encodings = (Encoding(),)

    (parse,) = LtpParser(Model(), "").parse(["雨停了"])
    assert isinstance(parse, Parse) and parse.heads == (0, 1, 2) and parse.labels == ("HED", "COO", "RAD")


def test_a_model_without_the_tree_gives_words_and_tags(copied: Path) -> None:
    rewrite(copied, lambda config: config["vocabs"].pop("dep"))
    words_and_tags = [Parse(parse.words, parse.tags) for parse in KNOWN]
    assert load(copied).parse(TEXTS) == words_and_tags
    rewrite(copied, lambda config: config["vocabs"].pop("pos"))
    assert load(copied).parse(TEXTS) == [Parse(parse.words) for parse in KNOWN]


def test_nothing_is_said_on_the_standard_streams(neural: Path, capfd: pytest.CaptureFixture[str]) -> None:
    load(neural).parse([*TEXTS, "新" * 600])
    assert capfd.readouterr() == ("", "")


# --- Legacy answers --------------------------------------------------------------------------------------------------


def test_perceptrons_give_words_and_tags_and_no_tree(perceptrons: LegacyLtpParser) -> None:
    expected = [Parse(parse.words, parse.tags) for parse in KNOWN]
    assert perceptrons.parse(TEXTS) == expected
    assert perceptrons.parse([parse.words for parse in KNOWN]) == expected
    mixed = ["", TEXTS[2], KNOWN[0].words, ["a b"]]
    assert perceptrons.parse(mixed) == [Refused("empty"), expected[2], expected[0], Refused("tokens do not round-trip")]


def test_a_perceptron_for_words_alone_gives_no_tags(legacy: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(legacy, tmp_path / "words"))
    rewrite(folder, lambda config: config["tasks"].pop("pos"))
    assert load(folder).parse(TEXTS[:1]) == [Parse(KNOWN[0].words)]


def test_legacy_models_without_segmentation_or_with_other_files_are_refused(legacy: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(legacy, tmp_path / "spoilt"))
    (folder / "cws_model.bin").write_bytes(b"no perceptron " * 20)
    with pytest.raises(ArtifactError, match="is not a model of LTP's"):
        load(folder)
    rewrite(folder, lambda config: config["tasks"].pop("cws"))
    with pytest.raises(ArtifactError, match="does not segment words"):
        load(folder)
    (tmp_path / "pos_model.bin").write_bytes(b"")
    rewrite(folder, lambda config: config["tasks"].update(cws="../pos_model.bin"))
    with pytest.raises(ArtifactError, match=r"there is no pos_model\.bin in it"):
        load(folder)


# --- Files that are refused ------------------------------------------------------------------------------------------


class Marker:
    """Makes a folder when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("save", [torch.save, lambda value, path: path.write_bytes(pickle.dumps(value))])
def test_weights_that_are_a_pickled_object_are_refused_and_never_unpickled(
    copied: Path, tmp_path: Path, save: Callable[[Any, Path], Any]
) -> None:
    save({"weight": Marker(tmp_path / "marker")}, copied / "pytorch_model.bin")
    with pytest.raises(ArtifactError, match="not unpickled") as caught:
        load(copied)
    assert not (tmp_path / "marker").exists()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04" + bytes(40)])
def test_damaged_weights_are_refused(copied: Path, content: bytes) -> None:
    (copied / "pytorch_model.bin").write_bytes(content)
    with pytest.raises(ArtifactError, match="is not a model of LTP's"):
        load(copied)


@pytest.mark.parametrize("target", ["os.system", "ltp_core.models.ltp_model.LTPModule.x", "ltp_core.train.main", 3])
def test_a_configuration_that_names_foreign_code_is_refused(copied: Path, target: Any) -> None:
    rewrite(copied, lambda config: config["model"]["heads"].update(x={"deep": [{"_ltp_target_": target}]}))
    with pytest.raises(ArtifactError, match=f"names '{target}', which is no part of LTP"):
        load(copied)


def test_code_that_a_tokenizer_brings_is_never_run(copied: Path, tmp_path: Path) -> None:
    code = f"import os\nos.mkdir({str(tmp_path / 'marker')!r})\nclass Own: pass\n"
    (copied / "own.py").write_text(code, encoding="utf-8")
    path = copied / "tokenizer_config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    config |= {"tokenizer_class": "Own", "auto_map": {"AutoTokenizer": ["own.Own", "own.Own"]}}
    path.write_text(json.dumps(config), encoding="utf-8")
    assert load(copied).parse(TEXTS) == KNOWN
    assert not (tmp_path / "marker").exists()


@pytest.mark.parametrize("config", [[], {}, {"nerual": "yes"}, {"nerual": False}, {"nerual": False, "tasks": {}}])
def test_a_configuration_of_something_else_is_refused(copied: Path, config: Any) -> None:
    (copied / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(ArtifactError, match="is not a model of LTP's"):
        load(copied)


def test_weights_that_are_missing_are_refused(copied: Path) -> None:
    path = copied / "pytorch_model.bin"
    state = torch.load(path, weights_only=True)
    name = next(name for name in state if name.startswith("task_heads.dep"))
    torch.save({key: value for key, value in state.items() if key != name}, path)
    with pytest.raises(ArtifactError, match=f"weights missing: {name}"):
        load(copied)
    path.unlink()
    with pytest.raises(ArtifactError, match=r"there is no pytorch_model\.bin in it"):
        load(copied)


def test_weights_of_another_width_are_refused(copied: Path) -> None:
    rewrite(copied, lambda config: config["model"]["heads"]["pos"].update(num_labels=2))
    with pytest.raises(ArtifactError, match="is not a model of LTP's"):
        load(copied)


def test_labels_without_a_head_are_refused(copied: Path) -> None:
    rewrite(copied, lambda config: config["model"]["heads"].pop("dep"))
    with pytest.raises(ArtifactError, match="it has labels, but no head, for dep"):
        load(copied)


def test_a_surplus_buffer_of_an_older_transformers_is_tolerated(copied: Path) -> None:
    path = copied / "pytorch_model.bin"
    state = torch.load(path, weights_only=True)
    torch.save({**state, "backbone.embeddings.position_ids": torch.arange(512)[None]}, path)
    assert load(copied).parse(TEXTS) == KNOWN


def test_a_tokenizer_of_an_older_transformers_is_read(copied: Path) -> None:
    (copied / "tokenizer.json").unlink()
    old = {"do_lower_case": False, "model_max_length": 512, "tokenizer_class": "BertTokenizer", "strip_accents": None}
    (copied / "tokenizer_config.json").write_text(json.dumps(old), encoding="utf-8")
    (copied / "special_tokens_map.json").write_text('{"unk_token": "[UNK]"}', encoding="utf-8")
    assert load(copied).parse([*TEXTS, KNOWN[1].words]) == [*KNOWN, KNOWN[1]]


# --- Where models come from ------------------------------------------------------------------------------------------


def unreachable(*_: Any, **__: Any) -> str:
    raise ConnectionError("no route\nto the hub")


def test_a_hub_out_of_reach_is_one_line_with_three_ways_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable)
    with pytest.raises(ConfigError) as caught:
        load("LTP/none@v1")
    line = str(caught.value)
    assert "\n" not in line and "'LTP/none@v1'" in line
    assert "hf download LTP/none --revision v1" in line and "train a parser here" in line


def test_an_error_that_is_the_transport_libraries_own_is_one_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    class ProxyError(Exception):
        pass

    def proxied(*_: Any, **__: Any) -> str:
        raise ProxyError

    monkeypatch.setattr(huggingface_hub, "snapshot_download", proxied)
    with pytest.raises(ConfigError, match=r"no model 'LTP/none'.*ProxyError.*hf download LTP/none,"):
        load("LTP/none")


@pytest.mark.parametrize("path", ["./nowhere", "../no/where", "/nowhere", "~/nowhere", "models/ltp/small", "small", ""])
def test_a_path_that_does_not_exist_is_not_asked_of_the_hub(
    path: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def asked(*_: Any, **__: Any) -> str:
        pytest.fail("the hub was asked")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", asked)
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert "hf download" not in str(caught.value) and "train a parser here" in str(caught.value)


def test_a_folder_without_a_configuration_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no config\.json in"):
        load(tmp_path)


def test_a_revision_is_passed_on_and_the_local_cache_comes_first(neural: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, str | None, bool]] = []

    def cached(name: str, *, revision: str | None = None, local_files_only: bool = False, **_: Any) -> str:
        calls.append((name, revision, local_files_only))
        return str(neural)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", cached)
    assert load("LTP/none@v1").parse(TEXTS) == KNOWN
    assert "LTP/none@v1" in load("LTP/none@v1").signature and load("LTP/none").parse(TEXTS) == KNOWN
    assert calls == [("LTP/none", "v1", True), ("LTP/none", "v1", True), ("LTP/none", None, True)]


def test_what_the_local_cache_has_not_is_fetched(neural: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[bool] = []

    def fetched(name: str, *, revision: str | None = None, local_files_only: bool = False, **_: Any) -> str:
        calls.append(local_files_only)
        assert revision == "v2"
        return unreachable() if local_files_only else str(neural)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fetched)
    assert load("LTP/none@v2").parse(TEXTS) == KNOWN
    assert calls == [True, False]


def test_a_parser_goes_through_its_artifact(neural: Path, legacy: Path, tmp_path: Path) -> None:
    for model in (neural, legacy):
        saved = save_parser(tmp_path, "ltp", str(model), {})
        again = load_parser(tmp_path)
        assert again.signature == saved.signature
        assert again.parse(TEXTS) == saved.parse(TEXTS)
    shutil.copytree(neural, tmp_path / "model")
    save_parser(tmp_path, "ltp", None, {"batch_tokens": 100})
    assert load_parser(tmp_path).parse(TEXTS) == KNOWN


def test_the_signature_tells_models_apart(neural: Path, legacy: Path, copied: Path) -> None:
    assert load(neural).signature == load(copied).signature
    torch.save({**torch.load(copied / "pytorch_model.bin", weights_only=True), "more": torch.zeros(1)}, copied / "x")
    (copied / "x").replace(copied / "pytorch_model.bin")
    signatures = {load(folder).signature for folder in (neural, legacy, copied)}
    assert len(signatures) == 3 and all(signature.startswith("ltp 4.2") for signature in signatures)


def test_a_tokenizer_of_which_one_bit_has_changed_is_not_loaded(neural: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(neural, model)
    save_parser(tmp_path, "ltp", None, {})
    files = sorted(file for file in model.iterdir() if file.suffix in (".json", ".txt"))
    assert len(files) > 2
    for file in files:
        whole = file.read_bytes()
        file.write_bytes(bytes([*whole[: len(whole) // 2], whole[len(whole) // 2] ^ 1, *whole[len(whole) // 2 + 1 :]]))
        with pytest.raises(EspalierError):
            load_parser(tmp_path)
        file.write_bytes(whole)
    described = json.loads((tmp_path / "parser.json").read_text(encoding="utf-8"))
    old = {**described, "signature": described["signature"].partition(", files ")[0]}  # of an earlier Espalier
    (tmp_path / "parser.json").write_text(json.dumps(old), encoding="utf-8")
    load_parser(tmp_path)


def test_options_that_cannot_be_are_refused(neural: Path) -> None:
    with pytest.raises(ConfigError, match="batch_tokens is 0"):
        load(neural, batch_tokens=0)
    with pytest.raises(ConfigError, match="ltp's options"):
        open_parser("ltp", neural, {"speed": 3})
