"""Small models in LTP's own file formats, which have learnt three sentences by heart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from ltp.nerual import LTP
from ltp_extension.perceptron import CWSTrainer, POSTrainer
from transformers import BertTokenizerFast

from espalier.syntax.parse import Parse

#: What the models know: words, tags, heads (1-based, 0 the root) and labels.
KNOWN = [
    Parse(("小猫", "喝", "牛奶"), ("n", "v", "n"), heads=(2, 0, 2), labels=("SBV", "HED", "VOB")),
    Parse(
        ("我", "昨天", "读", "了", "三", "本", "新", "书", "。"),
        ("r", "nt", "v", "u", "m", "q", "a", "n", "wp"),
        heads=(3, 3, 0, 3, 6, 8, 8, 3, 3),
        labels=("SBV", "ADV", "HED", "RAD", "ATT", "ATT", "ATT", "VOB", "WP"),
    ),
    Parse(("雨", "终于", "停", "了"), ("n", "d", "v", "u"), heads=(3, 3, 0, 3), labels=("SBV", "ADV", "HED", "RAD")),
]
CHARACTERS = sorted({character for parse in KNOWN for word in parse.words for character in word})
TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *CHARACTERS]
VOCABS = {
    "cws": ["I-W", "B-W"],
    "pos": sorted({tag for parse in KNOWN for tag in parse.tags}),
    "dep": sorted({label for parse in KNOWN for label in parse.labels}),
}


def neural_config(width: int = 32) -> dict[str, Any]:
    """The config.json of a neural model that segments, tags and attaches."""
    part = "ltp_core.models"
    token, graph = f"{part}.components.token.MLPTokenClassifier", f"{part}.components.graph.BiaffineClassifier"
    head = {"input_size": width, "dropout": 0.0}
    backbone = {
        "model_type": "bert",
        "vocab_size": len(TOKENS),
        "hidden_size": width,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 2 * width,
        "max_position_embeddings": 512,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
    }
    return {
        "nerual": True,
        "model": {
            "_ltp_target_": f"{part}.ltp_model.LTPModule",
            "backbone": {"_ltp_target_": f"{part}.utils.load_transformers", "config": backbone},
            "heads": {
                "cws": {"_ltp_target_": token, "num_labels": len(VOCABS["cws"]), **head},
                "pos": {"_ltp_target_": token, "num_labels": len(VOCABS["pos"]), **head},
                "dep": {
                    "_ltp_target_": graph,
                    "num_labels": len(VOCABS["dep"]),
                    "arc_hidden_size": width,
                    "rel_hidden_size": width,
                    **head,
                },
            },
            "processor": {
                "cws": {"_ltp_target_": f"{part}.processor.TokenOnly", "dropout": 0.0},
                "pos": {"_ltp_target_": f"{part}.processor.WordsOnly", "dropout": 0.0},
                "dep": {"_ltp_target_": f"{part}.processor.WordsWithHead", "dropout": 0.0},
            },
        },
        "vocabs": VOCABS,
    }


def save_neural(folder: Path, steps: int = 120) -> Path:
    """Train a neural model on what is known, and write its files as LTP's own are written."""
    torch.manual_seed(0)
    config = neural_config()
    module = LTP(config=config).model.train()
    optimizer = torch.optim.Adam(module.parameters(), lr=0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        sum(_loss(module, parse) for parse in KNOWN).backward()
        optimizer.step()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    torch.save(module.state_dict(), folder / "pytorch_model.bin")
    save_tokenizer(folder)
    return folder


def save_tokenizer(folder: Path) -> None:
    """Write a tokenizer of single characters: tokenizer.json, tokenizer_config.json and the vocab.txt of old."""
    vocabulary = {token: number for number, token in enumerate(TOKENS)}
    BertTokenizerFast(vocab=vocabulary).save_pretrained(folder)
    (folder / "vocab.txt").write_text("".join(f"{token}\n" for token in TOKENS), encoding="utf-8")


def save_legacy(folder: Path) -> Path:
    """Train two perceptrons on what is known, with LTP's own trainers, and write the files of a legacy model."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {"nerual": False, "tasks": {"cws": "cws_model.bin", "pos": "pos_model.bin"}}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    lines = {
        "cws": [" ".join(parse.words) for parse in KNOWN],
        "pos": [" ".join(map("/".join, zip(parse.words, parse.tags, strict=True))) for parse in KNOWN],
    }
    for task, trainer in (("cws", CWSTrainer()), ("pos", POSTrainer(VOCABS["pos"]))):
        trainer.epoch, trainer.eval_threads, trainer.verbose = 5, 1, False
        trainer.shuffle = trainer.compress = False
        data = folder / f"{task}.txt"
        data.write_text("".join(f"{line}\n" for line in lines[task]), encoding="utf-8")
        trainer.load_train_data(str(data))
        trainer.load_eval_data(str(data))
        trainer.train().save(str(folder / config["tasks"][task]))
    return folder


def _loss(module: Any, parse: Parse) -> torch.Tensor:
    """The three heads' cross entropies on one sentence, which needs no padding."""
    text = "".join(parse.words)
    ids = torch.tensor([[TOKENS.index("[CLS]"), *map(TOKENS.index, text), TOKENS.index("[SEP]")]])
    starts = torch.tensor([[len("".join(parse.words[:n])) for n in range(len(parse.words))]])
    begins = torch.zeros(len(text), dtype=torch.long)
    begins[starts[0]] = VOCABS["cws"].index("B-W")
    tags = torch.tensor([VOCABS["pos"].index(tag) for tag in parse.tags])
    heads = torch.tensor(parse.heads)
    labels = torch.tensor([VOCABS["dep"].index(label) for label in parse.labels])
    inputs = {
        "input_ids": ids,
        "attention_mask": torch.ones_like(ids),
        "word_index": starts,
        "word_attention_mask": torch.ones_like(starts, dtype=torch.bool),
    }
    entropy = torch.nn.functional.cross_entropy
    graph = module("dep", **inputs)
    # Row 0 of the arcs is the root's, which has no head; column h stands for word h, column 0 for the root.
    chosen = graph.rel_logits[0, 1:][torch.arange(len(heads)), heads]
    return (
        entropy(module("cws", **inputs).logits[0], begins)
        + entropy(module("pos", **inputs).logits[0], tags)
        + entropy(graph.arc_logits[0, 1:], heads)
        + entropy(chosen, labels)
    )
