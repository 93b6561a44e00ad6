"""Paraphrases under templates, and the trees that guide them, through the library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import TEMPLATES, TREES, Words

import espalier
from espalier.corpora.records import Pair
from espalier.datasets.pairs.encode import PairEncoding
from espalier.inference import paraphrase
from espalier.inference.paraphrase import print_words
from espalier.inference.requests import PairRequest
from espalier.inference.system import System
from espalier.inference.writer import ArgumentError, InferenceWarning, parted
from espalier.io.errors import ConfigError, EspalierError
from espalier.syntax.constituency import read_tree, write_tree
from espalier.syntax.levels import cut
from espalier.tasks.paraphrase import ParaphraseTask
from espalier.tasks.paraphrase_decoder import PairDecoder

COOK, SLEEP = "The cook peels an onion.", "Now, I sleep."
BARE = "(S (NP) (VP) (.))"


@pytest.fixture(scope="module")
def writer(models: Path) -> System:
    return espalier.load(models / "writer", parser=Words(), device="cpu")


@pytest.fixture(scope="module")
def expander(models: Path) -> System:
    return espalier.load(models / "expander", parser=Words(), device="cpu")


def top(tree: str, levels: int) -> str:
    return write_tree(cut(read_tree(tree, words=False), levels))


def test_each_text_is_written_under_each_template(writer: System) -> None:
    found = writer.paraphrase([COOK, SLEEP], templates=[BARE, TEMPLATES[1]], n=2, beam=4)
    assert [(each.source, each.template) for each in found[::2]] == [
        (COOK, BARE), (COOK, TEMPLATES[1]), (SLEEP, BARE), (SLEEP, TEMPLATES[1]),
    ]  # fmt: skip
    for first, second in zip(found[::2], found[1::2], strict=True):
        assert (
            first.tree == second.tree
            and first.log_probability >= second.log_probability
            and first.words != second.words
        )
    for each in found:
        levels = 2 if each.template == BARE else 3
        assert top(each.tree, levels) == each.template and each.text == print_words(each.words, True)


def test_without_templates_the_most_frequent_ones_of_the_folder_guide(writer: System) -> None:
    assert [each.template for each in writer.paraphrase([COOK], templates=2)] == TEMPLATES
    with pytest.raises(ArgumentError, match="templates: 3 templates; model writer has 2 of its training data"):
        writer.paraphrase([COOK])


def test_the_text_is_the_best_of_the_task_s_search_under_the_expanded_tree(writer: System, expander: System) -> None:
    """A slow way to the same: the pair is encoded with the expanded tree as its target's, and decoded by the task."""
    (found,) = writer.paraphrase([COOK], templates=[BARE], beam=4)
    (tree,) = expander.expand([COOK], templates=[BARE], beam=4)
    assert tree.tree == found.tree and tree.template == BARE and tree.log_probability < 0
    words, parse = "the cook peels an onion .", write_tree(cut(read_tree(TREES["the cook peels an onion ."]), 8))
    pair = Pair(id="a", origin="", language="en", source=words, source_words=words, source_tree=parse,
                target=words, target_words=words, target_tree=tree.tree)  # fmt: skip
    split = PairEncoding().encode([pair], writer.vocabulary, writer.settings).split
    batch = split.batch(np.array([0]), writer.view)
    decoder = PairDecoder(beam=4, max_ids=21, min_ids=1)
    ((best, *_),) = ParaphraseTask().generate(writer.model, batch, decoder, ())
    assert writer.vocabulary.decode_text(best.tokens).split() == list(found.words)
    assert found.log_probability == pytest.approx(best.log_probability, abs=1e-4)


def test_an_expansion_gives_its_best_trees_the_most_probable_first(expander: System) -> None:
    found = expander.expand([COOK], templates=[BARE], beam=4, n=3)
    assert found[:1] == expander.expand([COOK], templates=[BARE], beam=4)
    assert len({each.tree for each in found}) == 3
    assert [each.log_probability for each in found] == sorted((each.log_probability for each in found), reverse=True)
    with pytest.raises(ConfigError, match="n: 5 texts of 4 beams"):
        expander.expand([COOK], beam=4, n=5)


def test_a_request_s_own_template_comes_before_the_shared_ones(writer: System) -> None:
    found = writer.paraphrase([PairRequest(COOK, TEMPLATES[1]), SLEEP], templates=[BARE])
    assert [each.template for each in found] == [TEMPLATES[1], BARE]


def test_an_exemplar_gives_its_top_or_its_whole_tree(writer: System) -> None:
    whole = write_tree(cut(read_tree(TREES["now , i sleep ."]), 8))
    (found,) = writer.paraphrase([COOK], like=SLEEP)
    assert found.template == top(whole, 3)
    (found,) = writer.paraphrase([COOK], like=SLEEP, full=True)
    assert found.template == found.tree == whole
    assert writer.writer("paraphrase", like=SLEEP, full=True).names == {"model": "writer", "expander": None}
    assert writer.writer("paraphrase", like=SLEEP).names == {"model": "writer", "expander": "expander"}


def test_every_node_of_a_template_is_kept_however_deep_its_branches_are(writer: System, expander: System) -> None:
    ragged = "(S (NP (DT) (NN)) (VP) (.))"
    for found in (*writer.paraphrase([COOK], templates=[ragged]), *expander.expand([SLEEP], templates=[ragged])):
        assert found.template == ragged
        tree = read_tree(found.tree, words=False)
        assert [node.label() for node in tree] == ["S", "NP", "VP", "."][1:]
        assert write_tree(tree[0]) == "(NP (DT) (NN))" and len(tree[1]) and not len(tree[2])


def test_the_words_of_a_template_stand_at_their_leaves(writer: System) -> None:
    given = "(S (NP (DT An) (NN cook)) (VP (VBZ sleep)) (. .))"
    found = writer.paraphrase([COOK, SLEEP], templates=[given, BARE], n=2, beam=4)
    for each in found:
        assert each.template in (given, BARE)
        if each.template == given:
            assert each.words[:4] == ("an", "cook", "sleep", ".")
    assert len({each.words for each in found if each.template == BARE}) > 1
    # A phrase is expanded first; its word stands where the phrase begins, and others follow in order.
    (found_,) = writer.paraphrase([COOK], templates=["(S (NP (DT the)) (VP) (. .))"], beam=4)
    assert found_.words[0] == "the" and "." in found_.words


def test_words_that_no_text_or_tree_can_have_are_named(writer: System, expander: System) -> None:
    with pytest.raises(ArgumentError, match="templates: the word и has characters that the model does not know"):
        writer.paraphrase([COOK], templates=["(S (NP (NN и)) (VP))"])
    long = "(S (NP (NN " + "qz" * 40 + ")) (VP))"
    with pytest.raises(ArgumentError, match=r"templates: its words take \d+ word pieces; at most 20; leave some out"):
        writer.paraphrase([COOK], templates=[long])
    with pytest.warns(InferenceWarning, match="templates: trees have no words, and do without the cook"):
        expander.expand([COOK], templates=["(S (NP (DT the) (NN cook)) (VP))"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam": 0}, "beam: 0 is too small; at least 1"),
        ({"beam": 1001}, "beam: 1001 is too large; at most 1,000"),
        ({"n": 0}, "n: 0 is too small"),
        ({"n": 9}, "n: 9 texts of 8 beams; raise the beam to 9, or lower n"),
        ({"templates": 0}, "templates: 0 is too small"),
        ({"templates": ["(S (NP"]}, "templates: 2 brackets are not closed"),
        ({"templates": ["(S)"]}, "templates: a single node S without children"),
        ({"templates": ["(S (NPP))"]}, "templates: unknown label NPP; the nearest known are NPP: NP"),
        ({"templates": [f"(S (NP{' (NN)' * 12}) (VP{' (VBZ)' * 12}))"]}, "templates: the shortest tree has"),
        ({"templates": ["(S (NP) (VP))", "(S)"]}, "templates: (S): a single node S without children"),
        ({"full": True}, "full: there is no whole tree to take"),
        ({"like": "zzz"}, "like: parser given refuses its 3 characters (no tree)"),
        ({"like": "洋葱"}, "like: most of its letters are not English"),
        ({"like": "onion " * 19, "full": True}, "like: its tree has over 20 nodes"),
    ],
)
def test_an_option_that_cannot_be_is_one_line(writer: System, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        writer.paraphrase([COOK], **options)
    assert str(caught.value).startswith(f"writer.paraphrase, {message}")


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ("", "texts[1]: no words; give an English sentence"),
        ("zzz", "texts[1]: parser given refuses its 3 characters (no tree); give one short sentence"),
        ("onion " * 30, "texts[1]: 30 words; at most 20 word pieces"),
        ("xkcd " * 9, "texts[1]: it has over 20 word pieces; give one sentence at a time"),
        ("厨师", "texts[1]: most of its letters are not English"),
        ("onion " * 2000, "texts[1]: 12,000 characters; at most 10,000"),
        (PairRequest(COOK, "(S (NPP))", "row 7"), "row 7, template: unknown label NPP"),
        (PairRequest(COOK, "(S (NP))" * 2000, "row 7"), "row 7, template: a template of 16,000 characters; at most 10"),
    ],
)
def test_a_bad_text_is_named_and_the_others_are_answered_as_if_it_were_not_there(
    writer: System, request_: Any, message: str
) -> None:
    with pytest.raises(EspalierError) as caught:
        writer.paraphrase([COOK, request_], templates=[BARE])
    assert str(caught.value).startswith(message)
    session = writer.writer("paraphrase", templates=[BARE])
    requests = [session.request(text, f"texts[{place}]") for place, text in enumerate([COOK, request_, SLEEP])]
    jobs, errors = parted(session.read(requests))
    assert [str(error) for error in errors] == [str(caught.value)]
    good = writer.paraphrase([COOK, SLEEP], templates=[BARE])
    assert [(each.words, each.tree) for _, each in session.write(jobs)] == [(each.words, each.tree) for each in good]


def test_an_expander_of_other_trees_is_refused(models: Path) -> None:
    system = espalier.load(models / "writer", parser=Words(), expander=models / "other_depth", device="cpu")
    with pytest.raises(ArgumentError, match="expander: other_depth and writer were trained with other depths of trees"):
        system.paraphrase([COOK])
    system = espalier.load(models / "writer", parser=Words(), expander=models / "unguided", device="cpu")
    with pytest.raises(ArgumentError, match="expander: model unguided serves paraphrase; expand needs"):
        system.paraphrase([COOK])


def test_a_model_without_an_expander_says_so_unless_the_tree_is_whole(models: Path, tmp_path: Path) -> None:
    import shutil

    folder = Path(shutil.copytree(models / "writer", tmp_path / "lone"))
    (folder / "system.json").write_text((models / "unguided/system.json").read_text(encoding="utf-8"), encoding="utf-8")
    system = espalier.load(folder, parser=Words(), device="cpu")
    with pytest.raises(ConfigError, match="model lone has no expander; give one"):
        system.paraphrase([COOK], templates=[BARE])
    assert len(system.paraphrase([COOK], like=SLEEP, full=True)) == 1


def test_a_parser_without_trees_is_refused(models: Path) -> None:
    class Flat(Words):
        def parse(self, sentences: Any) -> list[Any]:
            from dataclasses import replace

            return [replace(parse, tree="") for parse in super().parse(sentences)]

    system = espalier.load(models / "writer", parser=Flat(), device="cpu")
    with pytest.raises(ConfigError, match="parser given gives no constituency trees"):
        system.paraphrase([COOK], templates=[BARE])


def test_likelihood_parses_what_a_record_lacks(writer: System) -> None:
    (found,) = writer.likelihood([{"source": COOK, "target": SLEEP}])
    words = {"source": "the cook peels an onion .", "target": "now , i sleep ."}
    pair = Pair(id="a", origin="", language="en", source=COOK, target=SLEEP, source_words=words["source"],
                target_words=words["target"], source_tree=TREES[words["source"]],
                target_tree=TREES[words["target"]])  # fmt: skip
    split = PairEncoding().encode([pair], writer.vocabulary, writer.settings).split
    loss = writer.model.token_losses(split.batch(np.array([0]), writer.view))
    assert found.nll == pytest.approx(loss.sum().item(), rel=1e-5)
    assert found.tokens == len(split.columns["target"].flat) + 1


@pytest.mark.parametrize(
    ("told", "lower", "written"),
    [
        ("i ca n't find the cook 's knife .", True, "I can't find the cook's knife."),
        ("`` no , '' he said .", True, '"No," he said.'),
        ("in Rome i is a letter", False, "in Rome i is a letter"),
        ("", True, ""),
        (".", True, "."),
    ],
)
def test_words_are_printed_as_people_write_them(told: str, lower: bool, written: str) -> None:
    assert print_words(told.split(), lower) == written


def test_texts_are_ranked_by_their_length_as_asked_and_trees_are_not(
    writer: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    powers = []
    asked = paraphrase.search

    def noted(*args: Any, **more: Any) -> Any:
        powers.append(args[2].length_power)
        return asked(*args, **more)

    monkeypatch.setattr(paraphrase, "search", noted)
    writer.paraphrase([COOK], templates=[BARE], length_power=0.7)
    assert powers == [0.0, 0.7]  # of the tree, of the text
    with pytest.raises(ArgumentError, match="length_power: -1 is too small; at least 0"):
        writer.paraphrase([COOK], templates=[BARE], length_power=-1)
