"""The command `judge power`: how many inputs a difference needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from espalier.io.errors import ConfigError
from espalier.io.registry import entry
from espalier.io.terminal import json_line
from espalier.judging.answers import merged
from espalier.judging.power import WANTED, inputs_for, power_of, spread_of
from espalier.judging.protocol import Protocol
from espalier.judging.simulate import Spread
from pipeline.params.read import load_params
from pipeline.records.judging import levels_of, read_files, read_key


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
        name: key of a protocol with a scale.
        difference: difference of two systems' qualities in levels.
        spread: stated standard deviations, PART=LEVELS, which replace those of `Spread` or of the pilot.
        pilot: raters' files of an earlier sample, whose spread is used.
        key: key of that sample.

    Raises:
        ConfigError: the protocol has no scale, the difference is not above 0, or a pilot has no key or too little.
    """
    protocol = entry("protocol", load_params().protocols, name)
    if protocol.design != "scale":
        raise ConfigError(f"of design {protocol.design}", where=f"protocols.{name}", remedy="power is that of a scale")
    if not 0 < difference < math.inf:
        raise ConfigError(f"no difference of {difference:g} levels", where="--difference", remedy="a number above 0")
    if bool(pilot) != (key is not None):
        raise ConfigError("a pilot has files and the key of their sample", where="--key", remedy="give both or neither")
    values = max((criterion.values for criterion in protocol.criteria.values()), key=len)
    known = _of_pilot(pilot, key) if key is not None else Spread()
    stated = levels_of(spread, list(asdict(known)), where="--sd")
    used = Spread(**(asdict(known) | stated))
    claims = max(1, sum(len(claim.criteria) for claim in protocol.claims))
    panel = raters or protocol.raters
    own = power_of(inputs or protocol.inputs, panel, difference, values, spread=used, claims=claims)
    *_, needed = inputs_for(panel, difference, values, spread=used, claims=claims)
    if json:
        facts = {"raters": panel, "claims": claims, "difference": difference, "spread": asdict(used)}
        print(json_line({**facts, "power": asdict(own), "needed": asdict(needed), "wanted": WANTED}))
        return
    deviations = ", ".join(f"{part} {value:.2f}" for part, value in asdict(used).items())
    print(f"{panel} raters, {claims} claims, a difference of {difference:g} levels; standard deviations: {deviations}")
    print(f"{own.inputs} inputs: power {own.power:.2f} ± {own.error:.2f}")
    if needed.power < WANTED:
        print(f"not even {needed.inputs} inputs reach a power of {WANTED} ({needed.power:.2f})")
    else:
        print(f"{needed.inputs} inputs reach a power of {WANTED} ({needed.power:.2f} ± {needed.error:.2f})")


def _of_pilot(pilot: Sequence[Path], key: Path) -> Spread:
    """The mean spread over the criteria of a pilot."""
    sample = read_key(key)
    _require_scale(sample.protocol, key)
    answers = merged(read_files(pilot), sample, incomplete=True)
    spreads = [asdict(spread_of(sample, answers, criterion)) for criterion in sample.protocol.criteria]
    return Spread(**{part: sum(each[part] for each in spreads) / len(spreads) for part in spreads[0]})


def _require_scale(protocol: Protocol, key: Path) -> None:
    if protocol.design != "scale":
        raise ConfigError(f"a pilot of design {protocol.design}", where=str(key), remedy="power is that of a scale")
