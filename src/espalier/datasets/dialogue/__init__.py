"""Posts and responses, with canonical trees of the responses (X2Tree)."""
