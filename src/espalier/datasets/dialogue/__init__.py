"""Posts and responses, with canonical trees of responses (X2Tree)."""
