"""The values that settings choose between, by layer. This module imports no torch, so that settings do not either."""

from __future__ import annotations

from typing import Literal

#: Where a residual connection has its layer norm: `layers.residual.Residual`.
Norm = Literal["post", "pre", "released"]
#: Of a feed-forward layer: GELU, or its approximation by tanh.
Activation = Literal["gelu", "gelu_tanh"]
#: Whether probabilities or, as released, their logarithms are mixed: `layers.copy.mix`.
Mixture = Literal["distribution", "released"]
