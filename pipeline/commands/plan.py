"""The command `plan`: the cost of bringing a profile up to date, before any stage starts."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from espalier.corpora.catalogue import Source
from espalier.io.terminal import json_line, printable
from pipeline import layout
from pipeline.commands.repro import out_of_date
from pipeline.graph.lock_file import read_lock
from pipeline.params.read import load_catalogue, load_params
from pipeline.records.stage_times import GIGABYTE, HOUR, StageTimes, makespan


@dataclass(frozen=True)
class Planned:
    """A stage that would run.

    Attributes:
        hours: expected hours on this machine; None without a rehearsal or an earlier run.
        source: source of the hours: "rehearsal", "earlier run" or "".
        bytes: size of its outputs; None if neither the catalogue nor dvc.lock gives it.
    """

    stage: str
    key: str
    hours: float | None
    source: str
    bytes: int | None


def plan(targets: list[str], *, jobs: Sequence[int] = (), json: bool) -> None:
    """Print the stages of the present profile that are out of date, with hours and bytes, and the sources.

    Args:
        targets: names of stages; empty for all stages of the profile.
        jobs: numbers of stages at once, for each of which the hours of the whole are printed.
    """
    params = load_params()
    catalogue = load_catalogue(params) if params.sources.published else {}
    needs = out_of_date(targets)
    names = [name.partition("@")[::2] for name in needs]
    times = StageTimes(strict=True)
    sizes = _locked_sizes()
    stages = [_planned(stage, key, times, catalogue, sizes) for stage, key in names]
    seeds = {f"train@{key}": len(model.seeds) for key, model in params.models.items()}
    known = {name: (each.hours or 0.0) for name, each in zip(needs, stages, strict=True)}
    parts, lasts = seeds_apart(needs, known, seeds)
    at_once = {number: makespan(parts, number, lasts.__getitem__) for number in jobs}
    wanted = {key: catalogue[key] for stage, key in names if stage == "download"}
    free = shutil.disk_usage(Path()).free
    if json:
        sources = {key: {"licence": source.licence, "bytes": source.size} for key, source in wanted.items()}
        print(
            json_line(
                {
                    "profile": params.profile,
                    "stages": [*map(asdict, stages)],
                    "at_once": at_once,
                    "sources": sources,
                    "free": free,
                }
            )
        )
    else:
        print(printable(page_of(params.profile, stages, wanted, free, at_once)))


def page_of(
    profile: str,
    stages: list[Planned],
    sources: Mapping[str, Source],
    free: int,
    at_once: Mapping[int, float] | None = None,
) -> str:
    """A line for each kind of stage, the totals, the hours by stages at once, and the sources with their licences."""
    if not stages:
        return f"{profile}: nothing to run"
    lines = [f"{profile}: {len(stages)} stages to run", f"{'':14}{'stages':>8}{'hours':>9}{'GB':>9}"]
    for name in dict.fromkeys(each.stage for each in stages):
        lines.append(_line(name, [each for each in stages if each.stage == name]))
    lines += [_line("all", stages), f"{free / GIGABYTE:,.1f} GB of disk are free."]
    if long := [each for each in stages if each.hours is None and each.stage in ("train", "decode", "train_parser")]:
        few = ", ".join(f"{each.stage}@{each.key}" for each in long[:3]) + (", ..." if len(long) > 3 else "")
        lines.append(f"No hours are known of {len(long)} ({few}): espalier rehearse {profile} estimates them.")
    lines.append("Hours are those of one stage after another; ? is unknown, + is the part that is known.")
    for number, hours in (at_once or {}).items():
        lines.append(f"{number:,} at once, each on a machine like this one: {hours:,.2f} hours.")
    lines.append("They are of earlier runs, even if settings have changed since; otherwise of a rehearsal.")
    if sources:
        width = max(map(len, sources))
        lines.append(f"{len(sources)} sources to download:")
        for key, source in sources.items():
            lines.append(f"  {key:{width}}  {source.size / 1e6:8,.1f} MB  {source.licence}")
    return "\n".join(lines)


def seeds_apart(
    needs: Mapping[str, Collection[str]], hours: Mapping[str, float], seeds: Mapping[str, int]
) -> tuple[dict[str, Collection[str]], dict[str, float]]:
    """Stages with those that they need, and their hours, where seeds are trained apart, as `repro --cluster` does.

    Args:
        seeds: the number of seeds by stage.
    """
    parts = dict[str, Collection[str]](needs)
    lasts = dict(hours)
    for name in needs:
        for number in range(count) if (count := seeds.get(name, 1)) > 1 else ():
            seed = f"{name} {number}"
            parts[seed], lasts[seed] = needs[name], hours[name] / count
            parts[name], lasts[name] = [*parts[name], seed], 0.0
    return parts, lasts


def _line(name: str, stages: list[Planned]) -> str:
    hours = _sum([each.hours for each in stages], 1)
    return f"{name:14}{len(stages):8}{hours:>9}{_sum([each.bytes for each in stages], GIGABYTE):>9}"


def _sum(values: Sequence[float | None], unit: float) -> str:
    """A sum of known values with its unit, followed by + if some values are unknown."""
    known = [value for value in values if value is not None]
    if not known:
        return "?"
    return f"{sum(known) / unit:,.2f}" + ("+" if len(known) < len(values) else "")


def _planned(
    stage: str, key: str, times: StageTimes, catalogue: Mapping[str, Source], sizes: Mapping[str, int]
) -> Planned:
    name = f"{stage}@{key}" if key else stage
    known = times.known(name)
    hours, source = (None, "") if known is None else (known.seconds / HOUR, known.source)
    size = catalogue[key].size if stage == "download" else sizes.get(name)
    return Planned(stage, key, hours, source, size)


def _locked_sizes() -> dict[str, int]:
    """The sizes of stage outputs in dvc.lock, in bytes."""
    if not layout.LOCK.is_file():
        return {}
    return {name: sum(out.size for out in outs) for name, outs in read_lock(layout.LOCK).items()}
