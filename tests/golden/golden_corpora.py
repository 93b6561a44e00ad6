"""Golden values of what is read, filtered, split, framed and batched."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from espalier.corpora.catalogue import Source
from espalier.corpora.download import fetch
from espalier.corpora.filters import Filters, screen
from espalier.corpora.readers import READERS
from espalier.corpora.readers.brown import read as read_brown
from espalier.corpora.readers.couplets import read as read_couplets
from espalier.corpora.readers.shi import read as read_shi
from espalier.corpora.readers.songci import read as read_songci
from espalier.corpora.readers.sonnets import read as read_sonnets
from espalier.corpora.records import Pair, Sentence, Verse, values_of
from espalier.corpora.splits import AuthorSplit, GroupSplit, RandomSplit, Split, TitleSplit
from espalier.datasets.batch import batch_plan, length_batches
from espalier.datasets.verse.data import VerseData, View
from espalier.datasets.verse.frames import Frame, frame_of, target_of
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.text.language import Language
from espalier.verse.format import format_of, with_tones
from espalier.verse.grammar import parse_format
from tests.corpora.whole_tables import leakage, split_of, table_of
from tests.verse.couyun import write_couyun

VOC = VerseVocabulary(tuple("，。！灯山桥雨石舟"), units=4, length=12, language="zh")
TUNES = ["石桥令", "灯曲", "舟行"]
TEXTS = [("灯山，桥雨。\n山石！", "A."), ("雨。", "A"), ("桥，鹤。\n灯桥山，舟。\n石。", "AB."), ("灯山，桥雨。", "A")]


def verses(count: int) -> list[Verse]:
    """Made-up rows: some repeat, some are short, tunes and authors take turns."""
    return [
        Verse(
            id=f"row/{n}",
            origin="made",
            language="zh",
            target="".join("灯山桥雨石舟"[(n * k) % 6] for k in range(2 + n % 5))
            + "，灯山桥雨石舟灯山。"[: 1 + n % 10],
            author="甲乙丙"[n % 3],
            tune=TUNES[n * n % 3],
            rhyme="A",
        )
        for n in range(count)
    ]


def pairs() -> list[Pair]:
    """Made-up pairs: most break one rule, and the last three repeat the first, whole or in part."""
    lamp, door = "(S (NP (NN lamp)))", "(S (VP (VB shut)))"
    rows: list[tuple[Language, str, str, str, str]] = [
        ("en", "The lamp glows.", "A glow, of the lamp!", lamp, door),
        ("en", "The lamp glows", "  ", lamp, door),
        ("en", "The café is shut", "It is shut now", lamp, door),
        ("en", "A lamp", "Who lit it here", lamp, door),
        ("en", "no no no no", "Not ever again", lamp, door),
        ("en", "Shut the door", "shut, the DOOR!", lamp, door),
        ("en", "The moss is old", "Old is the moss", lamp, "(S (VP (VP (VP (VB is)))))"),
        ("en", "The stone is cold", "Cold is the stone", lamp, "(X (UH cold))"),
        ("zh", "灯亮了", "桥边见", lamp, door),
        ("zh", "燈亮了", "桥在哪", lamp, door),
        ("en", "the LAMP glows", "a glow of the lamp", lamp, door),
        ("en", "the lamp glows!", "who lit the lamp", lamp, door),
        ("en", "A glow of the lamp.", "the lamp, it glows", lamp, door),
    ]
    return [
        Pair(id=f"pair/{n}", origin="made", language=language, source=source, target=target, source_tree=one,
             target_tree=other)
        for n, (language, source, target, one, other) in enumerate(rows)
    ]  # fmt: skip


def sentences() -> list[Sentence]:
    texts = [("A lamp.", ""), ("a LAMP", ""), ("", ""), ("It's lit", "It 's lit"), ("lit lit", "")]
    return [
        Sentence(id=f"sentence/{n}", origin="made", language="en", target=text, target_words=words)
        for n, (text, words) in enumerate(texts)
    ]


def download(folder: Path) -> Any:
    mirror = folder / "mirror"
    mirror.mkdir()
    (mirror / "plain.txt").write_bytes(b"lamp\n" * 50)
    with zipfile.ZipFile(mirror / "packed.zip", "w") as archive:
        archive.writestr("inside/moss.txt", "moss " * 9)
    files: list[dict[str, Any]] = [
        {
            "name": name,
            "urls": [],
            "sha256": hashlib.sha256((mirror / name).read_bytes()).hexdigest(),
            "bytes": (mirror / name).stat().st_size,
            "mirror": name,
            "unpack": name.endswith(".zip"),
        }
        for name in ("plain.txt", "packed.zip")
    ]
    source = Source.model_validate({"title": "made", "licence": "CC0-1.0", "citation": "none", "files": files})
    fetch(source, folder / "raw", mirror=mirror, scratch=folder / "scratch")
    found = sorted(path for path in (folder / "raw").rglob("*") if path.is_file())
    return [[p.relative_to(folder / "raw").as_posix(), hashlib.sha256(p.read_bytes()).hexdigest()] for p in found]


def filters(_: Path) -> Any:
    given: list[tuple[list[Any], Filters]] = [
        (verses(24), Filters(min_tokens=5, max_tokens=14, deduplicate=True)),
        (verses(24), Filters(min_units=2)),
        (verses(24), Filters(authors=("甲",), deduplicate=True)),
        (verses(24), Filters(without_authors=("甲",), max_units=1)),
        *((pairs(), Filters.model_validate(rule)) for rule in (
            {"without_empty": True, "ascii_only": True, "without_traditional": True, "min_words": 3, "max_repeat": 3,
             "without_identical": True, "max_levels": 3, "min_label_count": 2, "deduplicate": True},
            {"without_empty": True, "without_traditional": True, "max_words": 4},
            {"without_identical": True, "max_repeat": 4, "max_levels": 4, "min_label_count": 8},
            {"deduplicate": "source"}, {"deduplicate": "target"}, {"deduplicate": "either"},
        )),
        (sentences(), Filters(without_empty=True, min_words=2, max_words=2, deduplicate=True)),
        (sentences(), Filters(max_repeat=1)),
    ]  # fmt: skip
    return [
        [[row.id for row in kept], [[row.id, row.stage, row.reason] for row in aside]]
        for kept, aside in (screen(rows, rule) for rows, rule in given)
    ]


def splits(_: Path) -> Any:
    table = table_of(verses(60), Verse)
    wanted: list[Split] = [
        RandomSplit(kind="random", seed=3, dev=9, test=7),
        AuthorSplit(kind="author", author="乙", seed=1, dev=4, test=5),
        TitleSplit(kind="title", seed=2, dev_titles=1, test_titles=1, dev_size=20, test_size=20, tolerance=1.0),
    ]
    # Of three pairs in a row the last two share a source; every seventh is of one group.
    linked = table_of(
        (
            Pair(id=f"pair/{n}", origin="xyyzzz"[n % 6], language="en", source="a" * (n + 1 - (n % 3 == 2)),
                 target="b" * (n + 1), group="g" * (n % 7 == 6))
            for n in range(60)
        ),
        Pair,
    )  # fmt: skip
    grouped: list[Split] = [
        GroupSplit(kind="group", seed=2, dev=9, test=14),
        GroupSplit(kind="group", seed=2, dev=9, test=14, stratify="origin"),
    ]
    families = table.assign(family=[f"t{n // 5}" for n in range(60)])
    held = TitleSplit(kind="title", seed=2, by="family", dev_titles=1, test_names=("t1",), dev_size=5, new_formats=True)
    cases = [*((table, split) for split in wanted), *((linked, split) for split in grouped), (families, held)]
    return ["".join(part[:1] or "-" for part in split_of(rows, split)) for rows, split in cases]


def shared(_: Path) -> Any:
    table = table_of(verses(60), Verse)
    return leakage({"train": table[:30], "dev": table[25:45], "test": table[40:]}, Verse)


def frames(_: Path) -> Any:
    formats = [format_of(text, "zh", rhyme) for text, rhyme in TEXTS]
    formats += [parse_format(text, "zh") for text in ("_雨___，____舟。", "_#，_#。/2", "3，3。鹤__。")]
    names = [name for name in Frame.__slots__ if name != "copy"]  # files have no such column
    return {
        "rows": [{name: getattr(frame_of(each, VOC), name).tolist() for name in names} for each in formats],
        "toned": frame_of(with_tones(formats[0], "平仄中仄平仄"[: formats[0].blanks]), VOC).tone.tolist(),
        "targets": [target_of(text, VOC).tolist() for text, _ in TEXTS],
        "spellings": [[str(each), each.rhyme] for each in formats],
    }


def batches(_: Path) -> Any:
    lengths = np.array([(7 * n) % 23 + 2 for n in range(40)])
    data = VerseData.of(
        [str(n) for n in range(len(TEXTS))],
        [frame_of(format_of(text, "zh", rhyme), VOC) for text, rhyme in TEXTS],
        VOC,
        targets=[target_of(text, VOC) for text, _ in TEXTS],
        titles=[VOC.encode("石舟"[: n % 3]) for n in range(len(TEXTS))],
    )
    view = View(order="ascending", literals=0.3, title=True)
    collated = [
        data.batch(np.array([2, 0, 1]), View()),
        data.batch(np.arange(4), view, np.random.default_rng([1, 2])),
    ]
    return {
        "plans": [
            [batch.tolist() for batch in batch_plan(lengths, budget=90, seed=5, epoch=epoch, pool=2)]
            for epoch in (0, 1)
        ],
        "evaluation": [batch.tolist() for batch in length_batches(lengths, budget=90)],
        "batches": [
            {name: getattr(batch, name).tolist() for name in ("inputs", "target", "c", "p", "s", "letter", "title")}
            for batch in collated
        ],
    }


def rows_of(rows: Iterable[Any]) -> list[Any]:
    return [[type(row).__name__, values_of(row)] for row in rows]


def generated(name: str, count: int) -> list[Any]:
    return rows_of(READERS[name].rows({}, {"count": count, "seed": 1}, language="", where="golden"))


def brown(folder: Path) -> Any:
    (folder / "brown").mkdir()
    (folder / "brown" / "cats.txt").write_text("ca01 news\ncb02 letters\n")
    (folder / "brown" / "ca01").write_text("\n".join(f"The/at lamp/nn {w}/vbd ./." for w in ("shone", "fell", "slept")))
    (folder / "brown" / "cb02").write_text("Moss/nn --/-- ``/`` in/in 1/2/cd ''/'' ./.")
    return rows_of(read_brown({"brown": folder}, sentences=2))


def songci(folder: Path) -> Any:
    poems = [
        {"rhythmic": "石桥令", "author": "某甲", "paragraphs": ["云白山青，一灯明。", "归否？归！"], "tags": []},
        {"rhythmic": "甲・石桥令", "author": "某乙", "paragraphs": ["桥远、水□长（缺）。"], "tags": []},
        {"rhythmic": "灯曲", "author": "", "paragraphs": [], "tags": []},
        {"rhythmic": "灯曲", "author": "某丙", "paragraphs": ["灯。", "山山山，abc。"], "tags": []},
    ]
    poems.append({"rhythmic": "灯词", "author": "某丁", "paragraphs": ["高洞洞，梦高风。高洞洞，孔高东。"], "tags": []})
    (folder / "ci.song.0.json").write_text(json.dumps(poems, ensure_ascii=False), encoding="utf-8")
    books = write_couyun(folder / "books")
    return rows_of(read_songci({"made": folder})) + rows_of(read_songci({"made": folder, "books": books}))


def shi(folder: Path) -> Any:
    texts = [
        "洞洞東東洞，東東洞洞東。東東東洞洞，洞洞洞東東。",
        "遠山疎；一燈明！歸鴈、秋風？",
        "山□。",
        "山（一作水）。",
    ]
    poems = [{"title": "題燈", "author": "無名氏", "paragraphs": [text], "id": ""} for text in texts]
    for dynasty, part in (("tang", poems[:2]), ("song", poems[2:])):
        (folder / f"poet.{dynasty}.0.json").write_text(json.dumps(part, ensure_ascii=False), encoding="utf-8")
    return rows_of(read_shi({"made": folder, "books": write_couyun(folder / "books")}))


def couplets(folder: Path) -> Any:
    texts = [
        "洞洞東東洞，東東洞洞東。東東東洞洞，洞洞洞東東。",
        "遠山疎，一燈明。歸鴈，秋風起。",
        "遠山疏，一燈明。洞洞，東東。",
        "山□。",
    ]
    poems = [{"title": "題燈", "author": "無名氏", "paragraphs": [text], "id": ""} for text in texts]
    for dynasty, part in (("tang", poems[:2]), ("song", poems[2:])):
        (folder / f"poet.{dynasty}.0.json").write_text(json.dumps(part, ensure_ascii=False), encoding="utf-8")
    return [rows_of(read_couplets({"made": folder})), rows_of(read_couplets({"made": folder}, count=2, seed=3))]


def sonnets(folder: Path) -> Any:
    words = ["amber", "basin", "cedar", "delta", "ember", "fable", "gravel", "harbour", "island", "jasper"]
    lines = [[f"The {words[n % 10]} of {name} sleeps--'tis morning," for n in range(14)] for name in ("moss", "stone")]
    friedman, lau = folder / "friedman", folder / "lau"
    friedman.mkdir()
    lau.mkdir()
    poems = {"A. Nobody": [["one", "\n".join(lines[0])], ["short", "\n".join(lines[1][:9])]]}
    (friedman / "sonnets.json").write_text(json.dumps(poems))
    both = [" <eos> ".join(line.lower() for line in part) + " <eos>\n" for part in lines]
    (lau / "sonnet_valid.txt").write_text("".join(both))
    return rows_of(read_sonnets({"friedman": friedman, "lau": lau}))


COMPONENTS = {
    "corpora.download": download,
    "corpora.filters": filters,
    "corpora.splits": splits,
    "corpora.leakage": shared,
    "encodings.verse": frames,
    "batching": batches,
    "readers.brown": brown,
    "readers.couplets": couplets,
    "readers.shi": shi,
    "readers.songci": songci,
    "readers.sonnets": sonnets,
    "readers.dialogue_zh": lambda _: generated("dialogue_zh", 4),
    "readers.lyrics_zh": lambda _: generated("lyrics_zh", 4),
    "readers.news_en": lambda _: generated("news_en", 4),
    "readers.paraphrase_en": lambda _: generated("paraphrase_en", 4),
    "readers.verse_zh": lambda _: generated("verse_zh", 3),
    "readers.verse_en": lambda _: generated("verse_en", 2),
}
