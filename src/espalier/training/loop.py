"""The training loop, under Accelerate: seeded, resumable bit for bit, for every model of the contract."""

import math
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from torch import Tensor, nn

from espalier.datasets.batch import Batch, IntArray, batch_plan, length_batches
from espalier.datasets.part import Part, computing
from espalier.io.errors import ConfigError, DataError, EspalierError
from espalier.training.ahead import AHEAD, made_ahead
from espalier.training.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from espalier.training.compiled import Losses, compiled, is_recurrent
from espalier.training.config import TrainingConfig
from espalier.training.optimization import Optimizer, precision_of, rate_at
from espalier.training.ranks import joined, own_part, require_gradients, require_rows, require_same

#: What a process computes of a batch, its places in the batch, and the weight of its loss.
Own: TypeAlias = tuple[Batch, Part | None, int]


class Examples(Protocol):
    """Training or development examples: their lengths, and a function that collates a batch."""

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """(examples,) number of tokens of each example."""

    def collate(self, indices: npt.NDArray[np.int64], rng: np.random.Generator | None) -> Batch:
        """The batch of the given examples as the model reads it. `rng` is None in evaluation."""


@dataclass
class Progress:
    """The progress of a training, saved with each checkpoint.

    Attributes:
        step: the optimizer steps so far.
        index: the next batch of `epoch`.
        processes: the steps that were made by each number of processes.
        compiled: the steps that a compiled graph made.
        stale: number of evaluations since the best one.
        history: losses of each evaluation; equal seeds give equal losses.
        best_loss: the best dev loss; before the first evaluation the largest float, since JSON has no infinity.
    """

    step: int = 0
    epoch: int = 0
    index: int = 0
    tokens: int = 0
    best_step: int = 0
    best_loss: float = sys.float_info.max
    stale: int = 0
    seconds: float = 0.0
    history: list[dict[str, float | int]] = field(default_factory=list)
    processes: dict[str, int] = field(default_factory=dict)
    compiled: int = 0

    @property
    def tokens_per_second(self) -> float:
        """Training tokens per second, without padding, over all calls of `train`."""
        return self.tokens / self.seconds if self.seconds else 0.0

    def over(self, config: TrainingConfig) -> bool:
        """Whether all steps are done, or the dev loss has not improved for `patience` evaluations."""
        return self.step >= config.steps or bool(config.patience and self.stale >= config.patience)


def train(
    model: nn.Module,
    training: Examples,
    dev: Examples,
    config: TrainingConfig,
    *,
    width: int,
    seed: int,
    scratch: Path,
    watch: Callable[[Progress], None] = lambda progress: None,
    checkpoint_seconds: float = 60.0,
    cpu: bool = False,
    compiles: bool = False,
) -> Progress:
    """Train `model` in place, and load the weights with the best dev loss.

    A killed training, called again with the same arguments, continues from its last checkpoint and gives the same
    weights as one that was not killed, bit for bit on a CPU. The processes of a launch (`training.ranks`) share each
    batch. Their number may change between checkpoints. It changes the weights by rounding only, with the two exceptions
    in docs/gpu.md.

    Args:
        width: width of the model, for Noam's schedule.
        scratch: the folder of checkpoints, used by this training only.
        watch: called after every step, by the first process of a launch.
        checkpoint_seconds: the time between checkpoints; it does not change the result.
        cpu: train on the CPU even if there is a GPU.
        compiles: whether steps are compiled (`training.compiled`), unless the model is recurrent. It changes the
            weights: by rounding, and by other masks of dropout.

    Raises:
        DataError: there are no training or no dev examples.
        ConfigError: the processes of this launch cannot share the training, or compile it.
        ArtifactError: they see different checkpoints.
        EspalierError: the loss is not finite.
    """
    for name, examples in (("train", training), ("dev", dev)):
        if not len(examples.lengths):
            raise DataError("no examples", file=f"{name} split", remedy="check the corpus's filters and split")
    accelerator = _accelerator(config, cpu)
    ranks, first, on_gpu = accelerator.num_processes, accelerator.is_main_process, accelerator.device.type == "cuda"
    torch.manual_seed(seed)
    optimizer = Optimizer(model.to(accelerator.device), config)
    progress, best, running = _resume(model, optimizer, scratch, accelerator.device)
    if ranks > 1:
        require_same(progress.step, scratch)
    # One process needs no wrapper, whose import takes 1.5 s.
    wrapped = nn.parallel.DistributedDataParallel(model) if ranks > 1 else model
    losses = _compiled(model, ranks) if compiles and not is_recurrent(model) else None
    before, started = progress.seconds, time.monotonic()
    saved = started
    while not progress.over(config):
        plan = batch_plan(training.lengths, budget=config.batch_tokens, seed=seed, epoch=progress.epoch)
        require_rows(plan, ranks)
        make = partial(_own_batch, accelerator, training, plan, [seed, progress.epoch])
        for index, own in made_ahead(make, range(progress.index, len(plan)), AHEAD if on_gpu else 0):
            rate = rate_at(progress.step + 1, config, width)
            running += _step(accelerator, wrapped, optimizer, own, config, rate, losses)
            progress.compiled += losses is not None
            progress.step, progress.index = progress.step + 1, index + 1
            progress.tokens += int(training.lengths[plan[index]].sum())
            progress.processes[str(ranks)] = progress.processes.get(str(ranks), 0) + 1
            if progress.step % config.evaluate_every == 0 or progress.step == config.steps:
                best = _evaluate(accelerator, model, dev, config, progress, running, best)
            progress.seconds = before + time.monotonic() - started
            if first:
                watch(progress)
            if progress.over(config):
                break
            if time.monotonic() - saved > checkpoint_seconds and first:
                _save(model, optimizer, scratch, progress, best, running)
                saved = time.monotonic()
        else:
            progress.epoch, progress.index = progress.epoch + 1, 0
    if first:
        _save(model, optimizer, scratch, progress, best, running)  # called again, it is over at once
    model.load_state_dict(best)
    return progress


def mean_loss(model: nn.Module, examples: Examples, budget: int, accelerator: Accelerator | None = None) -> float:
    """Mean loss per target in nats over all examples, without smoothing or dropout, whatever the batching.

    Args:
        accelerator: the processes that share the batches; None means this process alone.
    """
    device = next(model.parameters()).device
    total = torch.zeros(2, dtype=torch.float64, device=device)
    rank, ranks = (accelerator.process_index, accelerator.num_processes) if accelerator else (0, 1)
    training = model.training
    model.eval()
    with torch.inference_mode():
        for indices in length_batches(examples.lengths, budget=budget)[rank::ranks]:
            loss = model(examples.collate(indices, None).to(device))
            total += torch.stack([loss.total, loss.targets]).double()
    model.train(training)
    losses, targets = (accelerator.reduce(total, "sum") if accelerator else total).tolist()
    return losses / targets


def _accelerator(config: TrainingConfig, cpu: bool) -> Accelerator:
    AcceleratorState._reset_state()  # a second training in one process may have another precision
    device = torch.device("cpu" if cpu or not torch.cuda.is_available() else "cuda")
    joined(cpu=device.type == "cpu")
    if device.type == "cuda":
        tf32 = config.precision == "tf32"
        torch.set_float32_matmul_precision("high" if tf32 else "highest")
        torch.backends.cudnn.allow_tf32 = tf32
    return Accelerator(mixed_precision=precision_of(config, device), cpu=device.type == "cpu")


def _compiled(model: nn.Module, ranks: int) -> Losses:
    if ranks > 1:
        what, remedy = f"{ranks} processes, whose steps are not compiled", "unset it, or train with one process"
        raise ConfigError(what, where="ESPALIER_COMPILE", remedy=remedy)
    return compiled(model)


def _own_batch(accelerator: Accelerator, training: Examples, plan: list[IntArray], seed: list[int], index: int) -> Own:
    """What this process computes of a batch of the plan, on the host."""
    whole = training.collate(plan[index], np.random.default_rng([*seed, index]))
    own, part, weight = own_part(whole, accelerator.process_index, accelerator.num_processes)
    return (own.pinned() if accelerator.device.type == "cuda" else own), part, weight


def _step(
    accelerator: Accelerator,
    model: nn.Module,
    optimizer: Optimizer,
    own: Own,
    config: TrainingConfig,
    rate: float,
    losses: Losses | None = None,
) -> Tensor:
    """One update, with the compiled losses if there are any.

    Returns:
        (2,): the loss of the whole batch, and its number of targets.
    """
    for group in optimizer.param_groups:
        group["lr"] = rate
    model.train()
    (batch, part, weight), ranks = own, accelerator.num_processes
    with accelerator.autocast(), computing(part):
        loss = (losses or model)(batch.to(accelerator.device), config.smoothing)
    sums = torch.stack([loss.total.detach().double(), loss.targets.double()])
    total, targets = loss.total, loss.targets
    if ranks > 1:
        sums = accelerator.reduce(weight * sums, "sum")
        # Gradients are averaged over processes; this divisor gives the mean over the targets of the whole batch.
        total, targets = weight * total, sums[1].to(total.dtype) / ranks
    accelerator.backward(total / targets)
    if ranks > 1:
        require_gradients(model)
    if config.clip:
        # Accelerate's own clips sharded gradients too, and imports torch.distributed.tensor for them.
        nn.utils.clip_grad_norm_(model.parameters(), config.clip)
    optimizer.step()
    optimizer.zero_grad()
    return sums


def _evaluate(
    accelerator: Accelerator,
    model: nn.Module,
    dev: Examples,
    config: TrainingConfig,
    progress: Progress,
    running: Tensor,
    best: dict[str, Tensor],
) -> dict[str, Tensor]:
    """Append both losses to the history; return the best weights so far."""
    with accelerator.autocast():
        dev_loss = mean_loss(model, dev, config.batch_tokens * 2, accelerator)
    train_loss = float(running[0] / running[1])
    running.zero_()
    if not (math.isfinite(dev_loss) and math.isfinite(train_loss)):
        raise EspalierError(
            f"the loss is no longer a number at step {progress.step}: {train_loss} in training, {dev_loss} on dev",
            remedy="lower the rate, or clip",
        )
    progress.history.append(
        {
            "step": progress.step,
            "tokens": progress.tokens,
            "train_loss": round(train_loss, 6),
            "dev_loss": round(dev_loss, 6),
        }
    )
    if dev_loss < progress.best_loss:
        progress.best_loss, progress.best_step, progress.stale = dev_loss, progress.step, 0
        return {name: value.detach().clone() for name, value in model.state_dict().items()}
    progress.stale += 1
    return best


def _save(
    model: nn.Module, optimizer: Optimizer, scratch: Path, progress: Progress, best: dict[str, Tensor], running: Tensor
) -> None:
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    tensors |= {f"best.{name}": value for name, value in best.items()}
    tensors |= {f"optimizer.{name}": value for name, value in optimizer.tensors().items()}
    tensors |= {"running": running, "random.cpu": torch.get_rng_state()}
    if running.is_cuda:
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    save_checkpoint(scratch, Checkpoint(tensors, asdict(progress)))


def _resume(
    model: nn.Module, optimizer: Optimizer, scratch: Path, device: torch.device
) -> tuple[Progress, dict[str, Tensor], Tensor]:
    """The progress, the best weights (empty before the first evaluation) and the running loss of the last checkpoint.

    Without a checkpoint they are initial values.
    """
    checkpoint = load_checkpoint(scratch)
    if checkpoint is None:
        return Progress(), {}, torch.zeros(2, dtype=torch.float64, device=device)

    def part(prefix: str) -> dict[str, Tensor]:
        return {name.removeprefix(prefix): v for name, v in checkpoint.tensors.items() if name.startswith(prefix)}

    model.load_state_dict(part("model."))
    optimizer.restore(part("optimizer."))
    torch.set_rng_state(checkpoint.tensors["random.cpu"])
    if "random.cuda" in checkpoint.tensors and device.type == "cuda":
        torch.cuda.set_rng_state(checkpoint.tensors["random.cuda"])
    best = {name: value.to(device) for name, value in part("best.").items()}
    return Progress(**checkpoint.state), best, checkpoint.tensors["running"].to(device)
