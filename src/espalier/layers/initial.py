"""Initial weights: normal with mean 0 and standard deviation 0.02, as in GPT2 (Radford et al. 2019), or Xavier's rule
(Glorot and Bengio 2010).
"""

from typing import Final

import torch
from torch import nn

from espalier.layers.options import Initial

#: The standard deviation of embeddings, and of "normal" matrices.
STD: Final = 0.02


def initialise(module: nn.Module, initial: Initial = "normal") -> None:
    """Set an embedding to N(0, `STD`) with a padding row of 0, and a matrix by `initial` with a bias of 0.

    Other modules are left unchanged.
    """
    if isinstance(module, nn.Embedding):
        nn.init.normal_(module.weight, std=STD)
        if module.padding_idx is not None:
            with torch.no_grad():
                module.weight[module.padding_idx].zero_()
    elif isinstance(module, nn.Linear):
        if initial == "normal":
            nn.init.normal_(module.weight, std=STD)
        else:
            nn.init.xavier_normal_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
