"""Load benepar 0.2 with current versions of torch and transformers, which have dropped functions that it calls.

1. `Retokenizer` calls `tokenizer.build_inputs_with_special_tokens`, which transformers 5 has dropped. The method is
   added while a model is loaded, and returns the same special tokens.
2. `torch.load` refuses pickled objects by default since 2.6. Both of benepar's formats contain only tensors and plain
   values, so this check stays on: files with other objects are refused, never unpickled.
3. Weights saved with older versions of transformers name buffers that models no longer have, or name a tied weight
   once.
4. The `__init__` imports the spaCy component, which is slow and not needed here. The modules are imported with an empty
   package instead; later imports get the full package.
"""

from __future__ import annotations

import json
import pickle
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn
from transformers import PreTrainedTokenizerFast

from espalier.io.errors import ArtifactError
from espalier.io.imports import nltk_module

__all__ = [
    "ChartParser",
    "HParams",
    "RetokenizerForCharLSTM",
    "guess_language",
    "guess_space_after",
    "locate_model",
    "ptb_unescape",
]


@contextmanager
def _without_beginning() -> Iterator[None]:
    """In this context, `benepar` is an empty package with its modules."""
    if "benepar" in sys.modules or (spec := find_spec("benepar")) is None:
        yield
        return
    nltk_module()  # which its modules import
    sys.modules["benepar"] = bare = module_from_spec(spec)  # not executed
    try:
        yield
    finally:
        if sys.modules.get("benepar") is bare:  # or another thread has had it away
            del sys.modules["benepar"]


with _without_beginning():
    from benepar.char_lstm import RetokenizerForCharLSTM
    from benepar.integrations.downloader import locate_model
    from benepar.integrations.nltk_plugin import guess_language
    from benepar.nkutil import HParams
    from benepar.parse_chart import ChartParser
    from benepar.ptb_unescape import guess_space_after, ptb_unescape


#: The weights of benepar's released format, a folder.
WEIGHTS: Final = "benepar_model.bin"
#: Stored by older transformers, of no effect: position numbers, and a bias that T5's cross-attention never read.
_STALE: Final = re.compile(
    r"^pretrained_model\.(.*position_ids|decoder\.block\.0\.layer\.1\.EncDecAttention\.relative_attention_bias\.weight)$"
)
#: Copies of an embedding that is stored once.
_TIED: Final = re.compile(r"^pretrained_model\.(encoder|decoder)\.embed_tokens\.weight$")


def load_chart_parser(path: Path) -> Any:
    """Load the `ChartParser` from one of benepar's two formats.

    Args:
        path: a file saved by training ({"config", "state_dict"}), or a released folder (configuration and tokenizer of
            a pretrained encoder, and `benepar_model.bin`).

    Raises:
        ArtifactError: the path has neither format, is damaged, or contains objects other than tensors and plain values.
    """
    try:
        if path.is_dir():
            config = dict(json.loads((path / "config.json").read_text(encoding="utf-8"))["benepar"])
            state = _tensors(path / WEIGHTS)
            config["pretrained_model_path"] = str(path)
        else:
            value = _tensors(path)
            config, state = dict(value["config"]), value["state_dict"]
        config["hparams"] = HParams(**{"force_root_constituent": True, **config["hparams"]})
        with removed_tokenizer_methods():
            model = ChartParser(**config)
        _fill(model, state)
    except pickle.UnpicklingError as error:
        raise ArtifactError(
            "holds more than tensors and plain values",
            where=path,
            remedy="it is not unpickled, which could run code; save it again with plain values",
        ) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, EOFError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ArtifactError(
            f"is not a model of benepar's ({reason})", where=path, remedy="expected its file or its folder"
        ) from error
    return model.eval()


@contextmanager
def removed_tokenizer_methods() -> Iterator[None]:
    """In this context, tokenizers have the method by which benepar finds special tokens."""
    name = "build_inputs_with_special_tokens"
    if hasattr(PreTrainedTokenizerFast, name):
        yield
        return
    setattr(PreTrainedTokenizerFast, name, _with_special_tokens)
    try:
        yield
    finally:
        delattr(PreTrainedTokenizerFast, name)


def _with_special_tokens(tokenizer: Any, ids: Sequence[int], pair: Sequence[int] | None = None) -> list[int]:
    """`ids` between the special tokens of this tokenizer."""
    probe = tokenizer("a", return_special_tokens_mask=True)
    special = probe["special_tokens_mask"]
    first, after = special.index(0), len(special) - special[::-1].index(0)
    return [*probe["input_ids"][:first], *ids, *probe["input_ids"][after:]]


def _tensors(path: Path) -> dict[str, Any]:
    return torch.load(path, map_location="cpu", weights_only=True)


def _fill(model: nn.Module, state: Mapping[str, Tensor]) -> None:
    keys = model.load_state_dict(
        {name: tensor for name, tensor in state.items() if not _STALE.match(name)}, strict=False
    )
    shared = "pretrained_model.shared.weight" in state
    missing = [name for name in keys.missing_keys if not (shared and _TIED.match(name))]
    if missing or keys.unexpected_keys:
        raise ValueError(f"weights missing or too many: {', '.join([*missing, *keys.unexpected_keys][:3])}")
