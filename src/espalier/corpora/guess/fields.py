"""What the fields of a table are: by their names, else by what stands in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from espalier.corpora.readers.framing import number_in
from espalier.io.errors import DataError
from espalier.text.language import has_words, language_of


def words_in(text: str) -> frozenset[str]:
    """The words between spaces."""
    return frozenset(text.split())


#: Names of fields in lower case, without what is no letter or digit, in data that people publish.
NAMES: Final[Mapping[str, frozenset[str]]] = {
    "source": words_in(
        "source src question1 sentence1 sent1 s1 text1 q1 string1 1string phrase1 sentencea texta input original post "
        "query prompt anchor premise instruction 原句 原文 句子1 问题1 上联"
    ),
    "target": words_in(
        "target tgt trg question2 sentence2 sent2 s2 text2 q2 string2 2string phrase2 sentenceb textb output "
        "paraphrase response reply answer positive hypothesis completion rewrite 改写 复述 译文 句子2 问题2 下联"
    ),
    "label": words_in(
        "label labels isduplicate duplicate isparaphrase paraphrase goldlabel similarity score quality relatedness "
        "relatednessscore same 标签 相似度"
    ),
    "group": words_in("group groupid dialogid dialogueid conversationid cluster clusterid setid song songid"),
    "verse": words_in("poem paragraphs verse verses stanza stanzas lines poetry 诗 诗句 诗文"),
    "text": words_in("text sentence content line sent utterance lyric lyrics tweet body 文本 句子 内容 正文 歌词"),
    "title": words_in("title name rhythmic tune 题目 标题 诗名 词牌 题"),
    "author": words_in("author poet writer 作者 诗人"),
}
#: Labels of pairs that are paraphrases.
POSITIVE: Final = words_in("1 1.0 true t yes y paraphrase duplicate entailment same equivalent positive")
#: Labels are words or grades if there are at most so many; and the tops of scales of scores, of which 0.8 is asked.
_GRADES, _TOPS, _SHARE = 10, (1.0, 5.0, 10.0, 100.0), 0.8
#: A name: no number, and without a mark at its end.
_WORD: Final = re.compile(r"(?![-\d.]+$).*\w")
#: The least part of the values of a field of texts that are texts.
_TEXTUAL: Final = 0.6


@dataclass
class Fields:
    """The reader of a table, what its fields are, and what options say besides."""

    reader: str
    columns: dict[str, str]
    options: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        """The names of the fields with texts."""
        return [name for key, name in self.columns.items() if key in ("source", "target", "text")]


def plain(name: str) -> str:
    """A name of a field in lower case, with letters and digits alone."""
    return re.sub(r"[\W_]+", "", name).lower()


def is_named(names: Sequence[str]) -> bool:
    """Whether a row names the fields of the rows below it: one name is well known."""
    known = frozenset().union(*NAMES.values())
    return any(plain(name) in known for name in names)


def is_above(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a row is of unknown names: different words, some of which stand above texts and none of which is one."""
    words = len({*names}) == len(names) and all(_WORD.fullmatch(name.strip()) for name in names)
    whole = [row for row in rows if len(row) == len(names)]
    return words and not any(map(_is_text, names)) and any(map(_is_textual, zip(*whole, strict=True)))


def fields_of(values: Mapping[str, Sequence[Any]]) -> Fields:
    """What the fields are.

    Args:
        values: for each name of a field some of what stands there, as many for each; names of places are digits.

    Raises:
        DataError: it cannot be told which fields have the texts.
    """
    texts = [name for name, found in values.items() if _is_textual(found)]
    source, target = _first("source", texts), _first("target", texts)
    if target == source:
        target = None
    verse, text = _first("verse", texts), _first("text", texts)
    others = [name for name in texts if not any(plain(name) in NAMES[key] for key in ("title", "author"))]
    notes = list[str]()
    if source is None and target is None and len(others) == 2 and verse is None and text is None:
        source, target = others
        if not source.isdecimal():
            notes.append(f"{source} and {target} are taken for source and target")
    if source is not None and target is not None:
        return _pairs(values, source, target, notes)
    if verse is None and text is None and len(others) == 1:
        (text,) = others
    found = verse or text
    if found is None:
        raise DataError(
            f"which of the fields {', '.join(values)[:120]} are texts cannot be told", file="new corpus",
            remedy="say it: --reader pairs -S 'options.columns={source: NAME, target: NAME}', or --reader text_table "
            "or verse with {text: NAME}",
        )  # fmt: skip
    group = {key: name for key in ("group",) if (name := _first(key, list(values))) is not None}
    facts = {key: name for key in ("title", "author") if (name := _first(key, list(values))) is not None}
    chinese = len(facts) == 2 and _is_chinese(values[found])  # whose poems stand in one line
    if found != verse and not chinese and not _has_lines(values[found]):
        return Fields("text_table", {"text": found, **group}, {}, notes)
    return Fields("verse", {"text": found, **facts, **group}, {}, notes)


def _pairs(values: Mapping[str, Sequence[Any]], source: str, target: str, notes: list[str]) -> Fields:
    columns, rest = {"source": source, "target": target}, [name for name in values if name not in (source, target)]
    options: dict[str, Any] = {}
    label = _first("label", rest) or next(
        (name for name in rest if name.isdecimal() and {*map(str, values[name])} == {"0", "1"}), None
    )
    if label is not None:
        options = kept_labels(values[label])
        if options:
            columns["label"] = label
        else:
            shown = ", ".join(sorted({str(value) for value in values[label]})[:5])
            notes.append(f"the field {label} ({shown}) is not read; columns.label and labels keep some pairs")
        if "least" in options:
            notes.append(f"pairs with a {label} of at least {options['least']:g} are kept; options.least changes it")
    group = _first("group", rest) or next(
        (name for name in rest if name != label and _is_group(name, values[name])), None
    )
    if group is not None:
        columns["group"] = group
    return Fields("pairs", columns, options, notes)


def kept_labels(values: Sequence[Any]) -> dict[str, Any]:
    """The option that keeps paraphrases by their labels; empty if it cannot be told. A "nan" is no label."""
    found = {str(value).strip() for value in values if value is not None}
    found = {value for value in found if value.lower() not in ("", "nan")}
    numbers = [number for value in found if (number := number_in(value)) is not None]
    if len(numbers) == len(found) > 2:
        top = next((top for top in _TOPS if max(numbers) <= top), None)
        return {} if top is None or min(numbers) < 0 else {"least": round(_SHARE * top, 3)}
    kept = sorted(value for value in found if value.lower() in POSITIVE)
    if not kept or len(found) > _GRADES:
        return {}
    return {"labels": [int(value) if value.isdecimal() else value for value in kept]}


def _first(key: str, names: Sequence[str]) -> str | None:
    return next((name for name in names if plain(name) in NAMES[key]), None)


def _is_textual(values: Sequence[Any]) -> bool:
    """Whether most values are texts: of two words or characters that are not one number."""
    filled = [value for value in values if value not in (None, "")]
    return bool(filled) and sum(map(_is_text, filled)) >= _TEXTUAL * len(filled)


def _is_text(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(each, str) for each in value)
    if not isinstance(value, str) or not has_words(value) or number_in(value) is not None:
        return False
    return len(value.split()) > 1 or sum(character >= "\u3400" for character in value) > 1


def _is_chinese(values: Sequence[Any]) -> bool:
    return language_of(" ".join(value for value in values if isinstance(value, str))[:10_000]) == "zh"


def _has_lines(values: Sequence[Any]) -> bool:
    several = [isinstance(value, list) or (isinstance(value, str) and "\n" in value.strip()) for value in values]
    return sum(several) > len(several) / 2


def _is_group(name: str, values: Sequence[Any]) -> bool:
    """Whether a field without a name has a short value that several rows share."""
    found = [str(value) for value in values]
    return name.isdecimal() and len({*found}) < len(found) and all(len(value) < 40 for value in found)
