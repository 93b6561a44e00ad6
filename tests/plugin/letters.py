"""A system from outside: a reader, an encoding, an architecture and a task, registered by a module of params.yaml.

Words continue a prompt, their first letter. Nothing in src/ or pipeline/ knows of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from espalier.corpora.readers import READERS, Reader
from espalier.corpora.records import Quarantined, Sentence
from espalier.datasets.batch import Batch
from espalier.datasets.encoding import Encoded, Settings
from espalier.datasets.ragged import IntArray, Ragged, RaggedSplit
from espalier.datasets.registry import ENCODINGS
from espalier.datasets.vocabulary import BOS, EOS, PAD, WordVocabulary
from espalier.metrics.family import Family
from espalier.metrics.metric import Metric, ratio, signature_of
from espalier.metrics.registry import METRICS
from espalier.models.registry import ARCHITECTURES, Architecture
from espalier.tasks.data import BaselineRow, Inputs, NGramRow, Outputs, Ready, RunOptions, Segments
from espalier.tasks.registry import TASKS
from espalier.tasks.settings import Decoder, Scoring
from espalier.text.language import Language

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

WORDS = (
    "moss", "mist", "mint", "lamp", "lake", "lark", "leaf", "pine", "pond", "path", "rain", "reed", "rock", "root",
    "pebble",
)  # fmt: skip


def words(count: int = 45) -> Iterator[Sentence]:
    """Words, those with one first letter in one group."""
    for number in range(count):
        word = WORDS[number % len(WORDS)]
        yield Sentence(id=f"w{number}", origin="letters", language="en", target=word, group=word[0])


# --- The encoding -----------------------------------------------------------------------------------------------------


class LetterSettings(Settings):
    """Longer words are quarantined."""

    max_letters: int = Field(ge=2)


@dataclass(frozen=True)
class LetterBatch(Batch):
    """(batch,) prompts; (batch, time) inputs and targets."""

    prompt: Tensor
    inputs: Tensor
    target: Tensor


class LetterSplit(RaggedSplit[WordVocabulary]):
    """Words as ids of letters."""

    COLUMNS: ClassVar[tuple[str, ...]] = ("letters",)
    GRAIN: ClassVar[int] = 1

    @property
    def letters(self) -> Ragged:
        return self.columns["letters"]

    def sizes(self, view: Any) -> IntArray:
        return self.letters.lengths + 1

    def longest(self, view: Any) -> int:
        return int(self.sizes(view).max(initial=0))

    def batch(self, places: IntArray, view: Any, rng: Any = None, *, grain: int = 1) -> LetterBatch:
        import torch

        letters = self.letters.padded(places, PAD)
        target = np.pad(letters, ((0, 0), (0, 1)), constant_values=PAD)
        target[np.arange(len(places)), self.letters.lengths_at(places)] = EOS
        inputs = np.concatenate([np.full((len(places), 1), BOS), letters], axis=1)
        return LetterBatch(*(torch.from_numpy(row) for row in (letters[:, 0].copy(), inputs, target)))


class LetterEncoding:
    """Letters of words."""

    settings, record, vocabulary, split = LetterSettings, Sentence, WordVocabulary, LetterSplit

    def build_vocabulary(self, records: Sequence[Sentence], settings: LetterSettings, language: Any) -> WordVocabulary:
        # The alphabet, for splits keep words of one first letter together.
        return WordVocabulary(tuple("abcdefghijklmnopqrstuvwxyz"), language)

    def training_records(self, records: Sequence[Sentence], settings: LetterSettings) -> Sequence[Sentence]:
        return records

    def encode(self, records: Sequence[Sentence], vocabulary: WordVocabulary, settings: LetterSettings) -> Encoded:
        places = [place for place, row in enumerate(records) if len(row.target) <= settings.max_letters]
        quarantined = [
            Quarantined(id=row.id, stage="linearize", reason="too long", text=row.target)
            for row in records
            if len(row.target) > settings.max_letters
        ]
        rows = Ragged.of([vocabulary.encode(records[place].target) for place in places])
        ids = [records[place].id for place in places]
        return Encoded(LetterSplit(ids, {"letters": rows}, vocabulary), places, quarantined)

    def extras(self, records: Sequence[Sentence], settings: LetterSettings) -> Mapping[str, Any]:
        return {}

    def counts(self, split: LetterSplit) -> Mapping[str, float]:
        return {"letters": len(split.letters.flat)}

    def numbers(self, vocabulary: WordVocabulary) -> Mapping[str, int]:
        return {"letters": len(vocabulary.words)}

    def measures(self, split: LetterSplit) -> Mapping[str, Any]:
        return {}


# --- The architecture -------------------------------------------------------------------------------------------------


class BigramConfig(BaseModel):
    """A table of letters after letters."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    width: int = Field(ge=1)
    positions: int = 16

    @property
    def view(self) -> None:
        return None


# --- The task ---------------------------------------------------------------------------------------------------------


class LetterDecoder(Decoder):
    """Greedy, so many letters at most."""

    max_letters: int = Field(8, ge=1)

    def shown(self, network: BigramConfig, samples: int, guidance: str | None) -> dict[str, Any]:
        return {"protocol": "greedy"}


class LetterScoring(Scoring):
    """Nothing can be set."""


class Prompt(Family[Outputs]):
    """Whether texts begin with their prompts."""

    name = "prompt"
    metrics = (Metric("prompt_kept", ratio(0, 1, scale=100.0), signature_of("prompt")),)

    def statistics(self, outputs: Outputs, /) -> Any:
        table = outputs.table
        return np.array(
            [[text[:1] == prompt, 1.0] for text, prompt in zip(table["text"], table["prompt"], strict=True)]
        )


class LetterTask:
    """Words that begin with a prompt."""

    encodings = ("letters",)
    decoder, scoring = LetterDecoder, LetterScoring
    dev_likelihood = False
    judge = None
    likelihood_columns = ("nll", "tokens")

    def ngrams(self, vocabulary: Any) -> Mapping[str, NGramRow]:
        return {"ngram": NGramRow(None)}

    def writes_words(self, language: Language) -> bool:
        return False

    def needs_annotation(self, network: Any, dataset: Any) -> bool:
        return False

    def inputs(self, ready: Ready, model: Any, decoder: LetterDecoder, options: RunOptions, seed: int) -> list[Inputs]:
        rows = [
            [{"id": row.id, "cluster": row.group, "sample": 0, "prompt": row.target[0], "reference": row.target}]
            for row in ready.records
        ]
        return [Inputs(ready.data, np.arange(len(rows)), rows)]

    def generate(self, model: Any, batch: Any, decoder: LetterDecoder, seeds: Sequence[int]) -> list[list[Any]]:
        from espalier.decoding.sampling import sample

        texts = sample(model, batch, seeds=list(seeds), max_ids=decoder.max_letters, begin=BOS, end=EOS, top_k=1)
        return [[ids] for ids in texts]

    def columns(self, hypothesis: Any, row: Mapping[str, Any], model: Any, decoder: LetterDecoder) -> dict[str, Any]:
        return {"text": "".join(model.vocabulary.token(identity) for identity in hypothesis)}

    def likelihood(self, model: Any, batch: Any) -> dict[str, Tensor]:
        return {"nll": model.token_losses(batch).sum(1), "tokens": batch.real.sum(1)}

    def facts(self, model: Any) -> dict[str, str]:
        return {}

    def baselines(self, table: pd.DataFrame, ready: Ready, train: Any, seed: int) -> Mapping[str, BaselineRow]:
        return {"copy": BaselineRow("the prompt itself", {"text": table["prompt"].tolist()})}

    def statistics(self, outputs: Outputs, scoring: LetterScoring) -> list[Segments]:
        rows = outputs.table[["id", "cluster", "seed", "sample"]]
        return [Segments(rows, {Prompt(): Prompt().statistics(outputs)})]

    def headline(self, outputs: Outputs) -> Mapping[str, str]:
        return {"kept": "prompt_kept"}

    def counts(self, outputs: Outputs, scoring: Any) -> dict[str, int]:
        return {}


READERS["letters"] = Reader(Sentence, words, reads_sources=False)
ENCODINGS["letters"] = LetterEncoding()
ARCHITECTURES["bigram"] = Architecture(BigramConfig, "letters", f"{__package__}.bigram:Bigram")
TASKS["letters"] = LetterTask()
METRICS["letters/prompt"] = Prompt
