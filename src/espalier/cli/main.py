"""The console script `espalier`: the command line, or one line where the extra that it needs is not installed."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ModuleNotFoundError as error:
        sys.exit(f"espalier: the package {error.name} is not installed; install espalier[cli]")
    from espalier.cli.app import main as run

    run()
