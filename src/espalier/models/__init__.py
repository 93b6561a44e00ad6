"""The model architectures, one module each, and the contract that decoders rely on."""
