"""The items of a page as a script. Pages opened from disk can load scripts, but cannot fetch data."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from espalier.report.items import OUTPUT_TREES, Items, Output


def items_js(items: Items) -> str:
    """A script that sets `items`: columns in which texts are replaced by numbers.

    The distinct texts are listed in `strings`, the first of which is empty.
    """
    strings = {"": 0}

    def numbers(texts: Iterable[str]) -> list[int]:
        return [strings.setdefault(text, len(strings)) for text in texts]

    def run(key: str, title: str, outputs: tuple[Output | None, ...]) -> dict[str, Any]:
        trees = {
            label: numbers(output.trees.get(label, "") if output else "" for output in outputs)
            for label in OUTPUT_TREES.values()
        }
        heads = numbers(output.heads if output else "" for output in outputs)
        return {
            "key": key,
            "title": title,
            "texts": [numbers(output.texts) if output else None for output in outputs],
            "trees": {label: column for label, column in trees.items() if any(column)},
            "heads": heads if any(heads) else None,
            "scores": [
                [output.scores[place] if output else None for output in outputs] for place in range(len(items.scores))
            ],
        }

    data = {
        "ids": items.ids,
        "given": {label: numbers(texts) for label, texts in items.given.items()},
        "trees": {label: numbers(texts) for label, texts in items.trees.items()},
        "scores": [
            {"name": column.heading, "better": column.better, "digits": column.digits} for column in items.scores
        ],
        "runs": [run(*named, outputs) for named, outputs in zip(items.runs, items.outputs, strict=True)],
        "strings": list(strings),
    }
    return f"const items = {json.dumps(data, ensure_ascii=False, separators=(',', ':'), allow_nan=False)};\n"
