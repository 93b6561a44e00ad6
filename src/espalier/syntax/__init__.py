"""Grammar: constituency and dependency trees, their encodings for models, and parsers."""
