"""Additions of a clone to the command line: `espalier STAGE KEY` for every stage, and commands on profiles."""

import os
from pathlib import Path
from typing import Annotated

import typer

from espalier.cli.app import FILES, app
from espalier.cli.models import find_in
from pipeline.graph.stage_run import run_alone
from pipeline.shell import completion, judge_commands, new_commands, project_commands
from pipeline.shell.models import ProfileModels
from pipeline.shell.profiles import Profile, ProfileOption, enter

#: The stages of dvc.yaml that have keys; the module of this name in `pipeline.stages` has a `run(key)`.
STAGES = {
    "download": "Download the files of a source and check their hashes.",
    "copy": "Copy a local file to its shelf.",
    "train_parser": "Train a parser on a treebank.",
    "parse": "Read or generate a corpus, and parse its texts.",
    "filter": "Filter and split the records of a corpus.",
    "linearize": "Encode a corpus for sequence models.",
    "canonicalize": "Encode a corpus for tree models.",
    "train": "Train a model. A training that was killed resumes.",
    "decode": "Decode the texts of a run.",
    "annotate": "Parse the texts of a run.",
    "score": "Score the texts of a run, or texts of any origin like them.",
    "baselines": "Write and score the trivial baselines of a dataset.",
    "report": "Report the runs of a paper beside its printed numbers.",
}
#: Stages that parse in shards, on this machine's cores or on a cluster.
SHARDED = ("parse", "annotate")
#: The most processes of a sharded stage.
MAX_WORKERS = 1024

KeyArgument = Annotated[
    str, typer.Argument(help="The key of the entry in params.yaml.", autocompletion=completion.keys)
]
SchedulerOption = Annotated[
    str | None, typer.Option(help="The scheduler of a Dask cluster, tcp://HOST:PORT; default: this machine.")
]
WorkersOption = Annotated[
    int | None,
    typer.Option(min=1, max=MAX_WORKERS, help="The number of processes on this machine; default: depends on the rows."),
]
SeedOption = Annotated[
    int | None,
    typer.Option(help="Train this seed alone, up to its last checkpoint, from which a training of all seeds goes on."),
]
OutputsOption = Annotated[
    Path | None,
    typer.Option(help="A file of texts to score instead, ID<TAB>TEXT or one text a line; prints, and writes nothing."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="With --outputs: print all details.")]


def _stage(name: str, text: str) -> None:
    def command(key: KeyArgument, profile: ProfileOption = None) -> None:
        run(key, profile)

    def sharded(
        key: KeyArgument,
        profile: ProfileOption = None,
        scheduler: SchedulerOption = None,
        workers: WorkersOption = None,
    ) -> None:
        for variable, value in (("ESPALIER_SCHEDULER", scheduler), ("ESPALIER_WORKERS", workers)):
            if value is not None:
                os.environ[variable] = str(value)
        run(key, profile)

    def scored(
        key: KeyArgument, profile: ProfileOption = None, outputs: OutputsOption = None, json: JsonOption = False
    ) -> None:
        if outputs is None:
            run(key, profile)
            return
        from pipeline.commands.score_outputs import score_outputs

        file = outputs.resolve()
        enter(profile)
        score_outputs(key, file, as_json=json)

    def trained(key: KeyArgument, profile: ProfileOption = None, seed: SeedOption = None) -> None:
        enter(profile)
        run_alone(name, key, seed=seed)

    def run(key: str, profile: Profile | None) -> None:
        enter(profile)
        run_alone(name, key)

    chosen = sharded if name in SHARDED else scored if name == "score" else trained if name == "train" else command
    chosen.__doc__ = text
    app.command(name)(chosen)


for _name, _text in STAGES.items():
    _stage(_name, _text)


@app.command()
def site(profile: ProfileOption = None) -> None:
    """Write the page over all papers, from their reports."""
    enter(profile)
    run_alone("site")


app.registered_commands += project_commands.app.registered_commands
app.add_typer(judge_commands.app, name="judge")
app.add_typer(new_commands.app, name="new")
FILES.update(STAGES, ("adopt", "export", "new", "pages", "rehearse", "release", "repro", "site"))
find_in(ProfileModels())
