"""Golden values of pairs with trees: how they are linearized, what models make of them, what is written and scored."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from espalier.corpora.records import Pair
from espalier.datasets.pairs.data import ROWS, PairData, PairView
from espalier.datasets.pairs.encode import PairEncoding, PairSettings
from espalier.datasets.pairs.tree_symbols import TreeSymbols
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.vocabulary import EOS
from espalier.metrics.expansion import Expansion, Template
from espalier.metrics.family import family_scores, statistics_of
from espalier.metrics.metric import details_json
from espalier.metrics.paraphrase import paraphrase_statistics
from espalier.metrics.ted import Ted, Trees
from espalier.metrics.texts import Pairs
from espalier.models.cdnpg import CDNPG
from espalier.models.cdnpg_config import CDNPGConfig, DNPGConfig, PairSeq2SeqConfig
from espalier.models.contract import ChainModel
from espalier.models.dnpg import DNPG, aligned_levels
from espalier.models.guig import GuiG
from espalier.models.guig_config import GuiGConfig, SCPNConfig
from espalier.models.pair_seq2seq import PairSeq2Seq
from espalier.models.scpn import SCPN
from espalier.syntax.constituency import read_tree
from espalier.tasks.data import Ready
from espalier.tasks.paraphrase_decoder import PairDecoder
from espalier.tasks.paraphrase_search import tree_text
from espalier.tasks.registry import TASKS

ROWS_OF_TEXT = [
    ("The lamp does not glow .", "(S (NP (DT The) (NN lamp)) (VP (VBZ does) (RB not) (VP (VB glow))) (. .))",
     "No lamp glows .", "(S (NP (DT No) (NN lamp)) (VP (VBZ glows)) (. .))"),
    ("She sings low", "(S (NP (PRP She)) (VP (VBZ sings) (ADVP (RB low))))",
     "Low she sings", "(SINV (ADVP (RB Low)) (NP (PRP she)) (VP (VBZ sings)))"),
    ("Sing !", "(S (VP (VB Sing)) (. !))", "Sing low , <pad> !", "(S (VP (VB Sing) (ADVP (RB low))) (. !))"),
    ("moss", "(NP (NN moss))", "the moss", ""),
    ("moss", "(NP (NN moss))", "the QP", "(QP (CD one))"),
]  # fmt: skip
TREES = [text for row in ROWS_OF_TEXT[:3] for text in (row[1], row[3])]


def pairs() -> list[Pair]:
    return [
        Pair(id=f"pair/{n}", origin="made", language="en", source=one, source_tree=tree, target=other, target_tree=last)
        for n, (one, tree, other, last) in enumerate(ROWS_OF_TEXT)
    ]


def rows_of(data: PairData) -> Any:
    return [data.ids, {name: [ragged.flat.tolist(), ragged.offsets.tolist()] for name, ragged in data.columns.items()}]


def paraphrase(folder: Path) -> Any:
    rows, encoding = pairs(), PairEncoding()
    voc = encoding.build_vocabulary(rows[:3], PairSettings(pieces=60, depth=4), "en")
    voc.save(folder / "vocabulary.json")
    voc = PairVocabulary.load(folder / "vocabulary.json")
    found: list[Any] = [voc.trees.as_json(), voc.text_size, voc.decode_text([*range(voc.text_size)])]
    limits: list[dict[str, Any]] = [{}, {"min_length": 3, "max_length": 9}, {"min_length": 4}]
    for bounds in limits:
        settings = PairSettings.model_validate({"min_length": 1, "max_length": 510, **bounds})
        part = encoding.encode(encoding.training_records(rows, settings), voc, settings)
        quarantined = [[row.id, row.reason, row.text] for row in part.quarantined]
        found.append([rows_of(part.split), quarantined, list(part.places)])
    plain = encoding.encode(rows[:3], voc, PairSettings(min_length=1, max_length=510)).split
    guided = plain.with_trees([TREES[1], TREES[0], TREES[1]], TREES[2:5])
    guided.save(folder / "made.parquet")
    again = PairData.load(folder / "made.parquet", voc)
    views = [
        PairView(ROWS),
        PairView(ROWS, "tree", "brackets", 2),
        PairView(("template",), "tree", "levels", 1, boundary_ids=True),
    ]  # fmt: skip
    for data in (guided, again):
        batches = [data.batch(np.array([2, 0, 1]), view, grain=4) for view in views]
        found += [{field.name: getattr(batch, field.name).tolist() for field in fields(batch)} for batch in batches]
        found.append([data.sizes(views[0]).tolist(), [data.longest(view) for view in views]])
    texts = ["low <pad> <eos>", "moss , glows ! xyz", ""]
    return [*found, voc.encode_texts(texts), [voc.decode_text(ids) for ids in voc.encode_texts(texts)]]


# --- Models -----------------------------------------------------------------------------------------------------------


def data() -> PairData:
    """Ids that no tokenizer made."""
    symbols = TreeSymbols.build([read_tree(tree) for tree in TREES], 4)
    voc = PairVocabulary.build(["the lamp glows low , she sings !"], symbols, "en", pieces=24, lower=True)
    texts = [[(5 * n + 3 * k) % (voc.text_size - 4) + 4 for k in range(2 + 3 * n % 7)] for n in range(6)]
    nodes = [symbols.encode(read_tree(tree)) for tree in TREES]
    columns = {"source": texts[:3], "target": texts[3:], "source_tree": nodes[::2], "target_tree": nodes[1::2]}
    return PairData.of(list("abc"), columns, voc)


def wave(*shape: int, phase: float = 0.0) -> Tensor:
    """Values between -1 and 1 that repeat nowhere nearby."""
    return torch.from_numpy(np.sin(np.arange(int(np.prod(shape))) * 1.7 + phase)).float().reshape(shape)


def values_of(model: Any, examples: PairData) -> list[Any]:
    """What a model makes of three pairs when its weights are waves: losses, gradients, two steps; and its weights."""
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters()):
            parameter.copy_(0.5 * wave(*parameter.shape, phase=number))
    batch = examples.batch(np.arange(3), model.eval().config.view)
    losses, smoothed = model.token_losses(batch), model(batch, 0.1)
    smoothed.total.backward()
    slopes = sum(float(parameter.grad.abs().sum()) for parameter in model.parameters() if parameter.grad is not None)
    with torch.no_grad():
        _, state = model.step(batch.inputs[:, 0], model.start(batch))
        state = state.select(torch.tensor([0, 0, 2, 2]))
        logs, _ = model.step(batch.target[[0, 0, 2, 2], 0], state)
    shapes = {name: list(tensor.shape) for name, tensor in model.state_dict().items()}
    return [losses.sum(1).tolist(), smoothed.total.item(), slopes, logs[1, ::5].tolist(), shapes]


def guig(_: Path) -> Any:
    small: dict[str, Any] = {"layers": 2, "heads": 2, "width": 8, "inner": 10, "head_width": 3, "positions": 40}
    text, tree = (
        {"reads": ["source"], "layers": 1, "heads": 3},
        {"reads": ["target_tree"], "layers": 1, "cross_heads": 1},
    )
    template = {"reads": ["template"], "layers": 1}
    variants: list[dict[str, Any]] = [
        {"encoders": [text, tree | {"attention": "path"}]},
        {"encoders": [text, tree | {"attention": "path"}], "norm": "released", "residual": "inside",
         "boundary_ids": True, "sharpness": 4.0},
        {"encoders": [tree | {"attention": "path"}], "norm": "pre", "divide": "coverage", "passes": 1},
        {"encoders": [tree | {"reads": ["target_tree", "source"]}]},
        {"encoders": [tree | {"reads": ["source_tree"]}, template], "writes": "tree", "alpha": 0.3, "template": 2},
        {"encoders": [text, tree], "copying": True},
    ]  # fmt: skip
    examples = data()
    found = [values_of(GuiG(GuiGConfig(**small, **changes), examples.vocabulary), examples) for changes in variants]
    return [found, GuiGConfig().model_dump()]


def scpn(_: Path) -> Any:
    small: dict[str, Any] = {"width": 6, "word": 5, "label": 4, "tree_hidden": 3}
    variants: list[dict[str, Any]] = [
        {}, {"attention": "after", "layers": 1}, {"writes": "tree"},
        {"writes": "tree", "mixture": "released", "template": 2}, {"copying": False},
    ]  # fmt: skip
    examples = data()
    found = [values_of(SCPN(SCPNConfig(**small, **changes), examples.vocabulary), examples) for changes in variants]
    return [found, SCPNConfig().model_dump()]


def cdnpg(_: Path) -> Any:
    small: dict[str, Any] = {"encoder_layers": 2, "layers": 2, "width": 6, "heads": 2, "inner": 5, "positions": 40}
    variants: list[dict[str, Any]] = [
        {}, {"granularity": "resonance"}, {"granularity": "scope", "epsilon": 1.0}, {"granularity": "average"},
        {"granularity": "none"}, {"granularity": "none", "copying": True},
        {"renormalise": True, "first_layer": 1, "scope_length": "padded", "cross_resonance": True},
    ]  # fmt: skip
    examples = data()
    found = [values_of(CDNPG(CDNPGConfig(**small, **changes), examples.vocabulary), examples) for changes in variants]
    return [found, CDNPGConfig().model_dump()]


def pair_seq2seq(_: Path) -> Any:
    small: dict[str, Any] = {"width": 6, "word": 6, "encoder_layers": 2, "layers": 3}
    pointer = {"residual": 0, "layers": 1, "bidirectional": True, "attention": True, "copying": True}
    variants: list[dict[str, Any]] = [{}, {"cell": "gru", "residual": 1, "attention": True}, pointer,
                                      {**pointer, "coverage": 1.0}]  # fmt: skip
    examples = data()
    configs = [PairSeq2SeqConfig(**small | changes) for changes in variants]
    return [[values_of(PairSeq2Seq(config, examples.vocabulary), examples) for config in configs],
            PairSeq2SeqConfig().model_dump()]  # fmt: skip


def dnpg(_: Path) -> Any:
    small: dict[str, Any] = {"width": 6, "heads": 2, "inner": 7, "encoder_layers": 1, "layers": 2, "positions": 40}
    examples = data()
    configs = [DNPGConfig(**small | changes) for changes in ({}, {"window": 1, "encoder_layers": 2})]
    found = [values_of(DNPG(config, examples.vocabulary), examples) for config in configs]
    levels = aligned_levels(torch.tensor([[7, 8, 9]]), torch.tensor([[9, 6, 3]]))
    return [found, levels.source.tolist(), levels.target.tolist(), DNPGConfig().model_dump()]


# --- Decoding ---------------------------------------------------------------------------------------------------------


@dataclass
class WaveState:
    rows: Tensor
    time: int

    def select(self, index: Tensor) -> WaveState:
        return WaveState(self.rows[index], self.time)


@dataclass
class WaveModel:
    """Log-probabilities from the row, the last id and the time alone."""

    size: int
    vocabulary: PairVocabulary
    view: PairView

    @property
    def config(self) -> SimpleNamespace:
        return SimpleNamespace(view=self.view)

    def start(self, batch: Any) -> WaveState:
        return WaveState(torch.arange(len(batch)), 0)

    def step(self, tokens: Tensor, state: WaveState) -> tuple[Tensor, WaveState]:
        place = torch.arange(self.size)[None] * 2.3 + (tokens * 1.9 + state.rows * 0.7 + state.time * 1.1)[:, None]
        scores = 1.5 * torch.sin(place.double()).float()
        scores[:, EOS] += 0.5 * state.time
        return scores.log_softmax(1), WaveState(state.rows, state.time + 1)


def decoding(_: Path) -> Any:
    examples = data()
    voc, symbols = examples.vocabulary, examples.vocabulary.trees
    found = []
    for writes, form, size in (
        ("text", "levels", voc.text_size),
        ("tree", "levels", symbols.size),
        ("tree", "brackets", symbols.bracketed_size),
    ):
        view = PairView(("template",), writes, form, 2)  # type: ignore[arg-type]
        batch, model = examples.batch(np.arange(3), view), cast(ChainModel, WaveModel(size, voc, view))
        settings: list[dict[str, Any]] = [{"max_ids": 7}, {"max_ids": 7, "min_ids": 3, "length_power": 0.6}]
        if writes == "tree":
            settings += [{"max_ids": 45, "constraint": "tree"}, {"max_ids": 45, "constraint": "template"}]
        for changes in settings:
            decoder = PairDecoder.model_validate({"beam": 3, **changes})
            rows = TASKS["paraphrase"].generate(model, batch, decoder, [])
            found.append(
                [[[each.tokens, each.score, tree_text(each.tokens, view, voc)] for each in row] for row in rows]
            )
    defaults = PairDecoder().model_dump(exclude={"granularity"})  # it adds a column, and is off
    return [found, defaults | {"steps": defaults.pop("max_ids")}]  # under the name of the recorded digest


# --- Scores -----------------------------------------------------------------------------------------------------------


def metrics(_: Path) -> Any:
    sources, references = ([row[side].lower() for row in ROWS_OF_TEXT[:3]] for side in (0, 2))
    trees, tops = [row[3] for row in ROWS_OF_TEXT[:3]], ["(S (NP) (VP) (.))", "(SINV (ADVP) (NP) (VP))", "(S (VP) (.))"]
    written = ["no lamp does not glow .", "she she sings", ""]
    parsed = [ROWS_OF_TEXT[0][1], "(S (NP (PRP she)) (NP (PRP she)) (VP (VBZ sings)))", ""]
    expanded = [trees[0], "(SINV (ADVP (RB)) (NP) (VP (VBZ)))", ""]
    found = []
    for templates, likelihood in ((None, None), (tops, ([9.5, 4.25, 7.0], [6, 4, 6]))):
        words = None if templates is None else {"no", "lamp", "does", "glow", "sings"}
        texts = paraphrase_statistics(
            Pairs(sources, references, written, likelihood=likelihood, training_words=words),
            Trees(trees, parsed, templates=templates, guides=templates),
        )
        nodes = statistics_of((Ted(), Template(), Expansion(4)), Trees(trees, expanded, templates=templates))
        found += [
            details_json(family_scores(texts, seed=1, groups=["a", "b", "b"], resamples=20)),
            details_json(family_scores(nodes, seed=1, resamples=20)),
        ]
    # Signatures name the versions of what is compared with, which are not ours.
    return [{key: each[key] for key in ("scores", "intervals", "undefined")} for each in found]


def baselines(_: Path) -> Any:
    train = data()
    records = pairs()[: len(train)]
    columns = ("source", "target", "source_tree", "target_tree")
    table = pd.DataFrame([{name: getattr(record, name) for name in columns} for record in records])
    table = table.rename(columns={"target": "reference", "target_tree": "reference_tree"}).assign(
        sample=0, id=train.ids
    )
    rows = TASKS["paraphrase"].baselines(table, Ready(records, train), train, 1)
    return {name: [row.columns["text"], row.trees, row.trivial, list(row.given)] for name, row in rows.items()}


COMPONENTS = {
    "baselines.paraphrase": baselines,
    "encodings.pairs": paraphrase,
    "models.dnpg": dnpg,
    "models.guig": guig,
    "models.pair_seq2seq": pair_seq2seq,
    "models.scpn": scpn,
    "models.cdnpg": cdnpg,
    "decoding.paraphrase": decoding,
    "metrics.paraphrase": metrics,
}
