"""The command line: `espalier STAGE KEY` for every stage, and the commands that write."""

from __future__ import annotations

import gc
import importlib
import os
import sys
import warnings
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from espalier.decoding.bounds import MAX_BEAM, MAX_TEMPERATURE, MAX_TOP_K
from espalier.inference.writer import MAX_TEXTS, InferenceWarning
from espalier.io.errors import ConfigError
from espalier.io.terminal import printable, printable_line
from pipeline import layout, streams
from pipeline.failures import failure
from pipeline.streams import QUIET

app = typer.Typer(
    help="Train and use text generators that follow a given structure. Stages run in the current folder's profile.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class Profile(StrEnum):
    """Which params.yaml, and the artifacts beside it."""

    nursery = "nursery"
    small = "small"
    paper = "paper"


class Language(StrEnum):
    """Of what is written."""

    zh = "zh"
    en = "en"


#: The most processes of a sharded stage, and the most stages at once.
MAX_WORKERS, MAX_JOBS = 1024, 64
#: The stages of dvc.yaml, each with what its key names; a module of this package has the same name and a `run(key)`.
STAGES = {
    "download": ("source", "Download the files of a source and check their hashes."),
    "copy": ("source", "Copy a local file to its shelf."),
    "train_parser": ("parser", "Train a parser on a treebank."),
    "parse": ("corpus", "Read or generate a corpus, and parse its texts."),
    "filter": ("corpus", "Filter and split the records of a corpus."),
    "linearize": ("dataset", "Encode a corpus for sequence models."),
    "canonicalize": ("dataset", "Encode a corpus for tree models."),
    "train": ("model", "Train a model. A training that was killed resumes."),
    "decode": ("run", "Decode the texts of a run."),
    "annotate": ("annotation", "Parse the texts of a run."),
    "score": ("run", "Score the texts of a run."),
    "baselines": ("baseline", "Write and score the rows that need no trained model."),
    "report": ("report", "Write the report of a paper: its runs beside the printed numbers."),
}
#: The other commands.
OTHERS = {
    "adopt", "chat", "compose", "export", "generate", "granularity", "judge", "list", "pages", "paraphrase", "plan",
    "polish", "rehearse", "reply", "repro", "site", "verify",
}  # fmt: skip
#: Those of them that write files and print nothing for another program.
WRITERS = ("adopt", "export", "pages", "rehearse", "repro", "site")
#: Stages that parse in shards, on this machine's cores or on a cluster.
SHARDED = ("parse", "annotate")

ProfileOption = Annotated[Profile | None, typer.Option(help="The profile; default: that of the current folder.")]
KeyArgument = Annotated[str, typer.Argument(help="The key of the entry in params.yaml.")]
SchedulerOption = Annotated[
    str | None, typer.Option(help="The scheduler of a Dask cluster, tcp://HOST:PORT; default: this machine.")
]
WorkersOption = Annotated[
    int | None,
    typer.Option(min=1, max=MAX_WORKERS, help="The number of processes on this machine; default: depends on the rows."),
]
ModelOption = Annotated[str | None, typer.Option(help="The key of a model; default: that of the profile.")]
CountOption = Annotated[int, typer.Option(help=f"The number of texts for each format; at most {MAX_TEXTS:,} in all.")]
SeedOption = Annotated[int, typer.Option(help="Of the random draws.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object for each text.")]
LanguageOption = Annotated[Language, typer.Option(help="The language of the texts.")]
FileOption = Annotated[
    Path | None, typer.Option(help=f"A file with one request a line, at most {MAX_TEXTS:,}; - is standard input.")
]
BookOption = Annotated[str, typer.Option(help="The rhyme book: mandarin, cilin or pingshui.")]
ToneOption = Annotated[bool, typer.Option("--tone", help="Keep the tones of the tune, or those of --tones.")]
TonesOption = Annotated[str | None, typer.Option(help="One sign for each word: 平 level, 仄 oblique, 中 either.")]
VariantOption = Annotated[int | None, typer.Option(help="The variant of the tune, counted from 1.")]
AcrosticOption = Annotated[
    str | None, typer.Option(help="The first words of the sentences, or, if they are more, of the clauses.")
]
FreeOption = Annotated[bool, typer.Option("--free", help="Let the model predict separators and marks too.")]
TopKOption = Annotated[int, typer.Option(help=f"Draw from the k most probable words; at most {MAX_TOP_K:,}.")]
TemperatureOption = Annotated[
    float, typer.Option(help=f"The logits are divided by it; above 0, at most {MAX_TEMPERATURE:g}.")
]
BeamOption = Annotated[int, typer.Option(help=f"The number of beams, at most {MAX_BEAM:,}; 0 samples instead.")]
RepliesOption = Annotated[
    int, typer.Option(help="The number of replies, the best of the search; at most the number of beams.")
]
BeamsOption = Annotated[
    int | None,
    typer.Option(help=f"The number of beams, at most {MAX_BEAM:,}; default: 20.", show_default=False),
]
LocalOption = Annotated[
    int | None,
    typer.Option(
        help=f"The groups of children that are scored for each leaf of a tree, at most {MAX_BEAM:,}; default: 6.",
        show_default=False,
    ),
]
MinWordsOption = Annotated[
    int, typer.Option(help="The smallest number of words of a reply. Without it most replies are very short.")
]
ShownTreeOption = Annotated[bool, typer.Option("--show-tree", help="Print the tree of each reply below it.")]


def _be_quiet(value: bool) -> bool:
    if value:
        warnings.simplefilter("ignore", InferenceWarning)
        os.environ[QUIET] = "1"
    return value


def _print_version(value: bool) -> None:
    if value:
        from espalier import __version__

        print(f"espalier {__version__}")
        raise typer.Exit


QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", callback=_be_quiet, help="Print no notes and no progress; errors stay.")
]


@app.callback()
def _espalier(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Train and use text generators that follow a given structure. Stages run in the current folder's profile."""


def _stage(name: str, kind: str, text: str) -> None:
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

    def run(key: str, profile: Profile | None) -> None:
        _enter(profile.value if profile else None)
        from pipeline.code_guard import unchanged_code
        from pipeline.stage_run import alone, fix_threads

        fix_threads(name)
        module = importlib.import_module(f"pipeline.stages.{name}")
        with unchanged_code(), alone(name, key):
            module.run(key)

    chosen = sharded if name in SHARDED else command
    chosen.__doc__ = text
    app.command(name)(chosen)


for _name, (_kind, _text) in STAGES.items():
    _stage(_name, _kind, _text)


@app.command()
def site(profile: ProfileOption = None) -> None:
    """Write the page over all papers, from the reports that were made."""
    _enter(profile.value if profile else None)
    from pipeline.code_guard import unchanged_code
    from pipeline.stage_run import alone
    from pipeline.stages import site as stage

    with unchanged_code(), alone("site", "index"):
        stage.run()


@app.command()
def generate(
    format_: Annotated[
        str | None, typer.Option("--format", help="Counts (5,5。7,5。) or a template (_雨___。).")
    ] = None,
    rhyme: Annotated[str | None, typer.Option(help="One letter for each unit, . for none: .A.A")] = None,
    tune: Annotated[
        str | None, typer.Option(help="The name of a tune, which gives the format and is read by a model with titles.")
    ] = None,
    variant: VariantOption = None,
    tones: TonesOption = None,
    acrostic: AcrosticOption = None,
    book: BookOption = "mandarin",
    tone: ToneOption = False,
    model: ModelOption = None,
    profile: ProfileOption = None,
    language: LanguageOption = Language.zh,
    n: CountOption = 1,
    seed: SeedOption = 1,
    file: FileOption = None,
    json: JsonOption = False,
    free: FreeOption = False,
    top_k: TopKOption = 32,
    temperature: TemperatureOption = 1.0,
    beam: BeamOption = 0,
    quiet: QuietOption = False,
) -> None:
    """Write verse in a given format.

    A line of --file is a format. Its rhyme letters, tune, variant, tones and acrostic may follow, separated by tabs.
    Random draws depend on --seed, on the number of the line and on that of the text, so that equal lines get different
    texts.

    With --variant, --tone or a --book other than mandarin, the format of a tune is that of the Qinding cipu.
    """
    any_given = any(value is not None for value in (format_, tune, tones, acrostic))
    given = (format_, rhyme, tune, "", variant, tones, acrostic) if any_given else None
    options = {
        "n": n, "seed": seed, "top_k": top_k, "temperature": temperature, "beam": beam, "free": free, "book": book,
        "tone": tone,
    }  # fmt: skip
    _write_verse("generate", given, file, profile, model, language, json, options)


@app.command()
def polish(
    template: Annotated[
        str | None, typer.Argument(help="Words are kept, each _ is filled, and each # is filled with a rhyme.")
    ] = None,
    rhyme: Annotated[str | None, typer.Option(help="One letter for each unit, . for none.")] = None,
    tune: Annotated[str | None, typer.Option(help="The name of a tune, which a model with titles reads.")] = None,
    tones: TonesOption = None,
    acrostic: AcrosticOption = None,
    book: BookOption = "mandarin",
    model: ModelOption = None,
    profile: ProfileOption = None,
    language: LanguageOption = Language.zh,
    n: CountOption = 1,
    seed: SeedOption = 1,
    file: FileOption = None,
    json: JsonOption = False,
    top_k: TopKOption = 32,
    temperature: TemperatureOption = 1.0,
    beam: BeamOption = 0,
    quiet: QuietOption = False,
) -> None:
    """Fill the blanks of a template (paper, table 6). A line of --file is a template."""
    given = None if template is None else (template, rhyme, tune, "", None, tones, acrostic)
    options = {
        "n": n, "seed": seed, "top_k": top_k, "temperature": temperature, "beam": beam, "book": book, "tone": False,
    }  # fmt: skip
    _write_verse("polish", given, file, profile, model, language, json, options)


@app.command()
def paraphrase(
    text: Annotated[str | None, typer.Argument(help="An English sentence.")] = None,
    template: Annotated[
        str | None,
        typer.Option(help="The top levels of the output's tree, with words or without: '(S (NP you) (VP) (.))'."),
    ] = None,
    like: Annotated[str | None, typer.Option(help="A sentence whose top levels are the template.")] = None,
    full: Annotated[
        bool, typer.Option("--full", help="With --like: use its whole tree instead of an expanded template.")
    ] = False,
    templates: Annotated[
        int | None, typer.Option(help="The number of frequent templates that are used; 3 if no template is given.")
    ] = None,
    model: ModelOption = None,
    expander: Annotated[
        str | None, typer.Option(help="The model that expands templates; default: that of the profile.")
    ] = None,
    profile: ProfileOption = None,
    n: Annotated[
        int,
        typer.Option(
            help="The number of texts for each template, the best of the search; at most the number of beams."
        ),
    ] = 1,
    beam: Annotated[int, typer.Option(help=f"The number of beams, at most {MAX_BEAM:,}.")] = 8,
    file: FileOption = None,
    show_tree: Annotated[
        bool, typer.Option("--show-tree", help="Print the tree that guided each text below it.")
    ] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Paraphrase a sentence along a syntactic template, which is first expanded to a whole tree.

    A line of --file is a sentence; a template may follow after a tab. Without a template the 3 most frequent templates
    of the training data are used, one text each. The search is deterministic.

    A model that reads texts alone, such as C-DNPG, takes no template.
    """
    from espalier.inference.requests import PairRequest
    from pipeline.commands.paraphrase import requests_of, write

    requests = requests_of(file, [] if text is None else [PairRequest(text)])  # --file is a path in this folder
    _enter(profile.value if profile else "nursery")
    write(
        requests, model, expander, template=template, like=like, full=full, templates=templates, n=n, beam=beam,
        show_tree=show_tree, json=json,
    )  # fmt: skip


@app.command()
def granularity(
    text: Annotated[str | None, typer.Argument(help="An English sentence.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="An SVG file for the heatmap; warm colours are template words.")
    ] = None,
    model: ModelOption = None,
    profile: ProfileOption = None,
    beam: Annotated[int, typer.Option(help=f"The number of beams of the paraphrase, at most {MAX_BEAM:,}.")] = 8,
    file: FileOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Print the granularity of each piece of a sentence and of its paraphrase by layer: 0 template, 1 detail.

    The model is C-DNPG or DNPG. A line of --file is a sentence.
    """
    from espalier.inference.requests import PairRequest
    from pipeline.commands.granularity import requests_of, write

    requests = requests_of(file, [] if text is None else [PairRequest(text)])  # paths in this folder
    drawing = None if out is None else out.resolve()
    _enter(profile.value if profile else "nursery")
    write(requests, model, out=drawing, beam=beam, json=json)


@app.command()
def compose(
    template: Annotated[
        str | None, typer.Option(help="A sentence whose structure is kept; its language chooses the model.")
    ] = None,
    prompt: Annotated[
        str, typer.Option(help="The template's own beginning, at most half of it, with which the texts begin.")
    ] = "",
    topic: Annotated[
        list[str] | None, typer.Option(help="A word that the texts are about; again for more; default: the template's.")
    ] = None,
    frame: Annotated[bool, typer.Option("--frame", help="Make each text exactly as long as the template.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="An SVG or HTML file with both structures of each text, one above the other.")
    ] = None,
    model: ModelOption = None,
    profile: ProfileOption = None,
    n: Annotated[int, typer.Option(help=f"The number of texts for each template; at most {MAX_TEXTS:,} in all.")] = 1,
    seed: SeedOption = 1,
    file: FileOption = None,
    json: JsonOption = False,
    top_k: TopKOption = 32,
    temperature: TemperatureOption = 1.0,
    beam: BeamOption = 0,
    quiet: QuietOption = False,
) -> None:
    """Write texts that have the word boundaries and parts of speech of a template.

    Below each text stand the tokens and symbols of the template, and those of the text, which is tagged anew. A line of
    --file is a template; its prompt and its topics, separated by spaces, may follow after tabs.
    """
    from espalier.inference.requests import TemplateRequest
    from pipeline.commands.compose import requests_of, write

    given = [] if template is None else [TemplateRequest(template, prompt, tuple(topic or ()))]
    if not given and (prompt or topic):
        where = "--prompt" if prompt else "--topic"
        if file is not None:
            raise ConfigError("a file has its own", where=where, remedy="write it after a tab in each line")
        raise ConfigError("no template", where=where, remedy="give --template as well")
    requests = requests_of(file, given)  # paths in this folder
    drawing = None if out is None else out.resolve()
    _enter(profile.value if profile else "nursery")
    options = {
        "n": n, "seed": seed, "frame": frame, "top_k": top_k, "temperature": temperature, "beam": beam,
    }  # fmt: skip
    write(requests, model, out=drawing, json=json, **options)


@app.command()
def reply(
    post: Annotated[str | None, typer.Argument(help="The post that is answered.")] = None,
    model: ModelOption = None,
    language: LanguageOption = Language.zh,
    profile: ProfileOption = None,
    n: RepliesOption = 1,
    beam: BeamsOption = None,
    local: LocalOption = None,
    min_words: MinWordsOption = 1,
    file: Annotated[
        Path | None, typer.Option(help=f"A file with one post a line, at most {MAX_TEXTS:,}; - is standard input.")
    ] = None,
    show_tree: ShownTreeOption = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each reply.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Reply to a post. The best replies of the search come first. The search is deterministic."""
    from espalier.inference.requests import Post
    from pipeline.commands.reply import Options, requests_of, write

    posts = requests_of(file, [] if post is None else [Post(post)])  # --file is a path in this folder
    _enter(profile.value if profile else "nursery")
    write(posts, Options(model, language.value, n, beam, local, min_words, show_tree), json=json)


@app.command()
def chat(
    model: ModelOption = None,
    language: LanguageOption = Language.zh,
    profile: ProfileOption = None,
    n: RepliesOption = 1,
    beam: BeamsOption = None,
    local: LocalOption = None,
    min_words: MinWordsOption = 1,
    show_tree: ShownTreeOption = False,
    quiet: QuietOption = False,
) -> None:
    """Reply to posts from standard input, one a line. The model reads one post at a time and no history."""
    from pipeline.commands.reply import Options
    from pipeline.commands.reply import chat as converse

    _enter(profile.value if profile else "nursery")
    converse(Options(model, language.value, n, beam, local, min_words, show_tree))


@app.command("list")
def list_(
    kind: Annotated[str, typer.Argument(help="models, runs, tunes, templates or sources.")],
    profile: ProfileOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each line.")] = False,
) -> None:
    """List what can be named: models, runs, tunes, templates or sources.

    Without a terminal the columns are separated by tabs and have no header. A * marks a default.
    """
    from pipeline.commands.list_entries import list_entries

    _enter(profile.value if profile else None)
    list_entries(kind, json=json)


@app.command()
def judge(
    sheets: Annotated[list[Path], typer.Argument(help="Filled-in sheets (nbest.csv of a report), one for each rater.")],
    authors: Annotated[
        Path | None, typer.Option(help="The key of the sheets; default: nbest_key.csv beside the first sheet.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Count the ratings of each run, and the agreement of the raters (Fleiss' kappa)."""
    from pipeline.commands.judge import judge as judged

    judged(sheets, authors, json=json)


@app.command()
def repro(
    targets: Annotated[
        list[str] | None, typer.Argument(help="The names of stages; default: all.", show_default=False)
    ] = None,
    profile: ProfileOption = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            max=MAX_JOBS,
            help="The number of stages that run at once; default: one for each core, at most four.",
        ),
    ] = None,
) -> None:
    """Run `dvc repro` with several stages at once."""
    from pipeline.commands.repro import repro as run

    _enter(profile.value if profile else None)
    run(targets or [], jobs or min(4, len(os.sched_getaffinity(0))))


@app.command()
def pages(
    check: Annotated[bool, typer.Option("--check", help="Write nothing, and fail if a page would change.")] = False,
) -> None:
    """Write the numbers and tables of README and docs from the committed metrics and details."""
    from pipeline.commands.pages import pages as write

    write(check)


@app.command()
def adopt(
    key: Annotated[str, typer.Argument(help="The key of the model in params.yaml.")],
    folder: Annotated[Path, typer.Option("--from", help="The folder of the profile, copied from that machine.")],
    profile: ProfileOption = None,
) -> None:
    """Import a model that was trained on another machine, with its outputs."""
    from pipeline.commands.adopt import adopt as run

    came = folder.resolve()  # a path in this folder
    _enter(profile.value if profile else None)
    run(key, came)


@app.command()
def export(
    model: Annotated[str, typer.Argument(help="The key of a trained model.")],
    out: Annotated[Path, typer.Argument(help="A new folder.")],
    profile: ProfileOption = None,
    no_card: Annotated[
        bool, typer.Option("--no-card", help="Write no card; without it the model needs metrics.")
    ] = False,
) -> None:
    """Copy a model, its parser and its expander into one folder, with a card (README.md).

    `espalier.load(folder)` reads it where this project is not.
    """
    from pipeline.commands.export import export as run

    folder = out.resolve()  # a path in this folder
    _enter(profile.value if profile else None)
    run(model, folder, card=not no_card)


@app.command()
def plan(
    profile: Annotated[Profile, typer.Argument(help="The profile.")],
    targets: Annotated[
        list[str] | None, typer.Argument(help="The names of stages; default: all.", show_default=False)
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say what `espalier repro` would run, before anything starts: stages, hours, disk, sources and their licences."""
    from pipeline.commands.plan import plan as run

    _enter(profile.value)
    run(targets or [], json=json)


@app.command()
def rehearse(
    profile: Annotated[Profile, typer.Argument(help="The profile.")],
    folder: Annotated[
        Path | None, typer.Option(help="An empty folder to work in, which is kept; default: a temporary folder.")
    ] = None,
    offline: Annotated[
        bool,
        typer.Option("--offline", help="Use no network; sources that the mirror lacks are replaced by generated rows."),
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            max=MAX_JOBS,
            help="The number of stages that run at once; default: one for each core, or one on a GPU.",
        ),
    ] = None,
) -> None:
    """Run every stage of a profile on 64 rows, and estimate the time of the whole profile."""
    from pipeline.commands.rehearse import rehearse as run

    run(profile.value, folder=folder, offline=offline, jobs=jobs)


@app.command()
def verify(profile: ProfileOption = None) -> None:
    """Check the hashes of dvc.lock against the workspace and the cache. DVC itself trusts read-only files."""
    from pipeline.commands.verify import verify as check

    _enter(profile.value if profile else None)
    check()


def _write_verse(
    method: str,
    given: tuple[Any, ...] | None,
    file: Path | None,
    profile: Profile | None,
    model: str | None,
    language: Language,
    json: bool,
    options: dict[str, Any],
) -> None:
    """Texts for what is given, the fields of a `VerseRequest`, and for each line of a file."""
    from espalier.inference.requests import VerseRequest
    from pipeline.commands.generate import requests_of, write

    requests = requests_of(file, [] if given is None else [VerseRequest(*given)])  # --file is a path in this folder
    _enter(profile.value if profile else "nursery")
    write(method, requests, model, language.value, json=json, **options)


def _enter(profile: str | None) -> None:
    """Work in a profile's folder: the one named, else the present one if it has a params.yaml, else the root."""
    if profile is not None:
        os.chdir(layout.PROFILES[profile])
    elif not layout.PARAMS.exists():
        os.chdir(layout.ROOT)


def _run(arguments: list[str]) -> None:
    """Run a command. Typer's own `app()` would end with status 1 where the reader of a pipe goes away.

    Raises:
        ConfigError: an argument is not UTF-8.
    """
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError as error:
            raise ConfigError("not UTF-8", where=f"argument {argument}") from error
    command = typer.main.get_command(app)
    if "_ESPALIER_COMPLETE" in os.environ:  # a shell asks for completions
        command.main(prog_name="espalier")
    with suppress(typer.Exit), command.make_context("espalier", arguments) as context:
        command.invoke(context)


def _command() -> str:
    """The command that was given, if it is one."""
    known = {command.name for command in app.registered_commands} | OTHERS
    return next((word for word in sys.argv[1:2] if word in known), "")


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    kind = "note" if issubclass(category, InferenceWarning) else "warning"
    print(f"espalier: {kind}: {printable(message)}", file=sys.stderr)


def main() -> NoReturn:
    """Run the command line. A user's mistake is one line and exit status 1; a reader that goes away is no mistake.

    Libraries compute in one thread unless `OMP_NUM_THREADS` says otherwise: the nursery's matrices are too small for
    more, and beside another busy process several threads wait for each other.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when numpy and torch are imported
    gc.set_threshold(100_000)  # imports make many objects and little garbage: a sixth of the start-up
    warnings.showwarning = _show_warning
    warnings.simplefilter("always", InferenceWarning)
    said, is_stage = None, _command() in STAGES
    try:
        streams.open_streams()
        _run(sys.argv[1:] or ["--help"])
    except BrokenPipeError as error:
        # `espalier generate ... | head` is done; a stage is not.
        done = not is_stage and streams.reader_is_gone()
        said = None if done else failure(error, _command(), writes_files=is_stage or _command() in WRITERS)
    except (Exception, KeyboardInterrupt) as error:
        said = failure(error, _command(), writes_files=is_stage or _command() in WRITERS)
        if said is None:
            raise
    unwritten = streams.flush()
    if unwritten is not None and not isinstance(unwritten, BrokenPipeError):
        said = f"standard output: {unwritten.strerror}"
    sys.exit(0 if said is None else f"espalier: {printable_line(said)}")
