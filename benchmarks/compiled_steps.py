"""What a device must start for one training step of GuiG's generator: as it is, and compiled (ESPALIER_COMPILE=1).

    python benchmarks/compiled_steps.py [--record]

The layers are those of the paper; counts do not depend on widths, words or rows, which are small here. The paths for a
GPU are counted, on a CPU: operations that compute something (no views, no empty tensors), and calls of kernels in the
code that the compiler writes. Attention has no dropout, with which a GPU computes it in one kernel and a CPU does not.
Clipping and the optimizer, a few kernels for all tensors, are not counted.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import torch
from measuring import Record
from torch._inductor.utils import run_and_get_code
from torch.utils._python_dispatch import TorchDispatchMode

from espalier.datasets.registry import ENCODINGS
from espalier.layers import attention, dropout, readout
from espalier.models.registry import ARCHITECTURES
from espalier.nursery import paraphrase_en
from espalier.report.benchmarks import BenchmarkTable, Column
from espalier.training.compiled import compiled

ENCODERS = [
    {"reads": ["source"], "layers": 4, "heads": 6, "cross_heads": 4},
    {"reads": ["target_tree"], "layers": 3, "heads": 6, "cross_heads": 2, "attention": "path"},
]
NETWORK: dict[str, Any] = {"width": 48, "head_width": 8, "heads": 6, "inner": 64, "positions": 128, "layers": 6,
                           "dropout": 0.1, "encoders": ENCODERS}  # fmt: skip
#: What allocates, or names the same numbers anew.
IDLE = {"empty", "new_empty", "empty_like", "_unsafe_view", "_reshape_alias", "detach"}
#: A call in the code that the compiler writes.
KERNEL = re.compile(r"^    +(?:\w+ = )?(?:cpp_fused\w*|extern_kernels\.\w+|torch\.ops\.\w+\.\w+\S*)\(", re.MULTILINE)


class Operations(TorchDispatchMode):
    """Counts the operations that compute something."""

    count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += not (func.is_view or func.overloadpacket.__name__ in IDLE)
        return func(*args, **(kwargs or {}))


def main() -> None:
    torch.set_num_threads(1)
    for module in (attention, dropout, readout):
        module.on_host = lambda x: False  # type: ignore[attr-defined]
    encoding, records = ENCODINGS["pairs"], paraphrase_en.grow(40, 1)
    settings = encoding.settings(pieces=300, depth=8, min_length=1)
    vocabulary = encoding.build_vocabulary(records, settings, "en")
    rows = encoding.encode(records, vocabulary, settings).split
    known = ARCHITECTURES["guig"]
    torch.manual_seed(1)
    config: Any = known.config(**NETWORK)
    model = known.build(config, vocabulary).train()
    batch = rows.batch(np.arange(16), config.view, np.random.default_rng(1), grain=rows.GRAIN)
    batch.places()
    with Operations() as forward:
        loss = model(batch, 0.1)
    with Operations() as backward:
        loss.total.backward()
    torch._inductor.config.fx_graph_cache = False  # what is kept comes without its code
    loss, codes = run_and_get_code(compiled(model), batch, 0.1)
    loss.total.backward()
    kernels = [len(KERNEL.findall(code)) for code in codes]
    assert len(kernels) == 2, "one graph forward, and one backward"
    layers = " + ".join(str(encoder["layers"]) for encoder in ENCODERS)
    title = f"GuiG's generator, encoders of {layers} layers, a decoder of {NETWORK['layers']}; 1 threads"
    columns = tuple(Column(heading=name, digits=0) for name in ("forward", "backward", "both"))
    found = {"operations": [forward.count, backward.count], "compiled: kernels": kernels}
    with Record(__file__) as record:
        rows = {name: (*counts, sum(counts)) for name, counts in found.items()}
        record.add(BenchmarkTable(title=title, columns=columns, rows=rows))


if __name__ == "__main__":
    main()
