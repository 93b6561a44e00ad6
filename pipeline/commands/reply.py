"""reply: the best answers to posts, by a model of dialogue. Nothing is drawn: the same call writes the same replies."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from espalier.io.errors import ConfigError
from pipeline.commands.requests import lines_asked, require_text, writer_asked
from pipeline.params import DialogueDataset, Params, load_params
from pipeline.progress import say

if TYPE_CHECKING:
    from pipeline.commands.reply_search import Answer, Answerer

#: What one call may ask for.
MOST = 10_000


@dataclass(frozen=True)
class Options:
    """Which model answers, how it is searched, and how its replies are shown; None where the model's sort decides."""

    model: str | None
    language: str
    n: int
    beam: int | None
    local: int | None
    least: int
    show_tree: bool
    json: bool


def posts_of(file: Path | None, given: bool) -> list[tuple[str, str]]:
    """A post a line, after what errors call it. Standard input where nothing else is given.

    Raises:
        ConfigError: nothing is asked for.
        DataError: the file is missing, no text, or empty.
    """
    nothing = ConfigError("nothing to reply to", remedy="give a post, --file, or lines on standard input")
    return [(name, line.strip()) for name, line in lines_asked(file, given, nothing=nothing, remedy="one post a line")]


def write(posts: list[tuple[str, str]], options: Options) -> None:
    """The best replies to each post, which stands after its name, in the order asked for, to standard output."""
    if (asked := options.n * len(posts)) > MOST:
        raise ConfigError(f"{asked:,} replies at once", where="--n", remedy=f"at most {MOST:,}")
    params, key = model_for(options)
    for name, post in posts:
        require_text(post, options.language, name)
    show(posts, opened(params, key, options), options)


def model_for(options: Options) -> tuple[Params, str]:
    """The trained model that is asked for: its profile's parameters, its key.

    Raises:
        ConfigError: there is none, or the options cannot be.
    """
    sizes = {"--n": options.n, "--beam": options.beam, "--local": options.local, "--least": options.least}
    for name, value in sizes.items():
        if value is not None and value < 1:
            raise ConfigError(f"{value} is too small", where=name, remedy="at least 1")
    params = load_params()
    return params, writer_asked(params, options.model, "reply", options.language, DialogueDataset, "replies")


def opened(params: Params, key: str, options: Options) -> Answerer:
    """The model, loaded.

    Raises:
        ConfigError: the options are none for it.
    """
    from pipeline.commands.reply_search import answerer

    found = answerer(params, key, beam=options.beam, local=options.local, least=options.least)
    if options.n > found.decoder.beam:
        what = f"{options.n} replies of {found.decoder.beam} beams"
        raise ConfigError(what, where="--n", remedy=f"--beam {options.n}, or more")
    if options.show_tree and not found.grows:
        what = f"model {key} writes chains, which have no tree"
        raise ConfigError(what, where="--show-tree", remedy="leave it out, or name a model of trees")
    return found


def show(posts: list[tuple[str, str]], model: Answerer, options: Options) -> None:
    """Print the best replies to each post; nothing where one of the posts cannot be read."""
    from pipeline.commands.reply_search import answers_to, read

    before = ""
    for answer in answers_to(read(posts, model), model, options.n):
        if answer.reply.cut:
            say(f"espalier: note: {answer.post.name}, reply {answer.rank}: {_stopped(answer, model)}")
        if options.json:
            print(json.dumps(_object(answer, model), ensure_ascii=False))
        else:
            if options.n > 1 and before not in ("", answer.post.name):
                print()
            print("\n".join([_text(answer, model), *[f"  {_tree(answer)}"] * options.show_tree]))
        sys.stdout.flush()
        before = answer.post.name


def _stopped(answer: Answer, model: Answerer) -> str:
    caps = {
        "words": f"cut at {model.decoder.words} words",
        "depth": f"cut at {model.decoder.depth} levels",
        "rounds": f"cut after {model.decoder.words} groups of words",
    }
    return caps[answer.reply.cut]


def _object(answer: Answer, model: Answerer) -> dict[str, Any]:
    from pipeline.dialogue.decode import heads_in

    return {
        "text": _text(answer, model),
        "words": answer.reply.words,
        "post": answer.post.text,
        "post_words": answer.post.words,
        "heads": list(heads_in(answer.reply)),
        "tree": _tree(answer),
        "cut": answer.reply.cut,
        "score": round(answer.reply.log_probability, 4),
        "model": model.key,
    }


def _text(answer: Answer, model: Answerer) -> str:
    from espalier.text.words import join_words

    return join_words(answer.reply.words, model.vocabulary.language)


def _tree(answer: Answer) -> str:
    """The reply's ternary tree as text; "" for a chain."""
    from espalier.syntax.ternary import flatten, spell

    if answer.reply.nodes is None:
        return ""
    words = dict(zip(flatten(answer.reply.nodes).tolist(), answer.reply.words, strict=True))
    return spell(answer.reply.nodes, [words[node] for node in range(len(words))])
