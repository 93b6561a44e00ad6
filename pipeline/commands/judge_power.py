"""The command `judge power`: how many inputs a difference needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from espalier.io.errors import ConfigError
from espalier.io.registry import entry
from espalier.io.terminal import json_line
from espalier.judging.answers import merged
from espalier.judging.pilot import spread_of
from espalier.judging.power import PARTS, WANTED, claims_of, expected, inputs_for, power_of
from espalier.judging.protocol import Protocol
from espalier.judging.simulate import Spread
from pipeline.params.read import load_params
from pipeline.records.judging import levels_of, read_files, read_key, require_difference


def judge_power(
    name: str,
    difference: float,
    *,
    raters: int | None,
    inputs: int | None,
    spread: Sequence[str],
    pilot: Sequence[Path],
    key: Path | None,
    json: bool,
) -> None:
    """Print the power of the protocol's number of inputs, and the number that a difference needs.

    Args:
        difference: difference of two systems' qualities in levels.
        spread: stated standard deviations, PART=LEVELS, which replace those of `Spread` or of the pilot.
        pilot: raters' files of an earlier sample, whose spread is used.
        key: key of that sample.

    Raises:
        ConfigError: the difference is not above 0, or a pilot has no key, another design or too little.
    """
    protocol = entry("protocol", load_params().protocols, name)
    require_difference(difference)
    if bool(pilot) != (key is not None):
        raise ConfigError("a pilot has files and the key of their sample", where="--key", remedy="give both or neither")
    known = _of_pilot(pilot, key, protocol, name) if key is not None else Spread()
    parts = PARTS[protocol.design]
    used = replace(known, **levels_of(spread, parts, where="--sd"))
    panel = raters or protocol.raters
    own = power_of(protocol, inputs or protocol.inputs, difference, raters=panel, spread=used)
    *_, needed = inputs_for(protocol, difference, raters=panel, spread=used)
    claims, answers = claims_of(protocol), expected(protocol, difference, used)
    deviations = {part: value for part, value in asdict(used).items() if part in parts}
    if json:
        facts = {"raters": panel, "claims": claims, "difference": difference, "spread": deviations, "answers": answers}
        print(json_line({**facts, "power": asdict(own), "needed": asdict(needed), "wanted": WANTED}))
        return
    stated = ", ".join(f"{part} {value:.2f}" for part, value in deviations.items())
    counted = f"{claims} claim{'s' * (claims != 1)}"
    print(f"{panel} raters, {counted}, a difference of {difference:g} levels; standard deviations: {stated}")
    if protocol.design == "pairs":
        shares = ", ".join(f"{name} {share:.0f} %" for name, share in answers.items())
        print(f"the better system is expected to have: {shares}")
    if protocol.design == "best_worst":
        scores = " and ".join(f"{score:.2f}" for score in answers.values())
        print(f"the two systems are expected to have the scores {scores}")
    print(f"{own.inputs} inputs: power {own.power:.2f} ± {own.error:.2f}")
    if needed.power < WANTED:
        print(f"not even {needed.inputs} inputs reach a power of {WANTED} ({needed.power:.2f})")
    else:
        print(f"{needed.inputs} inputs reach a power of {WANTED} ({needed.power:.2f} ± {needed.error:.2f})")


def _of_pilot(pilot: Sequence[Path], key: Path, protocol: Protocol, name: str) -> Spread:
    """The mean spread over the criteria of a pilot that tell one."""
    sample = read_key(key)
    if sample.protocol.design != protocol.design:
        what = f"a pilot of design {sample.protocol.design}, and protocol {name} of design {protocol.design}"
        raise ConfigError(what, where=str(key), remedy="name the pilot's protocol, or state the spread by --sd")
    answers = merged(read_files(pilot), sample, incomplete=True)
    spreads, silent = [], []
    for criterion in sample.protocol.criteria:
        try:
            spreads.append(asdict(spread_of(sample, answers, criterion)))
        except ConfigError as error:
            silent.append(error)
    if not spreads:
        raise silent[0]
    return Spread(**{part: sum(each[part] for each in spreads) / len(spreads) for part in spreads[0]})
