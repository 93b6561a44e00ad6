"""Shi: the JSON files of the chinese-poetry project's Quan Tang Shi and Quan Song Shi, in Traditional characters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from espalier.corpora.readers.chinese_poetry import RawPoem, poems_in
from espalier.corpora.readers.files import single_source
from espalier.corpora.readers.rows import quarantined
from espalier.corpora.readers.songci import BOOKS, fault_in, units_in
from espalier.corpora.records import Quarantined, Verse
from espalier.text.normalize import simplified
from espalier.verse.books import Books, read_books
from espalier.verse.regulated import regulated_tones
from espalier.verse.text import join_units, units_of

#: The marks of a ci for those that it does not have.
_MARKS = str.maketrans("、；：？！", "，，，。。")
#: Variant characters that OpenCC leaves, and those that the Song ci have for them.
_VARIANTS = str.maketrans(
    "疎隠劒鴈簷慙猨徧髪鬰鬬媿臯頼櫂蘂鶑斾鼇罇鬭嬾浄褭巵堦髙牋煖粧覩廻僊妬歛檝飜隄暎燄懽鏁桮隣栢俛懃",
    "疏隐剑雁檐惭猿遍发郁斗愧皋赖棹蕊莺旆鳌樽斗懒净袅卮阶高笺暖妆睹回仙妒敛楫翻堤映焰欢锁杯邻柏俯勤",
)


def read(folders: Mapping[str, Path]) -> Iterator[Verse | Quarantined]:
    """Every poem of the given source, as a verse in Simplified characters or quarantined with a reason.

    The id is `shi/<tang or song>/<file number>/<index from 0>`, the tune is the title. Marks and variant characters are
    converted to those of ci. Each unit ends at 。 and rhymes. Reasons for quarantine are as for ci (`songci.FAULTS`).
    With the books, `tones` of a regulated poem are those of its form.

    Args:
        folders: names and folders of the sources: poems, `poet.tang.<number>.json` and `poet.song.<number>.json`;
            optionally `couyun`, which gives tones.

    Raises:
        ConfigError: not exactly one source of poems.
        DataError: a file is missing or not JSON, or a poem lacks a field.
        ArtifactError: the rhyme book is missing or damaged.
    """
    books = next((read_books(at) for at in folders.values() if (at / BOOKS).is_dir()), None)
    origin, folder = single_source({name: at for name, at in folders.items() if not (at / BOOKS).is_dir()}, "shi")
    for dynasty in ("tang", "song"):
        for poem in poems_in(folder, f"poet.{dynasty}", "title"):
            yield _verse(f"shi/{dynasty}/{poem.place}", poem, origin, books)


def _verse(id: str, poem: RawPoem, origin: str, books: Books | None) -> Verse | Quarantined:
    text = simplified(poem.text).translate(_VARIANTS)
    if reason := fault_in(text):
        return quarantined(id, reason, poem.text)
    target = join_units(units_in(text.translate(_MARKS)))
    return Verse(
        id=id,
        origin=origin,
        language="zh",
        target=target,
        author=simplified(poem.author),
        tune=simplified(poem.title),
        rhyme="A" * len(units_of(target)),
        tones=regulated_tones(target, books) if books else "",
    )
