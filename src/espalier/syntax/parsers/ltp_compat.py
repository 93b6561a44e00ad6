"""LTP 4.2 with current versions of torch, transformers and the hub, which have changed what its loading uses.

1. Its loader passes dropped arguments to `hf_hub_download` (`use_auth_token`, `proxies`) and prints to standard output.
   Models are therefore loaded from their folders.
2. Its pipeline calls `tokenizer.batch_encode_plus`, which transformers 5 has dropped: calling the tokenizer does the
   same. The method is added to the one tokenizer, not to a class.
3. `torch.load` refuses pickled objects by default since 2.6. LTP's weights contain only tensors, so this check stays
   on.
4. Weights saved with older versions of transformers contain buffers that models no longer have (`position_ids`). Extra
   weights are therefore allowed. Missing weights, which LTP's own loader would leave random, are refused.
5. A configuration names the classes that build the model. Only LTP's own classes are allowed.
"""

import pickle
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import torch
from ltp.nerual import LTP
from torch import Tensor, nn
from transformers import AutoTokenizer

from espalier.io.errors import ArtifactError
from espalier.io.files import read_json

CONFIG: Final = "config.json"
WEIGHTS: Final = "pytorch_model.bin"
#: The tasks of a model. Every neural model has labels for words (cws), its configuration's or LTP's own.
TASKS: Final = frozenset({"cws", "pos", "dep"})

_TARGET: Final = "_ltp_target_"
_PARTS: Final = re.compile(
    r"ltp_core\.models\.(ltp_model\.LTPModule|utils\.(transformer\.)?load_transformers"
    r"|processor\.(NOP|TokenOnly|WordsOnly|ClsOnly|WordsWithHead)"
    r"|components\.(token|graph|sent)\.(MLP|RelTransformer|Biaffine)?(Token|Sent)?Classifier)"
)


def read_config(folder: Path) -> dict[str, Any]:
    """The configuration of a model. It states at least whether the model is `nerual` (spelled so).

    Raises:
        ArtifactError: the configuration is not LTP's, or names code outside LTP.
    """
    config = read_json(folder / CONFIG)
    if not isinstance(config, dict) or not isinstance(config.get("nerual"), bool):
        raise _refused(folder, "its configuration has no 'nerual'")
    for target in _targets(config):
        if not isinstance(target, str) or not _PARTS.fullmatch(target):
            raise _refused(folder, f"its configuration names '{str(target)[:60]}', which is no part of LTP")
    return config


def weights_of(folder: Path, config: Mapping[str, Any]) -> list[Path]:
    """The files with the learned weights.

    Raises:
        ArtifactError: a file is missing, or lies outside the folder.
    """
    tasks = {"": WEIGHTS} if config["nerual"] else config.get("tasks")
    if not isinstance(tasks, dict) or not tasks:
        raise _refused(folder, "its configuration names no files")
    paths = [folder / str(name) for _, name in sorted(tasks.items())]
    for path in paths:
        if path.parent != folder or not path.is_file():
            raise _refused(folder, f"there is no {path.name} in it")
    return paths


def load_neural(folder: Path, config: Mapping[str, Any]) -> Any:
    """LTP's neural model, ready to parse, on the GPU if there is one.

    Raises:
        ArtifactError: the model is damaged, or its weights do not match its configuration.
    """
    try:
        model = LTP(config=config)
        state = torch.load(folder / WEIGHTS, map_location="cpu", weights_only=True)
        _fill(model.model, state)
        if headless := model.supported_tasks & TASKS - set(model.model.task_heads):
            raise ValueError(f"it has labels, but no head, for {', '.join(sorted(headless))}")
        tokenizer = AutoTokenizer.from_pretrained(
            folder, config=model.model.backbone.config, local_files_only=True, trust_remote_code=False
        )
        if not tokenizer.is_fast:
            raise ValueError("its tokenizer gives no places in the text")
    except pickle.UnpicklingError as error:
        raise _refused(folder, "its weights are damaged or more than tensors, and not unpickled") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, EOFError, ImportError) as error:
        raise _refused(folder, (str(error).strip() or type(error).__name__).splitlines()[0]) from error
    if not hasattr(tokenizer, "batch_encode_plus"):
        tokenizer.batch_encode_plus = tokenizer.__call__
    model.tokenizer = tokenizer
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    return model.eval()


def load_legacy(folder: Path, config: Mapping[str, Any]) -> Any:
    """LTP's perceptrons. Word segmentation is required.

    LTP's own reader ends the process if a file is truncated, which cannot be prevented here.

    Raises:
        ArtifactError: a file is not a perceptron, or segmentation is missing.
    """
    from ltp.legacy import LTP

    tasks = {task: str(folder / name) for task, name in config["tasks"].items() if task in ("cws", "pos")}
    if "cws" not in tasks:
        raise _refused(folder, "it does not segment words (no 'cws')")
    try:
        return LTP(**tasks)
    except (OSError, ValueError, RuntimeError) as error:
        raise _refused(folder, (str(error).strip() or type(error).__name__).splitlines()[0]) from error


def _fill(model: nn.Module, state: Mapping[str, Tensor]) -> None:
    keys = model.load_state_dict(dict(state), strict=False)
    if keys.missing_keys:
        raise ValueError(f"weights missing: {', '.join(keys.missing_keys[:3])}")


def _targets(value: object) -> Iterator[object]:
    """All objects that the configuration would call, at any depth."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            if _TARGET in item:
                yield item[_TARGET]
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item


def _refused(folder: Path, what: str) -> ArtifactError:
    return ArtifactError(f"is not a model of LTP's: {what}", where=folder, remedy="fetch it again")
