"""How often a paraphrase keeps its template, by where its candidates come from: the nursery's SE + TG on its dev pairs.

    python benchmarks/kept_templates.py [WORDS]

It prints the rows of the table of docs/guig.md; with WORDS, those whose names have these words. The models and the
parser are those of `data/`. Of a pair's candidates the likeliest is taken whose parse keeps the template, as in a
strict run. Milliseconds are processor time for a pair, for decoding and parsing. It takes five minutes on one thread.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

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
from espalier.syntax.parsers.parser import Refused
from espalier.syntax.parsers.registry import load_parser
from espalier.tasks.paraphrase_decoder import PairDecoder
from espalier.tasks.paraphrase_search import of_classes, pair_constraint, ranked, search, tree_text

sys.path.append(str(Path(__file__).resolve().parents[1]))  # `pipeline` is in the clone, and not installed
from pipeline import layout
from pipeline.records.artifacts import read_ready, read_train

BEAM, TREES = 4, 4
#: The candidates of pairs that are decoded together; a round of those drawn again; and the most of a pair.
TOGETHER, ROUND, MOST = 512, 32, 256

Rows = list[list[Hypothesis]]
#: From places of pairs to the candidates of each.
Source = Callable[[Sequence[int]], Rows]


class Bench:
    """The pairs, the shortest first, and the `TREES` best trees that the expander makes of each template."""

    def __init__(self) -> None:
        ready = read_ready("paraphrase_en", "dev", ENCODINGS["pairs"])
        order = np.argsort(ready.data.sizes(PairView(("source",))), kind="stable")
        self.records, self.data = [ready.records[place] for place in order], ready.data.select(order)
        self.model: Any = load_model(layout.model("guig_tg"), None)[0]
        self.vocabulary, self.view = self.data.vocabulary, self.model.config.view
        self.parser = load_parser(layout.parser("constituency_en"))
        self.trees = self._expanded()
        self.lexicon = Lexicon.of_pairs(read_train("paraphrase_en", ENCODINGS["pairs"]))

    def _expanded(self) -> list[list[str]]:
        """By rank, the tree for each pair; the best one where the search found fewer."""
        model, _ = load_model(layout.model("guig_se"), None)
        view, decoder = model.config.view, PairDecoder(beam=TREES, constraint="template")
        batches = (self.data.batch(np.array([place]), view) for place in range(len(self.data)))
        found = [search(model, batch, decoder, view)[0] for batch in batches]
        trees = [[*filter(None, (tree_text(each.tokens, view, model.vocabulary) for each in row))] for row in found]
        return [[(row[rank:] or row)[0] for row in trees] for rank in range(TREES)]

    def batch(self, places: Sequence[int], rank: int) -> PairBatch:
        return self.data.with_trees(self.trees[rank], None).batch(np.array(places), self.view)

    # --- Candidates of some pairs --------------------------------------------------------------------------------

    def beam(self, places: Sequence[int], beam: int = BEAM, rank: int = 0, power: float = 0.0) -> Rows:
        """The hypotheses of a beam; `power` is the length penalty of its search alone."""
        decoder = PairDecoder(beam=beam, length_power=power)
        return search(self.model, self.batch(places, rank), decoder, self.view)

    def classed(self, places: Sequence[int], rank: int = 0, lexicons: Sequence[Lexicon] | None = None) -> Rows:
        """The hypotheses of a beam under classes of words: of the words of the training pairs, or of others."""
        decoder, lexicons = PairDecoder(beam=BEAM, strict=True), lexicons or [self.lexicon] * len(places)
        return of_classes(self.model, self.batch(places, rank), decoder, self.view, lexicons)

    def own_words(self, places: Sequence[int]) -> Rows:
        """A beam under the classes of the words of other candidates, as in `espalier paraphrase --strict`."""
        rows = joined(self.beam(places), self.drawn(places, 56))
        parses = self.parses(rows)
        trees = [filter(None, (parses[self.vocabulary.decode_text(each.tokens)] for each in row)) for row in rows]
        return joined(rows, self.classed(places, lexicons=[Lexicon.of_trees(own, self.vocabulary) for own in trees]))

    def drawn(self, places: Sequence[int], count: int, rank: int = 0, temperature: float = 1.0, first: int = 0) -> Rows:
        """Samples; `first` is the number of the first one."""
        rule = pair_constraint(PairDecoder(), self.view, self.vocabulary)
        ids, numbers = [self.records[place].id for place in places], range(first, first + count)
        found = hypotheses(
            self.model, self.batch(places, rank), constraint=rule, temperature=temperature, max_ids=52, begin=BOS,
            end=EOS, seeds=[seed_from(1, own, rank, number) for own in ids for number in numbers],
        )  # fmt: skip
        return [found[start : start + count] for start in range(0, len(found), count)]

    def again(self, places: Sequence[int]) -> Rows:
        """A beam and a round of samples; more rounds where no candidate keeps the template."""
        rows = joined(self.beam(places), self.drawn(places, ROUND - BEAM))
        for first in range(ROUND - BEAM, MOST - BEAM, ROUND):
            parses = self.parses(rows)
            left = [place for place, row in enumerate(rows) if not any(self.kept(places[place], row, parses))]
            more = self.drawn([places[place] for place in left], ROUND, first=first) if left else []
            for place, own in zip(left, more, strict=True):
                rows[place] = rows[place] + own
        return rows

    # --- Which is taken ------------------------------------------------------------------------------------------

    def parses(self, rows: Rows) -> dict[str, str]:
        """The tree of each text; "" without one."""
        texts = [*dict.fromkeys(self.vocabulary.decode_text(each.tokens) for row in rows for each in row)]
        found = self.parser.parse([tuple(text.split()) for text in texts])
        return {text: "" if isinstance(one, Refused) else one.tree for text, one in zip(texts, found, strict=True)}

    def kept(self, place: int, row: Sequence[Hypothesis], parses: Mapping[str, str]) -> list[bool]:
        """Whether each candidate of a pair keeps its template."""
        trees = [parses[self.vocabulary.decode_text(each.tokens)] for each in row]
        kept: list[bool] = (template_statistics([self.trees[0][place]] * len(trees), trees)[:, 0] > 0).tolist()
        return kept

    def cells(self, source: Callable[[Sequence[int]], Rows], most: int) -> list[float]:
        """Candidates of a pair, milliseconds, share of kept templates, BLEU and TED of what is taken."""
        started, rows, size = time.process_time(), Rows(), max(1, TOGETHER // most)
        for start in range(0, len(self.data), size):
            rows += source(range(start, min(start + size, len(self.data))))
        rows = [ranked(row, self.vocabulary) for row in rows]
        parses, texts = self.parses(rows), list[str]()
        for place, row in enumerate(rows):
            kept = self.kept(place, row, parses)
            best = row[kept.index(True) if True in kept else 0].tokens if row else []
            texts.append(self.vocabulary.decode_text(best))
        seconds = time.process_time() - started
        sides = [
            [self.vocabulary.decode_text(self.data.columns[side].row(place)) for place in range(len(self.data))]
            for side in ("source", "target")
        ]
        trees = Trees([record.target_tree for record in self.records], [parses.get(text, "") for text in texts])
        found = paraphrase_statistics(Pairs(*sides, texts), trees, scored=("similarity", "trees"))
        scores = family_scores(found, seed=1, resamples=0)
        values = [float(scores[name].value or 0) for name in ("template_kept", "bleu", "ted_full")]
        return [sum(map(len, rows)) / len(rows), 1000 * seconds / len(rows), *values]


def joined(*sources: Rows) -> Rows:
    """The candidates of all sources, pair by pair."""
    return [[each for row in rows for each in row] for rows in zip(*sources, strict=True)]


def ways(bench: Bench) -> dict[str, tuple[Source, int]]:
    """Sources of candidates, and the largest number of texts that each searches together for a pair."""
    beam, drawn, classed = bench.beam, bench.drawn, bench.classed
    ranks, named = range(TREES), dict[str, tuple[Source, int]]()
    named["the best of 4 beams"] = lambda own: [row[:1] for row in beam(own)], BEAM
    named["4 beams"] = beam, BEAM
    named["32 beams"] = lambda own: beam(own, 32), 32
    named["4 beams for each length penalty of 0, 0.5, 1"] = (
        lambda own: joined(*(beam(own, power=power) for power in (0.0, 0.5, 1.0))),
        BEAM,
    )
    for n in (32, 64, 128, 256):
        named[f"4 beams, {n - BEAM} samples"] = lambda own, n=n: joined(beam(own), drawn(own, n - BEAM)), n
    named["4 beams, 60 samples, temperature 0.7"] = (
        lambda own: joined(beam(own), drawn(own, 60, temperature=0.7)),
        64,
    )
    named["4 beams, 12 samples, for each of 4 trees"] = (
        lambda own: joined(*(joined(beam(own, rank=rank), drawn(own, 12, rank)) for rank in ranks)),
        16,
    )
    named[f"4 beams, 28 samples, 32 more as long as none keeps it, up to {MOST}"] = bench.again, ROUND
    named["4 under classes"] = classed, BEAM
    named["4 beams, 4 under classes"] = lambda own: joined(beam(own), classed(own)), BEAM
    for n in (32, 64):
        named[f"4 beams, 4 under classes, {n - 2 * BEAM} samples"] = (
            lambda own, n=n: joined(beam(own), classed(own), drawn(own, n - 2 * BEAM)),
            n,
        )
    named["4 beams, 56 samples, 4 under classes of their own words"] = bench.own_words, 64
    named["4 beams, 4 under classes, for each of 4 trees"] = (
        lambda own: joined(*(joined(beam(own, rank=rank), classed(own, rank)) for rank in ranks)),
        BEAM,
    )
    return named


def main() -> None:
    asked = " ".join(sys.argv[1:])
    torch.set_num_threads(1)
    bench = Bench()
    print(f"| {len(bench.data)} pairs | candidates | ms a pair | template kept, % | BLEU | TED |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, (source, most) in ways(bench).items():
        if asked in name:
            found, milliseconds, kept, bleu, ted = bench.cells(source, most)
            print(f"| {name} | {found:.0f} | {milliseconds:.0f} | {kept:.1f} | {bleu:.1f} | {ted:.2f} |", flush=True)


if __name__ == "__main__":
    main()
