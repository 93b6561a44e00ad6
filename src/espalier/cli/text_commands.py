"""The commands that write texts: paraphrase, granularity, compose, reply and chat."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from espalier.cli.models import absolute, models
from espalier.cli.options import (
    BeamOption,
    FileOption,
    JsonOption,
    Language,
    LanguageOption,
    ModelOption,
    ProfileOption,
    QuietOption,
    SeedOption,
    TemperatureOption,
    TopKOption,
)
from espalier.decoding.bounds import MAX_BEAM, MAX_LENGTH_POWER
from espalier.inference.writer import MAX_TEXTS
from espalier.io.errors import ConfigError

app = typer.Typer()

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
        help=f"The groups of children that are kept for each leaf of a tree, at most {MAX_BEAM:,}; default: 6.",
        show_default=False,
    ),
]
MinWordsOption = Annotated[
    int, typer.Option(help="The smallest number of words of a reply. Without it most replies are very short.")
]
LengthPowerOption = Annotated[
    float,
    typer.Option(
        help=f"Log-probabilities are divided by the length to this power; above 0 favours longer texts; at most "
        f"{MAX_LENGTH_POWER:g}."
    ),
]
ShownTreeOption = Annotated[bool, typer.Option("--show-tree", help="Print the tree of each reply below it.")]


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
        str | None,
        typer.Option(
            help="The model that expands templates; default: the one that belongs to the model.", callback=absolute
        ),
    ] = None,
    profile: ProfileOption = None,
    n: Annotated[
        int,
        typer.Option(
            help="The number of texts for each template, the best of the search; at most the number of beams."
        ),
    ] = 1,
    beam: Annotated[int, typer.Option(help=f"The number of beams, at most {MAX_BEAM:,}.")] = 8,
    length_power: LengthPowerOption = 0.0,
    file: FileOption = None,
    show_tree: Annotated[
        bool, typer.Option("--show-tree", help="Print the tree that guided each text below it.")
    ] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Paraphrase a sentence along a template.

    The template is first expanded to a whole tree.

    A line of --file is a sentence; a template may follow after a tab. Without a template the 3 most frequent templates
    of the training data are used, one text each. The search is deterministic.

    A model that reads texts alone, such as C-DNPG, takes no template.
    """
    from espalier.cli.paraphrase import requests_of, write
    from espalier.inference.requests import PairRequest

    requests = requests_of(file, [] if text is None else [PairRequest(text)])  # --file is a path in this folder
    models().enter(profile)
    write(
        requests, model, expander, template=template, like=like, full=full, templates=templates, n=n, beam=beam,
        length_power=length_power, show_tree=show_tree, json=json,
    )  # fmt: skip


@app.command()
def granularity(
    text: Annotated[str | None, typer.Argument(help="An English sentence.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(resolve_path=True, help="An SVG file for the heatmap; warm colours are template words."),
    ] = None,
    model: ModelOption = None,
    profile: ProfileOption = None,
    beam: Annotated[int, typer.Option(help=f"The number of beams of the paraphrase, at most {MAX_BEAM:,}.")] = 8,
    length_power: LengthPowerOption = 0.0,
    file: FileOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Print the granularity of each word piece.

    The pieces are those of the sentence and of its paraphrase; each layer has its own granularities, from 0 (template)
    to 1 (detail). The model is C-DNPG or DNPG. A line of --file is a sentence.
    """
    from espalier.cli.granularity import requests_of, write
    from espalier.inference.requests import PairRequest

    requests = requests_of(file, [] if text is None else [PairRequest(text)])  # --file is a path in this folder
    models().enter(profile)
    write(requests, model, out=out, beam=beam, length_power=length_power, json=json)


@app.command()
def compose(
    template: Annotated[
        str | None, typer.Option(help="A sentence whose structure is kept; its language chooses the model.")
    ] = None,
    prompt: Annotated[
        str, typer.Option(help="The template's own beginning, at most half of it, with which the texts begin.")
    ] = "",
    topic: Annotated[
        list[str] | None,
        typer.Option(help="A topic word; repeat the option for more. Default: the topic words of the template."),
    ] = None,
    frame: Annotated[bool, typer.Option("--frame", help="Make each text exactly as long as the template.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            resolve_path=True, help="An SVG or HTML file with both structures of each text, one above the other."
        ),
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
    """Write texts under the structure of a sentence.

    The model reads the word boundaries and the parts of speech of the template. The text need not keep them. Below each
    text stand the tokens and symbols of the template, and those of the text, which is tagged anew. A line of --file is
    a template; its prompt and its topics, separated by spaces, may follow after tabs.
    """
    from espalier.cli.compose import requests_of, write
    from espalier.inference.requests import TemplateRequest

    given = [] if template is None else [TemplateRequest(template, prompt, tuple(topic or ()))]
    if not given and (prompt or topic):
        where = "--prompt" if prompt else "--topic"
        if file is not None:
            raise ConfigError("a file has its own", where=where, remedy="write it after a tab in each line")
        raise ConfigError("no template", where=where, remedy="give --template as well")
    requests = requests_of(file, given)  # --file is a path in this folder
    models().enter(profile)
    options = {
        "n": n, "seed": seed, "frame": frame, "top_k": top_k, "temperature": temperature, "beam": beam,
    }  # fmt: skip
    write(requests, model, out=out, json=json, **options)


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
    length_power: LengthPowerOption = 0.0,
    file: Annotated[
        Path | None, typer.Option(help=f"A file with one post a line, at most {MAX_TEXTS:,}; - is standard input.")
    ] = None,
    show_tree: ShownTreeOption = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each reply.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Reply to a post. The best replies of the search come first. The search is deterministic."""
    from espalier.cli.reply import Options, requests_of, write
    from espalier.inference.requests import Post

    posts = requests_of(file, [] if post is None else [Post(post)])  # --file is a path in this folder
    models().enter(profile)
    write(posts, Options(model, language.value, n, beam, local, min_words, length_power, show_tree), json=json)


@app.command()
def chat(
    model: ModelOption = None,
    language: LanguageOption = Language.zh,
    profile: ProfileOption = None,
    n: RepliesOption = 1,
    beam: BeamsOption = None,
    local: LocalOption = None,
    min_words: MinWordsOption = 1,
    length_power: LengthPowerOption = 0.0,
    show_tree: ShownTreeOption = False,
    quiet: QuietOption = False,
) -> None:
    """Reply to posts from standard input, one a line. The model reads one post at a time and no history."""
    from espalier.cli.reply import Options
    from espalier.cli.reply import chat as converse

    models().enter(profile)
    converse(Options(model, language.value, n, beam, local, min_words, length_power, show_tree))
