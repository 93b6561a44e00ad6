"""The whole nursery as jobs of Slurm, in a clone of this project with an empty cache.

Prints the stages whose entry in dvc.lock is not the committed one, and fails if there are any. On another processor
than the one of the committed lock, trainings have other weights: compare with the lock of `make repro` there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
LOCAL = {"cluster": {"system": "slurm", "host": "127.0.0.1", "stages": {"train": {"memory": "2 GiB"}}}}


def stages(folder: Path) -> dict[str, object]:
    """The entries of a dvc.lock."""
    entries: dict[str, object] = yaml.safe_load((folder / "dvc.lock").read_text(encoding="utf-8"))["stages"]
    return entries


def main() -> int:
    with tempfile.TemporaryDirectory() as place:
        clone = Path(place) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        (clone / "local.yaml").write_text(yaml.safe_dump(LOCAL))
        environment = {**os.environ, "PYTHONPATH": str(clone / "src"), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "pipeline", "repro", "--cluster", "--jobs", "4"]
        status = subprocess.run(command, cwd=clone, env=environment).returncode
        if status:
            return status
        before, after = stages(ROOT), stages(clone)
    different = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    print(f"stages whose entry in dvc.lock differs from the committed one: {', '.join(different) or 'none'}")
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
