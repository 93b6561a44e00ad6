"""The console script `espalier`: runs the command line, or names in one line the extra that must be installed."""

import sys
from importlib import import_module
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line."""
    try:
        for name in ("rich", "typer"):
            import_module(name)
    except ModuleNotFoundError as error:
        sys.exit(f"espalier: the package {error.name} is not installed; install espalier[cli]")
    from espalier.cli.app import main as run

    run()
