"""How soon SAT's attention finds the symbol of the token to be predicted, on made data.

Each of 30 symbols has 20 tokens of its own, drawn by Zipf's law, and symbols follow each other by a Markov chain; so
nobody who reads the structure can have a lower perplexity than the one printed, and who does not find the own symbol
has a much higher one.

python benchmarks/own_symbol.py [steps] [--record]
"""

from __future__ import annotations

import math
from typing import Any

import torch
from measuring import Record, arguments
from rich.progress import track
from torch import Tensor

from espalier.datasets.structure.data import StructureBatch
from espalier.datasets.structure.vocabulary import StructureVocabulary
from espalier.datasets.vocabulary import BOS, EOS, PAD, SPECIALS
from espalier.models.sat import SAT
from espalier.models.sat_config import SATConfig
from espalier.report.benchmarks import BenchmarkTable, Column
from espalier.report.tables import BLANK

SYMBOLS, TOKENS, SHORTEST, LONGEST, ROWS, SHOWN = 30, 20, 8, 22, 48, 100
VARIANTS: list[dict[str, Any]] = [
    {"structures": ()},
    {"structure": "add"},
    {"norm": "post"},
    {"norm": "post", "initial": "xavier"},
    {"norm": "pre"},
    {"norm": "pre", "initial": "xavier"},
    {"norm": "pre", "places": "shared"},
    {"norm": "pre", "places": "sinusoid"},
    {"norm": "pre", "initial": "xavier", "places": "shared"},
    {"norm": "pre", "structure": "biased"},
    {"norm": "post", "structure": "biased"},
]


class Source:
    """Made texts, and what their tokens cost at least."""

    def __init__(self) -> None:
        self.draws = torch.Generator().manual_seed(0)
        self.next = torch.softmax(1.5 * torch.randn(SYMBOLS, SYMBOLS, generator=self.draws), 1)
        ranks = 1 / torch.arange(1, TOKENS + 1)
        self.tokens = ranks / ranks.sum()
        names = {"pos": tuple(f"t{symbol}" for symbol in range(SYMBOLS))}
        words = tuple(f"w{token}" for token in range(SYMBOLS * TOKENS))
        self.vocabulary = StructureVocabulary(words, "en", names)

    def batch(self, rows: int) -> StructureBatch:
        lengths = torch.randint(SHORTEST, LONGEST + 1, (rows,), generator=self.draws)[:, None]
        chain = [torch.randint(SYMBOLS, (rows,), generator=self.draws)]
        for _ in range(LONGEST):
            chain.append(torch.multinomial(self.next[chain[-1]], 1, generator=self.draws)[:, 0])
        symbol, places = torch.stack(chain, 1), torch.arange(LONGEST + 1)
        drawn = torch.multinomial(self.tokens, symbol.numel(), True, generator=self.draws).view_as(symbol)
        target = torch.where(places < lengths, symbol * TOKENS + drawn + len(SPECIALS), PAD)
        target = target.masked_fill(places == lengths, EOS)
        inputs = torch.where(places <= lengths, target.roll(1, 1), PAD)
        inputs[:, 0] = BOS
        symbols = torch.where(places < lengths, symbol + 2, 0)
        return StructureBatch(inputs, target, {"pos": symbols}, target[:, :0], lengths[:, 0] * 0)

    def least(self, batch: StructureBatch) -> float:
        """The perplexity of who knows the symbols, and so the end marks."""
        entropy = -(self.tokens * self.tokens.log()).sum()
        return math.exp(entropy * (batch.target > EOS).sum() / batch.real.sum())


def perplexity(model: SAT, batch: StructureBatch) -> float:
    with torch.no_grad():
        loss = model.eval()(batch)
    return math.exp(loss.total / loss.targets)


def trained(
    changes: dict[str, Any], source: Source, train: list[StructureBatch], dev: StructureBatch
) -> list[float | str]:
    torch.manual_seed(1)
    small = {"encoder_layers": 2, "layers": 2, "width": 96, "heads": 4, "inner": 384, "positions": 32, "norm": "pre"}
    model = SAT(SATConfig(**{**small, **changes}), source.vocabulary)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    found: list[float | str] = []
    for step, batch in enumerate(train, start=1):
        for group in optimizer.param_groups:
            group["lr"] = 1e-3 * min(1, step / 50)
        loss = model.train()(batch)
        optimizer.zero_grad()
        (loss.total / loss.targets).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % SHOWN == 0:
            found.append(perplexity(model, dev))
    weights: Tensor = model.own_weights(dev).mean(0)
    return [*found, ", ".join(f"{head:.2f}" for head in weights.amax(1)) if weights.numel() else BLANK]


def main() -> None:
    [steps], source = arguments(300), Source()
    dev, train = source.batch(256), [source.batch(ROWS) for _ in range(steps)]
    columns = [Column(heading=f"{count} steps", digits=1) for count in range(SHOWN, steps + 1, SHOWN)]
    rows = {}
    for changes in track(VARIANTS, "variants", transient=True):
        name = ", ".join(f"{name}: {value or '[]'}" for name, value in changes.items())
        rows[f"`{name}`"] = trained(changes, source, train, dev)
    with Record(__file__) as record:
        title = f"perplexity on dev; {source.least(dev):.1f} for a model that knows the symbols"
        columns.append(Column(heading="weight of the own symbol"))
        record.add(BenchmarkTable(title=title, columns=columns, rows=rows, names="network"))


if __name__ == "__main__":
    main()
