"""espalier paraphrase: what it writes under which template, and how it says no. The models were never trained."""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from small_params import corpus, dataset, empty, model, parser, write
from untrained import untrained

from espalier.cli.printers import draw_tree
from espalier.datasets.pairs.tree_symbols import TreeSymbols
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.inference import loaded
from espalier.inference.folder import save_system
from espalier.inference.requests import TEMPLATES as TEMPLATE_COUNT
from espalier.models.serialization import save_model
from espalier.syntax.constituency import read_tree, tags, words, write_tree
from espalier.syntax.levels import cut, linearize
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.parser import Refused
from espalier.syntax.parsers.penn_words import penn_words
from espalier.syntax.parsers.registry import save_parser
from espalier.syntax.parsers.trivial_backend import TrivialTraining, train_trivial

Cli = Callable[..., Any]
Refuse = Callable[..., str]

TREES = [
    "(S (NP (DT the) (NN cook)) (VP (VBZ peels) (NP (DT an) (NN onion))) (. .))",
    "(S (NP (PRP i)) (VP (MD ca) (RB n't) (VP (VB find) (NP (NP (DT the) (NN cook) (POS 's)) (NN knife)))) (. .))",
    "(S (ADVP (RB now)) (, ,) (NP (PRP i)) (VP (VBP sleep)) (. .))",
]
TEMPLATES = [
    "(S (NP (DT) (NN)) (VP (VBZ) (NP)) (.))",
    "(S (NP (PRP)) (VP (VBP)) (.))",
    "(S (ADVP (RB)) (,) (NP (PRP)) (VP (VBP)) (.))",
    "(S (NP (PRP)) (VP (MD) (RB) (VP)) (.))",
]
SOURCE = "The cook ca n't find an onion."
BARE = "(S (NP) (VP) (.))"

NUMBERS: dict[str, Any] = {"layers": 1, "heads": 2, "width": 16, "inner": 16, "head_width": 8, "positions": 32}
NUMBERS["norm"] = "pre"
TEXT = {"reads": ["source"], "layers": 1, "heads": 2, "cross_heads": 1}
TREE = {"reads": ["target_tree"], "layers": 1, "heads": 2, "cross_heads": 1}
SCPN_NUMBERS: dict[str, Any] = {"width": 8, "word": 8, "label": 4, "tree_hidden": 8, "positions": 80}
MODELS: dict[str, dict[str, Any]] = {
    "tg": {"encoders": [TEXT, {**TREE, "attention": "path"}]},
    "no_syn": {"encoders": [TEXT]},
    "se": {"writes": "tree", "encoders": [{**TREE, "reads": ["source_tree"]}, {**TREE, "reads": ["template"]}]},
    "se_no_tmpl": {"writes": "tree", "encoders": [{**TREE, "reads": ["source_tree"]}]},
    "se_other": {"writes": "tree", "encoders": [{**TREE, "reads": ["source_tree"]}]},
    "se_deep": {"writes": "tree", "encoders": [{**TREE, "reads": ["source_tree"]}]},
    "scpn": SCPN_NUMBERS,
    "se_scpn": {**SCPN_NUMBERS, "writes": "tree"},
}
for _each in MODELS.values():
    _each |= NUMBERS if "encoders" in _each else {}


class Stub:
    """A parser that knows `TREES`, and finds something in all else."""

    signature = "stub"
    trees: ClassVar = {" ".join(words(read_tree(each))): each for each in TREES}
    seen: ClassVar[list[str]] = []

    def parse(self, sentences: Sequence[str]) -> list[Parse | Refused]:
        self.seen.extend(sentences)
        return [self._one(each) for each in sentences]

    def _one(self, text: str) -> Parse | Refused:
        if "zzz" in text:
            return Refused("no tree")
        if "qqq" in text:
            return Parse(tuple(text.split()))
        found = penn_words(text)
        assert found is not None
        odd = "XYZ" if "odd" in text else "NN"
        flat = "".join(f" ({odd} {word})" for word in found[0])
        tree = read_tree(self.trees.get(" ".join(found[0]), f"(S (NP{flat}))"))
        return Parse(words(tree), tags(tree), write_tree(tree))


@contextmanager
def standard_input(text: str) -> Any:
    before, sys.stdin = sys.stdin, io.StringIO(text)
    try:
        yield
    finally:
        sys.stdin = before


def vocabulary_of(labels: Sequence[str] = (), depth: int = 8, lower: bool = True) -> PairVocabulary:
    trees = [read_tree(each) for each in TREES]
    symbols = TreeSymbols.build(trees, depth)
    more = tuple(labels)
    symbols = replace(
        symbols, labels=symbols.labels + more, opens=symbols.opens + (True,) * len(more),
        ends=symbols.ends + (False,) * len(more),
    )  # fmt: skip
    texts = [" ".join(words(each)) for each in trees]
    return PairVocabulary.build([*texts, "abcdefghijklmnopqrstuvwxyz"], symbols, "en", pieces=90, lower=lower)


def arch_of(network: dict[str, Any]) -> str:
    return "guig" if "encoders" in network else "scpn"


def model_of(network: dict[str, Any], vocabulary: PairVocabulary) -> torch.nn.Module:
    return untrained(arch_of(network), network, vocabulary)


def params_of() -> dict[str, Any]:
    tree = empty()
    tree["parsers"] = {"own": parser("benepar", "en", "kitchen")}
    tree["corpora"] = {
        "kitchen": corpus("en", "paraphrase_en"),
        "kitchen_zh": corpus("zh", "dialogue_zh"),
        "poems": corpus("en", "verse_en"),
    }
    tree["datasets"]["linearize"] = {
        "kitchen": dataset("pairs", "kitchen", max_length=20),
        "kitchen_zh": dataset("pairs", "kitchen_zh", max_length=20),
        "poems": dataset("verse", "poems"),
    }
    tree["presets"] = {"plain": {"network": {}, "training": {"steps": 1}}}
    tree["models"] = {key: model(arch_of(network), "kitchen", network) for key, network in MODELS.items()}
    tree["models"]["untrained"] = {**tree["models"]["tg"]}
    tree["models"]["tg"]["default_for"] = ["paraphrase.en"]
    tree["models"]["se"]["default_for"] = ["expand.en"]
    tree["models"]["poet"] = model("songnet", "poems")
    tree["models"]["chinese"] = model("guig", "kitchen_zh")
    return tree


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kitchen")
    for key, network in MODELS.items():
        vocabulary = vocabulary_of({"se_other": ("FRAG", "INTJ")}.get(key, ()), 6 if key == "se_deep" else 8)
        (folder / "data/models" / key).mkdir(parents=True)
        save_model(folder / "data/models" / key, arch_of(network), model_of(network, vocabulary), vocabulary, seed=1)
        known = [{"template": text, "count": 9 - place} for place, text in enumerate(TEMPLATES)]
        save_system(folder / "data/models" / key, {"max_length": 20}, templates=known)
    write(folder, params_of())
    (folder / "data/parsers/own").mkdir(parents=True)
    return folder


@pytest.fixture
def kitchen(kept: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of untrained models, with a parser that is a stub; tests leave it as they found it."""
    monkeypatch.setattr(loaded, "load_parser", lambda _: Stub())
    Stub.seen.clear()
    return kept


@pytest.fixture
def changed(kitchen: Path, tmp_path: Path) -> Path:
    """A copy, to spoil."""
    folder = tmp_path / "kitchen"
    shutil.copytree(kitchen, folder)
    return folder


def objects(answer: Any) -> list[dict[str, Any]]:
    assert answer.status == 0, answer.err
    return [json.loads(line) for line in answer.out.splitlines()]


def top(tree: str, levels: int) -> str:
    return write_tree(cut(read_tree(tree, words=False), levels))


# --- what it writes --------------------------------------------------------------------------------------------------


def test_json_says_what_guided_the_text_and_what_wrote_it(kitchen: Path, cli: Cli) -> None:
    (found,) = objects(cli(kitchen, "paraphrase", SOURCE, "--template", BARE, "--json"))
    assert list(found) == ["text", "words", "source", "template", "tree", "log_probability", "model", "expander"]
    assert (found["source"], found["template"]) == (SOURCE, BARE)
    assert (found["model"], found["expander"]) == ("tg", "se")
    assert found["log_probability"] < 0 and isinstance(found["words"], list)


def test_expand_prints_the_tree_that_guides_the_paraphrase(kitchen: Path, cli: Cli, refused: Refuse) -> None:
    (guided,) = objects(cli(kitchen, "paraphrase", SOURCE, "--template", BARE, "--json"))
    (found,) = objects(cli(kitchen, "expand", SOURCE, "--template", BARE, "--json"))
    assert (found["tree"], found["template"], found["model"]) == (guided["tree"], BARE, "se")
    assert cli(kitchen, "expand", SOURCE, "--template", BARE).out == f"{found['tree']}\n"
    assert len(cli(kitchen, "expand", SOURCE, "--templates", "2").out.splitlines()) == 2
    said = refused(kitchen, "expand", SOURCE, "--template", BARE, "--templates", "2")
    assert said == "espalier: --template and --templates: each says what is expanded; give one of them"


@pytest.mark.parametrize("expander", ["se", "se_no_tmpl", "se_scpn"])
@pytest.mark.parametrize(
    ("template", "levels"), [(BARE, 2), (TEMPLATES[0], 3), ("(S (NP (PRP)) (VP (MD) (VP (VB) (NP))))", 4)]
)
def test_the_tree_keeps_the_template_and_every_phrase_has_children(
    kitchen: Path, cli: Cli, expander: str, template: str, levels: int
) -> None:
    command = ("paraphrase", SOURCE, "--template", template, "--expander", expander, "--json")
    (found,) = objects(cli(kitchen, *command))
    assert found["expander"] == expander and found["template"] == template
    assert top(found["tree"], levels) == top(template, levels)
    labels, places = linearize(read_tree(found["tree"], words=False))
    ends = {label for label, at, after in zip(labels, places, [*places[1:], 0], strict=True) if after <= at < 8}
    assert not ends & {"S", "NP", "VP", "ADVP"}


def test_a_template_of_more_levels_than_training_knew_is_kept_whole(kitchen: Path, cli: Cli) -> None:
    template = "(S (NP (PRP)) (VP (MD) (RB) (VP (VB) (NP (NP) (NN)))) (.))"
    for expander in ("se", "se_scpn"):
        command = ("paraphrase", SOURCE, "--template", template, "--expander", expander, "--json")
        (found,) = objects(cli(kitchen, *command))
        assert found["template"] == template == top(found["tree"], 5)


def test_scpn_writes_too(kitchen: Path, cli: Cli) -> None:
    (found,) = objects(cli(kitchen, "paraphrase", SOURCE, *ONE, "--model", "scpn", "--expander", "se_scpn", "--json"))
    assert (found["model"], found["expander"]) == ("scpn", "se_scpn")


def test_without_a_template_the_three_most_frequent_guide_a_text_each(kitchen: Path, cli: Cli) -> None:
    found = objects(cli(kitchen, "paraphrase", SOURCE, "--json"))
    assert [each["template"] for each in found] == TEMPLATES[:3]
    found = objects(cli(kitchen, "paraphrase", SOURCE, "--templates", "4", "--json"))
    assert [each["template"] for each in found] == TEMPLATES


def test_an_exemplar_gives_its_top_or_its_whole_tree(kitchen: Path, cli: Cli) -> None:
    like = "i ca n't find the cook's knife."
    whole = write_tree(cut(read_tree(TREES[1]), 8))
    (found,) = objects(cli(kitchen, "paraphrase", SOURCE, "--like", like, "--json"))
    assert found["template"] == top(TREES[1], 3) == top(found["tree"], 3)
    (found,) = objects(cli(kitchen, "paraphrase", SOURCE, "--like", like, "--full", "--json"))
    assert found["template"] == found["tree"] == whole and found["expander"] is None


def test_n_texts_of_a_template_differ_and_fall_in_score(kitchen: Path, cli: Cli) -> None:
    found = objects(cli(kitchen, "paraphrase", SOURCE, "--templates", "2", "--n", "3", "--beam", "6", "--json"))
    assert [each["template"] for each in found] == [TEMPLATES[0]] * 3 + [TEMPLATES[1]] * 3
    for part in (found[:3], found[3:]):
        assert len({" ".join(each["words"]) for each in part}) == 3
        scores = [each["log_probability"] for each in part]
        assert scores == sorted(scores, reverse=True)
        assert len({each["tree"] for each in part}) == 1


def test_lines_are_requests_each_with_its_template_or_the_common_one(kitchen: Path, cli: Cli, tmp_path: Path) -> None:
    lines = f"i sleep.\t{TEMPLATES[0]}\n\n{SOURCE}\n"
    (tmp_path / "asked").write_text(lines, encoding="utf-8-sig")
    command = ("paraphrase", "--template", BARE, "--json")
    found = objects(cli(kitchen, *command, "--file", str(tmp_path / "asked")))
    assert [(each["source"], each["template"]) for each in found] == [("i sleep.", TEMPLATES[0]), (SOURCE, BARE)]
    for more in ((), ("--file", "-")):
        with standard_input(lines):
            assert objects(cli(kitchen, *command, *more)) == found


def test_the_parser_reads_lower_case_where_the_models_do(kitchen: Path, cli: Cli) -> None:
    objects(cli(kitchen, "paraphrase", "Now, I Sleep.", "--like", "I sleep.", "--json"))
    assert sorted(Stub.seen) == ["i sleep.", "now, i sleep."]


def test_a_person_sees_texts_and_below_each_what_guided_it(kitchen: Path, cli: Cli) -> None:
    texts = [each["text"] for each in objects(cli(kitchen, "paraphrase", SOURCE, "--json"))]
    lines = cli(kitchen, "paraphrase", SOURCE).out.splitlines()
    assert lines[::2] == texts and lines[1::2] == [f"  {each}" for each in TEMPLATES[:3]]
    (own,) = cli(kitchen, "paraphrase", SOURCE, "--template", BARE).out.splitlines()
    text, *tree = cli(kitchen, "paraphrase", SOURCE, "--template", BARE, "--show-tree").out.splitlines()
    assert text == own and tree and all(line.startswith("  ") and len(line) <= 100 for line in tree)
    (found,) = objects(cli(kitchen, "paraphrase", SOURCE, "--template", BARE, "--json"))
    assert write_tree(read_tree(" ".join(tree), words=False)) == found["tree"]


def test_a_long_tree_is_drawn_with_children_below_their_node() -> None:
    tree = read_tree(f"(S (NP {'(NN) ' * 15}) (VP (VBZ) (NP (DT) {'(NN) ' * 10})) (.))", words=False)
    assert draw_tree(tree, "  ") == [
        "  (S",
        f"    (NP{' (NN)' * 15})",
        f"    (VP (VBZ) (NP (DT){' (NN)' * 10}))",
        "    (.))",
    ]
    assert draw_tree(read_tree(BARE, words=False), "") == [BARE]


def test_all_that_a_template_gives_is_kept(kitchen: Path, cli: Cli) -> None:
    ragged = "(S (NP (DT) (NN)) (VP) (.))"
    answer = cli(kitchen, "paraphrase", SOURCE, "--template", ragged, "--json")
    (found,) = objects(answer)
    tree = read_tree(found["tree"], words=False)
    assert (found["template"], answer.err) == (ragged, "")
    assert [node.label() for node in tree[0]] == ["DT", "NN"] and len(tree[1])
    answer = cli(kitchen, "paraphrase", SOURCE, "--template", "(ROOT (S (NP you) (VP) (. .)))", "--json")
    (found,) = objects(answer)
    assert (found["template"], answer.err) == ("(S (NP you) (VP) (. .))", "")
    assert found["words"][0] == "you" and "." in found["words"]


def test_unknown_words_are_read_and_never_written(kitchen: Path, cli: Cli) -> None:
    for each in objects(cli(kitchen, "paraphrase", "the cook @ 12 é sleeps.", "--n", "8", "--json")):
        assert "<unk>" not in each["text"]


def test_help_says_what_guides_where_nothing_is_given(kitchen: Path, cli: Cli) -> None:
    answer = cli(kitchen, "paraphrase", "--help")
    assert answer.out.startswith("Usage: espalier paraphrase") and answer.err == ""
    assert f"the {TEMPLATE_COUNT} most frequent templates" in " ".join(answer.out.split())
    assert "paraphrase" in cli(kitchen, "--help").out


# --- texts that must keep their template -----------------------------------------------------------------------------

GIVEN = "(S (NP (DT the) (NN cook)) (NN))"


@pytest.fixture
def parsed(kept: Path, tmp_path: Path) -> Path:
    """The project with a parser that was trained on its trees (`trivial`): it knows tags, and trees of one shape."""
    folder = Path(shutil.copytree(kept, tmp_path / "kitchen"))
    bank = [Parse(words(tree), tags(tree), write_tree(tree)) for tree in map(read_tree, TREES)]
    train_trivial(
        bank, [], TrivialTraining(), folder / "data/parsers/own/model", tmp_path, seed=1, watch=lambda *_: None
    )
    save_parser(folder / "data/parsers/own", "trivial", None, {})
    return folder


def test_a_strict_text_keeps_its_template_or_says_so_and_the_status_is_1(parsed: Path, cli: Cli) -> None:
    command = ("paraphrase", SOURCE, "--strict", "--beam", "40", "--template")
    (found,) = objects(cli(parsed, *command, GIVEN, "--json"))
    # The first beam is "the cook"; three words, of which the last is a noun, have the tree of the template.
    assert found["template_kept"] is True and len(found["words"]) == 3 and found["words"][:2] == ["the", "cook"]
    assert list(found)[-4:] == ["log_probability", "template_kept", "model", "expander"]
    shown = cli(parsed, *command, GIVEN)
    assert (shown.status, shown.out.splitlines()) == (0, [found["text"]])
    answer = cli(parsed, *command, BARE, "--json")
    found = json.loads(answer.out)
    assert (answer.status, answer.err, found["template_kept"]) == (1, "", False)
    shown = cli(parsed, *command, BARE)
    note = "  note: no candidate keeps the template; this is the best"
    assert (shown.status, shown.err, shown.out.splitlines()) == (1, "", [found["text"], note])
    (loose,) = objects(cli(parsed, "paraphrase", SOURCE, "--template", BARE, "--beam", "40", "--json"))
    assert loose["words"] and "template_kept" not in loose


def test_of_several_lines_one_that_fails_gives_status_1_and_the_others_are_written(parsed: Path, cli: Cli) -> None:
    with standard_input(f"{SOURCE}\t{GIVEN}\n{SOURCE}\t{BARE}\n"):
        answer = cli(parsed, "paraphrase", "--strict", "--beam", "40", "--json")
    assert answer.status == 1
    assert [json.loads(line)["template_kept"] for line in answer.out.splitlines()] == [True, False]


def test_candidates_beyond_the_beam_are_samples(parsed: Path, cli: Cli) -> None:
    command = ("paraphrase", SOURCE, "--strict", "--beam", "1", "--template", "(S (NP) (NN))", "--json")
    few, many = (json.loads(cli(parsed, *command, "--candidates", count).out) for count in ("1", "400"))
    assert few["template_kept"] is False and many["template_kept"] is True and len(many["words"]) > 2
    assert json.loads(cli(parsed, *command, "--candidates", "400").out) == many


def test_words_of_the_classes_of_the_tree_s_leaves_are_among_the_candidates(parsed: Path, cli: Cli) -> None:
    def words(template: str, beam: int, count: int) -> list[str]:
        command = ("paraphrase", SOURCE, "--strict", "--json", "--template", template)
        found: list[str] = json.loads(cli(parsed, *command, "--beam", str(beam), "--candidates", str(count)).out)[
            "words"
        ]
        return found

    # The model is not trained, and writes one endless word. The tree has two leaves.
    assert (len(words("(S (NP (NN)) (NN))", 1, 1)), len(words("(S (NP (NN)) (NN))", 1, 2))) == (1, 2)
    assert words(GIVEN, 5, 10)[:2] == ["the", "cook"] and words(GIVEN, 5, 10) != words(GIVEN, 5, 5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--candidates", "4"], "--candidates: candidates of which none is chosen; add strict"),
        (["--strict", "--candidates", "0"], "--candidates: 0 is too small; at least 1"),
        (["--strict", "--candidates", "2", "--n", "3"], "--n: 3 texts of 2 candidates"),
        (["--strict", "--model", "no_syn"], "--strict: model no_syn reads no tree; leave it out"),
    ],
)
def test_strict_options_that_cannot_be_are_one_line(
    parsed: Path, refused: Refuse, options: list[str], message: str
) -> None:
    assert message in refused(parsed, "paraphrase", SOURCE, *options)


def test_strict_texts_of_a_profile_without_a_parser_are_one_line(
    parsed: Path, refused: Refuse, edit: Callable[..., None]
) -> None:
    shutil.rmtree(parsed / "data/parsers/own")
    assert "parser own is not made; dvc repro train_parser@own" in refused(parsed, "paraphrase", SOURCE, "--strict")
    edit(parsed / "params.yaml", "parsers", {})
    assert "params.yaml: parsers: no parser for the texts of corpus kitchen" in refused(
        parsed, "paraphrase", SOURCE, "--strict"
    )


# --- how it says no --------------------------------------------------------------------------------------------------

DEEP = "(S (VP (VP (VP (VP (VP (VP (VP (VP)))))))))"
WIDE = f"(S (NP{' (NN)' * 12}) (VP{' (VB)' * 12}))"
ONE = ["--template", BARE]
BAD: list[tuple[list[str], str]] = [
    ([SOURCE, "--template", "(S (NP) (VP"], "--template: 2 brackets are not closed"),
    ([SOURCE, "--template", "a noun and a verb"], "--template: 'a' stands outside the brackets"),
    ([SOURCE, "--template", ""], "--template: no trees"),
    ([SOURCE, "--template", "(S (NP)) (S (NP))"], "--template: 2 trees"),
    (
        [SOURCE, "--template", "(S)"],
        "--template: a single node S without children; give more nodes",
    ),
    ([SOURCE, "--template", DEEP], "--template: a template of 9 levels; the models know at most 8"),
    ([SOURCE, "--template", "(S (NPP) (vp))"], "--template: unknown labels NPP, vp; the nearest known are NPP: NP or "),
    ([SOURCE, "--template", "(S (NPP))"], "--template: unknown label NPP; "),
    ([SOURCE, "--template", WIDE], "the shortest tree has 28 ids, EOS included, and 21 are allowed; give a"),
    (["", *ONE], "text: no words"),
    ([" ?! ", *ONE], "text: no words"),
    (["onion " * 300, *ONE], "text: 300 words; at most 20 word pieces"),
    (["xkcd " * 9, *ONE], "text: it has over 20 word pieces; give one sentence at a time"),
    (["厨师在削洋葱。", *ONE], "text: most of its letters are not English"),
    (["Повар чистит лук (a cook).", *ONE], "text: most of its letters are not English"),
    (["cook \udcff", *ONE], "argument cook \\udcff: not UTF-8"),
    (["zzz", *ONE], "text: parser own refuses its 3 characters (no tree); give one short sentence"),
    (["qqq", *ONE], "parser own gives no constituency trees; name one that does"),
    (["an odd cook", *ONE], "text: its parse has labels that the models do not know: XYZ; word it otherwise"),
    ([SOURCE, "--like", "an odd cook"], "--like: unknown label XYZ; the nearest known are XYZ: "),
    ([SOURCE, "--like", "洋葱"], "--like: most of its letters"),
    ([SOURCE, "--like", ""], "--like: no words"),
    ([SOURCE, "--like", "onion " * 20, "--full"], "over 20 nodes"),
    ([SOURCE, "--template", BARE, "--templates", "2"], "--template and --templates: each says what guides the text"),
    ([SOURCE, "--like", "i sleep", "--templates", "2"], "--like and --templates: "),
    ([SOURCE, "--full"], "--full: there is no whole tree to take; give a sentence to take it of"),
    ([SOURCE, "--like", "i sleep", "--full", "--expander", "se"], "--full and --expander: "),
    ([SOURCE, "--templates", "5"], "--templates: 5 templates; model tg has 4 of its training data"),
    ([SOURCE, "--templates", "0"], "--templates: 0 is too small; at least 1"),
    ([SOURCE, "--n", "0"], "--n: 0 is too small; at least 1"),
    ([SOURCE, "--beam", "0"], "--beam: 0 is too small; at least 1"),
    ([SOURCE, "--beam", "1001"], "--beam: 1001 is too large; at most 1,000"),
    ([SOURCE, "--n", "9"], "--n: 9 texts of 8 beams; raise the beam to 9, or lower n"),
    ([SOURCE, "--n", "200", "--beam", "200", "--templates", "51"], "--n: 10,200 texts at once; at most 10,000"),
    (
        [SOURCE, "--model", "se"],
        "--model: model se serves expand; paraphrase needs a model of pairs",
    ),
    (
        [SOURCE, "--expander", "tg"],
        "--expander: model tg serves paraphrase; expand needs a model",
    ),
    ([SOURCE, "--model", "poet"], "--model: model poet serves generate and polish; paraphrase needs a model of pairs"),
    ([SOURCE, "--model", "chinese"], "--model: model chinese writes zh, not en; one of en"),
    ([SOURCE, "--model", "nosuch"], "unknown model 'nosuch'; allowed: chinese, no_syn, poet, s"),
    ([SOURCE, "--model", ""], "unknown model ''; allowed: "),
    (
        [SOURCE, "--model", "untrained"],
        "data/models/untrained: model untrained is not trained; dvc repro train@untrained",
    ),
    ([SOURCE, "--expander", "se_other"], "se_other and tg were trained with other labels: only one knows FRAG, INTJ;"),
    ([SOURCE, "--expander", "se_deep"], "--expander: se_deep and tg were trained with other depths of trees: 6 and 8"),
    (["--file", "nosuch.txt"], "nosuch.txt: no such file"),
    (["--file", "parsers"], "parsers: "),
    (["--file", "data/models/tg/seed1.safetensors"], "seed1.safetensors: not UTF-8"),
    ([SOURCE, "--language", "en"], "No such option"),
]


@pytest.mark.parametrize(("command", "message"), BAD, ids=[" ".join(each)[:50] for each, _ in BAD])
def test_bad_input_is_one_line(kitchen: Path, refused: Refuse, command: list[str], message: str) -> None:
    assert message in refused(kitchen, "paraphrase", *command)


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_nothing_asked_for_is_one_line(kitchen: Path, refused: Refuse, text: str) -> None:
    with standard_input(text):
        assert "standard input: no requests" in refused(kitchen, "paraphrase")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("\t(S (NP))", "standard input, row 3: no words"),
        ("i sleep.\t(S", "standard input, row 3, template: a bracket is not closed"),
        ("i sleep.\t(S (NPP))", "standard input, row 3, template: unknown label NPP"),
        (f"i sleep.\t{WIDE}", f"standard input, row 3, template {WIDE}: the shortest tree has"),
        ("an odd cook", "standard input, row 3: its parse has labels"),
        ("zzz", "standard input, row 3: parser own refuses its 3 characters"),
        ("xkcd " * 9, "standard input, row 3: it has over 20 word pieces"),
    ],
)
def test_a_bad_line_is_named_and_the_others_are_written(kitchen: Path, cli: Cli, line: str, message: str) -> None:
    with standard_input(f"{SOURCE}\n\n{line}\nnow, i sleep.\n"):
        answer = cli(kitchen, "paraphrase", "--json", *ONE)
    assert answer.status == 1 and answer.err.startswith(f"espalier: {message}") and answer.err.count("\n") == 1
    assert [json.loads(each)["source"] for each in answer.out.splitlines()] == [SOURCE, "now, i sleep."]


def test_a_template_on_a_line_beside_full_is_named(kitchen: Path, refused: Refuse) -> None:
    with standard_input(f"{SOURCE}\t{BARE}\n"):
        line = refused(kitchen, "paraphrase", "--like", "i sleep.", "--full")
    assert "standard input, row 1: a template beside a whole tree; leave out one of them" in line


def test_a_parser_that_is_missing_is_named_with_how_to_make_it(
    changed: Path, refused: Refuse, edit: Callable[..., None]
) -> None:
    shutil.rmtree(changed / "data/parsers/own")
    assert "data/parsers/own: parser own is not made; dvc repro train_parser@own" in refused(
        changed, "paraphrase", SOURCE
    )
    edit(changed / "params.yaml", "parsers.own.treebank", "kitchen_zh")
    line = refused(changed, "paraphrase", SOURCE)
    assert (
        "params.yaml: parsers: no parser for the texts of corpus kitchen; train one on it (treebank: kitchen)" in line
    )


def test_the_corpus_own_parser_comes_before_one_that_learned_from_it(
    changed: Path, refused: Refuse, edit: Callable[..., None]
) -> None:
    edit(changed / "params.yaml", "parsers.other", parser("benepar", "en", "kitchen_zh"))
    edit(changed / "params.yaml", "parsers.own.treebank", "kitchen_zh")
    edit(changed / "params.yaml", "corpora.kitchen.parser", "other")
    assert "data/parsers/other: parser other is not made" in refused(changed, "paraphrase", SOURCE)


def test_a_default_that_is_not_there_is_named(changed: Path, refused: Refuse, edit: Callable[..., None]) -> None:
    edit(changed / "params.yaml", "models.se.default_for", [])
    line = refused(changed, "expand", SOURCE, "--template", "(S (NP) (VP))")
    assert "--model: no model of profile nursery is the default for expand.en; name one: se, se_no_tmpl, " in line
    assert "scpn" in line and "tg" not in line and "poet" not in line


def test_a_parser_folder_that_is_none_is_one_line(kept: Path, refused: Refuse) -> None:
    assert "data/parsers/own/parser.json: no such file" in refused(kept, "paraphrase", SOURCE)
