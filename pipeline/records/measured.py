"""Measurements of parsing, training and decoding: seconds, memory, hardware.

Measurements differ between machines and runs. They are therefore kept in `metrics/measured/`, which DVC does not track,
so that a clean clone reproduces the same artifacts and details. Reports, plans and estimates read them.
"""

import platform
import resource
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from espalier.io.files import write_json
from pipeline import layout
from pipeline.records.machine import cores, device


def peak_memory() -> int:
    """The largest resident memory so far, in bytes, of this process or of an ended child process."""
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return peak if sys.platform == "darwin" else 1024 * peak


@dataclass
class Clock:
    """A clock that starts when it is created."""

    started: float = field(default_factory=time.monotonic)
    memory_before: int = field(default_factory=peak_memory)

    def write(self, stage: str, key: str, facts: Mapping[str, Any]) -> None:
        """Write the facts with the seconds since the start, the memory and the hardware."""
        import torch

        gpu = device().type == "cuda"
        value = {
            "seconds": round(time.monotonic() - self.started, 2),
            "hardware": hardware(),
            "threads": torch.get_num_threads(),
            "memory_before": self.memory_before,
            "peak_memory": peak_memory(),
            "peak_gpu_memory": torch.cuda.max_memory_allocated() if gpu else None,
            "torch": str(torch.__version__),
            **facts,
        }
        write_json(layout.measured(stage, key), value)


def hardware() -> str:
    """The name of the computing device; for a CPU, also the number of cores that this process may use."""
    import torch

    return torch.cuda.get_device_name() if device().type == "cuda" else _processor()


def _processor() -> str:
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
        name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), name)
    return f"{name}, {cores()} cores"
