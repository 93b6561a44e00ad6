"""The command line for writing texts. A clone of the project adds its stages to it."""
