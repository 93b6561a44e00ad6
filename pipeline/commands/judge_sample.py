"""The command `judge sample`: draw outputs for people to judge, and write what raters get and the key."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from espalier.cli.progress import say
from espalier.io.errors import ConfigError
from espalier.io.files import atomic_folder, write_json
from espalier.io.registry import entry
from espalier.io.validation import validated
from espalier.judging.draw import draw
from espalier.judging.heds import heds
from espalier.judging.potato import potato
from espalier.judging.power import Power, power_of
from espalier.judging.protocol import Protocol
from espalier.judging.sample import Sample
from espalier.judging.sheets import page, sheet
from pipeline.params.entries import Params
from pipeline.params.read import load_params
from pipeline.records.judging import (
    FOR_RATERS,
    HEDS,
    KEY,
    language_of,
    output_hashes,
    require_difference,
    rows_of,
    write_key,
)

#: The folder of samples, in that of the profile.
FOLDER: Final = Path("judging")


def judge_sample(name: str, out: Path | None, changes: dict[str, object], difference: float | None) -> None:
    """Draw a sample of the runs of a protocol.

    Args:
        name: key of the protocol.
        out: new folder; by default `judging/<protocol>`.
        changes: values of the protocol to replace.
        difference: difference of two systems in levels, whose power is printed and written to the datasheet.

    Raises:
        ConfigError: the protocol or a run does not exist, the folder exists, the sample cannot be drawn, or
            the difference is not above 0.
        ArtifactError: the outputs of a run are missing.
    """
    if difference is not None:
        require_difference(difference)
    params = load_params()
    protocol = changed(name, params, changes)
    folder = out or FOLDER / name
    if folder.exists():
        raise ConfigError(
            "exists, and may have the key of ratings", where=str(folder), remedy="name another folder with --out"
        )
    rows = {run: rows_of(protocol.paper, run) for run in protocol.runs}
    language = language_of(protocol, params)
    sample = draw(name, protocol, rows, language, profile=params.profile, outputs=output_hashes(protocol))
    power = None if difference is None else power_of(protocol, protocol.inputs, difference)
    with atomic_folder(folder) as part:
        _write(part, sample, params.runs[protocol.runs[0]].task, power)
    most = max(len(sample.asked(rater)) for rater in sample.orders)
    say(
        f"{name}: sample {sample.hash}, {len(sample.items)} items, {len(sample.orders)} raters, {most} questions each",
        f"{folder / FOR_RATERS}: for each rater a page and a CSV; give one of them",
        f"{folder / KEY}: whose each text is; keep it from the raters",
    )
    if power:
        say(f"a difference of {difference:g} levels is found with a power of {power.power:.2f} ± {power.error:.2f}")


def changed(name: str, params: Params, changes: dict[str, object]) -> Protocol:
    """A protocol of params.yaml with other values, whose runs exist."""
    protocol = entry("protocol", params.protocols, name)
    given = {key: value for key, value in changes.items() if value is not None}
    if "runs" in given:  # claims about runs that are not judged say nothing
        systems = {*protocol.systems} - {*protocol.runs} | set(given["runs"])  # type: ignore[call-overload]
        given["claims"] = [claim for claim in protocol.claims if {claim.better, claim.worse} <= systems]
    protocol = validated(Protocol, protocol.model_dump() | given, f"protocols.{name}")
    for run in protocol.runs:
        entry("run", params.runs, run, where=f"protocols.{name}.runs")
        if params.runs[run].paper != protocol.paper:
            what = f"run {run} is of paper {params.runs[run].paper}"
            raise ConfigError(what, where=f"protocols.{name}.runs", remedy=f"name runs of {protocol.paper}")
    return protocol


def _write(folder: Path, sample: Sample, task: str, power: Power | None) -> None:
    raters = folder / FOR_RATERS
    raters.mkdir()
    for rater in sample.orders:
        (raters / f"{rater}.html").write_text(page(sample, rater), encoding="utf-8")
        # With a byte order mark, without which some spreadsheets guess another encoding.
        (raters / f"{rater}.csv").write_text(sheet(sample, rater), encoding="utf-8-sig")
    (folder / "potato").mkdir()
    for name, text in potato(sample).items():
        (folder / "potato" / name).write_text(text, encoding="utf-8")
    write_key(folder / KEY, sample)
    write_json(folder / HEDS, heds(sample, task=task, power=power))
