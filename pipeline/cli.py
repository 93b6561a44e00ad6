"""The command line: `espalier STAGE KEY` for every stage, and the commands that write."""

from __future__ import annotations

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
from espalier.io.errors import ConfigError, EspalierError
from espalier.io.terminal import printable, printable_line
from pipeline import layout, streams

app = typer.Typer(
    help="Text generators trained to grow along a frame. Stages run in the present folder's profile.",
    no_args_is_help=True,
    add_completion=False,
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


#: What typer raises for a mistaken command line; whether it is click's class or a copy depends on typer's version.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]
#: The most processes of a sharded stage, and the most stages at once.
MAX_WORKERS, MAX_JOBS = 1024, 64
#: The stages of dvc.yaml, each with what its key names; a module of this package has the same name and a `run(key)`.
STAGES = {
    "download": ("source", "Fetch the published files of a source, verified."),
    "copy": ("source", "Copy a local file to its shelf."),
    "train_parser": ("parser", "Train a parser on a treebank."),
    "parse": ("corpus", "Read a corpus, or grow it, into records."),
    "filter": ("corpus", "Keep the rows that pass a corpus's rules; split and count them."),
    "linearize": ("dataset", "Make a corpus ready for sequence models."),
    "canonicalize": ("dataset", "Make a corpus ready for tree models."),
    "train": ("model", "Train a model; killed, it goes on where it was."),
    "decode": ("run", "Write what a run asks for."),
    "annotate": ("annotation", "Parse or tag hypotheses again."),
    "score": ("run", "Score a run."),
    "baselines": ("baseline", "Write and score the rows that need no trained model."),
    "report": ("report", "Put a paper's runs beside its printed numbers."),
}
#: The other commands.
OTHERS = {
    "adopt", "chat", "generate", "granularity", "judge", "pages", "paraphrase", "polish", "rehearse", "reply", "repro",
    "verify",
}  # fmt: skip
#: Stages that parse in shards, on this machine's cores or on a cluster.
SHARDED = ("parse", "annotate")

ProfileOption = Annotated[Profile | None, typer.Option(help="Instead of the present folder's.")]
KeyArgument = Annotated[str, typer.Argument(help="The entry's key in params.yaml.")]
SchedulerOption = Annotated[str | None, typer.Option(help="A Dask cluster's: tcp://HOST:PORT; else this machine.")]
WorkersOption = Annotated[
    int | None, typer.Option(min=1, max=MAX_WORKERS, help="Processes on this machine; else as many as pay.")
]
ModelOption = Annotated[str | None, typer.Option(help="A model's key; else the profile's default.")]
CountOption = Annotated[int, typer.Option(help=f"How many texts for each format; {MAX_TEXTS:,} in all at most.")]
SeedOption = Annotated[int, typer.Option(help="The same seed writes the same text.")]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object per text.")]
LanguageOption = Annotated[Language, typer.Option(help="Of the text.")]
FileOption = Annotated[
    Path | None, typer.Option(help=f"One request a line, {MAX_TEXTS:,} at most; - for standard input.")
]
BookOption = Annotated[str, typer.Option(help="Whose rhymes: mandarin, cilin or pingshui.")]
ToneOption = Annotated[bool, typer.Option("--tone", help="Keep the tones of the tune, or of --tones.")]
TonesOption = Annotated[str | None, typer.Option(help="One sign per word: 平 level, 仄 oblique, 中 either.")]
VariantOption = Annotated[int | None, typer.Option(help="Of the tune, counted from 1.")]
AcrosticOption = Annotated[
    str | None, typer.Option(help="The first words of the sentences, or, if they are more, of the clauses.")
]
FreeOption = Annotated[bool, typer.Option("--free", help="Predict separators and marks too, copy nothing.")]
TopKOption = Annotated[int, typer.Option(help=f"Draw from the k most probable words; {MAX_TOP_K:,} at most.")]
TemperatureOption = Annotated[
    float, typer.Option(help=f"Above 1 bolder, below 1 safer; above 0, {MAX_TEMPERATURE:g} at most.")
]
BeamOption = Annotated[
    int, typer.Option(help=f"Search with this many beams instead of drawing, {MAX_BEAM:,} at most; 0 draws.")
]
RepliesOption = Annotated[int, typer.Option(help="How many replies, the best of the search; as many as beams at most.")]
BeamsOption = Annotated[
    int | None,
    typer.Option(help=f"Search with this many beams, {MAX_BEAM:,} at most; else 20.", show_default=False),
]
LocalOption = Annotated[
    int | None,
    typer.Option(
        help=f"Groups of children that are looked at for each leaf of a tree, {MAX_BEAM:,} at most; else 6.",
        show_default=False,
    ),
]
MinWordsOption = Annotated[int, typer.Option(help="The fewest words of a reply: the best are the shortest, mostly.")]
ShownTreeOption = Annotated[bool, typer.Option("--show-tree", help="Below each reply the tree that it grew as.")]


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
def generate(
    format_: Annotated[
        str | None, typer.Option("--format", help="Counts (5,5。7,5。) or a template (_雨___。).")
    ] = None,
    rhyme: Annotated[str | None, typer.Option(help="One letter per unit, . for none: .A.A")] = None,
    tune: Annotated[str | None, typer.Option(help="A tune's name: its format, and what the model is told.")] = None,
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
) -> None:
    """Write verse into a format, known or new.

    A line of --file is a format, and, separated by tabs if wanted, its rhyme letters, tune, variant, tones and
    acrostic. Each line, and each of --n texts, draws its own chances from --seed and its number, so that equal lines
    are not given equal texts.

    With --variant, --tone or another --book than mandarin a tune's format is that of the Qinding cipu.
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
    template: Annotated[str | None, typer.Argument(help="Words stay; each _ is filled, each # with a rhyme.")] = None,
    rhyme: Annotated[str | None, typer.Option(help="One letter per unit, . for none.")] = None,
    tune: Annotated[str | None, typer.Option(help="A tune's name, which a model with titles is told.")] = None,
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
        str | None, typer.Option(help="The top of its tree, with words or without: '(S (NP you) (VP) (.))'.")
    ] = None,
    like: Annotated[str | None, typer.Option(help="A sentence whose tree's top is the template.")] = None,
    full: Annotated[
        bool, typer.Option("--full", help="With --like: its whole tree guides, nothing is expanded.")
    ] = False,
    templates: Annotated[
        int | None, typer.Option(help="The n most frequent templates, one after another; 3 where none is given.")
    ] = None,
    model: ModelOption = None,
    expander: Annotated[str | None, typer.Option(help="Of templates; else the profile's default.")] = None,
    profile: ProfileOption = None,
    n: Annotated[
        int, typer.Option(help="How many texts for each template, the best of the search; as many as beams at most.")
    ] = 1,
    beam: Annotated[int, typer.Option(help=f"Search with this many beams, {MAX_BEAM:,} at most.")] = 8,
    file: FileOption = None,
    show_tree: Annotated[bool, typer.Option("--show-tree", help="Below each text the tree that guided it.")] = False,
    json: JsonOption = False,
) -> None:
    """Say a sentence again in another form: a template is expanded to a tree that fits it, which guides the text.

    A line of --file is a sentence and, after a tab if wanted, its template. Where nothing says what guides it, the 3
    most frequent templates of the model's corpus do, a text each. Nothing is drawn: a call repeated writes the same.

    Where --model reads texts alone, such as a C-DNPG, nothing guides it and nothing is expanded.
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
    out: Annotated[Path | None, typer.Option(help="Draw it into this SVG file: warm is template.")] = None,
    model: ModelOption = None,
    profile: ProfileOption = None,
    beam: Annotated[int, typer.Option(help=f"Of the paraphrase; {MAX_BEAM:,} at most.")] = 8,
    file: FileOption = None,
    json: JsonOption = False,
) -> None:
    """Say how far each piece of a sentence and of its paraphrase is a detail (1) or the template's (0), by layer.

    The model is a C-DNPG. A line of --file is a sentence.
    """
    from espalier.inference.requests import PairRequest
    from pipeline.commands.granularity import requests_of, write

    requests = requests_of(file, [] if text is None else [PairRequest(text)])  # paths in this folder
    drawing = None if out is None else out.resolve()
    _enter(profile.value if profile else "nursery")
    write(requests, model, out=drawing, beam=beam, json=json)


@app.command()
def reply(
    post: Annotated[str | None, typer.Argument(help="What somebody said.")] = None,
    model: ModelOption = None,
    language: LanguageOption = Language.zh,
    profile: ProfileOption = None,
    n: RepliesOption = 1,
    beam: BeamsOption = None,
    local: LocalOption = None,
    min_words: MinWordsOption = 1,
    file: Annotated[
        Path | None, typer.Option(help=f"One post a line, {MAX_TEXTS:,} at most; - for standard input.")
    ] = None,
    show_tree: ShownTreeOption = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object per reply.")] = False,
) -> None:
    """Answer a post. The best replies of a search come first; nothing is drawn: a call repeated writes the same."""
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
) -> None:
    """Answer posts, one line after another, until their end; each by itself: the model reads one post at a time."""
    from pipeline.commands.reply import Options
    from pipeline.commands.reply import chat as converse

    _enter(profile.value if profile else "nursery")
    converse(Options(model, language.value, n, beam, local, min_words, show_tree))


@app.command()
def judge(
    sheets: Annotated[
        list[Path], typer.Argument(help="Filled-in sheets of a report (nbest.csv), one for each person.")
    ],
    authors: Annotated[Path | None, typer.Option(help="The sheets' key; else nbest_key.csv beside the first.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Say how often people gave each level to each run's texts, and how far they agree (Fleiss' kappa)."""
    from pipeline.commands.judge import judge as judged

    judged(sheets, authors, json=json)


@app.command()
def repro(
    targets: Annotated[list[str] | None, typer.Argument(help="Names of stages; else all.", show_default=False)] = None,
    profile: ProfileOption = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, max=MAX_JOBS, help="Stages at once; else one a core, four at most."),
    ] = None,
) -> None:
    """Do what `dvc repro` does, with several stages at once."""
    from pipeline.commands.repro import repro as run

    _enter(profile.value if profile else None)
    run(targets or [], jobs or min(4, len(os.sched_getaffinity(0))))


@app.command()
def pages(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if a page would change.")] = False,
) -> None:
    """Write the numbers and tables of README and docs anew, from the details that git holds."""
    from pipeline.commands.pages import pages as write

    write(check)


@app.command()
def adopt(
    key: Annotated[str, typer.Argument(help="The model's key in params.yaml.")],
    folder: Annotated[Path, typer.Option("--from", help="The profile's folder as it came back from there.")],
    profile: ProfileOption = None,
) -> None:
    """Take over a model that was trained on another machine, and what was decoded with it there."""
    from pipeline.commands.adopt import adopt as run

    came = folder.resolve()  # a path in this folder
    _enter(profile.value if profile else None)
    run(key, came)


@app.command()
def rehearse(
    profile: Annotated[Profile, typer.Argument(help="Whose stages are run.")],
    folder: Annotated[
        Path | None, typer.Option(help="An empty folder to work in, which is kept; else a temporary one.")
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Fetch nothing from the network: what the mirror lacks is made up.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, max=MAX_JOBS, help="Stages at once; else one a core, or one on a GPU."),
    ] = None,
) -> None:
    """Run all of a profile on 64 rows, three steps and two decoded records; say what the whole would take."""
    from pipeline.commands.rehearse import rehearse as run

    run(profile.value, folder=folder, offline=offline, jobs=jobs)


@app.command()
def verify(profile: ProfileOption = None) -> None:
    """Hash again what dvc.lock names, in the workspace and in DVC's cache; DVC itself trusts read-only files."""
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
    with suppress(typer.Exit), command.make_context("espalier", arguments) as context:
        command.invoke(context)


def _command() -> str:
    """The command that was given, if it is one."""
    known = {command.name for command in app.registered_commands} | OTHERS
    return next((word for word in sys.argv[1:2] if word in known), "")


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    kind = "note" if issubclass(category, InferenceWarning) else "warning"
    print(f"espalier: {kind}: {printable(message)}", file=sys.stderr)


def _no_memory(error: Exception) -> bool:
    """Whether Python or torch, which raises a RuntimeError, ran out of memory."""
    return isinstance(error, MemoryError) or any(
        said in str(error) for said in ("out of memory", "not enough memory", "can't allocate memory")
    )


def _failure(error: BaseException) -> str | None:
    """What a user is told of an error; None for one that is no user's."""
    match error:
        case EspalierError():
            return str(error)
        case UsageError():
            what = " ".join(error.format_message().split()).rstrip(".")  # type: ignore[attr-defined]
            return f"{what}; see {' '.join(filter(None, ('espalier', _command(), '--help')))}"
        case KeyboardInterrupt():
            return "interrupted"
        case OSError(filename=None, strerror=str(what)) if _command() not in STAGES:  # it prints, and writes no file
            return f"standard output: {what}"
        case OSError() if error.filename or error.strerror:
            return f"{error.filename or 'file system'}: {error.strerror}; nothing half-written was kept"
        case MemoryError() | RuntimeError() if _no_memory(error):
            return "not enough memory; a smaller beam, batch or model takes less"
    return None


def main() -> NoReturn:
    """Run the command line. A user's mistake is one line and exit status 1; a reader that goes away is no mistake.

    Libraries compute in one thread unless `OMP_NUM_THREADS` says otherwise: the nursery's matrices are too small for
    more, and beside another busy process several threads wait for each other.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when numpy and torch are imported
    warnings.showwarning = _show_warning
    warnings.simplefilter("always", InferenceWarning)
    failure = None
    try:
        streams.open_streams()
        _run(sys.argv[1:] or ["--help"])
    except BrokenPipeError as error:
        # `espalier generate ... | head` is done; a stage is not.
        done = _command() not in STAGES and streams.reader_is_gone()
        failure = None if done else _failure(error)
    except (Exception, KeyboardInterrupt) as error:
        failure = _failure(error)
        if failure is None:
            raise
    unwritten = streams.flush()
    if unwritten is not None and not isinstance(unwritten, BrokenPipeError):
        failure = f"standard output: {unwritten.strerror}"
    sys.exit(0 if failure is None else f"espalier: {printable_line(failure)}")
