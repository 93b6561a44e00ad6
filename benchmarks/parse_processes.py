"""Sentences parsed a second by one process and by more: the `parse` stage's shards, benepar in each process.

    python benchmarks/parse_processes.py [rounds] [processes] [sentences] [--record]

A model of the small profile's size, trained for a moment on made-up trees, parses made-up sentences. Time begins with
the call and ends with the last shard on disk: the processes' start, their imports, the model's loading are within it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from measuring import Record, arguments, rate_table, rounds
from parse_sentences import made_up, made_up_model

from espalier.syntax.parsers.registry import MODEL, save_parser
from pipeline.graph import shards


def main() -> None:
    times, processes, count = arguments(3, 2, 12_000)
    torch.set_num_threads(1)
    draw = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made_up_model(folder / MODEL, draw)
        save_parser(folder, "benepar", None, {})
        sentences = [" ".join(words) for words in made_up(count, draw)]
        number = iter(range(1_000_000))

        def contestant(workers: int) -> Callable[[], float]:
            def speed() -> float:
                os.environ["ESPALIER_WORKERS"] = str(workers)
                found = shards.parse_all(sentences, folder, folder / f"scratch-{next(number)}")
                return found.speed["sentences_per_second"]

            return speed

        many, one = f"{processes} processes", "1 process"
        found = rounds({many: contestant(processes), one: contestant(1)}, times, warm_up=0)
    with Record(__file__) as record:
        title = f"{count:,} sentences; the start of the processes is counted"
        record.add(rate_table(title, found, many, "sentences/s"))


if __name__ == "__main__":
    main()
