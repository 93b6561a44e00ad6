"""The licences of the packages in constraints.txt, and the exceptions of exceptions.yaml.

python .ci/dependencies.py               print the licence of each package; fail if one is the GPL or unknown
python .ci/dependencies.py advisories    print pip-audit's options for the accepted advisories
"""

import re
import sys
from collections.abc import Iterator
from email.message import Message
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

import yaml

ROOT: Final = Path(__file__).resolve().parents[1]
#: What is accepted, with its reason: packages below "licences", advisories below "advisories".
EXCEPTIONS: Final[dict[str, dict[str, str]]] = yaml.safe_load(
    (ROOT / ".ci/exceptions.yaml").read_text(encoding="utf-8")
)
#: GPL and AGPL, by their short and their long names. The LGPL is neither.
STRICT: Final = re.compile(r"\bA?GPL|GNU (Affero )?General Public License", re.IGNORECASE)


def locked() -> Iterator[tuple[str, str, Message | None]]:
    """Name and version of each package in constraints.txt, and its metadata if it is installed."""
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").split():
        name, _, version = line.partition("==")
        try:
            yield name, version, distribution(name).metadata  # type: ignore[misc]
        except PackageNotFoundError:
            yield name, version, None


def licences(metadata: Message) -> list[str]:
    """The licences that a package states; of long texts the first line."""
    stated = metadata.get("License-Expression") or (metadata.get("License") or "").strip().partition("\n")[0]
    kinds = [kind.rpartition(" :: ")[2] for kind in metadata.get_all("Classifier", []) if kind.startswith("License")]
    return list(filter(None, [stated, *kinds]))


def is_strict(metadata: Message) -> bool:
    """Whether a package states the GPL or AGPL and offers no other licence instead."""
    stated = licences(metadata)
    choices = re.split(r" OR |\|", stated[0]) if stated else []
    if len(choices) > 1 and not all(map(STRICT.search, choices)):
        return False
    return any(map(STRICT.search, stated))


def main() -> None:
    """Print the list that the argument asks for."""
    if sys.argv[1:] == ["advisories"]:
        print(*(f"--ignore-vuln {name}" for name in EXCEPTIONS["advisories"]))
        return
    refused = []
    for name, version, metadata in locked():
        stated = [] if metadata is None else licences(metadata)
        print(name, version, "not installed here" if metadata is None else ", ".join(stated) or "unknown", sep="\t")
        if metadata is not None and (is_strict(metadata) or not stated) and name not in EXCEPTIONS["licences"]:
            refused.append(name)
    if refused:
        sys.exit(f"licences: GPL or unknown: {', '.join(refused)}; replace them, or say in .ci/exceptions.yaml why not")


if __name__ == "__main__":
    main()
