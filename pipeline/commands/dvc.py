"""The command `dvc`: DVC's own command line, where each file of parameters is parsed once.

DVC parses params.yaml for each stage, and walks over all of it for each key: nearly all of the 161 processor seconds of
`dvc status` in a project of 750 stages. It has no plug-ins that could do less, so its command line is called here.
"""

from __future__ import annotations

from collections.abc import Sequence

from dvc.cli import main

from pipeline.graph.dvc_files import locked_atomically, parsed_once, written_by_entry


def dvc(arguments: Sequence[str]) -> None:
    """Call DVC in the present folder; what it prints and its exit status are those of `dvc`.

    Raises:
        SystemExit: DVC failed.
    """
    with parsed_once(), written_by_entry(), locked_atomically():
        status = main(list(arguments))
    if status:
        raise SystemExit(status)
