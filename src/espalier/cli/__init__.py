"""The command line: the commands that write texts. A clone of the project adds its stages to them."""
