from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from espalier.io.errors import ArtifactError, ConfigError
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.parser import Refused
from espalier.syntax.parsers.spacy_backend import SpacyParser, agreement, load
from espalier.syntax.parsers.spacy_training import SpacyTraining, train_spacy

SMALL = SpacyTraining(
    epochs=4, batch=30, rate=1e-2, warmup=4, width=16, depth=1, rows=200, pieces=2, hidden=8, min_frequency=1
)


def chain(words: str, tags: str) -> Parse:
    """Each word hangs on the one before."""
    size = len(words.split())
    return Parse(tuple(words.split()), tuple(tags.split()), "", tuple(range(size)), ("root", *["dep"] * (size - 1)))


@pytest.fixture(scope="module")
def english(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("english")
    bank = [chain("I do n't know .", "PRON AUX PART VERB PUNCT"), chain("She sings", "PRON VERB")] * 6
    train_spacy(bank, bank[:2], SMALL, folder / "model", folder / "scratch", seed=1)
    return folder / "model"


@pytest.fixture(scope="module")
def chinese(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chinese")
    bank = [chain("我 喜欢 红色 的 房子 。", "PRON VERB NOUN PART NOUN PUNCT"), chain("他们 唱歌", "PRON VERB")] * 6
    config = SMALL.model_copy(update={"language": "zh"})
    train_spacy(bank, bank[:2], config, folder / "model", folder / "scratch", seed=1)
    return folder / "model"


def shelf(folder: Path, *names: str) -> Path:
    """A pipeline as they stand on the shelf: fine tags, universal ones by rule, trees, and more."""
    nlp = spacy.blank("en", meta={"name": "tiny", "version": "1.2.3"})
    for name in names:
        nlp.add_pipe(name, config={"min_action_freq": 1} if name == "parser" else {})
    doc = Doc(nlp.vocab, words=["She", "sings"])
    gold = {"tags": ["PRP", "VBZ"], "heads": [1, 1], "deps": ["nsubj", "ROOT"], "entities": ["U-PER", "O"]}
    optimizer = nlp.initialize(lambda: [Example.from_dict(doc, gold)] * 30)
    for _ in range(10):
        nlp.update([Example.from_dict(doc, gold)], sgd=optimizer)
    if "attribute_ruler" in names:
        ruler = nlp.get_pipe("attribute_ruler")
        ruler.add([[{"TAG": "PRP"}]], {"POS": "PRON"})
        ruler.add([[{"TAG": "VBZ"}]], {"POS": "VERB"})
    folder.parent.mkdir(exist_ok=True)
    nlp.to_disk(folder)
    return folder


# --- Words ------------------------------------------------------------------------------------------------------------


def test_a_text_has_the_same_answer_as_its_words(english: Path) -> None:
    parser = load(english)
    text, words, spaced = parser.parse(["I don't know.", ("I", "do", "n't", "know", "."), "\tI  don't\u2028know. "])
    assert isinstance(text, Parse)
    assert text.words == ("I", "do", "n't", "know", ".")
    assert len(text.words) == len(text.tags) == len(text.heads) == len(text.labels)
    assert text == words == spaced


def test_chinese_words_are_jiebas_unless_characters_are_asked_for(chinese: Path) -> None:
    text = "他们 喜欢房子。"
    (answer,) = load(chinese).parse([text])
    assert isinstance(answer, Parse)
    assert answer.words == ("他们", "喜欢", "房子", "。")
    (answer,) = load(chinese, words="spacy").parse([text])
    assert isinstance(answer, Parse)
    assert answer.words == tuple("他们喜欢房子。")
    (answer,) = load(chinese).parse([["他", "们喜欢", "房子"]])
    assert isinstance(answer, Parse)
    assert answer.words == ("他", "们喜欢", "房子")


def test_odd_characters_are_words_and_white_space_is_none(english: Path, chinese: Path) -> None:
    text = "A\u200db \U0001f469\u200d\U0001f4bb\u3000x\u00a0y\u0085z \ufeff"
    for answer in (*load(english).parse([text]), *load(chinese).parse([text])):
        assert isinstance(answer, Parse)
        assert "".join(answer.words) == "".join(text.split())


def test_what_cannot_be_parsed_is_refused_with_its_reason(english: Path) -> None:
    sentences: list[Any] = [
        "",
        " \n\u2028",
        [],
        ["a", ""],
        ["a b"],
        ["a", "\t"],
        "word " * 6,
        ["word"] * 6,
        "word " * 5,
    ]
    answers = load(english, max_words=5).parse(sentences)
    assert [answer.reason if isinstance(answer, Refused) else "" for answer in answers] == [
        "empty", "empty", "empty", "tokens do not round-trip", "tokens do not round-trip", "tokens do not round-trip",
        "too long", "too long", "",
    ]  # fmt: skip


def test_words_that_are_not_the_text_are_refused(english: Path) -> None:
    nlp = spacy.load(english)
    nlp.tokenizer = lambda text: Doc(nlp.vocab, words=text.lower().split())
    assert SpacyParser(nlp, "").parse(["She sings"]) == [Refused("tokens do not round-trip")]


# --- Trees ------------------------------------------------------------------------------------------------------------


class Fixed:
    """A pipeline that finds always the same heads."""

    pipe_names = ("tagger", "parser")

    def __init__(self, heads: list[int]) -> None:
        self.vocab, self.heads = Vocab(), heads

    def get_pipe_meta(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(factory=name)

    def pipe(self, docs: Iterable[Doc], batch_size: int) -> Iterator[Doc]:
        for doc in docs:
            assert [token.is_sent_start for token in doc] == [True] + [False] * (len(doc) - 1)
            found = SimpleNamespace
            tokens = [found(i=number, text=token.text, tag_="T", dep_="d") for number, token in enumerate(doc)]
            for token, head in zip(tokens, self.heads, strict=True):
                token.head = tokens[head]
            yield tokens


def test_of_several_roots_the_first_stays() -> None:
    (answer,) = SpacyParser(Fixed([1, 1, 1, 3, 4]), "").parse([list("abcde")])
    words, tags = tuple("abcde"), ("T",) * 5
    assert answer == Parse(words, tags, "", (2, 0, 2, 2, 2), ("d", "root", "d", "parataxis", "parataxis"))


def test_a_cycle_is_refused() -> None:
    assert SpacyParser(Fixed([0, 2, 1]), "").parse([list("abc")]) == [Refused("no tree")]


def test_batches_change_no_answer(english: Path) -> None:
    sentences: list[Any] = [
        " ".join(("I do n't know . She sings " * 9).split()[: size % 60]) for size in range(50, 250)
    ]
    parser = load(english)
    alone = [answer for sentence in sentences for answer in parser.parse([sentence])]
    assert parser.parse(sentences) == load(english, batch=7).parse(sentences) == alone


# --- Pipelines --------------------------------------------------------------------------------------------------------


def test_a_pipeline_of_spacys_own_is_read_without_what_is_not_needed(tmp_path: Path) -> None:
    path = shelf(tmp_path / "tiny", "tagger", "attribute_ruler", "parser", "ner")
    parser = load(path)
    assert parser._nlp.pipe_names == ["tagger", "attribute_ruler", "parser"]
    (answer,) = parser.parse(["She sings"])
    assert answer == Parse(("She", "sings"), ("PRON", "VERB"), "", (2, 0), ("nsubj", "root"))


def test_without_rules_the_tags_are_the_taggers_own_and_without_parser_there_are_no_heads(tmp_path: Path) -> None:
    parser = load(shelf(tmp_path / "tiny", "tagger"))
    assert parser.parse(["She sings"]) == [Parse(("She", "sings"), ("PRP", "VBZ"))]


def test_an_installed_pipeline_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf(tmp_path / "en_tiny" / "en_tiny-1.2.3", "tagger", "parser")
    (tmp_path / "en_tiny" / "__init__.py").touch()
    (tmp_path / "en_tiny-1.2.3.dist-info").mkdir()
    (tmp_path / "en_tiny-1.2.3.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: en_tiny\nVersion: 1.2.3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    parser = load("en_tiny")
    assert parser.signature == f"spacy {version('spacy')}, en_tiny 1.2.3"
    (answer,) = parser.parse(["She sings"])
    assert isinstance(answer, Parse)
    assert answer.heads == (2, 0)


def test_the_signature_names_the_weights_and_who_parts_words(english: Path, chinese: Path) -> None:
    spacys, jiebas = re.escape(version("spacy")), re.escape(version("jieba"))
    assert re.fullmatch(rf"spacy {spacys}, model [0-9a-f]{{8}}", load(english).signature)
    assert re.fullmatch(rf"spacy {spacys}, model [0-9a-f]{{8}}, words by jieba {jiebas}", load(chinese).signature)
    assert load(english).signature.split(", ")[1] != load(chinese).signature.split(", ")[1]


# --- Mistakes ---------------------------------------------------------------------------------------------------------


def test_a_missing_pipeline_names_the_ways_to_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load("xx_missing_sm")
    assert str(caught.value) == (
        "spacy: no model 'xx_missing_sm'; fetch it: python -m spacy download xx_missing_sm, or train one here "
        "(backend spacy with a treebank), or give the path of one"
    )
    with pytest.raises(ConfigError, match=r"nothing'; train one here \(backend spacy with a treebank\), or give"):
        load(tmp_path / "nothing")
    with pytest.raises(ConfigError, match="no model ''; train one here"):
        load("")


def test_a_broken_pipeline_is_named_in_one_line(english: Path, tmp_path: Path) -> None:
    for file, text in (("config.cfg", "[nlp"), ("config.cfg", "[nlp]\n"), ("meta.json", "{"), ("tagger/model", "x")):
        folder = tmp_path / file.replace("/", "-") / str(len(text))
        for path in english.rglob("*"):
            if path.is_file():
                copy = folder / path.relative_to(english)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(path.read_bytes())
        (folder / file).write_text(text)
        with pytest.raises(ArtifactError, match=re.escape(str(folder))) as caught:
            load(folder)
        assert "\n" not in str(caught.value)


def test_a_pipeline_that_finds_nothing_is_refused(tmp_path: Path) -> None:
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(ConfigError, match="neither a tagger nor a parser"):
        load(tmp_path / "blank")


def test_options_that_cannot_be_are_refused(english: Path) -> None:
    with pytest.raises(ConfigError, match="max_words is 0; give at least 1"):
        load(english, max_words=0)
    with pytest.raises(ConfigError, match="batch is -1"):
        load(english, batch=-1)


# --- Certainty --------------------------------------------------------------------------------------------------------


def test_a_certainty_is_the_share_of_words_with_the_same_head_in_every_parse() -> None:
    words = tuple("abcd")
    parse, one, other = (Parse(words, heads=heads) for heads in ((2, 0, 2, 3), (2, 0, 4, 2), (3, 0, 2, 3)))
    assert agreement(parse, [one]) == 0.5  # words 1 and 2
    assert agreement(parse, [one, other]) == 0.25  # word 2
    assert agreement(parse, [parse]) == 1.0
    assert agreement(parse, [parse, Refused("no tree")]) == 0.0


def test_below_its_certainty_a_sentence_has_words_and_tags_and_no_tree(tmp_path: Path) -> None:
    bank = [chain("I do n't know .", "PRON AUX PART VERB PUNCT"), chain("She sings", "PRON VERB")] * 6
    config = SMALL.model_copy(update={"members": 2})
    train_spacy(bank, bank[:2], config, tmp_path / "model", tmp_path / "scratch", seed=1)
    sentences: list[Any] = [tuple(("I do n't know . She sings " * 3).split()[start : start + 9]) for start in range(9)]
    sure, one, other = (load(tmp_path / path).parse(sentences) for path in ("model", "model", "model/member2"))
    certain = [agreement(parse, [second]) for parse, second in zip(one, other, strict=True)]  # type: ignore[arg-type]
    assert sure == one and len({*certain}) > 1
    bound = sorted(certain)[4]
    some = load(tmp_path / "model", certainty=bound).parse(sentences)
    assert len({bool(parse.heads) for parse in some if isinstance(parse, Parse)}) == 2 or min(certain) == bound
    for tree, answer, certainty in zip(one, some, certain, strict=True):
        assert isinstance(tree, Parse)
        assert answer == (tree if certainty >= bound else Parse(tree.words, tree.tags))
    assert load(tmp_path / "model", certainty=bound).signature.endswith(f", certainty {bound}")


def test_the_first_member_is_the_pipeline_of_its_seed_alone(english: Path, tmp_path: Path) -> None:
    bank = [chain("I do n't know .", "PRON AUX PART VERB PUNCT"), chain("She sings", "PRON VERB")] * 6
    config = SMALL.model_copy(update={"members": 2})
    train_spacy(bank, bank[:2], config, tmp_path / "model", tmp_path / "scratch", seed=1)
    same, another = ((tmp_path / "model" / path).read_bytes() for path in ("parser/model", "member2/parser/model"))
    assert same == (english / "parser/model").read_bytes() != another


def test_a_certainty_that_cannot_be_is_refused(english: Path) -> None:
    with pytest.raises(ConfigError, match="certainty is 33; give 0 to 1"):
        load(english, certainty=33)
    with pytest.raises(ConfigError, match="has one member; train it with members: 2"):
        load(english, certainty=0.5)


def test_a_certainty_of_heads_is_refused_for_a_pipeline_that_finds_none(tmp_path: Path) -> None:
    bank = [chain("She sings", "PRON VERB")] * 6
    config = SMALL.model_copy(update={"members": 2, "trees": False, "epochs": 1})
    train_spacy(bank, bank[:2], config, tmp_path / "model", tmp_path / "scratch", seed=1)
    with pytest.raises(ConfigError, match=r"spacy's certainty: model .* finds no heads; leave it out"):
        load(tmp_path / "model", certainty=0.5)
