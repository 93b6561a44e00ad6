"""How many prefixes of a search fit into free memory."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import torch
from torch import Tensor

from espalier.io.errors import ConfigError

_FLOAT: Final = 4
#: The copies of a prefix's log-probabilities: the model's, masked, padded, and gathered.
_SCORES: Final = 4
#: The numbers in a Transformer's state for each layer, place and unit of width: keys and values of the source, 2, and
#: of the text, whose buffers have at most 2 x beam slots for each step, 4, and 2 more while they grow. The rest is for
#: steps: in beam search each prefix has a mask over the slots of all, of beam x length numbers.
_STATE: Final = 12
#: For each group of children that may be chosen next: scores, words, whether it ends, and what `Opened` holds of it.
_GROUP: Final = 128


def chain_bytes(model: object, length: int) -> int:
    """Bytes that one prefix of a chain takes: 4 x (4 x vocabulary + 12 x layers x width x length).

    The second term is an upper bound, unless the beam is several times as wide as the layers together.

    Args:
        model: a size that its settings lack counts as 0.
        length: length of the longest prefix, in ids.
    """
    config, vocabulary = getattr(model, "config", None), getattr(model, "vocabulary", None)

    def setting(name: str, default: int) -> int:
        return int(getattr(config, name, default))

    width = max(setting("width", 0), setting("heads", 0) * setting("head_width", 0))
    state = setting("layers", 1) * width * min(length, setting("positions", length))
    return _FLOAT * (_SCORES * int(getattr(vocabulary, "text_size", 0)) + _STATE * state)


def tree_bytes(arity: int, local: int, max_words: int) -> int:
    """Bytes that one tree takes: 128 for each of the `local` groups of its at most words x arity leaves."""
    return _GROUP * local * max_words * arity


def row_parts(rows: int, device: torch.device, *, beam: int, each: int) -> Sequence[Tensor]:
    """Split the row indices of a batch into parts that fit into memory.

    Args:
        each: bytes of a prefix.

    Raises:
        ConfigError: the beam of a single row is too large for the memory.
    """
    every, free = torch.arange(rows, device=device), free_bytes(device)
    if free is None or not each:
        return [every]
    if beam * each > free:
        one, most = beam == 1, free // each
        taker = "a sequence takes" if one else f"{beam:,} beams take"
        raise ConfigError(
            f"{taker} about {_gigabytes(beam * each)} of memory, where {_gigabytes(free)} are free",
            where="decoding" if one else "beam",
            remedy=f"at most {most:,}" if most else "the model is too large for it",
        )
    return every.split(free // (beam * each))


def free_bytes(device: torch.device) -> int | None:
    """Free memory on a device in bytes; None if it is unknown."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return int(free)
    try:
        available = re.search(r"^MemAvailable: *(\d+) kB$", Path("/proc/meminfo").read_text("ascii"), re.MULTILINE)
    except (OSError, UnicodeDecodeError):
        return None
    return 1024 * int(available[1]) if device.type == "cpu" and available else None


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:,.1f} GB"
