"""Decoders over the model contract, and the constraints that they obey: none knows a model by name."""
