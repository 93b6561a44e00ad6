"""Texts under the structure of a template, through the library."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_models import SAT, Tagger, build

import espalier
from espalier.corpora.records import Sentence
from espalier.datasets.structure.encode import StructureEncoding, StructureSettings
from espalier.datasets.structure.vocabulary import StructureVocabulary
from espalier.datasets.vocabulary import SPECIALS
from espalier.inference.compose import ComposeWriter
from espalier.inference.folder import save_system
from espalier.inference.requests import TemplateRequest
from espalier.inference.system import System
from espalier.inference.writer import ArgumentError, InferenceWarning, parted
from espalier.io.errors import ConfigError, DataError, EspalierError
from espalier.io.hashing import seed_from
from espalier.tasks.compose import ComposeTask
from espalier.tasks.compose_decoder import ComposeDecoder

#: Eight characters, of which the tagger makes four words.
TEMPLATE = "灯人山前明天在船"
WORDS = "灯人 山前 明天 在船"


def loaded(models: Path, name: str) -> System:
    return espalier.load(models / name, parser=Tagger(), device="cpu")


@pytest.fixture(scope="module")
def lines(models: Path) -> System:
    return loaded(models, "lines")


def asked(template: str = TEMPLATE, **more: Any) -> TemplateRequest:
    return TemplateRequest(template, **more)


# --- What is written --------------------------------------------------------------------------------------------------


def test_each_template_has_n_texts_in_order_each_with_its_own_prompt(lines: System) -> None:
    found = lines.compose([asked(prompt="灯人"), "山前明天"], n=3, seed=5)
    assert [(each.template, each.prompt, each.sample, each.seed) for each in found] == [
        *((TEMPLATE, "灯人", sample, 5) for sample in range(3)), *(("山前明天", "", sample, 5) for sample in range(3)),
    ]  # fmt: skip
    assert all(each.text.startswith("灯人") for each in found[:3])
    assert len({each.text for each in found[:3]}) == 3
    assert not any(special in each.text for each in found for special in SPECIALS)


@pytest.mark.parametrize("search", [{"beam": 0}, {"beam": 3}])
def test_a_frame_makes_the_length_exact_and_without_it_texts_are_at_most_20_longer(
    lines: System, search: dict[str, int]
) -> None:
    framed = lines.compose([TEMPLATE, "山前明天"], n=3, frame=True, **search)
    assert [len(each.text) for each in framed] == [8, 8, 8, 4, 4, 4]
    free = lines.compose([TEMPLATE], n=3, temperature=50.0)
    assert all(len(each.text) <= 28 for each in free) and {len(each.text) for each in free} != {8}


def test_a_text_depends_on_its_place_and_seed_and_not_on_its_batch(
    lines: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    templates = [TEMPLATE, "山前明天", TEMPLATE]
    found = lines.compose(templates, seed=2)
    assert found == lines.compose(templates, seed=2) != lines.compose(templates, seed=3)
    assert found[:1] == lines.compose(templates[:1], seed=2) and found[0].text != found[2].text
    monkeypatch.setattr("espalier.inference.writer.PREFIXES", 1)
    assert found == lines.compose(templates, seed=2)


@pytest.mark.parametrize("beam", [0, 3])
@torch.no_grad()
def test_the_texts_are_those_of_the_task_for_a_record_of_the_corpus(lines: System, beam: int) -> None:
    record = Sentence(id="a", origin="", language="zh", target=TEMPLATE, target_words=WORDS, target_tags="n n n n")
    data = StructureEncoding().encode([record], lines.vocabulary, lines.settings).split
    given = int(data.columns["prompt"].flat[0])
    batch = data.batch(np.array([0]), lines.view)
    decoder = ComposeDecoder(method="beam" if beam else "top_k", top_k=4, beam=beam or 1)
    (wanted,) = ComposeTask().generate(lines.model, batch, decoder, [seed_from(1, 0, 0)])
    found = lines.compose([asked(prompt=TEMPLATE[:given])], n=beam or 1, top_k=4, beam=beam)
    texts = ["".join(map(lines.vocabulary.token, each.tokens)) for each in wanted]
    assert [each.text for each in found] == texts
    assert len(set(texts)) == (beam or 1)


def test_the_symbols_of_a_template_and_not_its_words_decide_what_is_written(models: Path) -> None:
    news = loaded(models, "news")
    first, same, other = (
        [each.text for each in news.compose([template], n=20, frame=True)]
        for template in ("a dog runs in", "the cat room in", "a the cat dog")  # v v n n, twice, and v v v v
    )
    assert first == same != other


def test_both_structures_stand_in_the_result_also_those_that_the_model_does_not_read(models: Path) -> None:
    (found,) = loaded(models, "topics").compose([asked("灯人山", topics=("船",))], frame=True)
    assert found.template_structure.tokens == ("灯", "人", "山")
    assert found.template_structure.symbols == {"pc": ("B", "E", "S"), "pos": ("n", "n", "v")}
    assert found.text_structure.tokens == tuple(found.text)
    assert found.text_structure.symbols == found.template_structure.symbols  # the tagger counts characters


def test_chinese_texts_are_tagged_as_whole_lines_and_english_ones_by_their_words(models: Path) -> None:
    for name, template in (("lines", TEMPLATE), ("news", "the dog runs")):
        system = loaded(models, name)
        (found,) = system.compose([template], frame=True)
        written = found.text if name == "lines" else found.text.split()
        assert system.parser.seen == [template if name == "lines" else template.split(), written]  # type: ignore[attr-defined]


def test_a_text_that_cannot_be_tagged_has_no_symbols(models: Path) -> None:
    system = loaded(models, "news")
    writer: Any = system.writer("compose")
    assert isinstance(writer, ComposeWriter)
    one, other = writer._tagged(["a zzz", "a dog"])
    assert (one.tokens, one.symbols) == (("a", "zzz"), {"pos": ()})
    assert other.symbols == {"pos": ("v", "v")}


def test_traditional_characters_and_invisible_ones_are_read_as_training_texts_are(models: Path) -> None:
    system = loaded(models, "lines")
    (found,) = system.compose([asked("燈人\u200b好你", prompt="燈")])
    assert (found.template, found.prompt) == ("灯人好你", "灯") and found.text.startswith("灯")


def test_a_template_for_a_model_of_ptb_is_brought_to_its_form(models: Path, tmp_path: Path) -> None:
    words = ["the", "dog", "cost", "$", "N", "did", "n't", "<unk>"]
    vocabulary = StructureVocabulary.build(words, {"pos": ["n", "v"]}, "en", min_count=1)
    build(tmp_path / "ptb", "sat", {**SAT, "structures": ["pos"]}, vocabulary)
    save_system(tmp_path / "ptb", StructureSettings(structures=("pos",), max_length=12).model_dump(mode="json"))
    first, second = loaded(tmp_path, "ptb").compose(
        [asked('The "dog" didn\'t cost $5.20, Moss.', prompt="The dog"), "the <unk> cost N"], frame=True
    )
    assert (first.template, first.prompt) == ("the dog did n't cost $ N <unk>", "the dog")
    assert second.template == "the <unk> cost N"


def test_english_is_cut_into_penn_s_words_and_has_ascii_marks(models: Path) -> None:
    system = loaded(models, "news")
    with pytest.warns(InferenceWarning, match="^template: read as the dog didn't sleep in a room.$"):
        (found,) = system.compose([asked("the dog didn’t sleep in a room.", prompt="the dog")], frame=True)
    assert found.template_structure.tokens == ("the", "dog", "did", "n't", "sleep", "in", "a", "room", ".")
    assert len(found.text.split()) == 9


# --- A structure itself -----------------------------------------------------------------------------------------------


def test_a_structure_itself_gives_the_texts_of_a_sentence_that_has_it(models: Path) -> None:
    news = loaded(models, "news")
    (said, given, line) = (
        [each.text for each in news.compose([request], n=5, frame=True)]
        for request in (asked("a dog runs in"), asked("", pos="v v n n"), asked("", pos="pos 2/4  v  v  n  n"))
    )
    assert said == given == line
    (found,) = news.compose([asked("", pos="v v n n", prompt="the cat")], frame=True)
    assert found.template_structure.tokens == ("the", "cat", "_", "_") and found.text.startswith("the cat")


def test_words_are_one_symbol_for_each_token_and_their_tags_may_be_one_for_each_word(models: Path) -> None:
    lines = loaded(models, "lines")
    wanted = lines.compose([asked("灯人山前明天")], n=3)[0].template_structure.symbols
    for pc, pos in (("BE BE BE", "n n n"), ("B E B E B E", "n n n n n n"), ("pc  b e b e b e", "n n n")):
        (found,) = lines.compose([asked("", pc=pc, pos=pos)], frame=True)
        assert found.template_structure.symbols == wanted and len(found.text) == 6


def test_a_given_structure_takes_the_place_of_the_template_s_own(models: Path) -> None:
    (found,) = loaded(models, "lines").compose([asked("灯人山前", pos="n n v v")])
    assert found.template_structure.tokens == tuple("灯人山前")
    assert found.template_structure.symbols == {"pc": ("B", "E", "B", "E"), "pos": ("n", "n", "v", "v")}


# --- Prompts and topics -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "template", "prompt", "kept"),
    [("lines", "灯人 山前", " 灯 人", "灯人"), ("news", "a dog runs in", "a  dog", "a dog"), ("news", "a dog", "", "")],
)
def test_spaces_of_a_prompt_do_not_count(models: Path, name: str, template: str, prompt: str, kept: str) -> None:
    (found,) = loaded(models, name).compose([asked(template, prompt=prompt)])
    assert found.prompt == kept and found.text.startswith(kept)


def test_topics_are_those_given_else_the_template_s_own(models: Path) -> None:
    system = loaded(models, "topics")
    given, own = system.compose([asked(topics=("灯", "船")), asked()])
    assert given.topics == ("灯", "船")
    assert 0 < len(own.topics) <= 2 and all(word in TEMPLATE for word in own.topics)
    same, other = (system.compose([asked(topics=(word,))], n=4) for word in ("灯", "船"))
    assert [each.text for each in same] != [each.text for each in other]


def test_unknown_words_of_prompts_and_topics_are_said_and_kept(models: Path) -> None:
    system = loaded(models, "topics")
    with pytest.warns(InferenceWarning, match="^model topics does not know 月 风; read as unknown$"):
        (found,) = system.compose([asked("风人山前", prompt="风", topics=("月",))])
    assert found.text.startswith("风") and found.topics == ("月",)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system.compose([asked("风人山前", topics=("灯",))])  # only its symbols are read


# --- Bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "request_", "message"),
    [
        ("lines", asked(""), "template: no words; give a Chinese sentence"),
        ("lines", asked("灯 love 人"), "template: 'love', which is not Chinese; leave it out"),
        ("lines", asked("こんにちは灯人"), "template: 'こんにちは', which is not Chinese; leave it out"),
        ("news", asked("a dog 狗"), "template: '狗', which is not English; leave it out"),
        ("lines", asked("a dog runs"), "template: most of its words are not Chinese; the model reads Chinese alone"),
        ("news", asked("灯人"), "template: most of its letters are not English; the model reads English alone"),
        ("news", asked("привет"), "template: most of its letters are not English; the model reads English alone"),
        ("news", asked("a zzz"), "template: parser given refuses its 2 words (empty); give one short sentence"),
        ("lines", asked("灯人" * 7), "template: 14 tokens; at most 12, as in training"),
        ("lines", asked("灯人空"), "template: pos x (空), which the model's training texts do not have; word it"),
        ("news", asked("a void"), "template: pos x (void), which the model's training texts do not have; word it"),
        ("lines", asked(prompt="灯人山前明"), "template, prompt: 5 of 8 tokens; at most 4, half of the template"),
        (
            "lines",
            asked(prompt="人"),
            "template, prompt: the template does not begin with '人'; give its own",
        ),
        ("news", asked("a dog", prompt="a d"), "template, prompt: the template does not begin with 'a d'; give its"),
        ("news", asked("a dog in", prompt="ad og"), "template, prompt: the template does not begin with 'ad og'; give"),
        ("lines", asked(topics=("月",)), "template, topics: model lines reads no topics; leave them out"),
        ("topics", asked(topics=("灯",) * 3), "template, topics: 3 topic words; at most 2, as in training"),
        ("topics", asked(topics=("灯", "，")), "template, topics: a topic without words; give words"),
        (
            "news",
            asked("", pos="v q"),
            "template: pos q (_), which the model's training texts do not have; they have n v",
        ),
        ("news", asked("a dog", pos="v"), "template, pos: 1 symbols for 2 tokens; give one for each of a dog"),
        ("news", asked("", pos="pos 3/3"), "template, pos: no symbols; give one for each token"),
        ("news", asked("", pc="S S"), "template: model news has no pc; leave it out"),
        ("news", asked("", pos="v v", prompt="a dog runs"), "template, prompt: 3 tokens for 2 symbols; shorten it"),
        ("lines", asked("", pos="n n v"), "template: the model reads pc and pos; give pc as well, or a sentence"),
        ("lines", asked("", pc="BE", pos="n v x"), "template: 2 of pc and 3 of pos; give a symbol of each for each"),
        ("lines", asked("", pc="B S", pos="n n"), "template, pc: 'BS' is no sequence of words; S for a word of one"),
        ("topics", asked("", pos="n n", pc="BE"), "template, topics: no topics, which the model reads; give them, or"),
        ("topics", asked(topics=("灯" * 30,)), "template: topics and texts of up to 60 tokens, of a model that has 40"),
    ],
)
def test_a_template_that_cannot_be_followed_is_named_and_the_others_are(
    models: Path, name: str, request_: TemplateRequest, message: str
) -> None:
    system, good = loaded(models, name), "a dog runs in the room" if name == "news" else TEMPLATE
    with pytest.raises(DataError) as caught:
        system.compose([good, request_])
    assert str(caught.value).startswith(message) and "\n" not in str(caught.value)
    writer = system.writer("compose")
    jobs, errors = parted(writer.read([asked(good), request_, asked(good)]))
    assert [str(error) for error in errors] == [str(caught.value)]
    assert [each.template for _, each in writer.write(jobs)] == [good, good]


def test_a_tag_that_the_model_does_not_read_may_be_unknown(models: Path) -> None:
    (found,) = loaded(models, "topics").compose([asked("灯人空", topics=("灯",))])
    assert found.template_structure.symbols["pos"] == ("n", "n", "x")


def test_a_slack_that_the_model_has_no_room_for_asks_for_a_frame(models: Path) -> None:
    template = "灯人" * 6
    system = loaded(models, "lines")
    system.model.config = system.model.config.model_copy(update={"positions": 32})
    with pytest.raises(DataError, match=r"texts of up to 33 tokens, of a model that has 32 positions; .* use frame"):
        system.compose([template])
    assert len(system.compose([template], frame=True)[0].text) == 12
    system.model.config = system.model.config.model_copy(update={"positions": 12})
    with pytest.raises(DataError, match=r"of a model that has 12 positions; give a shorter template$"):
        system.compose([template], frame=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n: 0 is too small; at least 1"),
        ({"n": 4, "beam": 3}, "n: 4 texts of 3 beams; raise the beam to 4, or lower n"),
        ({"temperature": 0.0}, "temperature: 0.0 is no temperature; above 0, at most 100"),
        ({"top_k": 0}, "top_k: 0 is too small; at least 1"),
        ({"beam": 1001}, "beam: 1001 is too large; at most 1,000"),
    ],
)
def test_an_option_that_cannot_be_is_named(lines: System, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        lines.compose([TEMPLATE], **options)
    assert str(caught.value) == f"lines.compose, {message}"


@pytest.mark.parametrize("name", ["gpt2", "verse", "plain"])
def test_a_model_that_reads_no_structure_says_what_is_needed(models: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=f"model {name} serves .*; compose needs a model that reads structures"):
        loaded(models, name).compose(["a dog"])


def test_a_parser_without_tags_is_named(models: Path) -> None:
    class Untagged(Tagger):
        def _one(self, sentence: Any) -> Any:
            from espalier.syntax.parse import Parse

            return Parse(tuple(sentence))

    with pytest.raises(EspalierError, match="parser given gives no tags; name one that does"):
        espalier.load(models / "news", parser=Untagged(), device="cpu").compose(["a dog"])


@pytest.mark.parametrize("value", [5, None, ["a dog"]])
def test_an_input_that_is_no_text_is_named(lines: System, value: Any) -> None:
    with pytest.raises(ArgumentError, match=r"templates\[0\]: \w+( 5)? instead of str or TemplateRequest"):
        lines.compose([value])
