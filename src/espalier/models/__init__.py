"""The assemblies: one file a system, and the contract that decoders know them by."""
