"""A page on this machine with the services of the command line, and the command `demo` that serves it."""
