"""The commands on the project: list, repro, pages, adopt, dvc, export, release, plan, rehearse, verify."""

from pathlib import Path
from typing import Annotated

import typer
from typer.models import OptionInfo

from espalier.cli.models import model_names
from espalier.cli.progress import say
from espalier.io.registry import imported
from pipeline.graph.settled import UP_TO_DATE, is_settled
from pipeline.records.machine import jobs as usual_jobs
from pipeline.shell import completion
from pipeline.shell.profiles import Profile, ProfileOption, enter

app = typer.Typer()

#: The most stages at once, and the usual number on a cluster.
MAX_JOBS, CLUSTER_JOBS = 64, 16


def call(name: str, *arguments: object, **options: object) -> None:
    """Call the function `name` of the module `pipeline.commands.<name>`, which is imported only now."""
    imported("command", f"pipeline.commands.{name}:{name}", where="espalier")(*arguments, **options)


def _jobs(default: str) -> OptionInfo:
    """The option --jobs of a command."""
    text = f"The number of stages that run at once; default: {default}."
    return typer.Option("--jobs", "-j", min=1, max=MAX_JOBS, help=text)


ProfileArgument = Annotated[Profile, typer.Argument(help="The profile.")]
TargetsArgument = Annotated[
    list[str] | None,
    typer.Argument(help="The names of stages; default: all.", show_default=False, autocompletion=completion.targets),
]


@app.command("list")
def list_(
    kind: Annotated[str, typer.Argument(help="models, runs, tunes, forms, templates, readers or sources.")],
    name: Annotated[str | None, typer.Argument(help="After tunes: a tune, to list its variants by the book.")] = None,
    profile: ProfileOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each line.")] = False,
) -> None:
    """List what can be named: models, runs, tunes, forms, templates, readers or sources.

    With the name of a tune, the variants of the tune: format, rhymes, tones, the places that repeat words, the number
    of Song ci that follow it, and the first sentence of the book's example.

    Without a terminal the columns are separated by tabs and have no header. A * marks a default.
    """
    enter(profile)
    call("list_entries", kind, name, json=json)


@app.command()
def repro(
    targets: TargetsArgument = None,
    profile: ProfileOption = None,
    jobs: Annotated[int | None, _jobs("one for each core, at most four; on a cluster 16")] = None,
    cluster: Annotated[bool, typer.Option("--cluster", help="Run the stages as jobs of local.yaml's cluster.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would run, and run nothing.")] = False,
) -> None:
    """Run `dvc repro` with several stages at once."""
    enter(profile)
    if not targets and is_settled():
        say(UP_TO_DATE)
        return
    usual = CLUSTER_JOBS if cluster else usual_jobs()
    call("repro", targets or [], jobs or usual, cluster=cluster, dry_run=dry_run)


@app.command()
def pages(
    check: Annotated[bool, typer.Option("--check", help="Write nothing, and fail if a page would change.")] = False,
) -> None:
    """Write the numbers and tables of README and docs from the committed metrics and details."""
    call("pages", check)


@app.command()
def adopt(
    keys: Annotated[list[str], typer.Argument(help="Keys of models in params.yaml.", autocompletion=model_names)],
    folder: Annotated[
        Path, typer.Option("--from", resolve_path=True, help="The folder of the profile, copied from that machine.")
    ],
    profile: ProfileOption = None,
) -> None:
    """Import models that were trained on another machine, with their outputs, and make DVC know them."""
    enter(profile)
    call("adopt", keys, folder)


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def dvc(
    arguments: Annotated[
        list[str] | None, typer.Argument(help="The arguments of dvc: status, repro --dry, ...")
    ] = None,
    profile: ProfileOption = None,
) -> None:
    """Call DVC, parsing params.yaml once and not for each stage. Before its arguments, --profile names a profile."""
    enter(profile)
    call("dvc", arguments or [])


@app.command()
def export(
    model: Annotated[str, typer.Argument(help="The key of a trained model.", autocompletion=model_names)],
    out: Annotated[Path, typer.Argument(resolve_path=True, help="A new folder.")],
    profile: ProfileOption = None,
    no_card: Annotated[
        bool, typer.Option("--no-card", help="Write no card; without it the model needs metrics.")
    ] = False,
    bf16: Annotated[
        bool, typer.Option("--bf16", help="Round the weights to bfloat16, which halves their files.")
    ] = False,
    hub: Annotated[
        bool, typer.Option("--hub", help="Name the files as the Hugging Face Hub does; of several seeds, take one.")
    ] = False,
) -> None:
    """Copy a model, its parser and its expander into one folder, with a card (README.md).

    `espalier.load(folder)` reads it where this project is not.
    """
    enter(profile)
    call("export", model, out, card=not no_card, bfloat16=bf16, hub=hub)


@app.command()
def release(
    model: Annotated[str, typer.Argument(help="The key of a trained model.", autocompletion=model_names)],
    profile: ProfileOption = None,
    name: Annotated[str | None, typer.Option(help="The name of its folder; default: the key.")] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Keep the released weights; measure and describe them again.")
    ] = False,
) -> None:
    """Write released/NAME: a model in bfloat16 with its parts, its own scores, a card and checksums.

    The sources that it learned from must be free (`free` of pipeline/params/sources.yaml).
    """
    enter(profile)
    call("release", model, name, again=again)


@app.command()
def plan(
    profile: ProfileArgument,
    targets: TargetsArgument = None,
    jobs: Annotated[
        list[int] | None, typer.Option(min=1, help="Say also how long so many stages at once take; may be repeated.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say what `espalier repro` would run, before anything starts: stages, hours, disk, sources and their licences."""
    enter(profile)
    call("plan", targets or [], jobs=jobs or [], json=json)


@app.command()
def rehearse(
    profile: ProfileArgument,
    folder: Annotated[
        Path | None, typer.Option(help="An empty folder to work in, which is kept; default: a temporary folder.")
    ] = None,
    offline: Annotated[
        bool,
        typer.Option("--offline", help="Use no network; sources that the mirror lacks are replaced by generated rows."),
    ] = False,
    jobs: Annotated[int | None, _jobs("one for each core, at most four; one on a GPU")] = None,
) -> None:
    """Run every stage of a profile on 64 records, and estimate the time of the whole profile."""
    call("rehearse", profile.value, folder=folder, offline=offline, jobs=jobs)


@app.command()
def verify(profile: ProfileOption = None) -> None:
    """Check the hashes of dvc.lock against the workspace and the cache. DVC itself trusts read-only files."""
    enter(profile)
    call("verify")
