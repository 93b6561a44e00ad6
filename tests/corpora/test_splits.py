"""Splits: the sizes asked for, the same in any order, whole names held out."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from espalier.corpora.leakage import letters_of
from espalier.corpora.splits import Split, apportion
from espalier.io.errors import ConfigError
from tests.corpora.whole_tables import split_of

#: Names t1 to t60 with 1 to 60 poems: 1,830 in all.
TABLE = pd.DataFrame(
    [
        {"id": f"p{tune}-{index}", "tune": f"t{tune}", "author": "甲" if index % 2 else "乙"}
        for tune in range(1, 61)
        for index in range(tune)
    ]
)
SIZES = {"dev_titles": 5, "test_titles": 5, "dev_size": 100, "test_size": 200}


def split(**values: Any) -> Split:
    made: Split = TypeAdapter(Split).validate_python(values)
    return made


SPLITS = [
    split(kind="all_train"),
    split(kind="random", seed=1, dev=30, test=40),
    split(kind="author", author="甲", seed=1, dev=30, test=40),
    split(kind="title", seed=1, **SIZES),
]


@pytest.mark.parametrize("how", SPLITS, ids=lambda how: how.kind)
def test_row_order_and_index_do_not_matter(how: Split) -> None:
    straight = split_of(TABLE, how)
    mixed = TABLE.sample(frac=1, random_state=3)
    assert split_of(mixed, how).index.equals(mixed.index)
    pd.testing.assert_series_equal(split_of(mixed, how).sort_index(), straight)


def test_everything_trains() -> None:
    assert set(split_of(TABLE, SPLITS[0])) == {"train"}


@pytest.mark.parametrize("how", SPLITS[1:3], ids=lambda how: how.kind)
def test_the_sizes_asked_for_are_drawn(how: Split) -> None:
    assert Counter(split_of(TABLE, how)) == {"train": 1760, "dev": 30, "test": 40}


def test_one_authors_rows_are_held_out() -> None:
    held = TABLE[split_of(TABLE, SPLITS[2]) != "train"]
    assert set(held["author"]) == {"甲"}


def test_a_row_more_moves_at_most_one_other_out_of_each_split() -> None:
    more = pd.concat([TABLE, pd.DataFrame([{"id": "new", "tune": "t1", "author": "甲"}])], ignore_index=True)
    before, after = split_of(TABLE, SPLITS[1]), split_of(more, SPLITS[1])[:-1]
    assert (before != after).sum() <= 2


@pytest.mark.parametrize("seed", range(5))
def test_whole_names_are_held_out_and_sizes_are_met(seed: int) -> None:
    series = split_of(TABLE, split(kind="title", seed=seed, **SIZES))
    names = {part: set(TABLE.loc[series == part, "tune"]) for part in ("train", "dev", "test")}
    assert len(names["dev"]) == len(names["test"]) == 5
    assert not names["dev"] & names["test"] and not names["train"] & (names["dev"] | names["test"])
    counts = Counter(series)
    assert 90 <= counts["dev"] <= 110 and 180 <= counts["test"] <= 220


def test_seeds_draw_different_names_and_one_seed_the_same() -> None:
    drawn = [tuple(split_of(TABLE, split(kind="title", seed=seed, **SIZES))) for seed in (1, 2, 1)]
    assert drawn[0] == drawn[2] != drawn[1]


def test_names_that_must_train_do() -> None:
    for seed in range(5):
        how = split(kind="title", seed=seed, keep_in_train=["t60", "t59"], **SIZES)
        assert set(split_of(TABLE, how)[TABLE["tune"].isin(["t60", "t59"])]) == {"train"}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"kind": "random", "seed": 1, "dev": 1800, "test": 31}, "more than the 1,830 rows; ask for fewer"),
        ({"kind": "author", "author": "丙", "seed": 1, "dev": 1, "test": 0}, "more than the 0 rows by '丙'"),
        ({"kind": "title", "seed": 1, **SIZES, "dev_titles": 56}, "61 titles are to be held out, but there are 60"),
        (
            {"kind": "title", "seed": 1, **SIZES, "dev_size": 900, "attempts": 50},
            "none of 50 samples has 5 titles of about 900",
        ),
    ],
)
def test_a_split_that_cannot_be_says_why(values: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        split_of(TABLE, split(**values), where="corpora.mine.split")
    assert str(caught.value).startswith("corpora.mine.split: ")


@pytest.mark.parametrize(
    "values",
    [{"kind": "titel"}, {"kind": "random", "seed": 1, "dev": -1, "test": 0}, {"kind": "all_train", "seed": 1}, {}],
)
def test_an_unknown_kind_or_key_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        split(**values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"kind": "title", "seed": 1, **SIZES, "dev_titles": 111}, "dev_titles 111 have more rows than dev_size 100"),
        (
            {"kind": "title", "seed": 1, **SIZES, "test_titles": 221},
            "test_titles 221 have more rows than test_size",
        ),
        (
            {"kind": "title", "seed": 1, **SIZES, "largest": 0.1},
            "dev_titles 5, each at most 10% of the rows: too few",
        ),
        ({"kind": "published", "dev": ["a", "b"], "test": ["c", "b"]}, "b both in dev and in test"),
        ({"kind": "published", "dev": ["test"]}, "test both in dev and in test"),
    ],
)
def test_bounds_that_no_rows_can_meet_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        split(**values)


@pytest.mark.parametrize("seed", range(4))
def test_no_title_has_more_than_the_largest_share_of_dev_or_of_test(seed: int) -> None:
    series = split_of(TABLE, split(kind="title", seed=seed, largest=0.3, **SIZES))
    for part in ("dev", "test"):
        rows = Counter(TABLE.loc[series == part, "tune"])
        assert max(rows.values()) <= 0.3 * rows.total()
    loose = [split_of(TABLE, split(kind="title", seed=seed, **SIZES)) for seed in range(8)]
    assert max(max(Counter(TABLE.loc[each == "dev", "tune"]).values()) for each in loose) > 30


def test_a_split_that_holds_out_as_many_titles_as_rows_is_valid() -> None:
    assert split(kind="title", seed=1, **SIZES | {"dev_titles": 110}).dev_titles == 110  # type: ignore[union-attr]


# --- Tunes under all their names, and new formats ---------------------------------------------------------------------

SYLLABLES = "灯山桥雨石舟"


def sung() -> pd.DataFrame:
    """36 tunes of two names and two formats each; every fifth tune shares a format with the next but one."""
    rows = []
    for tune in range(36):
        for index in range(6):
            length = 1 + (tune + 2 if tune % 5 == 0 else tune) + 50 * (index % 2)
            text = (SYLLABLES * 20)[index : index + length] + "。"
            rows.append({"id": f"p{tune}-{index}", "target": text, "language": "zh", "family": f"f{tune}",
                         "tune": f"t{tune}{'ab'[index % 2]}"})  # fmt: skip
    return pd.DataFrame(rows)


SONGS = {"dev_titles": 4, "test_titles": 5, "dev_size": 24, "test_size": 30, "tolerance": 0.0}


@pytest.mark.parametrize("seed", range(4))
def test_all_names_of_a_tune_are_held_out_and_their_formats_too(seed: int) -> None:
    table = sung()
    parts = split_of(table, split(kind="title", seed=seed, by="family", new_formats=True, **SONGS))
    assert Counter(parts)["dev"] == 24 and Counter(parts)["test"] == 30
    assert all(len(set(names) - {""}) <= 1 for _, names in parts.groupby(table["family"])) and (parts == "").any()
    lengths = table["target"].str.len()
    held = set(lengths[parts.isin(["dev", "test"])])
    assert not held & set(lengths[parts == "train"])
    # Nothing else is dropped.
    assert set(lengths[parts == ""]) <= held
    kept = split_of(table, split(kind="title", seed=seed, by="family", **SONGS))
    assert (kept[parts != ""] == parts[parts != ""]).all() and set(kept[parts == ""]) <= {"train"}


def test_named_titles_are_for_test_and_those_for_dev_are_drawn() -> None:
    table = sung()
    named = {"test_names": ["t3a", "t8b"], "dev_titles": 4, "dev_size": 12, "test_size": 999}
    drawn = [split_of(table, split(kind="title", seed=seed, **named)) for seed in (1, 2)]
    for parts in drawn:
        assert set(table.loc[parts == "test", "tune"]) == {"t3a", "t8b"}
        assert table.loc[parts == "dev", "tune"].nunique() == 4 and not set(parts) - {"train", "dev", "test"}
    assert (drawn[0] != drawn[1]).any()
    with pytest.raises(ConfigError, match=r"split\.test_names: no row has the title t99; correct it"):
        split_of(table, split(kind="title", seed=1, **named | {"test_names": ["t3a", "t99"]}))


# --- Whole groups, and splits that were published ---------------------------------------------------------------------

PAIRS = pd.DataFrame(
    [
        {"id": f"d{dialogue}.{turn}", "group": f"d{dialogue}", "source": f"u{dialogue} {'x' * turn}",
         "target": f"u{dialogue} {'x' * (turn + 1)}"}
        for dialogue in range(300)
        for turn in range(1 + dialogue % 3)
    ]
)  # fmt: skip
PAIRS["source"] = PAIRS["source"].str.translate(str.maketrans("0123456789", "abcdefghij"))
PAIRS["target"] = PAIRS["target"].str.translate(str.maketrans("0123456789", "abcdefghij"))


def slow_groups(table: pd.DataFrame, sides: bool) -> list[set[int]]:
    """Merge sets until nothing merges."""
    rows = table.to_dict("records")
    keys = [
        {("g", row["group"])} | ({("t", row["source"].lower()), ("t", row["target"].lower())} if sides else set())
        for row in rows
    ]
    groups = [({index}, key) for index, key in enumerate(keys)]
    merged = True
    while merged:
        merged = False
        for one in range(len(groups)):
            for other in range(one + 1, len(groups)):
                if groups[one][1] & groups[other][1]:
                    groups[one] = (groups[one][0] | groups[other][0], groups[one][1] | groups[other][1])
                    del groups[other]
                    merged = True
                    break
            if merged:
                break
    return [members for members, _ in groups]


@pytest.mark.parametrize("sides", [False, True])
def test_no_split_has_a_part_of_anothers_group(sides: bool) -> None:
    how = split(kind="group", seed=2, dev=40, test=60, sides=sides)
    series = split_of(PAIRS, how)
    assert Counter(series) == {"train": len(PAIRS) - 100, "dev": 40, "test": 60}
    assert PAIRS.assign(split=series).groupby("group")["split"].nunique().max() == 1
    mixed = PAIRS.sample(frac=1, random_state=3)
    pd.testing.assert_series_equal(split_of(mixed, how).sort_index(), series)


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_share_a_side_stay_together_whatever_links_them(seed: int) -> None:
    letters = random.Random(seed)
    table = pd.DataFrame(
        [
            {"id": f"p{row:02}", "group": letters.choice("xyz") * row if row % 4 else "", "source": word(letters),
             "target": word(letters).upper()}
            for row in range(30)
        ]
    )  # fmt: skip
    table["group"] = [group or f"own{row}" for row, group in enumerate(table["group"])]
    for dev in range(0, 12, 3):
        series = split_of(table, split(kind="group", seed=seed, dev=dev, test=5))
        assert all(len({series[row] for row in group}) == 1 for group in slow_groups(table, True))
        assert Counter(series)["dev"] <= dev and Counter(series)["test"] <= 5


def test_a_split_that_no_group_fits_into_is_refused_rather_than_left_empty() -> None:
    table = PAIRS.assign(group=["one"] * 300 + ["two"] * 300)
    how = split(kind="group", seed=2, dev=10, test=300, sides=False)
    with pytest.raises(ConfigError, match=r"no group of rows fits into dev of 10 rows; the smallest has 300"):
        split_of(table, how, where="corpora.mine.split")


def word(letters: random.Random) -> str:
    return "".join(letters.choice("abcd") for _ in range(3))


def test_a_group_without_a_name_is_no_group_and_too_many_rows_are_refused() -> None:
    table = PAIRS.assign(group="", source=PAIRS["id"], target=PAIRS["id"] + "!")
    alone = split_of(table, split(kind="group", seed=2, dev=99, test=0, sides=False))
    assert Counter(alone)["dev"] == 99
    with pytest.raises(ConfigError, match=r"dev 600 \+ test 1 is more than the 600 rows; ask for fewer"):
        split_of(PAIRS, split(kind="group", seed=2, dev=600, test=1))


def test_a_published_split_is_told_by_the_ids() -> None:
    ids = ["ewt-train-0001", "ewt-dev-0001", "quora-pos50k-000000", "x/test/7", "mine", "ewt-test-3.1"]
    series = split_of(pd.DataFrame({"id": ids}), split(kind="published"))
    assert list(series) == ["train", "dev", "train", "test", "train", "test"]
    other = split_of(pd.DataFrame({"id": ids}), split(kind="published", dev=[], test=["pos50k", "dev"]))
    assert list(other) == ["train", "test", "test", "train", "train", "train"]


def test_a_published_split_that_no_id_names_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"corpora\.mine\.split: no row's id names the split 'test'"):
        split_of(pd.DataFrame({"id": ["a-dev-1"]}), split(kind="published"), where="corpora.mine.split")


def test_an_empty_table_has_an_empty_split() -> None:
    assert list(split_of(TABLE.iloc[:0], SPLITS[0])) == []


# --- Strata -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "shares", "caps", "given_out"),
    [
        (2, {"c": 1, "a": 1, "b": 1}, {"a": 9, "b": 9, "c": 9}, {"a": 1, "b": 1, "c": 0}),
        (10, {"a": 41, "b": 33, "c": 26}, {"a": 41, "b": 33, "c": 26}, {"a": 4, "b": 3, "c": 3}),
        (10, {"a": 0.5, "b": 0.25, "c": 0.25}, {"a": 2, "b": 9, "c": 9}, {"a": 2, "b": 4, "c": 4}),
        # b is full with 3 of its 5; of the 7 left, c would have 3.5 and is full only then.
        (10, {"a": 0.25, "b": 0.5, "c": 0.25}, {"a": 9, "b": 3, "c": 3}, {"a": 4, "b": 3, "c": 3}),
        (10, {"a": 1, "b": 0}, {"a": 4, "b": 9}, {"a": 4, "b": 0}),
        (3, {"a": 1, "b": 1}, {"b": 9}, {"a": 0, "b": 3}),
        (0, {"a": 1}, {"a": 1}, {"a": 0}),
        (5, {}, {}, {}),
    ],
)
def test_shares_are_met_to_the_largest_remainder_and_what_is_full_hands_on(
    count: int, shares: dict[str, float], caps: dict[str, int], given_out: dict[str, int]
) -> None:
    assert apportion(count, shares, caps) == given_out


@given(st.integers(0, 60), st.dictionaries(st.sampled_from("abcde"), st.tuples(st.integers(0, 9), st.integers(0, 20))))
def test_no_more_than_is_there_is_given_out_and_no_less_than_can_be(count: int, of: dict[str, tuple[int, int]]) -> None:
    shares, caps = {name: share for name, (share, _) in of.items()}, {name: cap for name, (_, cap) in of.items()}
    given_out = apportion(count, shares, caps)
    able = {name: cap for name, cap in caps.items() if shares[name]}
    assert sum(given_out.values()) == min(count, sum(able.values()))
    assert all(0 <= given_out[name] <= able.get(name, 0) for name in of)
    # By their shares, those that are not full differ by less than one row.
    rates = [(given_out[name] - 1, given_out[name] + 1, shares[name]) for name in able if given_out[name] < able[name]]
    assert all(low * other < high * share for low, _, share in rates for _, high, other in rates)


COLUMNS = ("origin", "source", "target", "group")
WORDS = ("a lamp", "A lamp!", "moss", "the door", "3 + 4", "3 - 4", "stone", "bridge", "7", "gate")


@st.composite
def pools(draw: st.DrawFn) -> pd.DataFrame:
    """Rows that share sides with each other and across strata, and rows that are alone."""
    side = st.sampled_from(WORDS)
    rows = draw(
        st.lists(st.tuples(st.sampled_from("xyz"), side, side, st.sampled_from(["", "", "g", "h"])), max_size=9)
    )
    lone = draw(st.lists(st.sampled_from("xyz"), max_size=20))
    letters = "abcdefghijklmnopqrst"
    rows += [(origin, f"one {letters[n]}", f"other {letters[n]}", "") for n, origin in enumerate(lone)]
    made = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    return pd.DataFrame([{"id": f"r{n:02}"} | row for n, row in enumerate(made)], columns=["id", *COLUMNS])


@given(pools(), st.integers(0, 6), st.integers(0, 8), st.integers(0, 3))
def test_a_stratified_split_parts_no_group_and_has_its_sizes_and_proportions(
    table: pd.DataFrame, dev: int, test: int, seed: int
) -> None:
    if dev + test > len(table):
        return
    how = split(kind="group", seed=seed, dev=dev, test=test, stratify="origin")
    try:
        series = split_of(table, how)
    except ConfigError:  # a split remained empty, which takes groups of several rows
        assert len(table[table["source"].str.startswith("one ")]) < dev + test
        return
    mixed = table.sample(frac=1, random_state=seed)
    pd.testing.assert_series_equal(split_of(mixed, how).sort_index(), series)
    parts = {name: table[series == name] for name in ("train", "dev", "test")}
    texts = {
        name: {letters_of(text) or text for text in [*part["source"], *part["target"]]} for name, part in parts.items()
    }
    groups = {name: set(part["group"]) - {""} for name, part in parts.items()}
    for one, other in (("dev", "train"), ("test", "train"), ("test", "dev")):
        assert not texts[one] & texts[other] and not groups[one] & groups[other]
    assert len(parts["dev"]) <= dev and len(parts["test"]) <= test
    alone = table[table["source"].str.startswith("one ")]
    if len(alone) >= dev + test:
        assert (len(parts["dev"]), len(parts["test"])) == (dev, test)
    there = Counter(table["origin"])
    wanted = {"test": apportion(test, there, there)}
    wanted["dev"] = apportion(dev, there, there - Counter(wanted["test"]))
    if all(Counter(alone["origin"])[of] >= wanted["dev"][of] + wanted["test"][of] for of in there):
        for name in ("dev", "test"):
            assert Counter(parts[name]["origin"]) == +Counter(wanted[name])


def test_without_strata_a_side_without_letters_links_nothing_as_ever() -> None:
    table = pd.DataFrame(
        [{"id": f"r{n}", "origin": "x", "source": "7 !", "target": f"lamp {'x' * n}", "group": ""} for n in range(6)]
    )
    assert Counter(split_of(table, split(kind="group", seed=1, dev=2, test=2)))["train"] == 2
    with pytest.raises(ConfigError, match="no group of rows fits into dev of 2 rows; the smallest has 6"):
        split_of(table, split(kind="group", seed=1, dev=2, test=2, stratify="origin"))


def test_an_origin_of_large_groups_leaves_its_places_to_the_others() -> None:
    together = [{"id": f"b{n:02}", "origin": "big", "source": "the lamp", "target": f"it {'x' * n}"} for n in range(50)]
    alone = [
        {"id": f"s{n:02}", "origin": "small", "source": f"a {'x' * n}", "target": f"b {'x' * n}"} for n in range(50)
    ]
    table = pd.DataFrame(together + alone).assign(group="")
    series = split_of(table, split(kind="group", seed=4, dev=10, test=16, stratify="origin"))
    held = table[series != "train"]
    assert Counter(series) == {"train": 74, "dev": 10, "test": 16} and set(held["origin"]) == {"small"}


@pytest.mark.parametrize("how", [*SPLITS[1:], split(kind="published", dev=["a"], test=[])], ids=lambda how: how.kind)
def test_a_split_that_parts_a_group_is_refused(how: Split) -> None:
    parted = TABLE.assign(group="").assign(id=[f"{'ab'[row % 2]}-{row}" for row in range(len(TABLE))])
    assert set(split_of(parted, how)) >= {"train", "dev"}
    parted.loc[:, "group"] = "one"
    with pytest.raises(ConfigError, match=r"mine\.split: group 'one' is in \w+ and in \w+; split by kind: group"):
        split_of(parted, how, where="mine.split")


def test_verse_and_sentences_with_a_group_stay_together() -> None:
    grouped = TABLE.assign(group=TABLE["tune"], target="")
    chosen = split_of(grouped, split(kind="group", seed=1, dev=60, test=60, sides=False))
    sizes = Counter(chosen)
    assert 40 < sizes["dev"] <= 60 and 40 < sizes["test"] <= 60
    assert grouped.assign(split=chosen).groupby("group")["split"].nunique().max() == 1


@pytest.mark.parametrize("how", SPLITS[2:], ids=lambda how: how.kind)
def test_a_split_by_a_column_that_the_records_lack_is_one_line(how: Split) -> None:
    with pytest.raises(ConfigError, match=r"mine\.split: the records have no (author|tune); choose another kind"):
        split_of(TABLE[["id"]], how, where="mine.split")
