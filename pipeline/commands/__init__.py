"""The commands on the project, apart from stages."""
