"""What all backends of parsers refuse, in their words."""

from __future__ import annotations

import pytest

from espalier.io.errors import ConfigError
from espalier.syntax.parsers.parser import no_model, require_limits


def test_a_limit_below_one_is_named() -> None:
    require_limits("ltp", max_words=1, batch=2)
    with pytest.raises(ConfigError, match=r"^ltp's options: batch is 0; give at least 1$"):
        require_limits("ltp", max_words=1, batch=0)


@pytest.mark.parametrize(
    ("model", "ways"),
    [
        ("none", "fetch it: get none, or train one here (an entry), or give the path of one"),
        ("a/none", "train one here (an entry), or give the path of one"),
        ("", "train one here (an entry), or give the path of one"),
    ],
)
def test_a_model_that_does_not_exist_can_be_fetched_only_by_a_name(model: str, ways: str) -> None:
    assert str(no_model("ltp", model, fetch=f"get {model}", train="an entry")) == f"ltp: no model '{model}'; {ways}"
