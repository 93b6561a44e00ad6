"""Where artifacts and published files lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.io.errors import ConfigError
from pipeline import layout


def test_a_mirror_is_seen_from_the_root_and_must_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "ROOT", tmp_path)
    (tmp_path / "mirror").mkdir()
    monkeypatch.delenv("ESPALIER_MIRROR", raising=False)
    assert layout.mirror() is None
    monkeypatch.setenv("ESPALIER_MIRROR", "")
    assert layout.mirror() is None
    for named in ("mirror", str(tmp_path / "mirror")):
        monkeypatch.setenv("ESPALIER_MIRROR", named)
        assert layout.mirror() == tmp_path / "mirror"
    monkeypatch.setenv("ESPALIER_MIRROR", "gone")
    with pytest.raises(ConfigError, match="ESPALIER_MIRROR: no folder 'gone'"):
        layout.mirror()
