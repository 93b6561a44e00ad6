"""The hours of the profile `paper` on some numbers of cores and of GPUs, by its rehearsal.

    cd profiles/paper; espalier rehearse paper; cd ../..
    python benchmarks/plan_paper.py [--record]

The speeds of a GPU are those of trainings of `small` with networks of `paper`; nothing runs on a GPU here.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from measuring import Record, arguments

from espalier.io.files import read_json
from espalier.report.benchmarks import BenchmarkTable, Column
from pipeline.commands.plan import seeds_apart
from pipeline.graph.stage_graph import definitions, needs_of
from pipeline.params.entries import Params
from pipeline.params.read import load_params
from pipeline.records.artifacts import read_measurement
from pipeline.records.stage_times import HOUR, REHEARSAL, StageTimes, chain_seconds, makespan

ROOT: Final = Path(__file__).resolve().parents[1]
PAPER, SMALL = ROOT / "profiles/paper", ROOT / "profiles/small"
CORES: Final = (1, 4, 16, 64)
GPUS: Final = (1, 4, 16)
#: The cores beside the GPUs.
BESIDE: Final = 64
DAY: Final = 24
#: Settings of a network on which its speed does not depend.
WITHOUT_COST: Final = {
    "positions",
    "norm",
    "dropout",
    "attention_dropout",
    "boundary_ids",
    "scale",
    "initial",
    "epsilon",
}


@dataclass(frozen=True)
class Plan:
    """The stages of the profile, with each seed of a training apart.

    Attributes:
        hours: by stage, where the rehearsal estimates any; the work of one core.
    """

    needs: Mapping[str, Collection[str]]
    hours: Mapping[str, float]

    @property
    def work(self) -> float:
        """The hours of one stage after another."""
        return sum(self.hours.values())

    def chain(self) -> list[str]:
        """The longest chain of stages, in the order in which they run."""
        lengths = chain_seconds(self.needs, self.hours.__getitem__)
        after: dict[str, list[str]] = {name: [] for name in self.needs}
        for name, before in self.needs.items():
            for each in before:
                after[each].append(name)
        found, then = list[str](), [*self.needs]
        while then:
            found.append(max(then, key=lengths.__getitem__))
            then = after[found[-1]]
        return [name for name in found if self.hours[name]]

    def length(self, names: Sequence[str]) -> float:
        """The hours of some stages, one after another."""
        return sum(self.hours[name] for name in names)

    def on_gpu(self, times: float) -> Plan:
        """The plan with trainings so many times as fast."""
        return Plan(self.needs, {name: hours / (times if _trains(name) else 1) for name, hours in self.hours.items()})


def _name(stage: tuple[str, str]) -> str:
    return "@".join(filter(None, stage))


def _trains(name: str) -> bool:
    return name.startswith("train@")


def plan() -> Plan:
    """The plan of the profile in the present folder."""
    if not REHEARSAL.is_file():
        sys.exit(f"no {PAPER / REHEARSAL}; run espalier rehearse paper there")
    params, times = load_params(), StageTimes(strict=True)
    needs = {_name(stage): {*map(_name, before)} for stage, before in needs_of(definitions()).items()}
    hours = {name: 0.0 if (known := times.known(name)) is None else known.seconds / HOUR for name in needs}
    seeds = {f"train@{key}": len(model.seeds) for key, model in params.models.items()}
    return Plan(*seeds_apart(needs, hours, seeds))


def core_table(plan: Plan) -> BenchmarkTable:
    """The hours on some numbers of cores, and what they cannot be less than."""
    chain = plan.chain()
    rows: dict[str, tuple[float | str, ...]] = {}
    for cores in CORES:
        hours, share, least = makespan(plan.needs, cores, plan.hours.__getitem__), plan.work / cores, plan.length(chain)
        rows[f"{cores}"] = hours, hours / DAY, share, least, "the cores" if share > least else max(
            chain, key=plan.hours.__getitem__
        )  # fmt: skip
    headings = ("hours", "days", "work / cores, hours", "longest chain, hours")
    columns = (*(Column(heading=name, digits=0) for name in headings), Column(heading="first bottleneck"))
    return BenchmarkTable(
        title="Hours by the number of cores, with one stage on each", names="cores", columns=columns, rows=rows
    )


def kind_table(plan: Plan) -> BenchmarkTable:
    """The work of each kind of stage, and its longest stage."""
    stages = Counter[str](name.partition("@")[0] for name in plan.hours if " " not in name)
    hours, longest = dict[str, float](), dict[str, str]()
    for name, each in plan.hours.items():
        kind = name.partition("@")[0]
        hours[kind] = hours.get(kind, 0.0) + each
        longest[kind] = max(longest.get(kind, name), name, key=plan.hours.__getitem__)
    rows: dict[str, tuple[float | str | None, ...]] = {
        kind: (stages[kind], each, 100 * each / plan.work, plan.hours[longest[kind]], longest[kind])
        for kind, each in sorted(hours.items(), key=lambda found: -found[1])
        if each
    }
    columns = (
        Column(heading="stages", digits=0), Column(heading="core-hours", digits=1), Column(heading="%", digits=1),
        Column(heading="hours of the longest", digits=1), Column(heading="which"),
    )  # fmt: skip
    return BenchmarkTable(title="Work by kind of stage", names="kind", columns=columns, rows=rows)


def chain_table(plan: Plan) -> BenchmarkTable:
    """The longest chain."""
    rows = {name: (plan.hours[name],) for name in plan.chain()}
    return BenchmarkTable(
        title="The longest chain", names="stage", columns=(Column(heading="hours", digits=1),), rows=rows
    )


def speed_table(paper: Params, hours: Mapping[str, float], small: Params) -> BenchmarkTable:
    """Tokens a second of models with networks of equal cost: rehearsed on a core, and trained on a GPU."""
    rows: dict[str, tuple[float, ...]] = {}
    for key, model in small.models.items():
        found = read_measurement(key, SMALL)
        if found is None or not found.on_gpu:
            continue
        alike = [name for name, other in paper.models.items() if _cost(other) == _cost(model)]
        for name in alike[:1]:
            other, rate = paper.models[name], found.scores["tokens_per_second"]
            tokens = len(other.seeds) * other.training.steps * other.training.batch_tokens
            core = tokens / (HOUR * hours[f"train@{name}"])
            rows[f"{name} ({key} of small)"] = core, rate, rate / core
    columns = [Column(heading=f"tokens/s, {where}", digits=0) for where in ("a core, rehearsed", "an H200, measured")]
    title = "Trainings on a core and on a GPU, with networks of equal cost"
    return BenchmarkTable(title=title, columns=(*columns, Column(heading="times", digits=0)), rows=rows)


def _cost(model: Any) -> tuple[str, dict[str, Any]]:
    return model.arch, model.network.model_dump(exclude=WITHOUT_COST)


def gpu_table(plan: Plan, times: Sequence[float]) -> BenchmarkTable:
    """The least hours with trainings on GPUs, one on each, for the slowest and the fastest of some speeds."""
    rows: dict[str, tuple[float | str, ...]] = {}
    for gpus in GPUS:
        for each in (min(times), max(times)):
            fast = plan.on_gpu(each)
            trained = fast.length([name for name in fast.hours if _trains(name)])
            chain = fast.chain()
            least = {
                "the GPUs": trained / gpus,
                f"the {BESIDE} cores": (fast.work - trained) / BESIDE,
                max(chain, key=fast.hours.__getitem__): fast.length(chain),
            }
            first = max(least, key=least.__getitem__)
            rows[f"{gpus}, each as {each:.0f} cores"] = max(least.values()), *least.values(), first
    headings = ("hours at least", "work / GPUs", f"the rest / {BESIDE} cores", "longest chain")
    columns = (*(Column(heading=name, digits=1) for name in headings), Column(heading="first bottleneck"))
    title = f"Hours by the number of GPUs, with {BESIDE} cores beside them (an estimate)"
    return BenchmarkTable(title=title, names="GPUs", columns=columns, rows=rows)


def main() -> None:
    """Print the tables."""
    arguments()
    os.chdir(SMALL)
    small = load_params()
    os.chdir(PAPER)
    paper, whole = load_params(), plan()
    speeds = speed_table(paper, read_json(REHEARSAL), small)
    with Record(__file__) as record:
        for table in (core_table(whole), kind_table(whole), chain_table(whole), speeds):
            record.add(table)
        record.add(gpu_table(whole, [float(cells[2]) for cells in speeds.rows.values()]))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
