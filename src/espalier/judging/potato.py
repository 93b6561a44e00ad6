"""A sample as a project of Potato (Pei et al. 2022), a server for annotation: its configuration and its items.

Only the configuration is written; Potato itself is not used here.
"""

from __future__ import annotations

import json
from html import escape

import yaml

from espalier.judging.sample import PAIR_WORDS, Item, Sample


def potato(sample: Sample) -> dict[str, str]:
    """The files of the project by name. Texts are escaped, since Potato shows them as HTML."""
    protocol = sample.protocol
    texts = max(len(item.texts) for item in sample.items)
    schemes = [
        {
            "annotation_type": "radio",
            "name": question,
            "description": protocol.criteria[criterion].question + (f" ({end})" if end else ""),
            "labels": _labels(sample, criterion, texts),
            "sequential_key_binding": len(protocol.questions) == 1,
        }
        for question, (criterion, end) in protocol.questions.items()
    ]
    config = {
        "annotation_task_name": protocol.title,
        "task_dir": ".",
        "output_annotation_dir": "annotation_output/",
        "output_annotation_format": "jsonl",
        "data_files": ["items.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "user_config": {"allow_all_users": True, "users": []},
        "annotation_instructions": escape(protocol.note),
        "annotation_schemes": schemes,
        "site_dir": "default",
    }
    items = "".join(f"{json.dumps(_item(item, sample.hash), ensure_ascii=False)}\n" for item in sample.items)
    return {"config.yaml": yaml.safe_dump(config, sort_keys=False, allow_unicode=True), "items.jsonl": items}


def _labels(sample: Sample, criterion: str, texts: int) -> list[str]:
    if sample.protocol.design == "scale":
        return [
            f"{value}: {meaning}" if meaning else value for value, meaning in sample.protocol.criteria[criterion].named
        ]
    if sample.protocol.design == "pairs":
        return list(PAIR_WORDS.values())
    return [f"text {place}" for place in range(1, texts + 1)]


def _item(item: Item, sample: str) -> dict[str, str]:
    parts = [f"<p><small>{escape(label)}</small><br>{_lines(text)}</p>" for label, text in item.given]
    for place, text in enumerate(item.texts, start=1):
        label = f"<small>text {place}</small><br>" if len(item.texts) > 1 else ""
        parts.append(f'<p dir="auto">{label}{_lines(text)}</p>')
    return {"id": f"{sample}-{item.number}", "text": "".join(parts)}


def _lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")
