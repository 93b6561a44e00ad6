"""The console script `espalier`: runs the command line, or names in one line the extra that must be installed."""

import sys
from importlib import import_module
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line."""
    try:
        for name in ("rich", "typer"):
            import_module(name)
        from espalier.cli.app import main as run
    except ModuleNotFoundError as error:
        if error.name not in ("rich", "typer"):
            raise
        sys.exit(f"espalier: the package {error.name} is not installed; install espalier[cli]")
    except KeyboardInterrupt:  # before the command line can say so
        sys.exit("espalier: interrupted")
    run()
