"""How often a paraphrase keeps its template, by where its candidates come from: SE + TG of a profile on its dev pairs.

    python benchmarks/kept_templates.py [--record] [PROFILE ...]

It prints the tables of docs/guig.md: those of nursery and small, or of the profiles that are named. The models and the
parser are those of `data/` of each profile. Of a pair's candidates the likeliest is taken whose parse keeps the
template, as in a strict run. Milliseconds are processor time for a pair, for decoding, parsing and choosing. It takes
four minutes on one thread for the nursery, and ten for small.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from espalier.datasets.pairs.data import PairBatch, PairView
from espalier.datasets.pairs.word_classes import Lexicon
from espalier.datasets.registry import ENCODINGS
from espalier.datasets.vocabulary import BOS, EOS
from espalier.decoding.beam import Hypothesis
from espalier.decoding.sampling import hypotheses
from espalier.io.hashing import seed_from
from espalier.metrics.expansion import template_statistics
from espalier.metrics.family import family_scores
from espalier.metrics.paraphrase import paraphrase_statistics
from espalier.metrics.ted import Trees
from espalier.metrics.texts import Pairs
from espalier.models.serialization import load_model
from espalier.report.benchmarks import BenchmarkTable, Column
from espalier.syntax.constituency import read_tree, template
from espalier.syntax.parsers.parser import Refused
from espalier.syntax.parsers.registry import load_parser
from espalier.tasks.paraphrase_decoder import PairDecoder
from espalier.tasks.paraphrase_search import of_classes, pair_constraint, ranked, search, tree_text, weighted

sys.path.append(str(Path(__file__).resolve().parents[1]))  # `pipeline` is in the clone, and not installed
from measuring import Record, words

from pipeline import layout
from pipeline.records.artifacts import read_ready, read_train


class Setting(NamedTuple):
    """A profile's dataset and parser, the largest number of dev pairs, beams, trees and the length penalty of texts."""

    dataset: str
    parser: str
    pairs: int
    beam: int
    trees: int
    power: float


NURSERY = Setting("paraphrase_en", "constituency_en", 200, 4, 4, 0.0)
SMALL = Setting("guig", "penn", 250, 8, 8, 1.0)
#: The candidates of pairs that are decoded together; a round of those drawn again; and the most of a pair.
TOGETHER, ROUND, MOST = 512, 32, 256

Rows = list[list[Hypothesis]]
#: From places of pairs to the candidates of each.
Source = Callable[[Sequence[int]], Rows]


class Bench:
    """The pairs, the shortest first, and the best trees that the expander makes of each template."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        ready = read_ready(setting.dataset, "dev", ENCODINGS["pairs"])
        order = np.argsort(ready.data.sizes(PairView(("source",))), kind="stable")
        order = order[:: max(1, len(order) // setting.pairs)][: setting.pairs]  # spread over the lengths
        self.records, self.data = [ready.records[place] for place in order], ready.data.select(order)
        self.model: Any = load_model(layout.model("guig_tg"), None)[0]
        self.vocabulary, self.view = self.data.vocabulary, self.model.config.view
        self.parser = load_parser(layout.parser(setting.parser))
        self.parsed: dict[str, str] = {}
        self.trees = self._expanded()
        self.lexicon = Lexicon.of_pairs(read_train(setting.dataset, ENCODINGS["pairs"]))

    def _expanded(self) -> list[list[str]]:
        """By rank, the tree for each pair; as in a run, the template where the search found fewer."""
        model, _ = load_model(layout.model("guig_se"), None)
        view, decoder = model.config.view, PairDecoder(beam=self.setting.trees, constraint="template")
        batches = (self.data.batch(np.array([place]), view) for place in range(len(self.data)))
        found = [search(model, batch, decoder, view)[0] for batch in batches]
        trees = [[*filter(None, (tree_text(each.tokens, view, model.vocabulary) for each in row))] for row in found]
        tops = [template(read_tree(one.target_tree, words=False), self.view.template) for one in self.records]
        return [
            [([*row[rank:], top])[0] for row, top in zip(trees, tops, strict=True)]
            for rank in range(self.setting.trees)
        ]

    def batch(self, places: Sequence[int], rank: int) -> PairBatch:
        return self.data.with_trees(self.trees[rank], None).batch(np.array(places), self.view)

    # --- Candidates of some pairs --------------------------------------------------------------------------------

    def beam(self, places: Sequence[int], beam: int = 0, rank: int = 0, power: float | None = None) -> Rows:
        """The hypotheses of a beam; `power` is the length penalty of its search alone. The setting has defaults."""
        power = self.setting.power if power is None else power
        decoder = PairDecoder(beam=beam or self.setting.beam, length_power=power)
        return search(self.model, self.batch(places, rank), decoder, self.view)

    def classed(self, places: Sequence[int], rank: int = 0, lexicons: Sequence[Lexicon] | None = None) -> Rows:
        """The hypotheses of a beam under classes of words: of the words of the training pairs, or of others."""
        decoder = PairDecoder(beam=self.setting.beam, length_power=self.setting.power, strict=True)
        lexicons = lexicons or [self.lexicon] * len(places)
        return of_classes(self.model, self.batch(places, rank), decoder, self.view, lexicons)

    def own_words(self, places: Sequence[int], samples: int, rank: int = 0) -> Rows:
        """A beam, samples, and a beam under the classes of their words, as in `espalier paraphrase --strict`."""
        rows = joined(self.beam(places, rank=rank), self.drawn(places, samples, rank))
        parses = self.parses(rows)
        trees = [filter(None, (parses[self.vocabulary.decode_text(each.tokens)] for each in row)) for row in rows]
        return joined(rows, self.classed(places, rank, [Lexicon.of_trees(own, self.vocabulary) for own in trees]))

    def next_trees(self, places: Sequence[int], samples: int) -> Rows:
        """`own_words`, under the next best tree where no candidate keeps the template.

        So does the command, whose samples have the same seeds under all trees.
        """
        rows = self.own_words(places, samples)
        left = self.unkept(places, rows)
        for rank in range(1, self.setting.trees if left else 0):
            again = self.own_words([places[at] for at in left], samples, rank)
            missed = {left[number] for number in self.unkept([places[at] for at in left], again)}
            for at, own in zip(left, again, strict=True):
                rows[at] = rows[at] if at in missed else own
            left = [at for at in left if at in missed]
            if not left:
                break
        return rows

    def drawn(self, places: Sequence[int], count: int, rank: int = 0, temperature: float = 1.0, first: int = 0) -> Rows:
        """Samples; `first` is the number of the first one."""
        rule = pair_constraint(PairDecoder(), self.view, self.vocabulary)
        ids, numbers = [self.records[place].id for place in places], range(first, first + count)
        found = hypotheses(
            self.model, self.batch(places, rank), constraint=rule, temperature=temperature, max_ids=52, begin=BOS,
            end=EOS, length_power=self.setting.power,
            seeds=[seed_from(1, own, rank, number) for own in ids for number in numbers],
        )  # fmt: skip
        return [found[start : start + count] for start in range(0, len(found), count)]

    def again(self, places: Sequence[int]) -> Rows:
        """A beam and a round of samples; more rounds where no candidate keeps the template."""
        beam = self.setting.beam
        rows = joined(self.beam(places), self.drawn(places, ROUND - beam))
        for first in range(ROUND - beam, MOST - beam, ROUND):
            left = self.unkept(places, rows)
            more = self.drawn([places[place] for place in left], ROUND, first=first) if left else []
            for place, own in zip(left, more, strict=True):
                rows[place] = rows[place] + own
        return rows

    # --- Which is taken ------------------------------------------------------------------------------------------

    def parses(self, rows: Rows) -> dict[str, str]:
        """The tree of each text, beside those of a way's earlier texts; "" without one."""
        texts = dict.fromkeys(self.vocabulary.decode_text(each.tokens) for row in rows for each in row)
        new = [text for text in texts if text not in self.parsed]
        for text, one in zip(new, self.parser.parse([tuple(text.split()) for text in new]), strict=True):
            self.parsed[text] = "" if isinstance(one, Refused) else one.tree
        return self.parsed

    def kept(self, place: int, row: Sequence[Hypothesis], parses: Mapping[str, str]) -> list[bool]:
        """Whether each candidate of a pair keeps its template."""
        trees = [parses[self.vocabulary.decode_text(each.tokens)] for each in row]
        kept: list[bool] = (template_statistics([self.trees[0][place]] * len(trees), trees)[:, 0] > 0).tolist()
        return kept

    def unkept(self, places: Sequence[int], rows: Rows) -> list[int]:
        """Which of the rows have no candidate that keeps the template of its pair."""
        parses = self.parses(rows)
        return [at for at, row in enumerate(rows) if not any(self.kept(places[at], row, parses))]

    def cells(self, source: Source, most: int, weights: Sequence[float]) -> Iterator[list[float]]:
        """For each weight of the source in the ranking: candidates of a pair, milliseconds, scores of what is taken.

        A text that is a candidate of two pairs counts once. The scores are the share of kept templates, BLEU and TED.
        """
        self.parsed = {}
        started, rows, size = time.process_time(), Rows(), max(1, TOGETHER // most)
        for start in range(0, len(self.data), size):
            rows += source(range(start, min(start + size, len(self.data))))
        rows = [[each for each in row if each.tokens] for row in rows]
        self.parses(rows)
        found = time.process_time() - started
        for weight in weights:
            started = time.process_time()
            texts = [self.taken(place, row, weight) for place, row in enumerate(rows)]
            seconds = found + time.process_time() - started
            yield [len(self.parsed) / len(rows), 1000 * seconds / len(rows), *self.scores(texts)]

    def taken(self, place: int, row: Sequence[Hypothesis], weight: float) -> str:
        """The candidate of a pair that is taken."""
        source = self.data.columns["source"].row(place)
        row = ranked(weighted(row, source, self.vocabulary, weight), self.vocabulary)
        kept = self.kept(place, row, self.parsed)
        return self.vocabulary.decode_text(row[kept.index(True) if True in kept else 0].tokens if row else [])

    def scores(self, texts: Sequence[str]) -> list[float]:
        """The share of kept templates, BLEU and TED of a text for each pair."""
        sides = [
            [self.vocabulary.decode_text(self.data.columns[side].row(place)) for place in range(len(self.data))]
            for side in ("source", "target")
        ]
        trees = Trees([record.target_tree for record in self.records], [self.parsed.get(text, "") for text in texts])
        found = paraphrase_statistics(Pairs(*sides, texts), trees, scored=("similarity", "trees"))
        scores = family_scores(found, seed=1, resamples=0)
        return [float(scores[name].value or 0) for name in ("template_kept", "bleu", "ted_full")]


def joined(*sources: Rows) -> Rows:
    """The candidates of all sources, pair by pair."""
    return [[each for row in rows for each in row] for rows in zip(*sources, strict=True)]


#: Sources of candidates by name, the largest number of texts that each searches together for a pair, and the weights of
#: the source in the ranking.
Ways = dict[str, tuple[Source, int, tuple[float, ...]]]


def nursery_ways(bench: Bench) -> Ways:
    """Where candidates come from: beams, samples, classes of words, several trees."""
    beam, drawn, classed, own = bench.beam, bench.drawn, bench.classed, bench.setting.beam
    ranks, named = range(bench.setting.trees), dict[str, tuple[Source, int]]()
    named["the best of 4 beams"] = lambda of: [row[:1] for row in beam(of)], own
    named["4 beams"] = beam, own
    named["32 beams"] = lambda of: beam(of, 32), 32
    named["4 beams for each length penalty of 0, 0.5, 1"] = (
        lambda of: joined(*(beam(of, power=power) for power in (0.0, 0.5, 1.0))),
        own,
    )
    for n in (32, 64, 128, 256):
        named[f"4 beams, {n - own} samples"] = lambda of, n=n: joined(beam(of), drawn(of, n - own)), n
    named["4 beams, 60 samples, temperature 0.7"] = (
        lambda of: joined(beam(of), drawn(of, 60, temperature=0.7)),
        64,
    )
    named["4 beams, 12 samples, for each of 4 trees"] = (
        lambda of: joined(*(joined(beam(of, rank=rank), drawn(of, 12, rank)) for rank in ranks)),
        16,
    )
    named[f"4 beams, 28 samples, 32 more as long as none keeps it, up to {MOST}"] = bench.again, ROUND
    named["4 under classes"] = classed, own
    named["4 beams, 4 under classes"] = lambda of: joined(beam(of), classed(of)), own
    for n in (32, 64):
        named[f"4 beams, 4 under classes, {n - 2 * own} samples"] = (
            lambda of, n=n: joined(beam(of), classed(of), drawn(of, n - 2 * own)),
            n,
        )
    name = "4 beams, 56 samples, 4 under classes of their own words"
    named[name] = lambda of: bench.own_words(of, 56), 64
    named[f"{name}, under the next of 4 trees as long as none keeps it"] = lambda of: bench.next_trees(of, 56), 64
    named["4 beams, 4 under classes, for each of 4 trees"] = (
        lambda of: joined(*(joined(beam(of, rank=rank), classed(of, rank)) for rank in ranks)),
        own,
    )
    return {name: (source, most, (0.0,)) for name, (source, most) in named.items()}


def small_ways(bench: Bench) -> Ways:
    """How many trees and samples, and how much the source counts."""

    def of_trees(trees: int, samples: int) -> Source:
        return lambda of: joined(
            *(
                joined(bench.beam(of, rank=rank), bench.classed(of, rank), bench.drawn(of, samples, rank))
                for rank in range(trees)
            )
        )

    named: Ways = {"the best of 8 beams": (lambda of: [row[:1] for row in bench.beam(of)], bench.setting.beam, (0.0,))}
    for trees, samples in ((1, 48), (1, 176), (4, 16), (8, 16)):
        each = f", for each of {trees} trees" if trees > 1 else ""
        named[f"8 beams, 8 under classes, {samples} samples{each}"] = of_trees(trees, samples), 16 + samples, (0.0,)
    source, most, _ = named[each := "8 beams, 8 under classes, 16 samples, for each of 8 trees"]
    named[each] = source, most, (0.0, 0.5, 1.0, 1.5, 2.0)
    return named


PROFILES: dict[str, tuple[Setting, Callable[[Bench], Ways]]] = {
    "nursery": (NURSERY, nursery_ways),
    "small": (SMALL, small_ways),
}


def table(profile: str) -> BenchmarkTable:
    """The candidates of the dev pairs of a profile; each row is told as soon as it is found."""
    setting, ways = PROFILES[profile]
    os.chdir(layout.PROFILES[profile])
    bench, rows = Bench(setting), dict[str, list[float]]()
    for name, (source, most, weights) in ways(bench).items():
        for weight, cells in zip(weights, bench.cells(source, most, weights), strict=True):
            rows[f"{name}, weight {weight}" if weight else name] = cells
            print([*rows][-1], *(f"{cell:.2f}" for cell in cells), file=sys.stderr, flush=True)
    digits = {"candidates": 0, "ms a pair": 0, "template kept, %": 1, "BLEU": 1, "TED": 2}
    columns = [Column(heading=heading, digits=places) for heading, places in digits.items()]
    return BenchmarkTable(title=f"{profile}: {len(bench.data)} dev pairs", columns=columns, rows=rows)


def main() -> None:
    asked = words() or [*PROFILES]
    if unknown := {*asked} - {*PROFILES}:
        sys.exit(f"{min(unknown)!r} is no profile with a table: {', '.join(PROFILES)}")
    torch.set_num_threads(1)
    with Record(__file__) as record:
        for profile in asked:
            record.add(table(profile))


if __name__ == "__main__":
    main()
