"""A check of what a model's methods return, made on one batch before a training."""

import torch
from torch import nn

from espalier.datasets.batch import Batch
from espalier.io.errors import ConfigError
from espalier.models.contract import REMEDY, Loss, is_chain


def check_outputs(model: nn.Module, batch: Batch, architecture: str) -> None:
    """Verify on one batch that a model's methods return what the contract requires.

    Torch's generator is left unchanged.

    Raises:
        ConfigError: `forward` does not return a `Loss` of two scalars; or, for a chain model, `token_losses` does not
            have the shape of the targets, the state from `start` has no `select`, or `step` does not return the
            log-probabilities of each row.
    """
    training = model.training
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        found = _wrong_output(model.eval(), batch)
    model.train(training)
    if found:
        what, expected = found
        raise ConfigError(
            f"its model, {type(model).__name__}: {what}, where the contract says {expected}",
            where=f"architecture {architecture}",
            remedy=REMEDY,
        )


def _wrong_output(model: nn.Module, batch: Batch) -> tuple[str, str] | None:
    """A wrong return value of a model, and what was expected; None if all are right."""
    loss = model(batch)
    if not (isinstance(loss, Loss) and all(torch.is_tensor(part) and part.ndim == 0 for part in loss)):
        return f"forward returns {_shown(loss)}", "Loss(total, targets), two scalars"
    if not is_chain(model):
        return None
    losses = model.token_losses(batch)
    if not torch.is_tensor(losses) or losses.shape != batch.real.shape:
        return f"token_losses returns {_shown(losses)}", f"(batch, time) nats, here of shape {tuple(batch.real.shape)}"
    state = model.start(batch)
    if not hasattr(state, "select"):
        return f"start returns {_shown(state)} without select", "a state with select(index)"
    found = model.step(torch.ones(len(batch), dtype=torch.int64, device=losses.device), state)
    if not (isinstance(found, tuple) and len(found) == 2 and torch.is_tensor(found[0]) and found[0].ndim == 2):
        return f"step returns {_shown(found)}", "(log-probabilities, state), the first of shape (batch, vocabulary)"
    if len(found[0]) != len(batch):
        return f"step returns scores of {len(found[0])} rows", f"(batch, vocabulary), here of {len(batch)} rows"
    if not (found[0].double().exp().sum(1) < 1.01).all():  # less where ids have no meaning (GuiG's trees)
        return "step returns scores whose exponentials sum to more than 1", "log-probabilities"
    return None


def _shown(value: object) -> str:
    """The type of a value; for a tensor also its shape."""
    shape = getattr(value, "shape", None)
    return type(value).__name__ + (f" of shape {tuple(shape)}" if shape is not None else "")
