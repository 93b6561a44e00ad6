"""The command line, the stages of the pipeline and its commands: all code that uses paths, DVC and progress bars."""
