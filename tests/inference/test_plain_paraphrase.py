"""Paraphrases by models that read texts alone, and the granularity of their pieces, through the library."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from tiny_models import Words

import espalier
from espalier.corpora.records import Pair
from espalier.datasets.pairs.encode import PairEncoding
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.vocabulary import BOS
from espalier.inference import plain_paraphrase
from espalier.inference.pairs import note_unknown_words
from espalier.inference.paraphrase import print_words
from espalier.inference.requests import PairRequest
from espalier.inference.system import System
from espalier.inference.writer import ArgumentError, InferenceWarning, parted
from espalier.io.errors import ConfigError, DataError, EspalierError
from espalier.io.files import write_json
from espalier.tasks.paraphrase import ParaphraseTask
from espalier.tasks.paraphrase_decoder import PairDecoder

COOK, SLEEP = "the cook peels an onion .", "now , i sleep ."


@pytest.fixture(scope="module")
def plain(models: Path) -> System:
    return espalier.load(models / "plain", device="cpu")


def batch_of(system: System, text: str) -> Any:
    pair = Pair(id="a", origin="", language="en", source=text, target=text)
    return PairEncoding().encode([pair], system.vocabulary, system.settings).split.batch(np.array([0]), system.view)


# --- Paraphrases ------------------------------------------------------------------------------------------------------


def test_pairs_without_trees_need_no_parser_and_no_template(plain: System) -> None:
    found = plain.paraphrase([COOK, SLEEP], n=2, beam=4)
    assert [each.source for each in found] == [COOK, COOK, SLEEP, SLEEP]
    for first, second in zip(found[::2], found[1::2], strict=True):
        assert first.log_probability >= second.log_probability and first.words != second.words
    assert {(each.template, each.tree) for each in found} == {("", "")}
    assert all(each.text == print_words(each.words, True) for each in found)


def test_words_without_a_known_piece_are_said_even_where_bert_cannot_spell_them(tmp_path: Path) -> None:
    file = tmp_path / "vocab.txt"
    file.write_text("\n".join(["[UNK]", "[CLS]", "[SEP]", "a", "cook", "sleeps", "waits"]), encoding="utf-8")
    vocabulary = PairVocabulary.published(["a cook"], None, "en", file=file, min_count=1)
    text = "a 龘 cook sleeps waits"  # 龘 is no piece of BERT's, "sleeps" none of training, "waits" is not read
    pair = Pair(id="texts[0]", origin="", language="en", source=text, target=text)
    with pytest.warns(InferenceWarning) as noted:
        note_unknown_words(pair, SimpleNamespace(vocabulary=vocabulary, name="m"), 3)  # type: ignore[arg-type]
    assert [str(note.message) for note in noted] == [
        "texts[0]: model m does not know sleeps, and reads it as unknown",
        "texts[0]: model m has no pieces for 龘, and leaves it out",
    ]


def test_the_text_is_the_best_of_the_task_s_search(plain: System) -> None:
    (found,) = plain.paraphrase([COOK], beam=4)
    decoder = PairDecoder(beam=4, max_ids=21, min_ids=1)
    ((best, *_),) = ParaphraseTask().generate(plain.model, batch_of(plain, COOK), decoder, ())
    assert plain.vocabulary.decode_text(best.tokens).split() == list(found.words)
    assert found.log_probability == pytest.approx(best.log_probability, abs=1e-4)


def test_texts_are_ranked_by_their_length_as_asked(plain: System, monkeypatch: pytest.MonkeyPatch) -> None:
    powers = []
    asked = plain_paraphrase.search
    monkeypatch.setattr(
        plain_paraphrase, "search", lambda *args: powers.append(args[2].length_power) or asked(*args)
    )  # fmt: skip
    plain.paraphrase([COOK], length_power=0.7)
    plain.granularities([COOK], length_power=0.3)
    assert powers == [0.7, 0.3]
    with pytest.raises(ArgumentError, match="length_power: 11 is too large; at most 10"):
        plain.paraphrase([COOK], length_power=11)


def test_a_text_that_the_dataset_would_cut_is_cut_and_said_and_else_refused(models: Path) -> None:
    long = " ".join([COOK.removesuffix(" .")] * 9)
    system = espalier.load(models / "plain", device="cpu")
    with pytest.raises(DataError, match="45 words; at most"):
        system.paraphrase([long])
    system.settings = system.settings.model_copy(update={"cut": True})
    with pytest.warns(InferenceWarning, match=r"^texts\[0\]: the text is cut after \d+ word pieces, the most that"):
        system.paraphrase([long])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system.paraphrase([COOK])


def test_a_model_of_parsed_pairs_reads_the_parser_s_words(models: Path) -> None:
    unguided = espalier.load(models / "unguided", parser=Words(), device="cpu")
    glued, split = unguided.paraphrase(["the cook peels an onion.", COOK])
    assert (glued.words, glued.log_probability) == (split.words, pytest.approx(split.log_probability, abs=1e-5))
    with pytest.raises(ConfigError, match="model unguided has no parser"):
        espalier.load(models / "unguided", device="cpu").paraphrase([COOK])


def test_a_model_without_trees_does_not_load_a_parser_that_splits_texts_by_rules(models: Path, tmp_path: Path) -> None:
    lost = {"backend": "benepar", "model": None, "options": {}, "signature": "its model is not here"}
    write_json(tmp_path / "parser.json", lost)
    plain = espalier.load(models / "plain", parser=tmp_path, device="cpu")
    glued, split = plain.paraphrase(["the cook peels an onion.", COOK])
    assert glued.words == split.words
    pair = {"source": COOK, "target": COOK}
    of_text, of_words = plain.likelihood([pair, pair | {"source_words": COOK, "target_words": COOK}])
    assert of_text.nll == pytest.approx(of_words.nll, abs=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"templates": ["(S (NP) (VP))"]}, "templates: model plain reads no tree; leave it out"),
        ({"like": COOK}, "like: model plain reads no tree; leave it out"),
        ({"n": 9}, "n: 9 texts of 8 beams; raise the beam to 9, or lower n"),
        ({"beam": 0}, "beam: 0 is too small; at least 1"),
    ],
)
def test_an_option_that_cannot_be_is_named(plain: System, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        plain.paraphrase([COOK], **options)
    assert str(caught.value) == f"plain.paraphrase, {message}"


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ("", "texts[1]: no words; give an English sentence"),
        ("厨师在削洋葱。", "texts[1]: most of its letters are not English; the model reads English alone"),
        ("onion " * 300, "texts[1]: 300 words; at most 20 word pieces; give one sentence at a time"),
        ("xkcd " * 9, "texts[1]: it has over 20 word pieces; give one sentence at a time"),
        (PairRequest(COOK, "(S (NP) (VP))", "row 2"), "row 2: model plain reads no tree; leave out the template"),
    ],
)
def test_a_text_that_cannot_be_read_is_named_and_the_others_are_written(
    plain: System, request_: str | PairRequest, message: str
) -> None:
    with pytest.raises(EspalierError) as caught:
        plain.paraphrase([COOK, request_, SLEEP])
    assert str(caught.value) == message
    writer = plain.writer("paraphrase")
    requests = [writer.request(text, f"texts[{place}]") for place, text in enumerate([COOK, request_, SLEEP])]
    jobs, errors = parted(writer.read(requests))
    assert [str(error) for error in errors] == [message]
    assert [each.source for _, each in writer.write(jobs)] == [COOK, SLEEP]


# --- Granularity ------------------------------------------------------------------------------------------------------


def test_granularities_are_those_of_the_source_and_of_the_best_paraphrase(plain: System) -> None:
    cook, sleep = plain.granularities([COOK, SLEEP], beam=4)
    for found, text in ((cook, COOK), (sleep, SLEEP)):
        assert found.source == text and found.text == plain.paraphrase([text], beam=4)[0].text
        pieces = "".join(found.source_pieces).replace("▁", " ").split()
        assert " ".join(pieces) == text and found.text_pieces[0] == plain.vocabulary.pieces_of([BOS])[0]
        assert [*found.encoder] == [*found.decoder] == [2]
        assert len(found.encoder[2]) == len(found.source_pieces) and len(found.decoder[2]) == len(found.text_pieces)
        with torch.no_grad():
            wanted = plain.model.granularities(batch_of(plain, text)).encoder[2][0]
        assert found.encoder[2] == pytest.approx(wanted.tolist(), abs=1e-5)
        assert len({round(z, 4) for z in found.encoder[2]}) > 1 and all(0 < z < 1 for z in found.encoder[2])


def test_dnpg_gives_the_source_one_layer_of_granularity_and_the_paraphrase_none(models: Path) -> None:
    levels = espalier.load(models / "levels", device="cpu")
    (found,) = levels.granularities([COOK], beam=2)
    assert found.text == levels.paraphrase([COOK], beam=2)[0].text and found.decoder == {}
    with torch.no_grad():
        wanted = levels.model.granularities(batch_of(levels, COOK))[0][1][0]
    assert found.encoder == {1: pytest.approx(wanted.tolist(), abs=1e-5)}


def test_the_decoder_s_granularity_is_that_of_its_steps(plain: System) -> None:
    (found,) = plain.granularities([COOK], beam=2)
    state = plain.model.start(batch_of(plain, COOK))
    ids = {piece: id_ for id_, piece in enumerate(plain.vocabulary.pieces_of(range(plain.vocabulary.text_size)))}
    with torch.no_grad():
        for piece in found.text_pieces:
            _, state = plain.model.step(torch.tensor([ids[piece]]), state)
    assert state.past[1].granularity[0].tolist() == pytest.approx(found.decoder[2], abs=1e-5)


def test_a_note_names_the_words_that_the_model_does_not_know(models: Path) -> None:
    system = espalier.load(models / "plain", device="cpu")
    with pytest.warns(InferenceWarning, match=r"^texts\[0\]: model plain does not know eжe 龘, and reads it"):
        system.paraphrase(["now i eжe 龘 sleep ."])
