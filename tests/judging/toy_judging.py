"""Small protocols of each design, and outputs of runs to judge."""

from __future__ import annotations

from typing import Any

Rows = dict[str, list[dict[str, str]]]

SCALE: dict[str, Any] = {
    "paper": "toy",
    "title": "Texts",
    "design": "scale",
    "criteria": {
        "fluency": {"question": "How fluent is it?", "levels": ["bad", "", "good"]},
        "style": {"question": "Does the style fit?", "lowest": 0, "levels": ["no", "yes"]},
    },
    "runs": ["chain", "tree"],
    "given": {"post": "source"},
    "inputs": 12,
    "raters": 3,
    "note": "Say how good each is.",
    "claims": [{"better": "tree", "worse": "chain", "criteria": ["fluency"]}],
}
PAIRS = SCALE | {
    "design": "pairs",
    "criteria": {"relevance": {"question": "Which means the same?"}},
    "reference": True,
    "claims": [{"better": "chain", "worse": "tree", "criteria": "relevance"}],
}
BEST_WORST = SCALE | {
    "design": "best_worst",
    "criteria": {"fluency": {"question": "Which is the most fluent?"}},
    "reference": True,
    "claims": [{"better": "reference", "worse": "chain", "criteria": "fluency"}],
}


def rows_of(run: str, count: int = 20) -> list[dict[str, str]]:
    return [
        {"id": f"r{n}", "seed": "1", "source": f"post {n}", "reference": f"human {n}", "text": f"{run} says {n}",
         "tune": f"tune {n % 4}"}
        for n in range(count)
    ]  # fmt: skip
