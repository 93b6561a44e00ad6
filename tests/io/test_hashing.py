"""Hashes: known values, and the same on every machine."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from espalier.io.hashing import digest, file_sha256, files_sha256, seed_from

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_a_file_has_the_published_digest_of_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "abc").write_bytes(b"abc")  # FIPS 180-2, appendix B.1
    assert file_sha256(tmp_path / "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    (tmp_path / "long").write_bytes(b"a" * 1_000_000)  # appendix B.3
    assert file_sha256(tmp_path / "long") == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"


@given(value=VALUES)
def test_a_digest_is_blake2b_of_compact_json(value: object) -> None:
    text = json.dumps([value], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    expected = hashlib.blake2b(text.encode("utf-8"), digest_size=16).hexdigest()
    assert digest(value) == expected and len(expected) == 32


def test_key_order_does_not_count_but_value_order_and_kind_do() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert len({digest(1, 2), digest(2, 1), digest([1, 2]), digest("1", 2), digest("12")}) == 5


def test_seeds_fit_63_bits_and_differ_for_near_values() -> None:
    seeds = {seed_from("run", index) for index in range(2000)}
    assert len(seeds) == 2000
    assert all(0 <= seed < 2**63 for seed in seeds)
    # Half of the seeds should lie in the upper half: 1000 +- 5 standard deviations of 22.
    assert 888 < sum(seed >= 2**62 for seed in seeds) < 1112


def test_a_folders_hash_is_that_of_the_sorted_lines_of_sha256sum(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b/x").write_bytes(b"1")
    (tmp_path / "a-").write_bytes(b"2")
    lines = (
        "d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35  a-\n"
        "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b  b/x\n"
    )
    assert files_sha256(tmp_path) == hashlib.sha256(lines.encode()).hexdigest()
    (tmp_path / "b/x").rename(tmp_path / "b/y")
    assert files_sha256(tmp_path) != hashlib.sha256(lines.encode()).hexdigest()
