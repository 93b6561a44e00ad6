"""The command line, the stages of the pipeline and its commands: all that knows paths, DVC and progress bars."""
