"""Options of layers, for settings. This module does not import torch, so settings load without it."""

from typing import Literal

#: Where a residual connection has its layer norm: `layers.residual.Residual`.
Norm = Literal["post", "pre", "released"]
#: The activation of a feed-forward layer: GELU, or its approximation by tanh.
Activation = Literal["gelu", "gelu_tanh"]
#: What label smoothing spreads, and over which words: `layers.readout.readout_loss`.
Smoothing = Literal["uniform", "released"]
#: Whether probabilities or, as released, their logarithms are mixed: `layers.copy.mix`.
Mixture = Literal["distribution", "released"]
#: How the granularity of tokens changes attention weights: `layers.granularity.Granularity`.
GranularityMask = Literal["resonance", "scope", "product", "average"]
#: Initial matrices. "normal": mean 0 and standard deviation 0.02, as in GPT2. "xavier": Glorot and Bengio (2010); its
#: deviation grows as a model narrows.
Initial = Literal["normal", "xavier"]
#: A recurrent layer: Hochreiter and Schmidhuber (1997), or Cho et al. (2014).
Cell = Literal["lstm", "gru"]
