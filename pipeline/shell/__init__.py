"""The command line of a clone: stages, profiles, and commands on the project."""
