"""Where code may look at the values of a tensor."""

import torch
from torch import Tensor


def on_host(x: Tensor) -> bool:
    """Whether the values of `x` are at hand: on a CPU. Another device would have to be waited for; a graph has none."""
    return x.device.type == "cpu" and not torch.compiler.is_compiling()
