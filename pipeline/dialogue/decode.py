"""decode dialogues: the best replies to each post, and how probable a model finds the reply that was given."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from espalier.corpora.records import Pair, words_of
from espalier.datasets.dialogue.data import DialogueData
from espalier.datasets.dialogue.encode import canonicalize
from espalier.decoding.dialogue import DialogueDecoder, Reply, replies
from espalier.io.errors import ConfigError
from espalier.io.tables import write_table
from espalier.models.serialization import load_model
from espalier.syntax.ternary import heads_of
from pipeline import layout
from pipeline.artifacts import fits_none, read_split
from pipeline.likelihood import nats_of
from pipeline.params import Params, Run
from pipeline.stage import device, followed, say
from pipeline.validation import validated

#: Beams that are searched together. It changes the speed and the memory, and a reply by rounding alone.
BEAMS = 800


def run(key: str, wanted: Run, params: Params) -> None:
    """`samples` rows for each pair, the best reply first.

    Columns: id, cluster (the first pair of its post), seed, sample (the reply's rank), source, reference, text (words
    joined by spaces), heads (of its tree), cut (the cap that stopped it), score (its log-probability), and nll and
    words of the reference. The table's metadata holds under "unfit" how many pairs of the split the model has no ids
    or trees for, posts being counted without them, and under "writes" whether it writes trees or chains.
    """
    decoder = validated(DialogueDecoder, wanted.decoder, f"params.yaml: runs.{key}.decoder")
    if wanted.samples > decoder.beam:
        raise ConfigError(
            f"{wanted.samples} replies of {decoder.beam} beams", where=f"params.yaml: runs.{key}.samples",
            remedy=f"at most {decoder.beam}",
        )  # fmt: skip
    records = read_split(wanted.corpus, wanted.split, Pair)
    made = [_of_seed(seed, records, wanted, decoder) for seed in params.models[wanted.model].seeds]
    table, known = pd.concat([own for own, _ in made], ignore_index=True), made[0][1]
    write_table(layout.output(wanted.paper, key), table, known)
    unfit = int(known["unfit"])
    say(f"{key}: {len(table):,} replies" + (f", {unfit} pairs unfit for the model" if unfit else ""))


def _of_seed(
    seed: int, records: list[Pair], wanted: Run, decoder: DialogueDecoder
) -> tuple[pd.DataFrame, dict[str, str]]:
    """The rows of one of the model's seeds, and what is known of all of them."""
    loaded, vocabulary = load_model(layout.model(wanted.model), seed)
    model: Any = loaded.to(device())
    view = model.config.view
    ready = partial(canonicalize, vocabulary=vocabulary, most=model.config.positions - 1, stage="decode")
    fitting, aside, _ = ready(records)
    if not len(fitting):
        raise fits_none(wanted, len(records), "pairs")
    fits = {*fitting.ids}
    rows = _chosen([record for record in records if record.id in fits], decoder)
    data, *_ = ready(rows)
    posts = [_post(row) for row in rows]
    first: dict[str, int] = {}
    for place, post in enumerate(posts):
        first.setdefault(post, place)
    said = dict(zip(first, _replies(model, data, [*first.values()], decoder, wanted.samples), strict=True))
    table = pd.DataFrame(
        [
            {
                "id": row.id, "cluster": data.ids[first[post]], "seed": seed, "sample": rank,
                "source": post, "reference": " ".join(words_of(row, "target")),
                **_columns(reply), **nats,
            }
            for row, post, nats in zip(rows, posts, _surprise(model, data), strict=True)
            for rank, reply in enumerate(said[post])
        ]
    )  # fmt: skip
    writes = "tree" if view.shape == "tree" and view.arity > 1 else "chain"
    return table, {"unfit": str(len(aside)), "writes": writes}


def _post(row: Pair) -> str:
    return " ".join(words_of(row, "source"))


def _chosen(records: list[Pair], decoder: DialogueDecoder) -> list[Pair]:
    """The pairs of the posts that are asked for, in the order of `records`."""
    every = [_post(record) for record in records]
    posts = list(dict.fromkeys(every))
    kept = posts[decoder.skip :][: decoder.posts or None]
    if not kept:
        raise ConfigError(f"{decoder.skip} posts are skipped of {len(posts)}", where="decoder.skip", remedy="lower it")
    chosen = set(kept)
    return [record for record, post in zip(records, every, strict=True) if post in chosen]


def _columns(reply: Reply | None) -> dict[str, Any]:
    """A reply as columns; where a search found too few, an empty one."""
    if reply is None:
        return {"text": "", "heads": "", "cut": "", "score": float("nan")}
    return {
        "text": " ".join(reply.words), "heads": " ".join(map(str, heads_in(reply))), "cut": reply.cut,
        "score": round(reply.log_probability, 6),
    }  # fmt: skip


def heads_in(reply: Reply) -> tuple[int, ...]:
    """The head of each word, from 1; none for a chain, and where the root has a right child, a second root."""
    nodes = reply.nodes
    return heads_of(nodes) if nodes is not None and nodes[0, -1] < 0 else ()


def _replies(
    model: Any, data: DialogueData, places: list[int], decoder: DialogueDecoder, most: int
) -> list[list[Reply | None]]:
    """The `most` best replies to the posts at these places."""
    order = np.array(places)[np.argsort(data.columns["source"].lengths[places], kind="stable")]
    size = max(1, BEAMS // decoder.beam)
    parts = [order[start : start + size] for start in range(0, len(order), size)]
    found: dict[int, list[Reply | None]] = {}
    for part in followed(parts, len(parts), "decode"):
        batch = data.batch(part, model.config.view).to(device())
        for place, made in zip(part, replies(model, batch, decoder, data.vocabulary), strict=True):
            found[int(place)] = [*made[:most], *[None] * (most - len(made))]
    return [found[place] for place in places]


def _surprise(model: Any, data: DialogueData) -> list[dict[str, Any]]:
    """Nats of each reference: of its words and end, or of all choices of its tree; and its words."""
    grown = model.config.view.shape == "tree"
    nll = nats_of(model, data, model.tree_losses if grown else lambda batch: model.token_losses(batch).sum(1))
    lengths = data.columns["target"].lengths.tolist()
    return [{"nll": round(nats, 6), "words": words} for nats, words in zip(nll.tolist(), lengths, strict=True)]
