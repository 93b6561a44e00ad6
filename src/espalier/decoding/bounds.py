"""Upper limits of search settings, and of the size of joint searches. This module does not import torch."""

from __future__ import annotations

from typing import Final

#: Prefixes that are searched together. Their number changes the speed and, by rounding alone, the scores.
PREFIXES: Final = 512
#: The same on a GPU, where a step of a small model takes as long for many prefixes as for few.
GPU_PREFIXES: Final = 8192
#: Beams; in commands also groups of children of a leaf.
MAX_BEAM: Final = 1000
#: The candidates for one text, of which one is taken, if nothing else is said; and the most.
CANDIDATES: Final = 64
MAX_CANDIDATES: Final = 1000
#: Groups of children of a leaf, in a run.
MAX_LOCAL: Final = 10_000
#: The length penalty: a hypothesis's log-probability is divided by its length to this power.
MAX_LENGTH_POWER: Final = 10.0
#: No vocabulary is larger.
MAX_TOP_K: Final = 1_000_000
#: At this temperature all words are about equally likely.
MAX_TEMPERATURE: Final = 100.0
