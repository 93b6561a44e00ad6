"""Synthetic sources: files in the formats of published sources, with rows that the nursery's grammars grow.

They stand in for sources that are out of reach when a profile is rehearsed. Each function writes the files of one
source into a folder, as its reader expects them. To add one: `SYNTHETIC["mine"] = write`.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np

from espalier.corpora.records import Pair
from espalier.io.hashing import seed_from
from espalier.nursery import dialogue_zh, lyrics_zh, paraphrase_en, verse_en, verse_zh
from espalier.syntax.conllu import Annotated, write_conllu
from espalier.syntax.constituency import read_tree
from espalier.syntax.dependency import Dependencies, dependencies_of
from espalier.syntax.levels import linearize
from espalier.syntax.parse import parse_of
from espalier.verse.text import units_of
from espalier.verse.tunes import Tune, tunes

#: Rows of each source.
ROWS: Final = 120

Texts = list[tuple[str, str]]
#: Writes the files of a source; the seed tells the rows of one source from those of another.
Writer = Callable[[Path, int], None]

#: Universal tags of the first letters of the Penn treebank's.
_UPOS: Final = {
    "CC": "CCONJ", "CD": "NUM", "D": "DET", "I": "ADP", "J": "ADJ", "MD": "AUX", "NNP": "PROPN", "N": "NOUN",
    "PR": "PRON", "R": "ADV", "T": "PART", "U": "INTJ", "V": "VERB", "WP": "PRON", "W": "ADV",
}  # fmt: skip


def write_synthetic(source: str, folder: Path) -> bool:
    """Write the files of a source into a folder; False if nothing is known of its format."""
    if source not in SYNTHETIC:
        return False
    SYNTHETIC[source](folder, seed_from("synthetic", source))
    return True


def _guig_released(folder: Path, seed: int) -> None:
    """The pairs with their trees, and texts of others for each of them."""
    pairs = list(paraphrase_en.grow(ROWS, seed))
    fields = ((p.source, *_linearized(p.source_tree), p.target, *_linearized(p.target_tree)) for p in pairs)
    _write(folder / "test_syn_src.txt", ("\t\t".join(row) for row in fields))
    for name in ("text.full.v-submit.11.19.txt", "text.full.v-submit.11.26.txt"):
        _write(folder / name, (pair.source for pair in pairs))


def _linearized(tree: str) -> tuple[str, str]:
    """Labels and levels, as the reader `paranmt` reads them."""
    labels, levels = linearize(read_tree(tree, words=False))
    return " ".join(labels), " ".join(map(str, levels))


def _penn(folder: Path, seed: int) -> None:
    trees = [pair.target_tree for pair in paraphrase_en.grow(ROWS, seed)]
    _write(folder / "treebank/combined/wsj_0001.mrg", (f"( {tree} )" for tree in trees))


def _conllu_en(folder: Path, seed: int, *, files: Sequence[str]) -> None:
    """Every word depends on the word before it: the grammar of English has no dependencies."""
    sentences = []
    for pair in paraphrase_en.grow(ROWS, seed):
        words, tags = pair.target_words.split(), pair.target_tags.split()
        upos = tuple(next((_UPOS[key] for key in _UPOS if tag.startswith(key)), "PUNCT") for tag in tags)
        labels = ("root", *("punct" if tag == "PUNCT" else "dep" for tag in upos[1:]))
        tree = Dependencies(tuple(words), upos, tuple(range(len(words))), labels)
        sentences.append(Annotated("", pair.target, tree))
    _conllu(folder, files, sentences)


def _conllu_zh(folder: Path, seed: int, *, files: Sequence[str]) -> None:
    pairs = dialogue_zh.grow(ROWS, seed)
    trees = (dependencies_of(parse_of(asdict(pair), "target")) for pair in pairs)
    _conllu(folder, files, [Annotated("", pair.target, tree) for pair, tree in zip(pairs, trees, strict=True)])


def _conllu(folder: Path, files: Sequence[str], sentences: Sequence[Annotated]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for place, name in enumerate(files):
        write_conllu(folder / name, sentences[place :: len(files)])


def _qcpg(folder: Path, seed: int) -> None:
    for split, pairs in zip(("validation", "test"), _halves(_pairs(seed)), strict=True):
        folder.mkdir(parents=True, exist_ok=True)
        with gzip.open(folder / f"{split}.csv.gz", "wt", encoding="utf-8", newline="") as file:
            # Every pair stands there in both directions.
            both = chain.from_iterable((pair, pair[::-1]) for pair in pairs)
            csv.writer(file).writerows([("source", "target"), *both])


def _parasci(folder: Path, seed: int) -> None:
    pairs = _pairs(seed)
    for place, name in enumerate(("train", "val", "test")):
        _aligned(folder / name / f"{name}.src", folder / name / f"{name}.tgt", pairs[place::3])


def _mrpc(folder: Path, seed: int) -> None:
    for split, pairs in zip(("train", "test"), _halves(_pairs(seed)), strict=True):
        rows = (f"1\t{2 * n}\t{2 * n + 1}\t{source}\t{target}" for n, (source, target) in enumerate(pairs))
        _write(folder / f"msr_paraphrase_{split}.txt", ("Quality\t#1 ID\t#2 ID\t#1 String\t#2 String", *rows))


def _pos50k(folder: Path, seed: int) -> None:
    for split, pairs in zip(("train", "test"), _halves(_pairs(seed)), strict=True):
        _aligned(folder / f"{split}.src.txt", folder / f"{split}.tgt.txt", pairs)


def _bimpm(folder: Path, seed: int) -> None:
    for split, pairs in zip(("dev", "test"), _halves(_pairs(seed)), strict=True):
        _write(folder / f"{split}.tsv", (f"1\t{source}\t{target}\t{n}" for n, (source, target) in enumerate(pairs)))


def _diffuseq(folder: Path, seed: int) -> None:
    for split, pairs in zip(("valid", "test"), _halves(_pairs(seed)), strict=True):
        _write(folder / f"{split}.jsonl", (json.dumps({"src": source, "trg": target}) for source, target in pairs))


def _bert_vocabulary(folder: Path, seed: int) -> None:
    _write(folder / "bert-base-uncased-vocab.txt", _pieces())


def _pieces() -> list[str]:
    """Five special pieces, the letters and the marks: every text can be said in them."""
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    return [*special, *letters, *(f"##{letter}" for letter in letters), *",.;:!?'\"-()"]


def _cdnpg(folder: Path, seed: int) -> None:
    parts = [_pairs(seed)[place::4] for place in range(4)]
    names = ("quora/valid.h5", "quora/test.h5", "quora1/valid.h5", "quora1/test.h5")
    for name, pairs in zip(names, parts, strict=True):
        _hdf5(folder / name, pairs)


def _twitter_url(folder: Path, seed: int) -> None:
    rows = (f"{source}\t{target}\t(5,6)\thttps://t.co/{n}" for n, (source, target) in enumerate(_pairs(seed)))
    _write(folder / "Twitter_URL_Corpus_test.txt", rows)


def _twitter_cdnpg(folder: Path, seed: int) -> None:
    for split, pairs in zip(("valid", "test"), _halves(_pairs(seed)), strict=True):
        _hdf5(folder / f"twitterurl/{split}.h5", pairs)


def _hdf5(file: Path, pairs: Texts) -> None:
    """As C-DNPG's code does: all ids in one row, and one row of a table a pair."""
    import tables
    from tokenizers import BertWordPieceTokenizer

    tokenizer = BertWordPieceTokenizer({piece: number for number, piece in enumerate(_pieces())}, lowercase=True)
    file.parent.mkdir(parents=True, exist_ok=True)
    ids: list[int] = []
    rows: list[tuple[int, int, int]] = []
    for pair in pairs:
        left, right = (encoding.ids for encoding in tokenizer.encode_batch(list(pair)))
        rows.append((len(ids), len(left), len(right)))
        ids += [*left, *right]
    columns = {name: tables.Int32Col(pos=place) for place, name in enumerate(("pos", "src_len", "tgt_len"))}
    with tables.open_file(str(file), "w") as opened:
        opened.create_array("/", "sentences", np.array(ids, np.int32))
        opened.create_table("/", "indices", columns).append(rows)


def _lccc(folder: Path, seed: int) -> None:
    for split, pairs in zip(("valid", "test"), _halves(_dialogues(seed)), strict=True):
        dialogues = [[" ".join(text) for text in pair] for pair in pairs]
        _write(folder / f"LCCC-base_{split}.json", [json.dumps(dialogues, ensure_ascii=False)])


def _cdial(folder: Path, seed: int) -> None:
    for split, pairs in zip(("train", "valid"), _halves(_dialogues(seed)), strict=True):
        _write(folder / f"toy_{split}.txt", ("\t".join(" ".join(text) for text in pair) for pair in pairs))


def _xdailydialog(folder: Path, seed: int) -> None:
    names = ("dialogues_text_Zh.txt", "zh_dev_human.txt", "zh_test_human.txt")
    for place, name in enumerate(names):
        _write(folder / name, (f"{post} __eou__ {answer} __eou__" for post, answer in _dialogues(seed)[place::3]))


def _songci(folder: Path, seed: int) -> None:
    poems = [
        {"rhythmic": poem.tune, "author": "nobody", "paragraphs": units_of(poem.target)}
        for poem in verse_zh.grow(ROWS, seed)
    ]
    _write(folder / "ci.song.0.json", [json.dumps(poems, ensure_ascii=False)])


def _songnet_released(folder: Path, seed: int) -> None:
    """Five draws that are the poems themselves, and the names of their tunes."""
    poems = [
        (poem.tune, "".join(f"{unit}</s>" for unit in units_of(poem.target))) for poem in verse_zh.grow(ROWS, seed)
    ]
    for draw in range(1, 6):
        lines = (f"nobody<s1>{tune}<s2>{text}\t<bos>{text}" for tune, text in poems)
        _write(folder / f"out{draw}.txt", lines)
    _write(folder / "cipai.txt", [" ".join(sorted({tune for tune, _ in poems}))])


def _couyun(folder: Path, seed: int) -> None:
    """One variant of each tune, and the characters of some poems in two rhymes of either tone."""
    forms = folder / "couyun" / "ci_pu"
    named = tunes()
    index = [{"idx": number, "names": [name], "names_trad": [name]} for number, name in enumerate(named)]
    _write(forms / "ci_index.json", [json.dumps(index, ensure_ascii=False)])
    for number, tune in enumerate(named.values()):
        _write(forms / "ci_list" / f"cipai_{number}.json", [json.dumps([_variant(tune)], ensure_ascii=False)])
    characters = sorted({word for poem in verse_zh.grow(ROWS, seed) for word in poem.target if word.isalpha()})
    rhymes = [
        f'{name} = ["{"".join(characters[part::4])}", {tone}, {group}, {group}, {part + 1}]'
        for part, (name, tone, group) in enumerate((("a1", 1, 1), ("b2", 1, 2), ("c3", 3, -1), ("d4", 3, -2)))
    ]
    _write(folder / "couyun" / "hanzi" / "hanzi_class.py", rhymes)


def _variant(tune: Tune) -> dict[str, object]:
    """A tune's only variant: free tones but where it rhymes; places of the other tone are negative."""
    tones, text, groups = "", "", dict[str, list[int]]()
    for unit, letter, sign in zip(tune.units, tune.rhyme, tune.tone, strict=True):
        count = sum(length for length, _ in unit)
        text += "".join("字" * length + mark for length, mark in unit)
        tones += "中" * (count - 1) + (sign if letter != "." else "中")
        if letter != ".":
            group = groups.setdefault(letter, [])
            last = len(tones) - 1
            group.append(-last if group and tones[group[0]] != sign else last)
    places = sorted(abs(place) for group in groups.values() for place in group)
    classes = {str(number): group for number, group in enumerate(groups.values())}
    return {"ge_lyu_str": tones, "rhyme_pos": places, "yun_classify": classes, "origin": text}


def _songs(folder: Path, seed: int) -> None:
    lines = [line.target for line in lyrics_zh.grow(8 * ROWS, seed)]
    songs = [{"title": "", "singer": "", "lyric": lines[start : start + 8]} for start in range(0, len(lines), 8)]
    _write(folder / "songs.json", [json.dumps(songs, ensure_ascii=False)])


def _netease(folder: Path, seed: int) -> None:
    """A file for each song: its title, a credit, its lines."""
    lines = [line.target for line in lyrics_zh.grow(8 * ROWS, seed)]
    for number, start in enumerate(range(0, len(lines), 8)):
        _write(folder / f"163music/nobody/{number}.txt", (f"{number}", "作曲 : 无", *lines[start : start + 8]))


def _ptt(folder: Path, seed: int) -> None:
    """Chains of four lines, each with the next; words apart."""
    lines = [line.target_words for line in lyrics_zh.grow(4 * ROWS, seed)]
    pairs = (lines[at : at + 2] for start in range(0, len(lines), 4) for at in range(start, start + 3))
    _write(folder / "lyrics_zh.txt", chain.from_iterable(pairs))


def _ptb(folder: Path, seed: int) -> None:
    """The sentences of the treebank's stand-in in small letters and without marks."""
    texts = [pair.target_words.lower().split() for pair in paraphrase_en.grow(3 * ROWS, seed)]
    plain = [" ".join(word for word in words if word.isalnum()) for words in texts]
    for place, split in enumerate(("train", "valid", "test")):
        _write(folder / f"ptb.{split}.txt", plain[place::3])


def _friedman(folder: Path, seed: int) -> None:
    """Half of them by Shakespeare, by whose name corpora are told apart."""
    poems = [["Untitled", poem.target] for poem in verse_en.grow(2 * ROWS, seed)]
    authors = {"Shakespeare, William": poems[::2], "Nobody, Anon": poems[1::2]}
    _write(folder / "sonnets.json", [json.dumps(authors)])


def _deepspeare(folder: Path, seed: int) -> None:
    poems = [" <eos> ".join(units_of(poem.target)) for poem in verse_en.grow(ROWS, seed)]
    for place, split in enumerate(("train", "valid", "test")):
        _write(folder / f"sonnet_{split}.txt", poems[place::3])


def _brown(folder: Path, seed: int) -> None:
    """One document for each fourteen sentences, of which the reader makes one row."""
    sentences = [
        " ".join(f"{word}/{tag}" for word, tag in zip(pair.target_words.split(), pair.target_tags.split(), strict=True))
        for pair in paraphrase_en.grow(14 * ROWS, seed)
    ]
    names = [f"c{group}{number:02d}" for group in "abcdefg" for number in range(1, 21)][:ROWS]
    for place, name in enumerate(names):
        _write(folder / "brown" / name, sentences[place :: len(names)])
    _write(folder / "brown/cats.txt", (f"{name} news" for name in names))


def _wordnet(folder: Path, seed: int) -> None:
    """One synset of nouns; the other parts of speech are empty."""
    for part in ("noun", "verb", "adj", "adv"):
        noun = part == "noun"
        _write(folder / "wordnet" / f"{part}.exc", [])
        _write(folder / "wordnet" / f"index.{part}", ["film n 1 0 1 0 00000000"] if noun else [])
        synset = "00000000 10 n 02 film 0 movie 0 000 | moving pictures"
        _write(folder / "wordnet" / f"data.{part}", [synset] if noun else [])


def _pairs(seed: int) -> Texts:
    return _texts(paraphrase_en.grow(ROWS, seed))


def _dialogues(seed: int) -> Texts:
    return _texts(dialogue_zh.grow(ROWS, seed))


def _texts(pairs: Iterable[Pair]) -> Texts:
    return [(pair.source, pair.target) for pair in pairs]


def _halves(pairs: Texts) -> tuple[Texts, Texts]:
    return pairs[::2], pairs[1::2]


def _aligned(left: Path, right: Path, pairs: Texts) -> None:
    _write(left, (source for source, _ in pairs))
    _write(right, (target for _, target in pairs))


def _write(file: Path, lines: Iterable[str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


SYNTHETIC: Final[dict[str, Writer]] = {
    "guig_released": _guig_released,
    "penn": _penn,
    "ud_english_ewt": partial(_conllu_en, files=[f"en_ewt-ud-{split}.conllu" for split in ("train", "dev", "test")]),
    "ud_chinese_gsd_v1": partial(_conllu_zh, files=["zh-ud-train.conllu"]),
    "ud_chinese_gsd": partial(_conllu_zh, files=[f"zh_gsd-ud-{split}.conllu" for split in ("dev", "test")]),
    "ud_chinese_gsdsimp": partial(_conllu_zh, files=[f"zh_gsdsimp-ud-{split}.conllu" for split in ("dev", "test")]),
    "qcpg_parabank2": _qcpg,
    "qcpg_mscoco": _qcpg,
    "parasci_acl": _parasci,
    "mrpc": _mrpc,
    "quora_pos50k": _pos50k,
    "quora_bimpm": _bimpm,
    "quora_diffuseq": _diffuseq,
    "quora_cdnpg": _cdnpg,
    "bert_vocab": _bert_vocabulary,
    "twitter_url": _twitter_url,
    "twitter_cdnpg": _twitter_cdnpg,
    "weibo_lccc": _lccc,
    "weibo_cdial": _cdial,
    "xdailydialog": _xdailydialog,
    "songci": _songci,
    "songnet_released": _songnet_released,
    "couyun": _couyun,
    "lyrics_songs": _songs,
    "lyrics_netease": _netease,
    "lyrics_ptt": _ptt,
    "ptb": _ptb,
    "sonnets_friedman": _friedman,
    "sonnets_deepspeare": _deepspeare,
    "brown": _brown,
    "wordnet": _wordnet,
}
