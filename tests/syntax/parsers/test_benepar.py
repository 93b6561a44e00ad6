from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import benepar
import nltk
import pytest
import torch
from benepar.char_lstm import RetokenizerForCharLSTM
from benepar.decode_chart import get_labeled_spans
from benepar.nkutil import HParams
from benepar.parse_base import BaseInputExample
from benepar.parse_chart import ChartParser
from hypothesis import given
from hypothesis import strategies as st
from nltk.tree import Tree
from transformers import (
    BertConfig,
    BertModel,
    BertTokenizerFast,
    PreTrainedTokenizerFast,
    T5Config,
    T5Model,
    T5TokenizerFast,
)

from espalier.io.errors import ArtifactError, ConfigError
from espalier.syntax.constituency import read_tree, write_tree
from espalier.syntax.constituency import words as read_words
from espalier.syntax.parse import Parse
from espalier.syntax.parsers import benepar_chart
from espalier.syntax.parsers.benepar_backend import load
from espalier.syntax.parsers.benepar_chart import Span, spans_of, tree_over
from espalier.syntax.parsers.benepar_compat import WEIGHTS, removed_tokenizer_methods
from espalier.syntax.parsers.benepar_training import Example, batch_loss
from espalier.syntax.parsers.parser import Refused
from espalier.syntax.parsers.training_config import BeneparTraining

LABELS = {label: number for number, label in enumerate(("", "NP", "S", "S::VP", "VP"))}
TAGS = {tag: number for number, tag in enumerate(("UNK", "DT", "NN", "VBZ"))}
SENTENCES = [
    ["the", "dog", "sleeps"],
    ["a", "cat", "runs", "and", "the", "dog", "runs", "."],
    ["cats", "(", "run", ")"],
    ["runs"],
    ["the", "dog", "sees", "a", "cat"],
]
SMALL = BeneparTraining(width=32, layers=2, heads=2, key=8, inner=32, character=8, hidden=16, positions=40)


def numbers(**changes: Any) -> HParams:
    return HParams(**{**SMALL.hparams(tagged=True, rooted=True), **changes})


def character_model(**changes: Any) -> Any:
    torch.manual_seed(1)
    return ChartParser(TAGS, LABELS, RetokenizerForCharLSTM.build_vocab(SENTENCES), numbers(**changes)).eval()


def save_file(model: Any, path: Path) -> Path:
    torch.save({"config": model.config, "state_dict": model.state_dict(), "optimizer": {}}, path)
    return path


def save_folder(encoder: Any, folder: Path, **changes: Any) -> Path:
    """As benepar's own export does: a tokenizer, a configuration and the weights."""
    torch.manual_seed(2)
    config = {"tag_vocab": TAGS, "label_vocab": LABELS, "char_vocab": {}}
    hparams = numbers(use_chars_lstm=False, use_pretrained=True, **changes)
    encoder.config.benepar = {**config, "hparams": hparams.to_dict()}
    encoder.config.save_pretrained(folder)
    with removed_tokenizer_methods():
        model = ChartParser(**config, hparams=hparams, pretrained_model_path=str(folder))
    torch.save(model.state_dict(), folder / WEIGHTS)
    return folder


def bert(folder: Path, **changes: Any) -> Path:
    words = ("the", "a", "dog", "cat", "run", "##s", "sleep", "see", "and", ".", "(", ")")
    pieces = {piece: number for number, piece in enumerate(("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words))}
    BertTokenizerFast(vocab=pieces, model_max_length=24).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(pieces), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=24,
    )  # fmt: skip
    return save_folder(BertModel(config), folder, **changes)


def t5(folder: Path) -> Path:
    words = ["▁", *(f"▁{word}" for word in ("the", "a", "dog", "cat", "run", "sleep", "see", "and")), *"s.()"]
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *((word, -2.0) for word in words)]
    T5TokenizerFast(vocab=pieces, extra_ids=0, model_max_length=24).save_pretrained(folder)
    config = T5Config(vocab_size=len(pieces), d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2)
    config.decoder_start_token_id = 0
    return save_folder(T5Model(config), folder)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    return {
        "characters": save_file(character_model(), folder / "characters.pt"),
        "untagged": save_file(character_model(predict_tags=False), folder / "untagged.pt"),
        "bert": bert(folder / "bert"),
        "bert, no encoder of its own": bert(folder / "plain", use_encoder=False),
        "t5": t5(folder / "t5"),
    }


KINDS = ["characters", "untagged", "bert", "bert, no encoder of its own", "t5"]


# --- Models in benepar's own formats ---


@pytest.mark.parametrize("kind", KINDS)
def test_trees_are_those_of_benepar_itself(paths: dict[str, Path], kind: str) -> None:
    with removed_tokenizer_methods():
        theirs = benepar.Parser(str(paths[kind]))
    parser = load(paths[kind])
    for words, answer in zip(SENTENCES, parser.parse(SENTENCES), strict=True):
        tree = theirs.parse(benepar.InputSentence(words=words, escaped_words=words))
        expected = write_tree(tree[0])
        tags = tuple(tag for _, tag in tree.pos()) if kind != "untagged" else ()
        assert answer == Parse(tuple(words), tags, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_batches_change_no_tree_and_keep_the_order(paths: dict[str, Path], kind: str) -> None:
    texts = ["the dog sleeps", "", *SENTENCES, "a cat runs .", ["x" * 300], *reversed(SENTENCES)]
    together = load(paths[kind]).parse(texts)
    alone = load(paths[kind], batch_tokens=1)
    assert together == [alone.parse([text])[0] for text in texts] == alone.parse(texts)
    assert together[0] == Parse(("the", "dog", "sleeps"), together[0].tags, together[0].tree)


def test_the_model_and_the_library_are_named(paths: dict[str, Path]) -> None:
    signatures = {load(path).signature for path in paths.values()}
    assert len(signatures) == len(paths)
    assert all(signature.startswith("benepar 0.2.0, model ") for signature in signatures)


def test_a_name_is_looked_up_where_benepar_downloads(
    paths: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "benepar_xx9").symlink_to(paths["bert"])
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    assert load("benepar_xx9").signature.startswith("benepar 0.2.0, benepar_xx9 ")


@pytest.mark.parametrize("model", ["benepar_en3", "models/parser.pt", ""])
def test_a_model_that_is_not_here_is_named_with_the_ways_to_get_it(
    model: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=f"no model '{model}'.*train one here") as caught:
        load(model)
    command = """python -c "import benepar; benepar.download('benepar_en3')\""""
    assert (command in str(caught.value)) == (model == "benepar_en3")


def test_a_bound_below_one_is_refused(paths: dict[str, Path]) -> None:
    with pytest.raises(ConfigError, match="max_words is 0"):
        load(paths["bert"], max_words=0)


# --- What current libraries do to benepar's files ---


def test_weights_of_an_older_transformers_load(paths: dict[str, Path], tmp_path: Path) -> None:
    for kind, extra in {
        "bert": "pretrained_model.embeddings.position_ids",
        "t5": "pretrained_model.decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",
    }.items():
        folder = tmp_path / kind
        folder.mkdir()
        for file in paths[kind].iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
        state = torch.load(folder / WEIGHTS)
        state[extra] = torch.zeros(1)
        state.pop("pretrained_model.encoder.embed_tokens.weight", None)
        state.pop("pretrained_model.decoder.embed_tokens.weight", None)
        torch.save(state, folder / WEIGHTS)
        assert load(folder).parse(SENTENCES) == load(paths[kind]).parse(SENTENCES)


def test_the_tokenizers_get_their_old_method_only_while_a_model_loads(paths: dict[str, Path]) -> None:
    load(paths["bert"])
    assert not hasattr(PreTrainedTokenizerFast, "build_inputs_with_special_tokens")


class Trap:
    """What a pickle can do when it is read."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("sprung",)


def test_a_parse_waits_for_no_spacy_and_the_package_is_whole_when_it_is_asked_for(paths: dict[str, Path]) -> None:
    script = (
        "import sys; from espalier.syntax.parsers.benepar_backend import load\n"
        "list(load(sys.argv[1]).parse(['the dog runs .']))\n"
        "print('spacy' in sys.modules, 'benepar' in sys.modules)\n"
        "import benepar; print(benepar.BeneparComponent.__name__, benepar.Parser(sys.argv[1]) is not None)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, paths["characters"]], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["False", "False", "BeneparComponent", "True"], done.stderr


def test_a_file_that_would_run_code_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = character_model()
    torch.save({"config": {**model.config, "more": Trap()}, "state_dict": model.state_dict()}, "model.pt")
    with pytest.raises(ArtifactError, match="holds more than tensors and plain values"):
        load("model.pt")
    assert not Path("sprung").exists()


def broken(folder: Path, whole: Path) -> Iterator[Path]:
    (folder / "text.pt").write_text("not a model", encoding="utf-8")
    yield folder / "text.pt"
    (folder / "short.pt").write_bytes(whole.read_bytes()[:1000])
    yield folder / "short.pt"
    value = torch.load(whole)
    torch.save({"state_dict": value["state_dict"]}, folder / "no config.pt")
    yield folder / "no config.pt"
    del value["state_dict"]["f_label.0.bias"]
    torch.save(value, folder / "a weight less.pt")
    yield folder / "a weight less.pt"
    (folder / "empty").mkdir()
    yield folder / "empty"
    (folder / "other").mkdir()
    (folder / "other" / "config.json").write_text(json.dumps({"model_type": "bert"}), encoding="utf-8")
    yield folder / "other"


def test_what_is_no_model_is_refused_by_its_name(paths: dict[str, Path], tmp_path: Path) -> None:
    for path in broken(tmp_path, paths["characters"]):
        with pytest.raises(ArtifactError, match=path.name):
            load(path)


# --- Sentences ---


def test_what_cannot_be_parsed_is_refused_with_its_reason(paths: dict[str, Path]) -> None:
    cases: list[tuple[Any, str]] = [
        ("", "empty"),
        (" \u2028\n", "empty"),
        ([], "empty"),
        ("the dog " * 5, "too long"),
        (["dog"] * 9, "too long"),
        ("x" * 251, "too long"),
        ("dog" * 10_000, "too long"),
        (["the", ""], "tokens do not round-trip"),
        (["the dog", "runs"], "tokens do not round-trip"),
    ]
    for kind in KINDS:
        answers = load(paths[kind], max_words=8).parse([text for text, _ in cases])
        assert answers == [Refused(reason) for _, reason in cases]


def test_a_sentence_longer_than_the_model_is_refused(paths: dict[str, Path]) -> None:
    assert isinstance(load(paths["characters"]).parse([["dog"] * 38])[0], Parse)
    assert load(paths["characters"]).parse([["dog"] * 39]) == [Refused("too long")]
    # 24 pieces: with the two special tokens 11 words of two pieces each, and no more.
    assert isinstance(load(paths["bert"]).parse([["runs"] * 11])[0], Parse)
    assert load(paths["bert"]).parse([["runs"] * 12]) == [Refused("too long")]


def test_a_word_of_which_the_models_tokenizer_leaves_nothing_is_refused(paths: dict[str, Path]) -> None:
    parser = load(paths["bert"])
    assert parser.parse([["dog", "\u200b"]]) == [Refused("tokens do not round-trip")]
    assert isinstance(load(paths["characters"]).parse([["dog", "\u200b"]])[0], Parse)


def test_brackets_and_quotes_in_words_come_back(paths: dict[str, Path]) -> None:
    (parse,) = load(paths["characters"]).parse(['the "dog" (a cat) runs'])
    assert isinstance(parse, Parse)
    assert parse.words == ("the", "``", "dog", "''", "(", "a", "cat", ")", "runs")
    assert read_words(read_tree(parse.tree)) == parse.words
    assert "-LRB-" in parse.tree


def test_a_model_that_finds_no_constituent_gives_no_tree(tmp_path: Path) -> None:
    model = character_model(force_root_constituent=False)
    torch.nn.init.zeros_(model.f_label[-1].weight)
    torch.nn.init.constant_(model.f_label[-1].bias, -1)
    assert load(save_file(model, tmp_path / "model.pt")).parse(["the dog"]) == [Refused("no tree")]


# --- Spans ---


def trees(words: int = 12) -> st.SearchStrategy[Tree]:
    label = st.sampled_from(["S", "NP", "VP", "X"])
    leaf = st.builds(lambda tag, word: Tree(tag, [word]), st.sampled_from(["NN", "DT"]), st.sampled_from(["a", "b"]))
    node = st.recursive(
        leaf,
        lambda inner: st.builds(Tree, label, st.lists(inner, min_size=1, max_size=4)),
        max_leaves=words,
    )
    return st.builds(lambda top, children: Tree(top, children), label, st.lists(node, min_size=1, max_size=3))


@given(trees())
def test_spans_are_those_of_benepar_and_give_the_tree_back(tree: Tree) -> None:
    spans = spans_of(tree)
    theirs = get_labeled_spans(Tree("TOP", [tree.copy(deep=True)]))
    assert sorted(spans) == sorted((start, last + 1, label) for start, last, label in theirs if label)
    tags = [tag for _, tag in tree.pos()]
    inwards = sorted(spans, key=lambda span: (span.start, -span.end))
    assert write_tree(tree_over(tree.leaves(), tags, inwards)) == write_tree(tree)
    assert spans_of(Tree("TOP", [tree])) == spans


def test_spans_of_a_tree_deeper_than_the_stack() -> None:
    tree = Tree("NN", ["w"])
    for _ in range(5000):
        tree = Tree("NP", [Tree("NN", ["w"]), tree])
    spans = spans_of(tree)
    assert spans[0] == Span(4999, 5001, "NP")
    assert spans[-1] == Span(0, 5001, "NP")
    assert spans_of(tree_over(["w"] * 5001, ["NN"] * 5001, reversed(spans))) == spans


# --- Scores, best trees, losses ---


class Theirs(BaseInputExample):
    def __init__(self, tree: Tree) -> None:
        self.tree = Tree("TOP", [tree])
        self.words = tree.leaves()
        self.space_after = [True] * len(self.words)

    def leaves(self) -> list[str]:
        return self.words

    def pos(self) -> list[tuple[str, str]]:
        return self.tree.pos()


GOLD = [
    Tree.fromstring("(S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (DT a) (NN cat))))"),
    Tree.fromstring("(S (VP (VBZ runs)))"),
    Tree.fromstring("(S (NP (NN cats)) (VP (VBZ run)) (NP (NN dog)) (VP (VBZ runs) (S (VP (VBZ see)))))"),
]


def test_loss_and_gradients_are_those_of_benepar() -> None:
    model = character_model()
    examples = [
        Example(
            tree.leaves(),
            [TAGS[tag] for _, tag in tree.pos()],
            [(span.start, span.end - span.start - 1, LABELS[span.label]) for span in spans_of(tree)],
        )
        for tree in GOLD
    ]
    ours = batch_loss(model, examples)
    ours.backward()
    gradients = {
        name: parameter.grad.clone() for name, parameter in model.named_parameters() if parameter.grad is not None
    }
    model.zero_grad()
    ((_, batch),) = model.encode_and_collate_subbatches([Theirs(tree) for tree in GOLD], 1000)
    theirs = model.compute_loss(batch)
    theirs.backward()
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-5)
    expected = {name: parameter.grad for name, parameter in model.named_parameters() if parameter.grad is not None}
    assert gradients.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(gradients[name], gradient, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("force_root", [True, False])
def test_the_best_tree_is_the_one_that_benepar_finds(force_root: bool) -> None:
    torch.manual_seed(3)
    decoder = character_model(force_root_constituent=force_root).decoder
    for lengths in ([1, 2, 3, 7], [6, 6], [1], [13, 2]):
        words = max(lengths)
        scores = torch.randn(len(lengths), words, words, len(LABELS)) - 0.5
        scores[..., 0] = 0
        start, last = torch.triu_indices(words, words)
        nodes = benepar_chart.best_nodes(
            scores[:, start, last, 1:], start, last - start, torch.tensor(lengths), force_root
        )
        for number, length in enumerate(lengths):
            slow = decoder.tree_from_scores(scores[number].numpy(), [Tree("NN", [f"w{i}"]) for i in range(length)])
            expected = sorted((span.start, span.end, LABELS.get(span.label, span.label)) for span in spans_of(slow))
            here = nodes.sentence == number
            spans = [
                (first, first + wide + 1, label)
                for first, wide, label in zip(*(tensor[here].tolist() for tensor in nodes[1:]), strict=True)
            ]
            assert len(spans) == 2 * length - 1
            assert spans == sorted(spans, key=lambda node: (node[0], -node[1]))
            assert sorted(node for node in spans if node[2]) == [(first, end, label) for first, end, label in expected]
