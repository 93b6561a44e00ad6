"""The commands `espalier judge sample|score|power|simulate`: outputs judged by people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipeline.shell.profiles import ProfileOption, enter
from pipeline.shell.project_commands import call

app = typer.Typer(help="Have people judge outputs: draw a sample, score the ratings, plan how many are needed.")

ProtocolArgument = Annotated[str, typer.Argument(help="The key of the protocol in params.yaml.")]
KeyOption = Annotated[
    Path, typer.Option("--key", resolve_path=True, help="The key of the sample, key/key.json in its folder.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command()
def sample(
    protocol: ProtocolArgument,
    out: Annotated[
        Path | None, typer.Option(resolve_path=True, help="A new folder; default: judging/PROTOCOL.")
    ] = None,
    run: Annotated[list[str] | None, typer.Option(help="A judged run instead of the protocol's; repeatable.")] = None,
    inputs: Annotated[int | None, typer.Option(min=2, help="The number of inputs.")] = None,
    raters: Annotated[int | None, typer.Option(min=1, help="The number of raters.")] = None,
    per_input: Annotated[
        int | None, typer.Option(min=1, help="The number of raters of an input; default: all.")
    ] = None,
    repeated: Annotated[int | None, typer.Option(min=0, help="The number of items that a rater sees twice.")] = None,
    checks: Annotated[int | None, typer.Option(min=0, help="The number of attention checks.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="The seed of the drawing.")] = None,
    difference: Annotated[
        float | None, typer.Option(help="A difference of two systems in levels, whose power is said.")
    ] = None,
    profile: ProfileOption = None,
) -> None:
    """Draw outputs of runs, blinded and shuffled: for each rater a page that works offline, and a CSV."""
    enter(profile)
    changes = {"runs": run or None, "inputs": inputs, "raters": raters, "per_input": per_input}
    changes |= {"repeated": repeated, "checks": checks, "seed": seed}
    call("judge_sample", protocol, out, changes, difference)


@app.command()
def score(
    key_file: KeyOption,
    files: Annotated[
        list[Path] | None,
        typer.Argument(resolve_path=True, help="The raters' files: JSON of pages, or CSV filled in. None: stand-ins."),
    ] = None,
    leave_out: Annotated[
        bool, typer.Option("--leave-out", help="Leave out raters who failed the attention checks; both results stand.")
    ] = False,
    incomplete: Annotated[
        bool, typer.Option("--incomplete", help="Allow files in which questions have no answer.")
    ] = False,
    json: JsonOption = False,
    profile: ProfileOption = None,
) -> None:
    """Check and merge raters' files: means, wins, agreement and claims, as a metric and on standard output."""
    enter(profile)
    call("judge_score", files or [], key_file, leave_out=leave_out, incomplete=incomplete, json=json)


@app.command()
def power(
    protocol: ProtocolArgument,
    difference: Annotated[float, typer.Option(help="The difference of two systems in levels; half a level is a tie.")],
    raters: Annotated[int | None, typer.Option(min=2, help="The number of raters; default: the protocol's.")] = None,
    inputs: Annotated[int | None, typer.Option(min=2, help="The number of inputs; default: the protocol's.")] = None,
    sd: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART=LEVELS",
            help="A standard deviation: of inputs, texts, raters or noise (pairs and sets: texts, noise); repeatable.",
        ),
    ] = None,
    pilot: Annotated[
        list[Path] | None, typer.Option(resolve_path=True, help="A rater's file of a pilot; repeatable.")
    ] = None,
    key_file: Annotated[
        Path | None, typer.Option("--key", resolve_path=True, help="The key of the pilot's sample.")
    ] = None,
    json: JsonOption = False,
    profile: ProfileOption = None,
) -> None:
    """Say how many inputs a difference needs, by simulated panels."""
    enter(profile)
    call(
        "judge_power", protocol, difference,
        raters=raters, inputs=inputs, spread=sd or [], pilot=pilot or [], key=key_file, json=json,
    )  # fmt: skip


@app.command()
def simulate(
    key_file: KeyOption,
    out: Annotated[Path, typer.Option(resolve_path=True, help="A new folder.")],
    quality: Annotated[
        list[str] | None, typer.Option(metavar="SYSTEM=LEVEL", help="The planted quality of a system; repeatable.")
    ] = None,
    careless: Annotated[
        list[str] | None, typer.Option(metavar="RATER", help="A rater who answers at random; repeatable.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the raters.")] = 1,
) -> None:
    """Write the files of simulated raters, to try the kit. Their scores are printed and never kept."""
    enter(None)
    call("judge_simulate", key_file, out, quality or [], careless or [], seed)
