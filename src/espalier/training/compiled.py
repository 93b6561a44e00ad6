"""A model's loss as one compiled graph for batches of any shape, of which a device starts few kernels."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias, cast

import torch
from torch import nn

from espalier.datasets.batch import Batch
from espalier.datasets.part import present_part
from espalier.io.errors import EspalierError
from espalier.layers.linear import present_packs
from espalier.models.contract import Loss

if TYPE_CHECKING:
    from torch.utils._config_module import ConfigModule

#: The summed loss of a batch with label smoothing, as `forward` of a model gives it.
Losses: TypeAlias = Callable[[Batch, float], Loss]

#: The most graphs of one loss. A dimension of 1, and the number of slices of the output layer, need their own.
GRAPHS = 64


def is_recurrent(model: nn.Module) -> bool:
    """Whether a model has LSTMs or GRUs, which a compiler would unroll anew for each length of a row."""
    return any(isinstance(module, (nn.RNNBase, nn.RNNCellBase)) for module in model.modules())


def compiled(model: nn.Module, backend: str | Callable[..., object] = "inductor") -> Losses:
    """The losses of `model`, whose forward and backward pass are one graph.

    The model itself stays as it is, so that its tensors keep their names. The first batch takes some minutes. Losses
    and gradients differ by rounding, and masks of dropout are others, which depend on torch's seed as well.

    Args:
        model: without recurrent layers; one process trains it.
        backend: what compiles the graph, as in `torch.compile`.

    Returns:
        A function that raises EspalierError if the loss cannot be one graph, or if the compiler fails.
    """
    for constant in (present_part, present_packs):  # None in a training by one process
        torch._dynamo.assume_constant_result(constant)
    warnings.filterwarnings("ignore", "`torch.jit", DeprecationWarning)  # of modules that the compiler imports
    modules = (torch._dynamo.config, torch.fx.experimental._config, torch._functorch.config)
    dynamo, shapes, functions = (cast("ConfigModule", module) for module in modules)

    @torch.compile(fullgraph=True, dynamic=True, backend=backend)
    def loss(batch: Batch, smoothing: float) -> Loss:
        result: Loss = model(batch, smoothing)
        return result

    def losses(batch: Batch, smoothing: float) -> Loss:
        for row in batch.PADDED:
            batch.places(row)
        with (
            dynamo.patch({"specialize_float": True, "recompile_limit": GRAPHS}),  # rates of dropout are constants
            shapes.patch({"use_duck_shape": False}),  # sizes that are equal in one batch may differ in the next
            functions.patch({"force_non_lazy_backward_lowering": True}),  # both passes at once, with the errors of both
        ):
            try:
                return loss(batch, smoothing)
            except (torch._dynamo.exc.TorchDynamoException, torch._dynamo.exc.FailOnRecompileLimitHit) as error:
                said, remedy = str(error).strip().partition("\n")[0], "unset it to train without a compiler"
                raise EspalierError(f"torch.compile fails: {said}", where="ESPALIER_COMPILE", remedy=remedy) from error

    return losses
