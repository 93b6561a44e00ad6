"""A real process, really killed.

Run as a program this file trains the toy of toy_training.py, in children that it kills with SIGKILL; it imports torch
once.
"""

from __future__ import annotations

import importlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

KILLS = 6


def test_killed_at_any_moment_it_ends_with_the_same_weights(straight: tuple[Any, str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, __file__, str(tmp_path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    *steps, sha256 = done.stdout.split()
    assert len(steps) == KILLS and sorted(map(int, steps)) == list(map(int, steps))  # each attempt came further
    assert sha256 == straight[1]


def _newest(scratch: Path) -> int:
    return max((int(path.stem.removeprefix("step-")) for path in scratch.glob("step-*.json")), default=0)


def _main(folder: Path) -> None:
    sys.path.insert(0, str(Path(__file__).parent))
    # Before the first fork, and once: the last is what an optimizer imports when it is made.
    from toy_training import Toy

    for module in ("espalier.training.loop", "torch._dynamo"):
        importlib.import_module(module)

    scratch, result = folder / "scratch", folder / "sha256"

    def child(slow: bool) -> int:
        pid = os.fork()
        if pid == 0:
            import torch

            torch.set_num_threads(1)
            sha256 = Toy().train(
                scratch, checkpoint_seconds=0, watch=(lambda progress: time.sleep(0.005)) if slow else lambda _: None
            )[1]
            result.write_text(sha256, encoding="utf-8")
            os._exit(0)
        return pid

    lots = random.Random(os.urandom(8))
    for kill in range(KILLS):
        pid, wanted = child(slow=True), 5 * kill + 1
        while _newest(scratch) < wanted:
            time.sleep(0.001)
            assert not result.exists()
        time.sleep(lots.random() * 0.03)  # while it computes, writes, renames or clears away
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        print(_newest(scratch))
    assert os.waitpid(child(slow=False), 0)[1] == 0
    print(result.read_text(encoding="utf-8"))


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
