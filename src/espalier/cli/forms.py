"""Forms of regulated verse as what `generate` is asked for: a format, its tones and its rhymes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from espalier.cli.models import models
from espalier.frames.forms import REGULATED, form_named, no_format
from espalier.frames.judge import kind_to_write
from espalier.io.errors import ConfigError
from espalier.verse.ci_books import open_books

#: What a form says itself.
_OWN: Final = ("format", "rhyme", "tones", "tune", "variant")


def as_format(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the options that write a form.

    Raises:
        ConfigError: there is no such form, our models do not write it, or another option contradicts it.
    """
    form = values["form"]
    if form is None:
        raise ConfigError("there is no form", where="--opening", remedy="give --form as well")
    name = form_named(form)
    if name not in REGULATED:
        error = no_format(form) or ConfigError.unknown("form", form, REGULATED)
        raise ConfigError(error.what, where="--form", remedy=error.remedy)
    others = [each for each in (*_OWN, "file", "free") if values.get(each)]
    others += ["book"] if values.get("book") not in (None, "pingshui") else []
    others += ["language"] if values.get("language") not in (None, "zh") else []
    if others:
        raise ConfigError(f"a form beside --{others[0]}", where="--form", remedy="leave out one of them")
    said = {each: values[each] for each in ("form", "opening", "acrostic") if values.get(each) is not None}
    folder = models().books()
    try:
        kind = kind_to_write(said, open_books(folder) if folder else None)
    except ConfigError as error:
        where = f"--{error.where}" if error.where in said else error.where
        raise ConfigError(error.what, where=where, remedy=error.remedy) from error
    return {each: kind[each] for each in ("format", "rhyme", "tones", "book")} | {"tone": True}
