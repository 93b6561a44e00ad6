"""What GuiG's inputs may and may not change, and what its states remember."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from pydantic import ValidationError
from torch import Tensor, nn

from espalier.datasets.pairs.data import ROWS, PairBatch, PairData, PathBatch
from espalier.datasets.pairs.paths import tree_paths
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.vocabulary import BOS, EOS, PAD
from espalier.decoding.beam import beam_search
from espalier.models.guig import GuiG
from espalier.models.guig_config import EncoderConfig, GuiGConfig
from espalier.syntax.constituency import read_tree
from tests.models.chain_checks import check_shared_pasts

Build = Callable[..., GuiG]
PAIRS = [
    ("the moss grows on the wall", "(S (NP (DT) (NN)) (VP (VBZ) (PP (IN) (NP (DT) (NN)))))",
     "on the wall grows moss", "(SINV (PP (IN) (NP (DT) (NN))) (VP (VBZ)) (NP (NN)))"),
    ("moss grows", "(S (NP (NN)) (VP (VBZ)))", "the moss grows there", "(S (NP (DT) (NN)) (VP (VBZ)))"),
    ("grow", "(S (VP (VB)))", "grow on", "(S (VP (VB) (PP (IN))))"),
    ("there the wall grows", "(S (ADVP (RB)) (NP (DT) (NN)) (VP (VBZ)))", "there", "(ADVP (RB))"),
]  # fmt: skip
SMALL: dict[str, Any] = {
    "layers": 2, "heads": 2, "width": 8, "inner": 12, "head_width": 3, "dropout": 0.0, "attention_dropout": 0.0,
    "positions": 40,
}  # fmt: skip


def reads(*rows: str, **more: Any) -> dict[str, Any]:
    return {"reads": rows, "layers": 1, "heads": 2, "cross_heads": 2} | more


TEXT, PATHS = reads("source"), reads("target_tree", attention="path", cross_heads=1)
#: The rows of tables 1 and 2.
MODELS: dict[str, dict[str, Any]] = {
    "TG": {"encoders": [TEXT, PATHS]},
    "w/o syn": {"encoders": [TEXT]},
    "w/o txt": {"encoders": [PATHS]},
    "w/o PA": {"encoders": [TEXT, reads("target_tree")]},
    "Transformer": {"encoders": [reads("target_tree", "source")]},
    "TG with copying": {"encoders": [PATHS, TEXT], "copying": True},
    "SE": {"writes": "tree", "encoders": [reads("source_tree"), reads("template", cross_heads=1)]},
    "SE w/ PA": {"writes": "tree", "encoders": [reads("source_tree", attention="path"), reads("template")]},
    "SE w/o tmpl": {"writes": "tree", "encoders": [reads("source_tree")]},
}
RELEASED = {"norm": "released", "residual": "inside", "boundary_ids": True}
FORMS: list[dict[str, Any]] = [{}, {"norm": "pre"}, RELEASED, {"divide": "coverage", "boundary_ids": True}]
ALL = np.arange(4)

every_model = pytest.mark.parametrize("name", MODELS)
every_form = pytest.mark.parametrize("form", FORMS, ids=["post", "pre", "released", "coverage"])


@pytest.fixture(scope="module")
def data(linearized: Callable[..., PairData]) -> PairData:
    return linearized(PAIRS, depth=6, pieces=30)


@pytest.fixture
def build(data: PairData) -> Build:
    def built(name: str = "TG", **changes: Any) -> GuiG:
        torch.manual_seed(1)
        model = GuiG(GuiGConfig(**(SMALL | MODELS[name] | changes)), data.vocabulary).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.normal_(std=0.4)
        return model

    return built


def batch_of(model: GuiG, data: PairData, indices: np.ndarray = ALL, grain: int = 1) -> PairBatch:
    return data.batch(indices, model.config.view, grain=grain)


def changed(batch: PairBatch, vocabulary: PairVocabulary, **rows: Any) -> PairBatch:
    """The batch with other rows, and with the paths of its trees."""
    made = replace(batch, **rows)
    if not isinstance(made, PathBatch):
        return made
    levels = {name: np.maximum(vocabulary.trees.levels_of(getattr(made, name).numpy()), 0) for name in made.paths}
    return replace(made, paths={name: torch.from_numpy(tree_paths(level)) for name, level in levels.items()})


def losses(model: GuiG, batch: PairBatch) -> Tensor:
    with torch.no_grad():
        return model.token_losses(batch)


def stepped(model: GuiG, batch: PairBatch) -> Tensor:
    """(batch, time, size) log-probabilities, one step after the other."""
    state, found = model.start(batch), []
    for tokens in batch.inputs.unbind(1):
        scores, state = model.step(tokens, state)
        found.append(scores)
    return torch.stack(found, 1)


# --- sums -------------------------------------------------------------------------------------------------------------


@every_model
def test_the_batching_does_not_change_the_sum(build: Build, data: PairData, name: str) -> None:
    model = build(name, alpha=1.0, beta=1.0)  # then loss is what token_losses gives
    whole = model(batch_of(model, data))
    assert whole.total.item() == pytest.approx(losses(model, batch_of(model, data)).sum().item(), rel=1e-5)
    for parts in ([[0], [1], [2], [3]], [[3, 0], [2, 1]], [[1, 2, 3], [0]]):
        found = [model(batch_of(model, data, np.array(part))) for part in parts]
        assert sum(loss.targets for loss in found) == whole.targets
        assert sum(loss.total.item() for loss in found) == pytest.approx(whole.total.item(), rel=1e-5)


@every_form
@every_model
def test_neighbours_order_and_padding_change_no_row(
    build: Build, data: PairData, name: str, form: dict[str, Any]
) -> None:
    model = build(name, **form)
    alone = [losses(model, batch_of(model, data, np.array([place])))[0] for place in ALL]
    for order, grain in (([0, 1, 2, 3], 1), ([3, 1, 0], 5), ([2, 2], 16)):
        found = losses(model, batch_of(model, data, np.array(order), grain))
        for place, row in zip(order, found, strict=True):
            assert torch.allclose(row[: len(alone[place])], alone[place], atol=2e-5)
            assert not row[len(alone[place]) :].any()


def test_padding_between_rows_that_are_read_as_one_takes_no_place(build: Build, data: PairData) -> None:
    model = build("Transformer")
    batch = batch_of(model, data)
    for more in (1, 4):
        wider = replace(batch, target_tree=F.pad(batch.target_tree, (0, more)))
        assert torch.allclose(losses(model, wider), losses(model, batch), atol=2e-5)
    moved = replace(batch, target_tree=F.pad(batch.target_tree[:1], (0, 1), value=4)[:, 1:], source=batch.source[:1],
                    target=batch.target[:1], inputs=batch.inputs[:1])  # fmt: skip
    assert not torch.allclose(losses(model, moved), losses(model, batch)[:1], atol=1e-3)


@every_model
def test_every_parameter_learns(build: Build, data: PairData, name: str) -> None:
    for form in FORMS:
        model = build(name, **form)
        model(batch_of(model, data), 0.1).total.backward()
        assert not [
            n for n, p in model.named_parameters() if p.grad is None or not p.grad.any() or not p.grad.isfinite().all()
        ]


def test_smoothing_counts(build: Build, data: PairData) -> None:
    for name in ("TG", "SE"):
        model = build(name)
        batch = batch_of(model, data)
        assert model(batch, 0.1).total != model(batch).total


def test_dropout_acts_in_training_alone(build: Build, data: PairData) -> None:
    for changes in ({"dropout": 0.5}, {"attention_dropout": 0.5}, {"dropout": 0.5, **RELEASED}):
        model = build(**changes)
        batch = batch_of(model, data)
        assert model(batch).total == model(batch).total
        model.train()
        assert model(batch).total != model(batch).total


def test_half_precision_stays_near(build: Build, data: PairData) -> None:
    for name in ("TG", "SE w/ PA"):
        model = build(name)
        batch = batch_of(model, data)
        exact = model(batch, 0.1).total
        with torch.autocast("cpu", torch.bfloat16):
            rough = model(batch, 0.1).total
        rough.backward()
        assert rough.dtype == torch.float32 and torch.allclose(rough, exact, rtol=0.03)


def test_a_row_of_which_nothing_can_be_read_is_no_nan(build: Build, data: PairData) -> None:
    for name in MODELS:
        model = build(name)
        batch = batch_of(model, data)
        empty: dict[str, Any] = {row: getattr(batch, row).clone() for row in ROWS}
        for row in empty.values():
            row[1] = PAD
        for given in (empty, dict.fromkeys(ROWS, batch.inputs[:, :0])):
            loss = model(changed(batch, data.vocabulary, **given)).total
            loss.backward()
            assert loss.isfinite() and all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())
        assert torch.allclose(
            losses(model, changed(batch, data.vocabulary, **empty))[0], losses(model, batch)[0], atol=2e-5
        )


# --- who sees what ----------------------------------------------------------------------------------------------------


@every_model
def test_a_model_knows_what_its_encoders_read_and_nothing_else(build: Build, data: PairData, name: str) -> None:
    model = build(name)
    batch = data.batch(ALL, replace(model.config.view, reads=ROWS))
    before = losses(model, batch)
    for row in ROWS:
        other = changed(batch, data.vocabulary, **{row: getattr(batch, row).flip(0)})
        same = torch.allclose(losses(model, other), before, atol=1e-5)
        assert same is (row not in model.config.view.reads)


@every_model
def test_a_later_token_never_changes_an_earlier_prediction(build: Build, data: PairData, name: str) -> None:
    model = build(name)
    batch = batch_of(model, data, np.array([0]))
    inputs = batch.inputs.clone()
    inputs[0, 3] = EOS
    before, after = losses(model, batch)[0], losses(model, replace(batch, inputs=inputs))[0]
    assert torch.allclose(before[:3], after[:3], atol=1e-6)
    assert not torch.allclose(before[3:], after[3:], atol=1e-4)


@pytest.mark.parametrize(("passes", "reached"), [(1, False), (2, True)])
def test_a_leaf_reaches_its_sibling_at_the_second_pass(
    build: Build, data: PairData, passes: int, reached: bool
) -> None:
    model = build("w/o txt", passes=passes, norm="pre")
    symbols = data.vocabulary.trees
    trees = [read_tree(f"(S (NP (DT) (NN)) (VP ({tag})))", words=False) for tag in ("VB", "VBZ")]
    one, other = (torch.tensor([symbols.encode(tree)]) for tree in trees)
    space: Any = model.embeddings["tree"]

    def read(row: Tensor) -> Tensor:
        from espalier.layers.paths import paths_of

        found: Tensor = model.encoders[0](space(row), None, paths_of(torch.from_numpy(symbols.levels_of(row.numpy()))))
        return found[0]

    same = [torch.allclose(a, b, atol=1e-6) for a, b in zip(read(one), read(other), strict=True)]
    #      S      NP           DT           NN           VP     VB
    assert same == [False, not reached, not reached, not reached, False, False]


# --- steps ------------------------------------------------------------------------------------------------------------


@every_form
@every_model
def test_the_loss_is_the_sum_over_steps(build: Build, data: PairData, name: str, form: dict[str, Any]) -> None:
    model = build(name, **form)
    batch = batch_of(model, data)
    with torch.no_grad():
        scores = stepped(model, batch)
    found = -scores.gather(2, batch.target[..., None])[..., 0].masked_fill(~batch.real, 0)
    assert torch.allclose(found, losses(model, batch), atol=2e-5)


def test_the_next_piece_is_a_distribution_and_the_next_node_is_two(build: Build, data: PairData) -> None:
    text, tree = build("TG"), build("SE")
    with torch.no_grad():
        pieces, symbols = (stepped(model, batch_of(model, data))[0, 0] for model in (text, tree))
    assert pieces.exp().sum().item() == pytest.approx(1, abs=1e-5)
    trees = data.vocabulary.trees
    assert symbols.shape == (trees.size,) and symbols.exp().sum().item() < 1
    grid = symbols[4:].view(len(trees.labels), trees.depth)  # log p(label) + log p(level): a sum of rows and columns
    assert torch.allclose(grid - grid[:1], (grid - grid[:1])[:, :1].expand_as(grid), atol=1e-5)


def test_sharpness_is_for_decoding_alone(build: Build, data: PairData) -> None:
    for name in ("TG", "SE"):
        plain, sharp = build(name), build(name, sharpness=16.0)
        batch = batch_of(plain, data)
        assert torch.equal(losses(plain, batch), losses(sharp, batch))
        with torch.no_grad():
            one, other = stepped(plain, batch)[0, 0], stepped(sharp, batch)[0, 0]
        if name == "TG":
            assert torch.allclose((16 * one).log_softmax(-1), other, atol=1e-4)
        assert one.max() < other.max() or other.max() > -1e-3


# --- states -----------------------------------------------------------------------------------------------------------

#: Which rows are kept, again and again: beams begin, change places, lose a source, part unevenly, and turn round.
SELECTIONS: list[list[list[int]]] = [
    [[0, 0, 1, 1, 2, 2, 3, 3], [1, 0, 2, 2, 5, 4, 6, 7], [0, 1, 4, 5, 6, 6], [5, 4, 3, 2, 1, 0]],
    [[3, 1, 2], [0, 0, 0, 1, 2], [4, 0, 3], [2]],
    [[2, 2, 2], [0, 2, 1], [1], [0, 0]],
    [[0, 1, 0, 1], [3, 2, 1, 0], [1, 1, 2, 2], [0, 1, 2, 3]],
    [[0, 0, 0, 0, 2, 2, 2, 2], [4, 5, 0, 1], [0, 1, 2, 3], [3, 3, 0, 0]],
    [[0, 1, 2, 3], [], [], []],
]


@pytest.mark.parametrize("selections", SELECTIONS)
@pytest.mark.parametrize("name", ["TG", "Transformer", "SE"])
def test_selected_rows_go_on_as_if_they_had_been_alone(
    build: Build, data: PairData, name: str, selections: list[list[int]]
) -> None:
    model = build(name)
    batch = batch_of(model, data)
    owners, written = [0, 1, 2, 3], [[BOS] for _ in range(4)]
    state = model.start(batch)
    with torch.no_grad():
        for time, index in enumerate(selections):
            _, state = model.step(torch.tensor([row[-1] for row in written], dtype=torch.long), state)
            state = state.select(torch.tensor(index, dtype=torch.long))
            owners, written = [owners[each] for each in index], [written[each] for each in index]
            written = [[*row, 4 + (7 * time + place) % 12] for place, row in enumerate(written)]
        found, _ = model.step(torch.tensor([row[-1] for row in written], dtype=torch.long), state)
        assert len(found) == len(owners)
        for scores, owner, row in zip(found, owners, written, strict=True):
            alone = model.start(batch_of(model, data, np.array([owner])))
            for token in row:
                wanted, alone = model.step(torch.tensor([token]), alone)
            assert torch.allclose(scores, wanted[0], atol=2e-5)


def test_a_selection_is_a_copy(build: Build, data: PairData) -> None:
    model = build()
    with torch.no_grad():
        _, state = model.step(torch.full((4,), BOS), model.start(batch_of(model, data)))
        kept, gone = state.select(torch.arange(4)), state.select(torch.arange(4))
        for tokens in ([5, 6, 7, 8], [9, 4, 5, 6]):  # writes to its own caches
            _, gone = model.step(torch.tensor(tokens), gone)
        one, _ = model.step(torch.tensor([4, 4, 4, 4]), kept)
        other, _ = model.step(torch.tensor([4, 4, 4, 4]), state)
    assert torch.equal(one, other)


def test_hypotheses_share_their_source_s_memory_which_no_beam_copies(build: Build, data: PairData) -> None:
    model = build()

    def places(state: Any) -> list[int]:
        return [memory.key_values.keys.data_ptr() for layer in state.memories for memory in layer]

    with torch.no_grad():
        state = model.start(batch_of(model, data))
        first = places(state)
        state = state.select(torch.arange(4).repeat_interleave(3))
        for index in ([0, 0, 0, 3, 4, 5, 8, 7, 6, 9, 9, 11], [2, 1, 0, 5, 5, 5, 6, 7, 8, 10, 11, 9]):
            _, state = model.step(torch.full((12,), 5), state)
            state = state.select(torch.tensor(index))
            assert places(state) == first
        state = state.select(torch.tensor([0, 1, 2, 9, 10, 11]))  # two sources are done: theirs is let go
        assert all(len(memory.key_values.keys) == 2 for layer in state.memories for memory in layer)
        assert len(model.step(torch.full((6,), 5), state)[0]) == 6


@pytest.mark.parametrize("name", ["TG", "Transformer", "SE w/ PA"])
def test_prefixes_that_share_slots_score_as_if_they_did_not(build: Build, data: PairData, name: str) -> None:
    model = build(name)
    check_shared_pasts(model, batch_of(model, data))


@pytest.mark.parametrize("name", ["TG", "Transformer", "SE w/ PA"])
def test_a_beam_s_score_is_the_loss_of_what_it_wrote_whatever_its_neighbours(
    build: Build, data: PairData, name: str
) -> None:
    model = build(name)
    together = beam_search(model, batch_of(model, data), beam=3, max_ids=7, begin=BOS, end=EOS)
    for place, found in enumerate(together):
        batch = batch_of(model, data, np.array([place]))
        (alone,) = beam_search(model, batch, beam=3, max_ids=7, begin=BOS, end=EOS)
        assert [each.tokens for each in alone] == [each.tokens for each in found]
        for each in found:
            ended = [*each.tokens, EOS][:7]
            state, total, token = model.start(batch), 0.0, BOS
            for following in ended:
                with torch.no_grad():
                    scores, state = model.step(torch.tensor([token]), state)
                total, token = total + scores[0, following].item(), following
            assert each.log_probability == pytest.approx(total, abs=1e-3)


# --- limits -----------------------------------------------------------------------------------------------------------


def test_a_row_beyond_the_positions_is_refused(build: Build, data: PairData) -> None:
    model = build("w/o syn", positions=4)
    with pytest.raises(ValueError, match="for 4 positions"):
        model(batch_of(model, data))
    batch = batch_of(model, data, np.array([2]))
    state = model.start(replace(batch, source=batch.source[:, :2]))
    for _ in range(4):
        _, state = model.step(torch.tensor([5]), state)
    with pytest.raises(ValueError, match="longer than the 4 positions"):
        model.step(torch.tensor([5]), state)


@every_form
@every_model
def test_what_is_no_longer_than_the_positions_fits_with_its_ends_and_padding(
    build: Build, data: PairData, name: str, form: dict[str, Any]
) -> None:
    longest = data.longest(build(name, **form).config.view)
    model = build(name, **form, positions=longest)
    wanted = losses(build(name, **form), batch_of(model, data))
    found = losses(model, batch_of(model, data, grain=PairData.GRAIN))
    assert torch.allclose(found[:, : wanted.shape[1]], wanted, atol=2e-5)


ENCODER = {"reads": ["source"]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"encoders": []}, "encoders"),
        ({"encoders": [{"reads": []}]}, "reads"),
        ({"encoders": [{"reads": ["sauce"]}]}, "reads"),
        ({"encoders": [ENCODER | {"attention": "path"}]}, "path is for one tree, not for source"),
        ({"encoders": [{"reads": ["source", "template"], "attention": "path"}]}, "not for source and template"),
        ({"encoders": [{"reads": ["template", "source_tree"], "attention": "path"}]}, "template and source_tree"),
        ({"encoders": [ENCODER | {"cross_heads": 0}]}, "cross_heads"),
        ({"encoders": [ENCODER | {"heads": 0}]}, "heads"),
        ({"encoders": [ENCODER | {"colour": "red"}]}, "colour"),
        ({"writes": "tree"}, "cannot read target_tree"),
        ({"norm": "pre", "residual": "inside"}, "residual: inside"),
        ({"width": 9}, "width"),
        ({"dropout": 1.0}, "dropout"),
        ({"alpha": 0}, "alpha"),
        ({"beta": -0.5}, "beta"),
        ({"passes": 0}, "passes"),
        ({"positions": 3}, "positions"),
        ({"sharpness": 0}, "sharpness"),
        ({"norm": "none"}, "norm"),
        ({"cut": 1.5}, "cut"),
        ({"cut": 0.5, "encoders": [{"reads": ["source"]}]}, "cut is for models that read target_tree"),
        ({"divide": "nodes"}, "divide"),
        ({"copying": True, "encoders": [{"reads": ["source", "target_tree"]}]}, "an encoder that reads only source"),
        ({"copying": True, "writes": "tree", "encoders": [ENCODER]}, "copying is for models that write text"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_shape_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        GuiGConfig(**changes)


def test_the_defaults_are_the_text_generator_s() -> None:
    config = GuiGConfig()
    assert (config.layers, config.heads, config.width, config.inner, config.head_width) == (6, 6, 256, 1024, 64)
    text, tree = config.encoders
    assert (text.reads, text.layers, text.heads, text.cross_heads, text.attention) == (("source",), 4, 6, 4, "self")
    assert (tree.reads, tree.layers, tree.heads, tree.cross_heads, tree.attention) == (
        ("target_tree",),
        3,
        6,
        2,
        "path",
    )
    assert (config.alpha, config.beta, config.template, config.passes) == (0.5, 0.5, 3, 2)
    assert config.norm == "post" and not config.boundary_ids and config.sharpness == 1.0


def test_what_is_read_is_told_once_and_in_order() -> None:
    encoders = [EncoderConfig(reads=("template", "source")), EncoderConfig(reads=("source",))]
    view = GuiGConfig(encoders=tuple(encoders), template=2, boundary_ids=True).view
    assert view.reads == ("template", "source") and (view.writes, view.form) == ("text", "levels")
    assert view.template == 2 and view.boundary_ids


def test_spaces_are_there_where_they_are_needed(build: Build) -> None:
    kinds = {name: {*build(name).embeddings} for name in MODELS}
    assert kinds["TG"] == kinds["w/o txt"] == {"text", "tree"}
    assert kinds["w/o syn"] == {"text"} and kinds["SE"] == kinds["SE w/o tmpl"] == {"tree"}


def test_weights_start_by_xavier_s_rule_and_biases_at_zero(data: PairData) -> None:
    torch.manual_seed(1)
    model = GuiG(GuiGConfig(width=64, layers=1), data.vocabulary)
    into = next(module for name, module in model.named_modules() if name.endswith("feed_forward.into"))
    assert isinstance(into, nn.Linear) and into.weight.std().item() == pytest.approx((2 / (64 + 1024)) ** 0.5, rel=0.03)
    assert not any(p.any() for n, p in model.named_parameters() if n.endswith("bias"))


def test_positions_and_tables_are_no_weights(build: Build) -> None:
    model = build()
    assert not [name for name in model.state_dict() if "positions" in name or name.endswith("_of")]
    assert {*model.state_dict()} == {name for name, _ in model.named_parameters()}
