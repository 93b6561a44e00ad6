"""Small params.yaml trees, which tests vary: every entry is complete, so that a test says only what differs."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import yaml

from pipeline import layout

Tree = dict[str, Any]

#: The paper of each task.
PAPERS = {"verse": "songnet", "paraphrase": "guig", "dialogue": "x2tree", "compose": "sat"}
#: What small trees share: models that train in a second, and the searches of their runs.
PRESETS: Tree = {
    "songnet": {
        "network": {"layers": 1, "width": 32, "heads": 2, "inner": 64, "dropout": 0.1, "positions": 250},
        "training": {
            "steps": 20, "batch_tokens": 1024, "schedule": "linear", "rate": 0.01, "warmup": 5, "evaluate_every": 8,
        },
        "decoder": {"mode": "free", "top_k": 8},
        "scoring": {"rules": "songci"},
    },
    "guig": {
        "network": {"layers": 1, "width": 16, "heads": 2, "inner": 16, "head_width": 8, "positions": 128},
        "training": {
            "steps": 20, "batch_tokens": 1024, "schedule": "linear", "rate": 0.01, "warmup": 5, "evaluate_every": 8,
        },
        "decoder": {"beam": 2},
        "scoring": {},
    },
    "x2tree": {
        "network": {"width": 12, "word": 8, "readout": 8, "scale": 0.1, "positions": 32},
        "training": {
            "steps": 20, "batch_tokens": 512, "schedule": "linear", "rate": 0.01, "warmup": 5, "evaluate_every": 8,
            "precision": "fp32",
        },
        "decoder": {"beam": 3, "local": 3, "max_words": 12},
        "scoring": {},
    },
    "sat": {
        "network": {"layers": 1, "encoder_layers": 1, "width": 16, "heads": 2, "inner": 16, "positions": 64},
        "training": {
            "steps": 20, "batch_tokens": 512, "schedule": "linear", "rate": 0.01, "warmup": 5, "evaluate_every": 8,
            "precision": "fp32",
        },
        "decoder": {"top_k": 4},
        "scoring": {"padded": 30},
    },
    "plain": {"network": {}, "training": {"steps": 1}},
}  # fmt: skip
#: SongNet's, for models that do not change with it.
PRESETS["ablation"] = {name: PRESETS["songnet"][name] for name in ("network", "training")}


def empty(profile: str = "nursery") -> Tree:
    """A profile that does nothing."""
    above = "" if profile == "nursery" else "../../"
    return {
        "root": "../.." if above else ".",
        "versions": f"{above}{layout.VERSIONS}",
        "catalogue": f"{above}{layout.CATALOGUE}",
        "profile": profile,
        "plugins": [],
        "sources": {"published": {}, "local": {}},
        "parsers": {},
        "corpora": {},
        "datasets": {"linearize": {}, "canonicalize": {}},
        "presets": {},
        "models": {},
        "runs": {},
        "baselines": {},
        "annotations": {},
        "reports": [],
    }


def parser(backend: str = "jieba", language: str = "zh", treebank: str = "none") -> Tree:
    """A parser, off the shelf or trained on a treebank."""
    named = {"language": language, "backend": backend, "model": "none", "treebank": treebank}
    return {**named, "seed": 1, "options": {}, "training": {}}


def corpus(language: str, reader: str, **changes: Any) -> Tree:
    """A corpus that a nursery grows, all of it for training."""
    entry = {"language": language, "reader": reader, "options": {}}
    slots = {"shelf": "none", "also_1": "none", "also_2": "none", "parser": "none"}
    return {**entry, **slots, "filters": {}, "split": {"kind": "all_train"}, **changes}


def dataset(encoding: str, of: str, **settings: Any) -> Tree:
    """A corpus in an encoding, with a vocabulary of its own."""
    sizes = {"units": 32, "length": 32, "max_tokens": 200} if encoding == "verse" else {}
    return {"encoding": encoding, "corpus": of, "vocab_from": "none", "pieces_from": "none", **sizes, **settings}


def model(arch: str, on: str, network: Tree | None = None, **changes: Any) -> Tree:
    """A model of one seed; its preset is `plain` unless `changes` names another."""
    entry = {"paper": arch, "title": "", "arch": arch, "dataset": on, "init": "none", "seeds": [1], "default_for": []}
    return {**entry, "preset": "plain", "network": network or {}, "training": {}, **changes}


def run(task: str, of: str, on: str, decoder: Tree | None = None, **changes: Any) -> Tree:
    """A run of one sample under no guidance."""
    paper = PAPERS[task]
    entry = {"paper": paper, "task": task, "preset": paper, "model": of, "dataset": on, "split": "test"}
    slots = dict.fromkeys(("guidance", "annotation", "lm", "lexicon"), "none")
    return {**entry, **slots, "decoder": decoder or {}, "scoring": {}, "samples": 1, "seed": 1, **changes}


def baseline(task: str, on: str, **changes: Any) -> Tree:
    """The rows without a trained model, over the test split of a dataset."""
    paper = PAPERS[task]
    entry = {"paper": paper, "task": task, "preset": paper, "dataset": on, "split": "test"}
    slots = {
        "train": "none",
        "parser": "none",
        "lm": "none",
        "lexicon": "none",
        "published": "none",
        "decoder": {},
        "scoring": {},
    }
    return {**entry, **slots, "samples": 1, "seed": 1, **changes}


def nursery() -> Tree:
    """A chain from corpus to report for each of three tasks."""
    tree = empty()
    tree["parsers"] = {"words": parser()}
    random = {"kind": "random", "seed": 1}
    group = {"kind": "group", "seed": 1, "sides": False}
    small = {"options": {"count": 60, "seed": 1}}
    tree["corpora"] = {
        "tiny": corpus(
            "zh", "verse_zh", **small, split={**random, "dev": 8, "test": 10},
            filters={"min_units": 2, "deduplicate": True, "max_bad_fraction": 0.5},
        ),
        "said": corpus(
            "en", "paraphrase_en", **small, split={**group, "dev": 6, "test": 6},
            filters={"without_identical": True},
        ),
        "talk": corpus(
            "zh", "dialogue_zh", **small, split={**group, "dev": 6, "test": 8},
            filters={"without_identical": True},
        ),
    }  # fmt: skip
    tree["datasets"] = {
        "linearize": {
            "said": dataset("pairs", "said", pieces=200, depth=8),
            "tiny": dataset("verse", "tiny", min_count=1),
        },
        "canonicalize": {"talk": dataset("dialogue", "talk", words=250, coverage=1.0, min_words=1, max_words=24)},
    }
    tree["presets"] = copy.deepcopy(PRESETS)
    templates = [
        {"reads": ["source_tree"], "layers": 1, "cross_heads": 1},
        {"reads": ["template"], "layers": 1, "cross_heads": 1},
    ]
    parses = [
        {"reads": ["source"], "layers": 1},
        {"reads": ["target_tree"], "layers": 1, "cross_heads": 2, "attention": "path"},
    ]
    tree["models"] = {
        "songnet": model(
            "songnet", "tiny", title="SongNet", preset="songnet", default_for=["generate.zh", "polish.zh"]
        ),
        "songnet_no_s": model("songnet", "tiny", {"symbols": ["c", "p"]}, title="Without S", preset="ablation"),
        "expander": model(
            "guig", "said", {"writes": "tree", "encoders": templates}, title="Expander", preset="guig",
            default_for=["expand.en"],
        ),
        "writer": model(
            "guig", "said", {"encoders": parses}, title="Writer", preset="guig", default_for=["paraphrase.en"]
        ),
        "grower": model("x2tree", "talk", title="Grower", preset="x2tree", default_for=["reply.zh"]),
    }  # fmt: skip
    tree["runs"] = {
        "songnet_free": run("verse", "songnet", "tiny"),
        "songnet_no_s": run("verse", "songnet_no_s", "tiny", {"mode": "frame", "marks": True}, samples=2),
        "expanded": run("paraphrase", "expander", "said", {"constraint": "template"}),
        "written": run("paraphrase", "writer", "said", {"guide": "run"}, guidance="guig/expanded", annotation="reread"),
        "grown": run("dialogue", "grower", "talk", samples=2),
    }
    tree["baselines"] = {
        "tiny": baseline("verse", "tiny"),
        "said": baseline("paraphrase", "said", parser="words"),
    }
    tree["annotations"] = {
        "again": {"paper": "songnet", "run": "songnet_free", "parser": "words"},
        # No parser of English is trained here: its trees are none, and count as unparsed.
        "reread": {"paper": "guig", "run": "written", "parser": "words"},
    }
    tree["protocols"] = {"songnet": judged(), "songnet_sets": judged_in_sets()}
    tree["reports"] = ["songnet", "guig"]
    return tree


def judged() -> Tree:
    """A protocol of the runs of SongNet, with the criteria of its paper."""
    levels = {"question": "How much?", "lowest": 0, "levels": ["not", "partly", "fully"]}
    return {
        "paper": "songnet",
        "title": "Ci",
        "design": "scale",
        "criteria": {
            "relevance": levels,
            "fluency": levels,
            "style": {**levels, "stand_ins": ["format_micro_f1", "integrity_texts"]},
        },
        "runs": ["songnet_free", "songnet_no_s"],
        "given": {"tune": "tune"},
        "inputs": 5,
        "raters": 3,
        "checks": 4,
        "note": "Judge each.",
        "claims": [{"better": "songnet_free", "worse": "songnet_no_s", "criteria": ["fluency"]}],
    }


def judged_in_sets() -> dict[str, Any]:
    """A best-worst protocol of the same runs and their references."""
    changed = {"design": "best_worst", "criteria": {"best": {"question": "How good is it?"}}, "reference": True}
    return judged() | changed | {"claims": []}


def small() -> Tree:
    """Profile `small` up to a dataset, from the published source `madeup`; what follows is the code of the nursery."""
    tree = empty("small")
    tree["sources"]["published"] = {"madeup": {"shelf": "ci"}}
    tree["corpora"] = {
        "ci": corpus(
            "zh", "songci", shelf="ci", options={"plain_commas": True},
            filters={"min_units": 2, "deduplicate": True, "max_bad_fraction": 0.9},
            split={"kind": "random", "seed": 1, "dev": 1, "test": 1},
        )
    }  # fmt: skip
    tree["datasets"]["linearize"] = {"ci": dataset("verse", "ci", min_count=1, units=8, length=16, max_tokens=60)}
    return tree


def write(folder: Path, tree: Tree) -> Path:
    """The tree as params.yaml in a folder."""
    path = folder / "params.yaml"
    separate = json.loads(json.dumps(tree))  # without this YAML would have an alias for what two entries share
    path.write_text(yaml.safe_dump(separate, allow_unicode=True, sort_keys=False), encoding="utf-8")
    return path
