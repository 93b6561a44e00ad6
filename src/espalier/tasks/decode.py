"""Decoding: texts of a model for a split, likelihoods of the references, and a judge's values for both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import pandas as pd

from espalier.datasets.batch import Batch
from espalier.datasets.encoding import Split
from espalier.datasets.ragged import IntArray
from espalier.decoding.bounds import GPU_PREFIXES, PREFIXES
from espalier.io.errors import ConfigError
from espalier.io.hashing import seed_from
from espalier.layers.linear import constant_weights
from espalier.models.contract import Model
from espalier.tasks.data import Inputs, Ready, RunOptions
from espalier.tasks.likelihood import measured
from espalier.tasks.settings import Decoder
from espalier.tasks.task import DecodingTask, Judge

if TYPE_CHECKING:
    import torch

Record_ = TypeVar("Record_")
Data_ = TypeVar("Data_", bound=Split[Any, Any, Any])
Batch_ = TypeVar("Batch_", bound=Batch)
Model_ = TypeVar("Model_", bound=Model[Any, Any, Any])
Decoder_ = TypeVar("Decoder_", bound=Decoder[Any, Any])
Hypothesis_ = TypeVar("Hypothesis_")

#: Iterates over parts of rows, of which the text says what is done with them, such as with a progress bar.
Follow = Callable[[Sequence[IntArray], str], Iterable[IntArray]]


@dataclass(frozen=True)
class Decoding(Generic[Record_, Data_, Batch_, Model_, Decoder_, Hypothesis_]):
    """The decoding of one model.

    Attributes:
        model: a network or an n-gram model.
        options: settings of the run that all tasks share.
        follow: wraps the iteration over batches, for example with a progress bar.
    """

    task: DecodingTask[Record_, Data_, Batch_, Model_, Decoder_, Hypothesis_]
    model: Model_
    decoder: Decoder_
    options: RunOptions
    seed: int
    device: torch.device
    follow: Follow

    def outputs(self, ready: Ready[Record_, Data_]) -> pd.DataFrame:
        """The output rows of a split (`Outputs.table`).

        Raises:
            ConfigError: a row is longer than the model's positions, or a prompt has no answer.
        """
        return pd.concat(self.parts(ready), ignore_index=True)

    def parts(self, ready: Ready[Record_, Data_]) -> Iterator[pd.DataFrame]:
        """The rows of `outputs`, those of `RunOptions.at_once` records at a time. Errors are those of `outputs`."""
        return map(self._outputs_of, self._inputs(ready))

    def unwritten(self, ready: Ready[Record_, Data_]) -> pd.DataFrame:
        """The output rows of a split with empty texts and without likelihoods, for texts of any origin."""
        rows = (
            row
            for inputs in self._inputs(ready)
            for prompt in range(len(inputs.rows))
            for row in self._filled(inputs, prompt, [])
        )
        return table_of_rows(rows).sort_values(["id", "sample"], kind="stable", ignore_index=True)

    def likelihoods(self, ready: Ready[Record_, Data_] | None) -> pd.DataFrame | None:
        """The likelihood of each reference of a split; None if the split has no rows."""
        if ready is None or not len(ready.data):
            return None
        table = self._likelihoods(ready.data, np.arange(len(ready.data)))
        prompts = (rows[0] for part in self._inputs(ready) for rows in part.rows)
        clusters = {row["id"]: row["cluster"] for row in prompts}
        return table.assign(cluster=table["id"].map(clusters), seed=self.seed, sample=0)

    def _inputs(self, ready: Ready[Record_, Data_]) -> Iterable[Inputs[Data_, Hypothesis_]]:
        return self.task.inputs(ready, self.model, self.decoder, self.options, self.seed)

    def _outputs_of(self, inputs: Inputs[Data_, Hypothesis_]) -> pd.DataFrame:
        """The output rows of all prompts, ordered by id and sample."""
        data = inputs.data
        _require_positions(data, self.model, "a model")
        if inputs.check:
            inputs.check()
        with constant_weights():  # of all batches
            table = table_of_rows(self._decoded(inputs)).sort_values(["id", "sample"], kind="stable", ignore_index=True)
        needed = np.flatnonzero(np.isin(data.ids, table["id"].unique()))
        likelihoods = self._likelihoods(data, needed)
        if inputs.measure:
            likelihoods = likelihoods.assign(**inputs.measure(needed))
        return _rounded(table.merge(likelihoods, on="id", validate="many_to_one"))

    def _decoded(self, inputs: Inputs[Data_, Hypothesis_]) -> Iterator[dict[str, Any]]:
        """The output rows of all prompts, without likelihoods, the shortest prompts first."""
        data, view = inputs.data, self.model.config.view
        order = np.argsort(data.sizes(view)[inputs.prompts], kind="stable")
        at_once = GPU_PREFIXES if self.device.type == "cuda" else PREFIXES
        size = max(1, at_once // self.decoder.prefixes)
        for part in self.follow([order[start : start + size] for start in range(0, len(order), size)], "decode"):
            batch = data.batch(inputs.prompts[part], view).to(self.device)
            first = [inputs.rows[prompt][0] for prompt in part]
            seeds = [seed_from(self.options.seed, self.seed, row["id"], row["sample"]) for row in first]
            found = self.task.generate(self.model, batch, self.decoder, seeds, **inputs.given)
            if inputs.rerank:
                found = inputs.rerank(inputs.prompts[part], found)
            for prompt, hypotheses in zip(part, found, strict=True):
                yield from self._filled(inputs, prompt, hypotheses)

    def _filled(
        self, inputs: Inputs[Data_, Hypothesis_], prompt: int, hypotheses: list[Hypothesis_]
    ) -> Iterator[dict[str, Any]]:
        """The output rows for the hypotheses of one prompt."""
        for row in inputs.rows[prompt]:
            for rank in range(inputs.kept):
                hypothesis = hypotheses[rank] if rank < len(hypotheses) else None
                numbered = {**row, "seed": self.seed, "sample": row["sample"] + rank}
                yield numbered | self.task.columns(hypothesis, row, self.model, self.decoder)

    def _likelihoods(self, data: Data_, places: IntArray) -> pd.DataFrame:
        """`id` and the likelihood of each of these rows."""
        columns = measured(
            self.task.likelihood, self.model, data, places, self.device, lambda parts: self.follow(parts, "likelihood")
        )
        return _rounded(pd.DataFrame({"id": [data.ids[place] for place in places], **columns}))


def table_of_rows(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """The table that pandas makes of a list of all rows, of which only the values are kept."""
    columns = dict[str, list[Any]]()
    for place, row in enumerate(rows):
        for name, value in row.items():
            columns.setdefault(name, [float("nan")] * place).append(value)
        if len(row) < len(columns):
            for name in columns.keys() - row.keys():
                columns[name].append(float("nan"))
    return pd.DataFrame(columns)


def judged(
    kind: Judge[Any, Any, Model_, Any, Any, Any] | None,
    model: Model_,
    table: pd.DataFrame,
    device: torch.device,
    follow: Follow,
) -> pd.DataFrame:
    """The output rows with the judge's values for the texts and, prefixed by `reference_`, for the references."""
    if kind is None:  # params.yaml was checked
        raise TypeError("a task without a judge")
    texts = pd.unique(pd.concat([table["text"], table["reference"]]))
    data = kind.read(texts.tolist(), model.vocabulary)
    _require_positions(data, model, "a judge")
    columns = measured(kind.measure, model, data, np.arange(len(texts)), device, lambda parts: follow(parts, "judge"))
    said, rows = _rounded(pd.DataFrame(columns)), pd.Index(texts)
    parts = [
        said.iloc[rows.get_indexer(table[column])].add_prefix(prefix).reset_index(drop=True)
        for column, prefix in (("text", ""), ("reference", "reference_"))
    ]
    return pd.concat([table.reset_index(drop=True), *parts], axis=1)


def _require_positions(data: Split[Any, Any, Any], model: Model[Any, Any, Any], what: str) -> None:
    if (longest := data.longest(model.config.view)) > model.config.positions:
        raise ConfigError(
            f"a row of {longest} ids, of {what} that has {model.config.positions} positions",
            where="network.positions",
            remedy="raise it, or have the dataset quarantine longer rows",
        )


def _rounded(table: pd.DataFrame) -> pd.DataFrame:
    """Round log-probabilities to 6 decimals, so that they do not depend on the batch size."""
    return table.round(dict.fromkeys(table.select_dtypes("float"), 6))
