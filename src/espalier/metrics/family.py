"""Families of metrics: the settings, statistics and metrics that belong together, as in sacreBLEU (Post 2018)."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import NoneType, UnionType
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from espalier.io.calls import checked_call, require_kind, require_range
from espalier.metrics.bootstrap import Array
from espalier.metrics.metric import Metric, Score, scores

#: The most resamples of an interval.
MAX_RESAMPLES: Final = 1_000_000

T = TypeVar("T")
_Own = TypeVar("_Own", bound="Family[Any]")


@dataclass(frozen=True)
class Family(ABC, Generic[T]):
    """Metrics that are computed from the same statistics. The fields of a subclass are its settings.

    A family is registered in `METRICS` (`espalier.metrics.registry`). A setting is a text, a number, a `Literal`, a
    tuple of these, or a flag. Settings that may be None, which `key` leaves out, come last.

    Attributes:
        name: the name of its statistics in tables of segments. A user's own family needs none.
        in_parts: the metrics that a `Part` of the family has; None for all.
    """

    name: ClassVar[str] = ""
    in_parts: ClassVar[tuple[str, ...] | None] = None

    @abstractmethod
    def statistics(self, texts: T, /) -> Array:
        """(segments, k) floats, one row per segment.

        Args:
            texts: what the family is computed from: one of `espalier.metrics.texts`, or, for a user's own family, a
                run's outputs (`espalier.tasks.data.Outputs`), whose table has one row per segment.
        """

    @property
    @abstractmethod
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics computed from sums of these rows. Without settings, a class attribute."""

    @classmethod
    def reads(cls) -> object:
        """The type of the texts that it is computed from; a type variable if the class does not say."""
        bases = (base for own in cls.__mro__ for base in vars(own).get("__orig_bases__", ()))
        return next(get_args(base)[0] for base in bases if get_origin(base) is Family)

    @property
    def key(self) -> str:
        """The name and the settings, such as "format:songci". It heads the columns of the family in tables of segments.

        None and unset flags are left out. A set flag stands as its name.
        """
        written = (_written(field.name, getattr(self, field.name)) for field in fields(self))
        return ":".join([self.name, *filter(None, written)])

    @classmethod
    def from_settings(cls: type[_Own], settings: Sequence[str]) -> _Own:
        """The family with the settings of a key.

        Raises:
            ValueError: a setting is missing, superfluous or none of its type.
        """
        kinds, values, waiting = get_type_hints(cls), dict[str, Any](), list(settings)
        for field in fields(cls):
            try:
                values[field.name] = _read(kinds[field.name], field.name, waiting[0])
            except (IndexError, ValueError):
                values[field.name] = _unset(kinds[field.name])
            else:
                del waiting[0]
        if waiting:
            raise ValueError(f"no setting '{waiting[0]}'")
        return cls(**values)


@checked_call
def statistics_of(families: Iterable[Family[T]], texts: T) -> dict[Family[Any], Array]:
    """The statistics of several families of the same texts.

    Raises:
        CallError: a family is computed from texts of another type.
    """
    found = dict[Family[Any], Array]()
    for family in families:
        require_kind("statistics_of", "families", family, Family)
        require_kind(type(family).__name__, "texts", texts, family.reads())
        found[family] = family.statistics(texts)
    return found


@checked_call
def family_scores(
    statistics: Mapping[Family[Any], Array],
    *,
    seed: int,
    resamples: int = 1000,
    groups: Sequence[Hashable] | None = None,
) -> dict[str, Score]:
    """Corpus scores of several families over the same segments, in the order of the families.

    Args:
        statistics: (segments, k) by family.
        resamples: number of resamples; 0 for no intervals.
        groups: one label per segment, as in `scores`.

    Raises:
        ArgumentError: the seed or the number of resamples is too small or too large.
        EspalierError: `groups` and the statistics differ in length.
    """
    require_range("family_scores, seed", seed, 0)
    require_range("family_scores, resamples", resamples, 0, MAX_RESAMPLES)
    results: dict[str, Score] = {}
    for family, rows in statistics.items():
        results |= scores(family.metrics, rows, seed=seed, resamples=resamples, groups=groups)
    return results


# --- Settings as text ------------------------------------------------------------------------------------------------


def _written(name: str, value: object) -> str:
    """A setting in a key; "" if it is left out."""
    if isinstance(value, bool):
        return name if value else ""
    if isinstance(value, tuple):
        return ",".join(_written(name, each) for each in value)
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _read(kind: object, name: str, text: str) -> object:
    """The inverse of `_written`. Raises a ValueError for a text that is no value of this type."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        for each in inner:
            try:
                return _read(each, name, text)
            except ValueError:
                continue
    elif origin is tuple:
        return tuple(_read(inner[0], name, each) for each in text.split(","))
    elif kind is float or kind is str:
        return kind(text)
    elif kind is int and text.isdecimal():
        return int(text)
    elif kind is bool and text == name:
        return True
    elif origin is Literal and text in inner:
        return text
    raise ValueError(f"'{text}' is no {name}")


def _unset(kind: object) -> bool | None:
    """The value of a setting that is left out."""
    if kind is bool:
        return False
    if NoneType in get_args(kind):
        return None
    raise ValueError("a setting is missing")


# --- Parts -----------------------------------------------------------------------------------------------------------

#: The parts of segments, and what they divide: texts by whether their format occurs in training (seen, new); pairs with
#: no side in training (unseen), and pairs whose sides are linked by training pairs, maybe via other texts (joined).
PARTS: Final[Mapping[str, Literal["formats", "pairs"]]] = {
    "seen": "formats", "new": "formats", "unseen": "pairs", "joined": "pairs",
}  # fmt: skip
_NONE: Final = {"formats": "no text of a format that is", "pairs": "no pair is"}


@checked_call
@dataclass(frozen=True)
class Part(Family[tuple[Sequence[bool], Array]]):
    """A family for the segments of a part alone. Its metrics have the part's name at their end.

    Attributes:
        family: the family for all segments.
        part: one of `PARTS`.
    """

    family: Family[Any]
    part: str

    @property
    def key(self) -> str:
        """The family's key, and the part."""
        return f"{self.family.key}:{self.part}"

    def statistics(self, texts: tuple[Sequence[bool], Array], /) -> Array:
        """The family's statistics with zeros outside the part, from whether each segment belongs to it, and these."""
        inside, rows = texts
        return np.where(np.array(inside, dtype=bool)[:, None], rows, 0.0)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The family's metrics, or those of them that parts have."""
        of, only = PARTS[self.part], self.family.in_parts
        return tuple(
            replace(
                metric,
                name=f"{metric.name}_{self.part}",
                signature=f"{metric.signature}|{of}:{self.part}",
                undefined=f"{_NONE[of]} {self.part}, or {metric.undefined}",
            )
            for metric in self.family.metrics
            if only is None or metric.name in only
        )


def by_part(statistics: Mapping[Family[Any], Array], parts: Mapping[str, Sequence[bool]]) -> dict[Family[Any], Array]:
    """For each part, the statistics of every family with zeros outside the part.

    Args:
        parts: for each part, whether each segment belongs to it.
    """
    wanted = [
        (Part(family, part), (inside, rows)) for part, inside in parts.items() for family, rows in statistics.items()
    ]
    return {part: part.statistics(given) for part, given in wanted}
