"""Word pieces: which texts come back, and which cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.datasets.pairs.tree_symbols import TreeSymbols
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.ragged import Ragged
from espalier.datasets.vocabulary import BOS, EOS, PAD, UNK
from espalier.io.errors import ArtifactError, ConfigError, DataError
from espalier.syntax.constituency import read_tree

TEXTS = ["the tall heron waits", "a heron waits by the lamp", "lamps , and the tall grass", "who waits ? <pad> </s>"]
SYMBOLS = TreeSymbols.build([read_tree("(S (NP (NN)) (VP (VB)))", words=False)], 8)


def build(pieces: int = 60, lower: bool = True, texts: list[str] = TEXTS) -> PairVocabulary:
    return PairVocabulary.build(texts, SYMBOLS, "en", pieces=pieces, lower=lower)


VOC = build()
KNOWN = sorted({letter for text in TEXTS for letter in text} - {" "})
WORDS = st.lists(st.text(st.sampled_from(KNOWN), min_size=1, max_size=7), max_size=6)
#: Any characters at all but the space, which parts words, and the sign that marks where they begin.
ANY = st.lists(st.text(st.characters(exclude_characters=" ▁", codec="utf-8"), min_size=1, max_size=6), max_size=5)


@given(WORDS)
def test_words_of_known_characters_come_back(words: list[str]) -> None:
    text = VOC.text_of(words)
    (ids,) = VOC.encode_texts([text])
    assert VOC.decode_text(ids) == text == " ".join(words)
    assert all(4 <= each < VOC.text_size for each in ids)


@given(WORDS)
def test_the_pieces_of_each_word_are_those_of_the_word_alone(words: list[str]) -> None:
    (ids,) = VOC.encode_texts([" ".join(words)])
    assert VOC.pieces_by_word(ids) == [tuple(own) for own in VOC.encode_texts(words)]


@given(ANY)
def test_of_any_words_all_comes_back_but_unknown_characters_and_those_become_words(words: list[str]) -> None:
    text = VOC.text_of(words)
    (ids,) = VOC.encode_texts([text])
    spelt = "".join(letter if letter in {*KNOWN, " "} else " <unk> " for letter in text)
    assert VOC.decode_text(ids) == " ".join(word for word in spelt.split(" ") if word)
    assert ids.count(UNK) == sum(letter not in {*KNOWN, " "} for letter in text)
    assert "  " not in VOC.decode_text(ids) and not {PAD, BOS, EOS} & {*ids}


@given(st.lists(st.integers(0, VOC.text_size - 1), max_size=12))
def test_any_ids_make_words_joined_by_single_spaces(ids: list[int]) -> None:
    text = VOC.decode_text(ids)
    assert text == " ".join(text.split())
    assert VOC.decode_text([each for each in ids if each not in (PAD, BOS, EOS)]) == text


@given(st.lists(st.lists(st.integers(0, VOC.text_size - 1), max_size=6), max_size=5))
def test_the_words_of_encoded_texts_are_those_of_their_decoded_texts(rows: list[list[int]]) -> None:
    assert VOC.words_of(Ragged.of(rows)) == {word for ids in rows for word in VOC.decode_text(ids).split()}


def test_the_sign_that_marks_where_words_begin_does_not_come_back() -> None:
    (ids,) = VOC.encode_texts(["tall▁heron ▁ waits"])
    assert VOC.decode_text(ids) == "tall heron waits"


def test_a_text_that_spells_a_special_holds_characters_and_no_special() -> None:
    for text in ("<pad>", "heron <pad> waits", "<pad><pad>", "<s> </s>"):
        (ids,) = VOC.encode_texts([text])
        assert VOC.decode_text(ids) == text and not {PAD, UNK, BOS, EOS} & {*ids}
    spelt = build(texts=["<unk> <bos> <eos> <pad>"] * 9)
    (ids,) = spelt.encode_texts(["<eos> <unk> <pad> <bos>"])
    assert min(ids) > EOS and spelt.decode_text(ids) == "<eos> <unk> <pad> <bos>"


def test_unknown_words_in_a_row_are_parted_by_one_space() -> None:
    (ids,) = VOC.encode_texts(["µ heron µ µ waits µ"])
    assert VOC.decode_text(ids) == "<unk> heron <unk> <unk> waits <unk>"


def test_lower_case_is_the_vocabulary_s_choice() -> None:
    assert VOC.text_of(["The", "HERON"]) == "the heron"
    assert build(lower=False).text_of(["The", "HERON"]) == "The HERON"
    raised = [text.upper() for text in TEXTS]
    assert build(texts=raised).pieces == VOC.pieces != build(texts=raised, lower=False).pieces


def test_the_number_of_pieces_is_a_limit() -> None:
    letters = 4 + len(KNOWN) + 1  # specials, characters, the sign before words
    assert build(pieces=letters + 7).text_size == letters + 7
    assert build(pieces=9999).text_size < 200
    more, fewer = VOC.encode_texts(TEXTS), build(pieces=letters + 2).encode_texts(TEXTS)
    assert sum(map(len, more)) < sum(map(len, fewer))


def test_what_is_learned_depends_on_the_texts_alone() -> None:
    assert len({build().pieces for _ in range(5)}) == 1
    assert build(texts=TEXTS[::-1]).pieces == VOC.pieces


def test_the_file_gives_it_back(tmp_path: Path) -> None:
    VOC.save(tmp_path / "vocabulary.json")
    again = PairVocabulary.load(tmp_path / "vocabulary.json")
    assert again == VOC and again.encode_texts(TEXTS) == VOC.encode_texts(TEXTS)
    assert again.encode_texts(["<pad>"]) == VOC.encode_texts(["<pad>"])


@pytest.mark.parametrize("text", ["{}", "[]", '{"pieces": "", "trees": 3}', '{"trees": {"labels": 1, "depth": "x"}}'])
def test_a_file_that_is_none_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "vocabulary.json").write_text(text)
    with pytest.raises(ArtifactError, match="not a vocabulary of pairs"):
        PairVocabulary.load(tmp_path / "vocabulary.json")


def test_a_damaged_tokenizer_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "vocabulary.json"
    VOC.save(file)
    value = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**value, "pieces": "{}"}), encoding="utf-8")
    with pytest.raises(ArtifactError, match="no tokenizer"):
        PairVocabulary.load(file)


@pytest.mark.parametrize("pieces", [0, 1_000_001, 10**9, 10**30])
def test_more_pieces_than_memory_holds_are_refused_before_the_library_ends_the_process(pieces: int) -> None:
    with pytest.raises(ConfigError, match=rf"pieces: {pieces} word pieces; 1 to 1,000,000"):
        PairVocabulary.build(["a b"], None, "en", pieces=pieces, lower=True)


# --- BERT's pieces ----------------------------------------------------------------------------------------------------

BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "her", "##on", "wait", "##s", "##ing", "tall", "?", "'", "s"]


def bert(folder: Path, texts: list[str], min_count: int = 1) -> PairVocabulary:
    file = folder / "bert-base-uncased-vocab.txt"
    file.write_text("\n".join(BERT) + "\n", encoding="utf-8")
    return PairVocabulary.published(texts, None, "en", file=file, min_count=min_count)


def test_published_pieces_are_kept_that_train_often_enough_and_the_rest_is_unknown(tmp_path: Path) -> None:
    voc = bert(tmp_path, ["A héron waits?", "a heron waits", "[SEP] tall [SEP] waiting"], min_count=2)
    assert [BERT[id_] for id_ in voc.kept] == ["a", "her", "##on", "wait", "##s"] and voc.text_size == 4 + 5
    (ids,) = voc.encode_texts(["a tall heron waiting"])
    assert ids == [4, UNK, 5, 6, 7, UNK]
    assert voc.decode_text(ids) == "a <unk> heron wait <unk>"
    assert voc.pieces_of([UNK, 4, 5, 6]) == ["<unk>", "▁a", "▁her", "on"]
    assert voc.starts[4:] == [True, True, False, True, False]
    assert voc.words_of(Ragged.of([[4, 5, 6], [7, 8]])) == {"a", "heron", "waits"}


def test_a_text_is_as_bert_splits_it_whether_a_model_knows_its_pieces_or_not(tmp_path: Path) -> None:
    voc = bert(tmp_path, ["a"])
    assert voc.text_of(["A", "HÉRON's", "waiting?", "☃"]) == "a heron ' s waiting ?"
    assert voc.text_of(["☃"]) == ""


def test_a_cut_counts_the_pieces_of_the_whole_vocabulary(tmp_path: Path) -> None:
    voc = bert(tmp_path, ["a"])
    text = "a heron waiting ?"  # a her ##on wait ##ing ?
    assert voc.cut([text], 9) == [text] == voc.cut([text], 6)
    assert [voc.cut([text], n)[0] for n in (5, 4, 2)] == ["a heron waiting", "a heron wait", "a her"]
    assert VOC.cut(TEXTS, 999) == TEXTS
    ids = VOC.encode_texts(TEXTS)
    assert VOC.cut(TEXTS, 3) == [VOC.decode_text(row[:3]) for row in ids]


def test_published_pieces_come_back_from_their_file(tmp_path: Path) -> None:
    voc = bert(tmp_path, ["a heron waits"])
    voc.save(tmp_path / "vocabulary.json")
    again = PairVocabulary.load(tmp_path / "vocabulary.json")
    assert again == voc != bert(tmp_path, ["a heron"])
    assert again.decode_text(again.encode_texts(["a heron waits"])[0]) == "a heron waits"


def test_published_pieces_that_cannot_serve_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^the training split: no piece occurs 3 times; lower min_count$"):
        bert(tmp_path, ["a heron"], min_count=3)
    with pytest.raises(ArtifactError, match=r"none\.txt: no such file"):
        PairVocabulary.published(["a"], None, "en", file=tmp_path / "none.txt", min_count=1)
    (tmp_path / "v.txt").write_text("\n".join(BERT).replace("[CLS]", "[cls]"), encoding="utf-8")
    with pytest.raises(DataError, match=r"v\.txt: no BERT vocabulary"):
        PairVocabulary.published(["a"], None, "en", file=tmp_path / "v.txt", min_count=1)
