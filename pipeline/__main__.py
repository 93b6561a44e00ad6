"""`python pipeline STAGE KEY`, the command in dvc.yaml, with the code of this file's tree."""

import sys
from pathlib import Path

root = Path(__file__).resolve().parents[1]
# The folder itself must not be searched: its modules would hide others of the same name.
sys.path[:] = [
    str(root),
    str(root / "src"),
    *(entry for entry in sys.path if Path(entry).resolve() != root / "pipeline"),
]

if __name__ == "__main__":
    try:
        from espalier.cli.app import main
    except KeyboardInterrupt:  # before the command line can say so
        sys.exit("espalier: interrupted")

    main()
