"""Golden values of the readers of treebanks, paraphrases and dialogues."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from espalier.corpora.published import published_texts
from espalier.corpora.readers import READERS
from espalier.corpora.readers.songnet_released import written
from espalier.corpora.records import values_of

PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "who",
    "lit",
    "the",
    "lamp",
    "?",
    "was",
    "by",
    "a",
    "door",
    "is",
    "what",
    "##s",
]
QCPG = "source,target\nThe lamp glows.,It is the lamp that glows.\n"
MRPC = (
    "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n1\t1\t2\tThe lamp glows.\tA lamp is lit.\r\n0\t3\t4\ta\tb\r\n"
)


def put(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def read(reader: str, folders: Mapping[str, Path], **options: Any) -> Any:
    return [values_of(row) for row in READERS[reader].rows(folders, options, language="en", where="golden")]


def penn(folder: Path) -> Any:
    trees = "( (S (NP-SBJ-1 (DT the) (NN lamp))\n    (VP (VBZ glows) (NP (-NONE- *-1)))))\n( (X (-NONE- *)))\n"
    return read("penn", {"penn": put(folder, {"treebank/combined/wsj_0001.mrg": trees})})


def conllu(folder: Path) -> Any:
    def rows(*words: tuple[str, str, int, str]) -> str:
        lines = [f"{n}\t{w}\t_\t{t}\tX\t_\t{h}\t{r}\t_\t_" for n, (w, t, h, r) in enumerate(words, start=1)]
        return "\n".join([*lines, "", ""])

    old = rows(("他", "PRON", 2, "nsubj"), ("見", "VERB", 0, "root"), ("過", "PART", 2, "case:aspect"),
               ("石橋", "NOUN", 2, "dobj"), (".", "PUNCT", 2, "punct"))  # fmt: skip
    new = "# text = 灯亮。\n" + rows(("灯", "NOUN", 2, "nsubj"), ("亮", "VERB", 0, "root"), ("。", "PUNCT", 2, "punct"))
    folders = {
        "old": put(folder / "old", {"zh_x-ud-train.conllu": old}),
        "new": put(folder / "new", {"zh_x-ud-dev.conllu": new}),
    }
    return [read("conllu", folders, language="zh"), read("conllu", folders, language="zh", v1=["old"], simplified=True)]


def paraphrases(folder: Path) -> dict[str, Path]:
    packed = gzip.compress(QCPG.encode(), mtime=0)
    return {
        "bank": put(folder / "bank", {"validation.csv.gz": packed, "test.csv.gz": packed}),
        "sci": put(
            folder / "sci",
            {
                f"{part}/{part}.{side}": f"{part} {side}\n"
                for part in ("train", "val", "test")
                for side in ("src", "tgt")
            },
        ),
        "news": put(folder / "news", {"msr_paraphrase_train.txt": MRPC, "msr_paraphrase_test.txt": MRPC}),
    }


def write(file: Path, *pairs: tuple[str, str]) -> None:
    """Pairs of pieces as C-DNPG's code lays them out."""
    import tables

    names = {name: tables.Int32Col(pos=place) for place, name in enumerate(("pos", "src_len", "tgt_len"))}
    file.parent.mkdir(parents=True, exist_ok=True)
    with tables.open_file(str(file), "w") as opened:
        ids = opened.create_earray("/", "sentences", tables.Int32Atom(), shape=(0,))
        indices = opened.create_table("/", "indices", type("Row", (tables.IsDescription,), names))
        for pair in pairs:
            left, right = ([PIECES.index(piece) for piece in f"[CLS] {text} [SEP]".split()] for text in pair)
            indices.append([(len(ids), len(left), len(right))])
            ids.append(left + right)


def quora_pool(folder: Path) -> dict[str, Path]:
    held = ("who lit the lamp ?", "the lamp was lit by who ?")
    write(folder / "cdnpg/quora/valid.h5", held)
    write(folder / "cdnpg/quora/test.h5", ("what is the door ?", "the door is what ?"))
    write(folder / "cdnpg/quora1/valid.h5")
    write(folder / "cdnpg/quora1/test.h5", ("what is a lamp ?", "a lamp is what ?"))
    questions = ["Who lit the lamp?", "What is a door?", "Is the lamp lit?"]
    others = ["The lamp was lit by who?", "A door is what?", "Is a lamp lit?"]
    pool = {"train.src.txt": "\n".join(questions) + "\n", "train.tgt.txt": "\n".join(others) + "\n"}
    return {
        "cdnpg": folder / "cdnpg",
        "bert": put(folder / "bert", {"bert-base-uncased-vocab.txt": "\n".join(PIECES) + "\n"}),
        "pool": put(folder / "pool", pool | {"test.src.txt": "", "test.tgt.txt": ""}),
        "labelled": put(folder / "labelled", {"dev.tsv": "1\tIs a door lit?\tWas a door lit?\t7\n", "test.tsv": ""}),
        "more": put(
            folder / "more",
            {"valid.jsonl": json.dumps({"src": "A door?", "trg": "The door?"}) + "\n", "test.jsonl": ""},
        ),
    }


def quora(folder: Path) -> Any:
    folders = quora_pool(folder)
    return [read("quora", folders), read("quora", folders, unshared="question")]


def together(folder: Path) -> Any:
    folders = paraphrases(folder)
    more = quora_pool(folder) | folders
    texts = {"lower": True, "plain": True, "ascii_only": True, "min_words": 2, "max_words": 5, "deduplicate": True}
    return [
        *read("paraphrases", folders),
        *read("paraphrases", more, **texts),
        *read("paraphrases", more, count=6, shares={"quora": 0.5, "sci": 0.25, "bank": 0.25}, seed=2),
    ]


def guig_released(folder: Path) -> Any:
    fields = "the lamp", "NP DT NN", "1 2 2", "a lamp", "NP DT NN", "1 2 2"
    lines = ["\t\t".join(fields), "\t\t".join(fields).replace("1 2 2", "1 3 2"), "a line\tof two fields"]
    released = put(folder, {"test_syn_src.txt": "\n".join(lines), "texts.txt": "lit\n  a  lamp \nlit"})
    return [read("guig_released", {"mine": released}), published_texts(released / "texts.txt", ["mine-test-000001"])]


def songnet_released(folder: Path) -> Any:
    lines = ["某甲<s1>石桥令<s2>灯亮。</s>桥，远。</s>\t<bos>云</s>山。</s></s>", "某甲<s1>石桥令\t<bos>云</s>"]
    released = put(folder, {"out1.txt": "\n".join(lines)})
    ids = ["mine-test-000001", "mine-test-000000"]
    return [read("songnet_released", {"mine": released}), published_texts(released / "out1.txt", ids, written)]


def paranmt(folder: Path) -> Any:
    fields = ("we rest", "S NP PRP VP VBP", "1 2 3 2 3", "rest !", "S VP VB .", "1 2 3 2")
    parsed = read("paranmt", {"mine": put(folder, {"paranmt.txt": "\t\t".join(fields) + "\n\nhalf a line\n"})})
    return [*parsed, *read("paranmt", {"mine": put(folder, {"paranmt.txt": "we rest\trest !\none\ttwo\tthree\n"})})]


def prose_zh(folder: Path) -> Any:
    (folder / "lccc").mkdir()
    dialogue = ["灯 亮 了 。 桥 边 见 ！ ！", "好 , 8 点", "月 圆 ？ 風 吹 。 走 吧"]
    (folder / "lccc" / "LCCC-base_valid.json").write_text(json.dumps([dialogue], ensure_ascii=False), encoding="utf-8")
    songs = [{"lyric": ["灯山", "桥 雨", "石", "（白）月", "舟"]}]
    (folder / "songs.json").write_text(json.dumps(songs, ensure_ascii=False), encoding="utf-8")
    found = READERS["prose_zh"].rows({"sung": folder, "said": folder / "lccc"}, {"units": 2}, language="zh", where="")
    return [[type(row).__name__, values_of(row)] for row in found]


def chinese_dialogues(folder: Path) -> Any:
    files = dict.fromkeys(("zh_dev_human.txt", "zh_test_human.txt"), "")
    files["dialogues_text_Zh.txt"] = "灯亮了吗？ __eou__ 亮了。 __eou__\n"
    return read("chinese_dialogues", {
        "x": put(folder / "x", files),
        "cdial": put(folder / "cdial", {"toy_train.txt": "灯 亮\t桥 远\n"}),
    })  # fmt: skip


def weibo(folder: Path) -> Any:
    said = json.dumps([["灯 亮 了 。", "桥 边 见 ！", "好 ， 8 点 4 5"], ["只 有 一 句"]], ensure_ascii=False)
    return read("weibo", {
        "lccc": put(folder / "lccc", {"LCCC-base_valid.json": said, "LCCC-base_test.json": "[]"}),
        "cdial": put(folder / "cdial", {"toy_train.txt": "灯 亮\t桥 远\n", "toy_valid.txt": ""}),
    })  # fmt: skip


def xdailydialog(folder: Path) -> Any:
    train, dev = "灯亮了吗？ __eou__ 亮了。 __eou__ 走吧，Anna。\n\n", "桥远吗？__eou__不远。__eou__\t3\t2 1\t0 0\n"
    files = {"dialogues_text_Zh.txt": train, "zh_dev_human.txt": dev, "zh_test_human.txt": ""}
    return read("xdailydialog", {"x": put(folder, files)})


def tsv(folder: Path) -> Any:
    text = "the lamp glows\tit is  lit\td1\n\tempty\td1\nno group\there\t\nbare\n"
    columns = {"columns": ["source", "target", "group"]}
    return read("tsv", {"mine": put(folder, {"pairs.tsv": text})}, **columns)


TABLE = 'first,second,same\nThe lamp,It ""is"" lit,1\nmoss,stone,0\nbare\n'


def pairs(folder: Path) -> Any:
    columns = {"source": "first", "target": "second", "label": "same"}
    files = put(folder, {"a.csv": TABLE, "b.jsonl": '{"first": "a", "second": 2, "same": true}\n{\n'})
    return read("pairs", {"mine": files}, columns=columns, labels=[1])


def texts(folder: Path) -> Any:
    return read("text_table", {"mine": put(folder, {"a.csv": TABLE})}, columns={"text": "first"})


def verse(folder: Path) -> Any:
    poems = [{"name": "Lamp", "lines": ["The lamp, it's lit.", "", "A door?"]}, {"name": "moss", "lines": ["--"]}, 5]
    columns = {"text": "lines", "title": "name"}
    return read("verse", {"mine": put(folder, {"a.json": json.dumps(poems)})}, columns=columns, rhyme="AA")


def dialogues(folder: Path) -> Any:
    turns = [{"who": "a", "text": "Lit?"}, {"who": "a", "text": "Is it?"}, {"who": "b", "text": "So."}, {"who": "c"}]
    data = json.dumps([{"turns": turns[:3]}, {"turns": turns}, {"turns": []}])
    options = {"turns": "turns", "text": "text", "speaker": "who"}
    return read("dialogues", {"mine": put(folder, {"a.json": data})}, **options)


def lrc(folder: Path) -> Any:
    text = "[ti:灯]\n[00:02.00][00:04.50]桥边的雨\n[00:01.00]灯下的人\n[00:05]作词：某\n"
    return read("lrc", {"mine": put(folder, {"a.lrc": text, "b.lrc": "[ti:x]"})}, language="zh")


def mrg(folder: Path) -> Any:
    trees = "( (S (NP-SBJ-1 (DT the) (NN lamp))\n    (VP (VBZ glows))))\n(X (-NONE- *))\n"
    return read("mrg", {"mine": put(folder, {"dev.mrg": trees, "notes.md": "("})})


def lines(folder: Path) -> Any:
    return read("lines", {"mine": put(folder, {"a.txt": "the lamp glows\n\nso\ufffd\n", "b/c.txt": "灯 明\r\n"})})


def poems(folder: Path) -> Any:
    text = "# Lamp\nThe lamp, it's lit.\n\n\nmoss\n--\n\nA door?\n"
    return read("poems", {"mine": put(folder, {"a.txt": text})}, rhyme="A")


def twitter_url(folder: Path) -> Any:
    place = quora_pool(folder)
    held = ("who lit the lamp ?", "the lamp was lit by who ?")
    tests = [("what is the door ?", "the door is what ?"), held]
    write(folder / "tweets/twitterurl/valid.h5", held)
    write(folder / "tweets/twitterurl/test.h5", *tests)
    lines = ["A lamp\tthe lamp\t(4,6)\tx", "a lamp !\tThe lamp\t(6,6)\tx", "a\tb\t(3,6)\tx", "a\tb", "\ta\t(5,6)\tx"]
    (folder / "voted").mkdir()
    (folder / "voted/Twitter_URL_Corpus_test.txt").write_text("\n".join(lines), encoding="utf-8")
    folders = place | {"tweets": folder / "tweets", "voted": folder / "voted"}
    return [read("twitter_url", folders), read("twitter_url", folders, votes=2, annotated_dev=1)]


def lyrics(folder: Path) -> Any:
    sung = [{"lyric": ["灯下 的人", "桥边（合）有雨", "作词：无", "石上", "灯下的人", "风中~"]}]
    files = {"songs.json": json.dumps(sung, ensure_ascii=False)}
    titled = {"a/灯.txt": "灯\n山外\n\n水上\n灯下的人\n", "a/空.txt": "空\n", "__MACOSX/a/._灯.txt": "x"}
    chains = {"lyrics_zh.txt": "聽 著\n風 中\n風 中\n雨 後\n月\nhey\n"}
    folders = {
        "sung": put(folder / "s", files),
        "titled": put(folder / "t", titled),
        "chains": put(folder / "c", chains),
    }
    return read("lyrics", folders)


def ptb_files(folder: Path) -> Path:
    return put(folder, {"ptb.train.txt": " the lamp N <unk> \n\n", "ptb.valid.txt": " moss \n", "ptb.test.txt": ""})


def ptb_tagged(folder: Path) -> Any:
    trees = "( (S (NP (DT The) (NN lamp)) (VP (VBD rose) (NP (CD 7.5) (NN %))) (. .)) )\n( (NP (NN Moss) (. .)) )\n"
    penn = put(folder / "penn", {"treebank/combined/wsj_0001.mrg": trees})
    return read("ptb_tagged", {"penn": penn, "ptb": ptb_files(folder / "ptb")})


COMPONENTS = {
    "readers.lyrics": lyrics,
    "readers.ptb": lambda folder: read("ptb", {"ptb": ptb_files(folder)}),
    "readers.ptb_tagged": ptb_tagged,
    "readers.chinese_dialogues": chinese_dialogues,
    "readers.conllu": conllu,
    "readers.dialogues": dialogues,
    "readers.lrc": lrc,
    "readers.mrg": mrg,
    "readers.pairs": pairs,
    "readers.text_table": texts,
    "readers.verse": verse,
    "readers.lines": lines,
    "readers.mrpc": lambda folder: read("mrpc", {"news": paraphrases(folder)["news"]}),
    "readers.guig_released": guig_released,
    "readers.songnet_released": songnet_released,
    "readers.paranmt": paranmt,
    "readers.paraphrases": together,
    "readers.parasci": lambda folder: read("parasci", {"sci": paraphrases(folder)["sci"]}),
    "readers.penn": penn,
    "readers.poems": poems,
    "readers.prose_zh": prose_zh,
    "readers.qcpg": lambda folder: read("qcpg", {"bank": paraphrases(folder)["bank"]}),
    "readers.quora": quora,
    "readers.tsv": tsv,
    "readers.twitter_url": twitter_url,
    "readers.weibo": weibo,
    "readers.xdailydialog": xdailydialog,
}
