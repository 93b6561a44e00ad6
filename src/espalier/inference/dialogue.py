"""Replies to posts (X2Tree and its chain baselines), searched for or sampled."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from textwrap import shorten
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from espalier.corpora.records import words_of
from espalier.datasets.dialogue.data import ARITY, DialogueData
from espalier.datasets.vocabulary import UNK, WordVocabulary
from espalier.inference.requests import Post, ReplyOptions
from espalier.inference.results import Reply
from espalier.inference.texts import require_text
from espalier.inference.writer import (
    ArgumentError,
    InferenceWarning,
    Writer,
    attempt,
    attempt_with,
    batches,
    note_unknown,
)
from espalier.io.errors import ConfigError, DataError, EspalierError
from espalier.io.hashing import seed_from
from espalier.syntax.ternary import EOB, flatten, spell
from espalier.tasks.dialogue import DialogueTask, reranked
from espalier.tasks.dialogue_decoder import DialogueDecoder
from espalier.tasks.dialogue_likelihood import mutual_information, sampled_posts
from espalier.tasks.dialogue_search import NEVER
from espalier.text.language import is_mark
from espalier.text.normalize import simplified
from espalier.text.words import join_words

if TYPE_CHECKING:
    from espalier.corpora.records import Pair
    from espalier.datasets.dialogue.data import DialogueView
    from espalier.datasets.dialogue.encode import DialogueSettings
    from espalier.inference.loaded import LoadedModel
    from espalier.syntax.parse import Parse
    from espalier.tasks.data import Ready
    from espalier.tasks.dialogue_search import ReplyHypothesis

#: The groups of children where no number is given.
LOCAL = 6
#: Longer words are not split.
LONGEST_SPLIT = 16


@dataclass(frozen=True)
class ReplyJob:
    """A post that can be answered, and its words in the form of the model."""

    request: Post
    words: tuple[str, ...]


@dataclass(frozen=True)
class ReplyWriter(ReplyOptions, Writer[Post, ReplyJob, Reply]):
    """Replies to posts."""

    system: LoadedModel[WordVocabulary, DialogueView, DialogueSettings]
    inputs: ClassVar[str] = "posts"
    request_type = Post

    def __post_init__(self) -> None:
        super().__post_init__()
        name, view = self.system.name, self.system.view
        if self.trees and view.arity not in (1, ARITY):
            what = f"model {name} grows trees of {view.arity} children a node, which have no order of words"
            raise ConfigError(what, remedy=f"name one of {ARITY}")
        if self.local is not None and not self.trees:
            what = f"model {name} writes chains, which have no children"
            raise ArgumentError(what, where="local", remedy="leave it out")
        if (self.local or 0) > self.groups:
            what = f"{self.local} groups of children, where there are {self.groups}"
            raise ArgumentError(what, where="local", remedy=f"at most {self.groups}")
        if self.mmi and not self._background:
            what = f"model {name} has no posts to average over"
            raise ArgumentError(what, where="mmi", remedy="leave it out, or export the model again")
        if self.min_words > self.max_words:
            what = f"model {name} writes {self.max_words} words at most"
            raise ArgumentError(what, where="min_words", remedy=f"at most {self.max_words}")
        if self.min_words > 1 and not self.beam:
            raise ArgumentError("samples have no shortest length", where="min_words", remedy="leave it out, or search")

    @property
    def trees(self) -> bool:
        """Whether the model writes trees, including chains (K = 1)."""
        return self.system.view.shape == "tree"

    @property
    def shows_trees(self) -> bool:
        """Whether replies have trees to show."""
        return self.trees and self.system.view.arity > 1

    @property
    def groups(self) -> int:
        """The number of groups of children that a node can have. A child is a word or absent."""
        return (self.system.vocabulary.text_size - len(NEVER)) ** self.system.view.arity

    @property
    def max_words(self) -> int:
        """The largest length of a reply."""
        return min(self.system.settings.max_words, self.system.positions - 1)

    @cached_property
    def decoder(self) -> DialogueDecoder:
        """The settings of the task for these options."""
        local = {"local": min(LOCAL, self.groups)}
        sampled: dict[str, Any] = {} if self.beam else {"method": "top_k", "beam": self.n}
        return DialogueDecoder(max_words=self.max_words, **local | self.shared(DialogueDecoder) | sampled)

    @cached_property
    def _background(self) -> Sequence[Sequence[str]]:
        """The posts over which p(reply) is averaged."""
        return self.system.posts()

    # --- Reading -----------------------------------------------------------------------------------------------------

    def read(self, requests: Sequence[Post]) -> list[ReplyJob | EspalierError]:
        """Posts in words. Traditional characters are converted to Simplified ones."""
        rows = attempt(requests, lambda post: (post, self._simplified(post)))

        def parses(readable: Sequence[tuple[Post, str]]) -> list[Parse | EspalierError]:
            return self.system.parse([text for _, text in readable], [post.name for post, _ in readable])

        return attempt_with(rows, parses, lambda row, parse: self._job(row[0], parse))

    def _simplified(self, post: Post) -> str:
        require_text(post.text, self.system.language, post.name)
        if self.system.language != "zh":
            return post.text

        text = simplified(post.text)
        if text != post.text:
            what = f"{post.name}: Traditional characters are read as Simplified ones"
            warnings.warn(what, InferenceWarning, stacklevel=2)
        return text

    def _job(self, post: Post, parse: Parse) -> ReplyJob:
        """Make a job. Raises a DataError if a post is too long or has no word that the model knows."""
        vocabulary, words, room = self.system.vocabulary, list(parse.words), self.system.positions - 1
        if vocabulary.language == "zh":
            words = [part for word in words for part in known_parts(word, vocabulary)]
        if len(words) > room:
            remedy = f"at most {room} words; give one sentence at a time"
            raise DataError(f"{len(words)} words", file=post.name, remedy=remedy)
        if all(is_mark(word) or vocabulary.id_of(word) == UNK for word in words):
            few = shorten(" ".join(words), 40, placeholder=" ...")
            what = f"model {self.system.name} knows none of its words ({few})"
            raise DataError(what, file=post.name, remedy="word it otherwise")
        unknown = [word for word in words if not is_mark(word) and vocabulary.id_of(word) == UNK]
        note_unknown(unknown, self.system.name, post.name)
        return ReplyJob(post, tuple(words))

    # --- Writing -----------------------------------------------------------------------------------------------------

    def write(self, jobs: Sequence[ReplyJob]) -> Iterator[tuple[Post, Reply]]:
        """The `n` best replies to each post, or samples."""
        system, task = self.system, DialogueTask()
        for part in batches(jobs, self.decoder.prefixes):
            data = _data(part, system.vocabulary)
            batch = data.batch(np.arange(len(part)), system.view).to(system.device)
            seeds = [seed_from(self.seed, job.request.text) for job in part]
            found = self._ranked(system.decode(task, batch, self.decoder, seeds))
            for job, hypotheses in zip(part, found, strict=True):
                for rank, hypothesis in enumerate(hypotheses[: self.n], start=1):
                    if hypothesis.cut:
                        what = f"{job.request.name}, reply {rank}: {self._cap(hypothesis.cut)}"
                        warnings.warn(what, InferenceWarning, stacklevel=2)
                    yield job.request, self._reply(job, hypothesis)

    def _ranked(self, rows: list[list[ReplyHypothesis]]) -> list[list[ReplyHypothesis]]:
        """The replies of each row in their order; with `mmi`, in that of mutual information."""
        if not self.mmi:
            return rows
        jobs = [ReplyJob(Post(""), tuple(words)) for words in self._background]
        posts = _data(jobs, self.system.vocabulary)
        values = mutual_information(self.system.model, posts, np.arange(len(jobs)), rows, self.mmi)
        return reranked(rows, values, self.decoder)

    def _cap(self, cut: str) -> str:
        return {
            "words": f"cut at {self.decoder.max_words} words",
            "depth": f"cut at {self.decoder.depth} levels",
            "rounds": f"cut after {self.decoder.max_words} groups of words",
        }[cut]

    def _reply(self, job: ReplyJob, hypothesis: ReplyHypothesis) -> Reply:
        words = tuple(hypothesis.words)
        text, log_probability = join_words(words, self.system.language), hypothesis.log_probability
        heads, tree = hypothesis.heads, _tree_text(hypothesis)
        return Reply(text, words, job.request.text, job.words, heads, tree, hypothesis.cut, log_probability)


def known_parts(word: str, vocabulary: WordVocabulary) -> list[str]:
    """The smallest number of known words that form a Chinese word; the word itself if there are none or it is known.

    Parsers segment words differently, so a parsed post may have other words than a corpus that was published in words.
    """
    if len(word) > LONGEST_SPLIT:
        return [word]
    best: list[list[str] | None] = [None] * len(word) + [[]]  # of the rest of the word from each place on
    for start in reversed(range(len(word))):
        ways = [
            [word[start:end], *rest]
            for end in range(len(word), start, -1)
            if (rest := best[end]) is not None and vocabulary.id_of(word[start:end]) != UNK
        ]
        best[start] = min(ways, key=len, default=None)
    return best[0] or [word]


def _tree_text(hypothesis: ReplyHypothesis) -> str:
    """The ternary tree as text; "" for a chain."""
    if hypothesis.nodes is None:
        return ""
    words = dict(zip(flatten(hypothesis.nodes).tolist(), hypothesis.words, strict=True))
    return spell(hypothesis.nodes, [words[node] for node in range(len(words))])


def marginal_posts(ready: Ready[Pair, DialogueData]) -> list[Sequence[str]]:
    """The posts of a dataset, in words, over which its runs average p(reply)."""
    posts = [words_of(record, "source") for record in ready.records]
    return [posts[place] for place in sampled_posts(ready.data.ids, [" ".join(words) for words in posts])]


def _data(jobs: Sequence[ReplyJob], vocabulary: WordVocabulary) -> DialogueData:
    """The posts, each with a dummy response of one word."""
    columns: dict[str, list[Any]] = {
        "source": [vocabulary.encode(job.words) for job in jobs],
        "target": [[UNK]] * len(jobs),
        "order": [[0]] * len(jobs),
        "children": [[EOB] * ARITY] * len(jobs),
    }
    return DialogueData.of([job.request.name for job in jobs], columns, vocabulary)
